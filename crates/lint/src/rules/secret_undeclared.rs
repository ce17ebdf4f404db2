use crate::needs::Need;
use crate::script::{Code, Pieces, Script, Shell};
use crate::usage::Usage;
use crate::{Check, Findings, Rule, Skill};
use metier_diagnostic::Severity;
use std::collections::HashMap;
use std::ops::Range;

pub(super) static RULE: Rule = Rule::new(
    "secret-undeclared",
    Severity::Warning,
    include_str!("secret_undeclared.md"),
    Check::Skill(check),
);

/// The last words of names that are secrets.
const SECRETS: &[&str] = &[
    "APIKEY",
    "CREDENTIAL",
    "CREDENTIALS",
    "KEY",
    "PASSPHRASE",
    "PASSWD",
    "PASSWORD",
    "PAT",
    "SECRET",
    "TOKEN",
];

/// Names that are secrets though they do not end like one.
const KNOWN: &[&str] = &[
    "AWS_ACCESS_KEY_ID",
    "DATABASE_URL",
    "DISCORD_WEBHOOK_URL",
    "MYSQL_PWD",
    "PGPASSWORD",
    "SLACK_WEBHOOK_URL",
    "SSH_AUTH_SOCK",
    "SSHPASS",
];

/// What stands before `KEY` and `TOKEN` where they open nothing: places in tables, pages and caches.
const NO_SECRETS: &[&str] = &[
    "CACHE",
    "CONTINUATION",
    "CURSOR",
    "FOREIGN",
    "IDEMPOTENCY",
    "MAX",
    "NEXT",
    "PAGE",
    "PARTITION",
    "PRIMARY",
    "PUBLIC",
    "PUBLISHABLE",
    "SORT",
    "SYNC",
];

/// How Python reads a variable: what stands before the quote.
const PYTHON_READS: &[&str] = &["environ[", "environ.get(", "environ.pop(", "getenv("];

/// How JavaScript does by a text.
const JAVASCRIPT_READS: &[&str] = &["process.env[", "Deno.env.get(", "Bun.env["];

/// How it does by a name.
const JAVASCRIPT_MEMBERS: &[&str] = &["process.env.", "process.env?.", "Bun.env."];

fn check(skill: &Skill<'_>, findings: &mut Findings<'_>) {
    let declared = Need::Env.declared(skill);
    let mut usages = Vec::new();
    for script in Script::all(skill) {
        let found = match &script.code {
            Code::Shell(shell) => in_shell(shell, script.text),
            Code::Python(pieces) => in_pieces(pieces, PYTHON_READS, &[]),
            Code::JavaScript(pieces) => in_pieces(pieces, JAVASCRIPT_READS, JAVASCRIPT_MEMBERS),
        };
        for span in found {
            let name = script.text.get(span.clone()).unwrap_or_default();
            if is_secret(name) && !declared.iter().any(|own| own == name) {
                usages.push(Usage::new(&script, span, name.to_owned()));
            }
        }
    }
    let required = skill.manifest().more.requires.as_ref().map_or(&[][..], |requires| &requires.env);
    Usage::report(usages, skill, findings, (Need::Env, "reads"), |name| {
        let is_required = required.iter().any(|required| required == name);
        is_required.then_some("`requires` says that it has to be there; only `needs` asks for it")
    });
}

/// Whether a name is that of a secret: capitals, and a last word such as `TOKEN`.
fn is_secret(name: &str) -> bool {
    let is_capital = |byte: u8| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_';
    if !name.bytes().all(is_capital) {
        return false;
    }
    let (before, last) = name.rsplit_once('_').unwrap_or(("", name));
    let is_named = SECRETS.contains(&last)
        // A bare `KEY` or `PAT` can be anything.
        && !(before.is_empty() && matches!(last, "KEY" | "PAT"))
        && !NO_SECRETS.contains(&before.rsplit('_').next().unwrap_or_default());
    KNOWN.contains(&name) || is_named
}

fn in_shell(shell: &Shell, text: &str) -> Vec<Range<usize>> {
    // Looking for assignments goes through the whole script, so each name is looked for once.
    let mut is_read: HashMap<&str, bool> = HashMap::new();
    let mut found = Vec::new();
    for span in &shell.expansions {
        let name = text.get(span.clone()).unwrap_or_default();
        let is_known = is_read.contains_key(name) || is_read.len() < MAX_NAMES;
        if is_known && is_secret(name) && *is_read.entry(name).or_insert_with(|| !shell.assigns(name)) {
            found.push(span.clone());
        }
    }
    found
}

/// How many names of secrets are looked at in one script. Nobody has more, and each takes a pass.
const MAX_NAMES: usize = 100;

fn in_pieces(pieces: &Pieces<'_>, reads: &[&str], members: &[&str]) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    for (index, piece) in pieces.all.iter().enumerate() {
        let text = pieces.of(piece);
        if piece.kind.is_text()
            && is_secret(text)
            && reads.iter().any(|read| pieces.code_before(index).ends_with(read))
        {
            let (after, _) = pieces.code_after(index);
            if !is_written(after.trim_start_matches(']')) {
                found.push(piece.span.clone());
            }
        }
        if !piece.kind.has_code() {
            continue;
        }
        // Quotes inside of a text that is filled in have no piece of their own.
        if piece.kind.is_text() {
            for (at, read) in positions(text, reads) {
                let start = at + read.len() + 1;
                found.extend(name_at(text, start).map(|name| offset(piece.span.start + start, name)));
            }
        }
        for (at, member) in positions(text, members) {
            let start = at + member.len();
            let Some(name) = name_at(text, start) else { continue };
            if !is_written(text.get(start + name.len()..).unwrap_or_default()) {
                found.push(offset(piece.span.start + start, name));
            }
        }
    }
    found
}

fn positions<'a>(text: &'a str, signs: &'a [&str]) -> impl Iterator<Item = (usize, &'a str)> {
    signs.iter().flat_map(move |sign| text.match_indices(sign))
}

/// The name that stands at a place.
fn name_at(text: &str, at: usize) -> Option<&str> {
    let rest = text.get(at..)?;
    let length = rest.bytes().take_while(|byte| byte.is_ascii_alphanumeric() || *byte == b'_').count();
    rest.get(..length).filter(|name| !name.is_empty())
}

fn offset(at: usize, name: &str) -> Range<usize> {
    at..at + name.len()
}

/// Whether a variable is given a value and not read.
fn is_written(after: &str) -> bool {
    let after = after.trim_start();
    (after.starts_with('=') && !after.starts_with("=="))
        || after.starts_with("??=")
        || after.starts_with("||=")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::RunBit;
    use crate::rules::tests::{check_names, file};

    fn check(path: &str, text: &str, expect: &[&str]) {
        check_names(&RULE, path, text, expect);
    }

    #[test]
    fn secrets_are_known_by_their_names() {
        for name in ["GITHUB_TOKEN", "X_API_KEY", "PASSWORD", "PGPASSWORD", "DATABASE_URL", "GH_PAT"] {
            assert!(is_secret(name), "{name}");
        }
        for name in
            ["KEY", "CACHE_KEY", "NEXT_TOKEN", "HOME", "api_key", "MONKEY", "X_KEY_FILE", "", "MAX_TOKENS"]
        {
            assert!(!is_secret(name), "{name}");
        }
    }

    #[test]
    fn secrets_of_shell_scripts_are_found() {
        let check = |text: &str, expect: &[&str]| check("scripts/a.sh", text, expect);
        check("curl -H \"Authorization: Bearer $GITHUB_TOKEN\" x", &["GITHUB_TOKEN"]);
        check(": \"${X_API_KEY:?set it}\"\necho ${X_API_KEY}", &["X_API_KEY"]);
        check("TOKEN=\"${TOKEN:-}\"", &["TOKEN"]);
        check("ACCESS_TOKEN=$(login)\necho $ACCESS_TOKEN", &[]);
        check("echo 'set $GITHUB_TOKEN' # $X_API_KEY", &[]);
        check("echo $HOME $PATH", &[]);
    }

    #[test]
    fn secrets_of_python_are_found() {
        let check = |text: &str, expect: &[&str]| check("scripts/a.py", text, expect);
        check(
            "os.environ['A_KEY'], os.environ.get(\"B_TOKEN\"), os.getenv('C_SECRET', '')",
            &["A_KEY", "B_TOKEN", "C_SECRET"],
        );
        check("h = f\"Bearer {os.environ['A_KEY']}\"", &["A_KEY"]);
        check("os.environ['A_KEY'] = x", &[]);
        check("os.environ['A_KEY'] == x", &["A_KEY"]);
        check("print('A_KEY')  # os.environ['B_KEY']", &[]);
        check("os.environ['LANG']", &[]);
    }

    #[test]
    fn secrets_of_javascript_are_found() {
        let check = |text: &str, expect: &[&str]| check("scripts/a.mjs", text, expect);
        check("process.env.A_TOKEN || process.env['B_KEY']", &["A_TOKEN", "B_KEY"]);
        check("`Bearer ${process.env.A_TOKEN}`", &["A_TOKEN"]);
        check("process.env.A_TOKEN = x", &[]);
        check("'process.env.A_TOKEN' // process.env.B_TOKEN", &[]);
        check("process.env.NODE_ENV", &[]);
    }

    #[test]
    fn what_is_declared_is_not_reported_and_what_is_required_is_explained() {
        let check = |frontmatter: &str, expect: Option<usize>| {
            let source = format!("---\nname: x\ndescription: Does x. Use when x.\n{frontmatter}---\nx\n");
            let document = metier_skill::parse(source.as_bytes(), Some("x")).document.unwrap();
            let files = [file("scripts/a.sh", Some("echo $A_KEY"), RunBit::Set)];
            let path = std::path::Path::new("x/SKILL.md").into();
            let skill = Skill::new(path, Some("x"), &source, &document, crate::Files::Known(&files));
            let found: Vec<_> =
                crate::lint(&skill).into_iter().filter(|one| one.code == &RULE.code).collect();
            assert_eq!(found.first().map(|one| one.notes.len()), expect, "{frontmatter}");
        };
        check("metadata:\n  metier:\n    needs:\n      env: [A_KEY]\n", None);
        check("metadata:\n  metier:\n    needs:\n      env: [B_KEY]\n", Some(0));
        check("requires:\n  env: [A_KEY]\n", Some(1));
    }
}
