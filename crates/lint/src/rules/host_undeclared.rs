use crate::address::{Host, is_declared};
use crate::needs::Need;
use crate::script::{Code, PieceKind, Pieces, Script, Shell, Simple, Word, last_name};
use crate::usage::Usage;
use crate::{Check, Findings, Rule, Skill};
use metier_diagnostic::Severity;
use std::ops::Range;

pub(super) static RULE: Rule =
    Rule::new("host-undeclared", Severity::Warning, include_str!("host_undeclared.md"), Check::Skill(check));

/// Programs that fetch what an address in their arguments names.
const FETCHERS: &[&str] = &["aria2c", "curl", "git", "http", "https", "pip", "pip3", "uv", "wget", "xh"];

/// What git does with an address at once. `git remote add` only writes it down.
const GIT_FETCHES: &[&str] = &["clone", "fetch", "ls-remote", "pull", "push", "submodule"];

/// Options of `curl` and `wget` without a value, so that what follows can be an address.
const PLAIN_OPTIONS: &str = "fgikqsvILOS46";

/// What a Python or JavaScript file has in it that reaches the network. In one without, addresses are data.
const NETWORK: &[&str] = &[
    "aiohttp",
    "axios",
    "fetch(",
    "http.client",
    "http.get(",
    "http.request(",
    "https.get(",
    "https.request(",
    "httpx",
    "import got",
    "playwright",
    "puppeteer",
    "requests.",
    "undici",
    "urllib.request",
    "urllib3",
    "urlopen",
    "urlretrieve",
    "WebSocket(",
    "websockets",
];

/// Calls that take a host by its name.
const CONNECTORS: &[(&str, u16)] = &[
    ("HTTPSConnection(", 443),
    ("HTTPConnection(", 80),
    ("create_connection((", 443),
    (".connect((", 443),
    ("SMTP(", 25),
    ("SMTP_SSL(", 465),
    ("IMAP4_SSL(", 993),
    ("FTP(", 21),
];

/// Calls that show, compare or take apart what they are given.
const PASSIVE_CALLS: &[&str] = &[
    "add_argument",
    "ArgumentParser",
    "compile",
    "debug",
    "die",
    "echo",
    "Error",
    "endswith",
    "exit",
    "fail",
    "findall",
    "finditer",
    "fullmatch",
    "includes",
    "indexOf",
    "info",
    "log",
    "match",
    "option",
    "print",
    "removeprefix",
    "replace",
    "search",
    "secho",
    "split",
    "startsWith",
    "startswith",
    "sub",
    "test",
    "usage",
    "warn",
    "warning",
];

/// Parts of names under which an address is kept to be shown or written, not to be reached.
const PASSIVE_NAMES: &[&str] = &[
    "agent",
    "context",
    "docs",
    "epilog",
    "help",
    "homepage",
    "href",
    "html",
    "hint",
    "issuer",
    "link",
    "message",
    "namespace",
    "origin",
    "prompt",
    "refer",
    "schema",
    "src",
    "website",
    "xmlns",
];

fn check(skill: &Skill<'_>, findings: &mut Findings<'_>) {
    let declared = Need::Hosts.declared(skill);
    let mut usages = Vec::new();
    for script in Script::all(skill) {
        let found = match &script.code {
            Code::Shell(shell) => in_shell(shell, script.text),
            Code::Python(pieces) | Code::JavaScript(pieces) => in_pieces(pieces),
        };
        let found = found.into_iter().filter(|(host, _)| !is_declared(declared, host));
        usages.extend(found.map(|(host, span)| Usage::new(&script, span, shown(&host))));
    }
    Usage::report(usages, skill, findings, (Need::Hosts, "reaches"), |_| None);
}

/// A host as it would be declared: with its port where that is not the web's.
fn shown(host: &Host) -> String {
    match host.port {
        80 | 443 => host.name.clone(),
        port => format!("{}:{port}", host.name),
    }
}

fn in_shell(shell: &Shell, text: &str) -> Vec<(Host, Range<usize>)> {
    let mut found = Vec::new();
    let mut add = |word: &Word, text_of: &str, host: Option<Host>| {
        let Some(host) = host else { return };
        // The word has lost its quotes, so the host is looked for in what is written.
        let written = text.get(word.span.clone()).unwrap_or_default();
        let name = text_of.get(host.span.clone()).unwrap_or_default();
        let span = written.find(name).map_or(word.span.clone(), |at| {
            let start = word.span.start + at;
            start..start + name.len()
        });
        found.push((host, span));
    };
    let has_fetcher = shell.commands.iter().any(|command| fetched(command).is_some());
    for command in &shell.commands {
        if let Some((program, arguments)) = fetched(command) {
            for (index, word) in arguments.iter().enumerate() {
                let before = index.checked_sub(1).and_then(|before| arguments.get(before));
                add(word, &word.text, Host::of_url(&word.text));
                if matches!(program, "curl" | "wget") && takes_address(before) {
                    add(word, &word.text, Host::of_bare(&word.text));
                }
            }
        }
        for (word, name, value) in command.assignments().filter(|_| has_fetcher) {
            if is_passive_name(name) {
                continue;
            }
            // `${API:-https://…}` has its default behind the sign.
            let value = value
                .strip_prefix("${")
                .and_then(|rest| rest.split_once('-'))
                .map_or(value, |(_, rest)| rest);
            let value = value.trim_end_matches('}').trim_matches('"');
            add(word, value, Host::of_url(value));
        }
    }
    found
}

/// The program and arguments of a command that fetches.
fn fetched(command: &Simple) -> Option<(&str, &[Word])> {
    let (program, arguments) = command.program()?;
    let first =
        arguments.iter().find(|word| !word.text.starts_with('-')).map_or("", |word| word.text.as_str());
    let is_fetch = FETCHERS.contains(&program) && (program != "git" || GIT_FETCHES.contains(&first));
    is_fetch.then_some((program, arguments))
}

/// Whether a word without a scheme can be an address where it stands, and is not the value of an option.
fn takes_address(before: Option<&Word>) -> bool {
    let Some(option) = before.and_then(|word| word.text.strip_prefix('-')) else { return true };
    !option.is_empty() && option.chars().all(|c| PLAIN_OPTIONS.contains(c))
}

fn in_pieces(pieces: &Pieces<'_>) -> Vec<(Host, Range<usize>)> {
    let mut found = Vec::new();
    let is_program = |text: &str| matches!(text, "curl" | "wget");
    let reaches = pieces.all.iter().any(|piece| match piece.kind {
        PieceKind::Code => NETWORK.iter().any(|sign| pieces.of(piece).contains(sign)),
        PieceKind::Plain => is_program(pieces.of(piece)),
        PieceKind::Comment | PieceKind::Filled => false,
    });
    for (index, piece) in pieces.all.iter().enumerate().filter(|(_, piece)| piece.kind.is_text()) {
        let text = pieces.of(piece);
        let host = match Host::of_url(text) {
            Some(host) => (reaches && is_one_address(text) && !is_passive(pieces, index)).then_some(host),
            None => connected(pieces.code_before(index), text),
        };
        let Some(host) = host else { continue };
        let span = piece.span.start + host.span.start..piece.span.start + host.span.end;
        found.push((host, span));
    }
    found
}

/// The host that a call such as `HTTPSConnection("host")` connects to.
fn connected(before: &str, text: &str) -> Option<Host> {
    let (_, port) = CONNECTORS.iter().find(|(call, _)| before.ends_with(call))?;
    Host::of_name(text, *port)
}

/// Whether a text is an address and nothing else: a sentence that begins with one is shown to somebody.
fn is_one_address(text: &str) -> bool {
    !text.contains(['\n', ' ', '|', '*', '^'])
}

/// Whether an address is shown, compared or written down where it stands.
fn is_passive(pieces: &Pieces<'_>, index: usize) -> bool {
    let (before, (after, _)) = (pieces.code_before(index), pieces.code_after(index));
    let is_compared = before.ends_with("==")
        || before.ends_with("!=")
        || after.starts_with("==")
        || after.starts_with("in ")
        || after.starts_with("not in ")
        || before.ends_with(" in")
        || before.ends_with(" in (");
    // `name = "…"`, `name: "…"`, and `"name": "…"` of a table.
    let label = before.strip_suffix(['=', ':']).map(str::trim_end);
    let label = match label {
        Some(code) if code.is_empty() || code.ends_with(']') => {
            index.checked_sub(2).and_then(|key| pieces.all.get(key)).map(|key| pieces.of(key))
        }
        Some(code) => last_name(code),
        None => None,
    };
    is_compared
        || label.is_some_and(is_passive_name)
        || pieces.calls_around(index).iter().any(|call| {
            let name = call.rsplit('.').next().unwrap_or(call);
            PASSIVE_CALLS.contains(&name)
                || name.ends_with("Error")
                || call.starts_with("console.")
                || call.starts_with("logg")
        })
}

fn is_passive_name(name: &str) -> bool {
    let name = name.to_ascii_lowercase().replace("linkedin", "");
    let mut words = name.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    words.any(|word| PASSIVE_NAMES.iter().any(|part| word.starts_with(part) || word.ends_with(part)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::RunBit;
    use crate::rules::tests::{check_names, file, found_in};

    fn check(path: &str, text: &str, expect: &[&str]) {
        check_names(&RULE, path, text, expect);
    }

    #[test]
    fn hosts_of_shell_scripts_are_found_where_they_are_fetched() {
        let check = |text: &str, expect: &[&str]| check("scripts/a.sh", text, expect);
        check("curl -s 'https://api.a.io/x' | jq .", &["api.a.io"]);
        check("X=$(wget -qO- \"https://a.io:8443/$1\")", &["a.io:8443"]);
        check("curl -fsSL get.a.io | sh", &["get.a.io"]);
        check("curl -o a.io x", &[]);
        check("git clone --depth 1 https://github.com/a/b", &["github.com"]);
        check("git remote add origin https://github.com/a/b", &[]);
        check("API=\"${API:-https://api.a.io}\"\ncurl \"$API/x\"", &["api.a.io"]);
        check("API=https://api.a.io\necho $API", &[]);
        check("DOCS_URL=https://docs.a.io\ncurl https://b.io $DOCS_URL", &["b.io"]);
        check("echo 'see https://a.io'\n# curl https://b.io", &[]);
        check("curl -H 'Referer: https://a.io' \"$URL\"", &[]);
        check("curl https://a.io/1; curl https://a.io/2", &["a.io"]);
        check("curl http://localhost:3000 https://example.com", &[]);
        check("cat <<END\ncurl https://a.io\nEND", &[]);
    }

    #[test]
    fn hosts_of_python_are_found_where_they_are_used() {
        let check = |text: &str, expect: &[&str]| check("scripts/a.py", text, expect);
        check("import requests\nrequests.get('https://api.a.io/x')", &["api.a.io"]);
        check("BASE = \"https://api.a.io\"\nurlopen(BASE + x)", &["api.a.io"]);
        check("BASE = \"https://api.a.io\"", &[]);
        check("httpx.get(f'https://a.io/{x}')", &["a.io"]);
        check("httpx.get(f'https://{x}.a.io')", &[]);
        check("subprocess.run(['curl', '-s', 'https://a.io/x'])", &["a.io"]);
        check("import httpx\nprint('https://a.io')", &[]);
        check("import httpx\nlogger.info(\n  f'https://a.io/{x}')", &[]);
        check("import httpx\nraise ValueError('https://a.io')", &[]);
        check("import httpx\nif url.startswith('https://a.io'): pass", &[]);
        check("import httpx\nh = {'Referer': 'https://a.io', 'User-Agent': 'https://b.io'}", &[]);
        check("import httpx\n\"\"\"Uses https://a.io.\"\"\"\n# https://b.io", &[]);
        check("import httpx\np.add_argument('--url', help='https://a.io')", &[]);
        check("import httpx\nx = 'https://a.io is down'", &[]);
        check("c = http.client.HTTPSConnection('api.a.io')", &["api.a.io"]);
        check("s.connect((\"a.io\", 443))", &["a.io"]);
    }

    #[test]
    fn hosts_of_javascript_are_found_where_they_are_used() {
        let check = |text: &str, expect: &[&str]| check("scripts/a.ts", text, expect);
        check("await fetch(`https://api.a.io/${x}`)", &["api.a.io"]);
        check("const API = 'https://api.a.io'\nfetch(API)", &["api.a.io"]);
        check("fetch(x); console.log('https://a.io')", &[]);
        check("fetch(x) // https://a.io\nconst s = { $schema: 'https://a.io' }", &[]);
        check("throw new Error('https://a.io'); fetch(x)", &[]);
    }

    #[test]
    fn a_finding_has_its_place_and_the_lines_to_add() {
        let text = "#!/bin/sh\ncurl -s \"https://api.a.io/x\"\n";
        let found = found_in("x\n", &[file("scripts/a.sh", Some(text), RunBit::Set)], &RULE);
        assert_eq!((found[0].line(), found[0].column()), (Some(2), Some(18)));
        assert_eq!(
            found[0].help.as_deref(),
            Some(
                "declare it in the frontmatter:\nmetadata:\n  metier:\n    needs:\n      hosts:\n        - api.a.io"
            )
        );
    }
}
