use crate::needs::Need;
use crate::script::{Code, PieceKind, Pieces, Script, Shell};
use crate::usage::Usage;
use crate::{Check, Findings, Rule, Skill};
use globset::GlobBuilder;
use metier_diagnostic::Severity;
use std::ops::Range;

pub(super) static RULE: Rule = Rule::new(
    "write-undeclared",
    Severity::Warning,
    include_str!("write_undeclared.md"),
    Check::Skill(check),
);

/// Places that are there to be written by everything that runs.
const OPEN: &[&str] = &["/tmp", "/var/tmp", "/dev", "/proc/self"];

/// Names for the project, in any language.
const PROJECT: &[&str] = &["$PROJECT_DIR/", "${PROJECT_DIR}/", "${process.env.PROJECT_DIR}/"];

/// Names for the home.
const HOME: &[&str] = &["~/", "$HOME/", "${HOME}/", "${process.env.HOME}/"];

/// Names for the skill's own folder, which nothing makes writable.
const OWN: &[&str] = &["$SKILL_DIR/", "${SKILL_DIR}/", "$CLAUDE_SKILL_DIR/", "${CLAUDE_SKILL_DIR}/"];

/// Calls of JavaScript that write to the file that is their first argument.
const JAVASCRIPT_WRITES: &[&str] = &[
    "appendFile(",
    "appendFileSync(",
    "Bun.write(",
    "createWriteStream(",
    "Deno.writeFile(",
    "writeFile(",
    "writeFileSync(",
    "writeTextFile(",
];

/// Where a literal path leads.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Place {
    kind: PlaceKind,
    path: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum PlaceKind {
    /// Below the folder the script starts in, which is the skill's.
    Start,
    /// Below the project.
    Project,
    /// Below the home, which is a scratch one.
    Home,
    /// Below the skill's folder by its name.
    Own,
    /// Anywhere else.
    Absolute,
}

fn check(skill: &Skill<'_>, findings: &mut Findings<'_>) {
    let declared = Globs::new(Need::Write.declared(skill));
    let mut found: Vec<(Usage<'_>, Place)> = Vec::new();
    for script in Script::all(skill) {
        let (written, moves) = match &script.code {
            Code::Shell(shell) => (in_shell(shell), moves_in_shell(shell)),
            Code::Python(pieces) => (in_python(pieces), moves_in_pieces(pieces)),
            Code::JavaScript(pieces) => (in_javascript(pieces), moves_in_pieces(pieces)),
        };
        for (path, span) in written {
            let Some(place) = Place::of(&path) else { continue };
            // Who goes elsewhere writes elsewhere.
            let is_known = !moves || place.kind != PlaceKind::Start;
            if is_known && !declared.mean(&place) {
                found.push((Usage::new(&script, span, place.name()), place));
            }
        }
    }
    let mut seen = std::collections::HashSet::new();
    found.retain(|(usage, _)| seen.insert(usage.name.clone()));
    let missing: Vec<&str> = found.iter().filter_map(|(_, place)| place.declarable()).collect();
    for (usage, place) in &found {
        findings.add_with(|findings| {
            usage.found(skill, findings, place.message()).help(place.help(skill, &missing))
        });
    }
}

impl Place {
    /// Where a path leads; `None` where it may be written, or cannot be known.
    fn of(path: &str) -> Option<Self> {
        let place = |kind, path| Self { kind, path };
        let named =
            [(PROJECT, PlaceKind::Project, ""), (HOME, PlaceKind::Home, "~/"), (OWN, PlaceKind::Own, "")];
        for (names, kind, before) in named {
            let rest = names.iter().find_map(|name| path.strip_prefix(name)).filter(|rest| is_literal(rest));
            if let Some(rest) = rest {
                return clean(rest).map(|rest| place(kind, format!("{before}{rest}")));
            }
        }
        if !is_literal(path) {
            return None;
        }
        if let Some(rest) = path.strip_prefix('/') {
            let path = format!("/{}", clean(rest)?);
            let is_open = |open: &&str| {
                path.strip_prefix(*open).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
            };
            return (!OPEN.iter().any(is_open)).then_some(place(PlaceKind::Absolute, path));
        }
        clean(path).map(|path| place(PlaceKind::Start, path))
    }

    /// The place as it would be declared.
    fn name(&self) -> String {
        match self.kind {
            PlaceKind::Own => format!("$SKILL_DIR/{}", self.path),
            _ => self.path.clone(),
        }
    }

    fn declarable(&self) -> Option<&str> {
        (self.kind != PlaceKind::Own).then_some(&self.path)
    }

    fn message(&self) -> String {
        let behind = match self.kind {
            PlaceKind::Start => " where it starts, in the skill's folder, which is read-only",
            PlaceKind::Project => " in the project, which the skill does not declare",
            PlaceKind::Home => ", but its home is a scratch folder that is gone afterwards",
            PlaceKind::Own => " in the skill's folder, which is read-only",
            PlaceKind::Absolute => ", which the skill does not declare",
        };
        format!("the script writes `{}`{behind}", self.path)
    }

    fn help(&self, skill: &Skill<'_>, missing: &[&str]) -> String {
        let sentence = match self.kind {
            PlaceKind::Own => return "write below `SKILL_DATA`, which is kept, or below `TMPDIR`".to_owned(),
            PlaceKind::Start => {
                "write below `TMPDIR` or `SKILL_DATA`; for a file of the project write below `PROJECT_DIR` and declare it"
            }
            PlaceKind::Home => "write below `SKILL_DATA`, which is kept; if it has to be there, declare it",
            PlaceKind::Project | PlaceKind::Absolute => "write below `TMPDIR` or `SKILL_DATA`, or declare it",
        };
        Need::Write.lines(skill, missing, sentence)
    }
}

/// Whether a path is what it says: nothing is filled in, and it is no pattern.
fn is_literal(path: &str) -> bool {
    !path.is_empty() && !path.contains(['$', '{', '}', '<', '>', '*', '?', '%', '`', '\\', '\n', '|', '\0'])
}

/// A path without its idle steps; `None` where it leads up.
fn clean(path: &str) -> Option<String> {
    let mut steps = Vec::new();
    for step in path.split('/') {
        match step {
            "" | "." => {}
            ".." => return None,
            step => steps.push(step),
        }
    }
    (!steps.is_empty()).then(|| steps.join("/"))
}

/// The globs that a frontmatter names.
struct Globs(Vec<(bool, globset::GlobMatcher)>);

impl Globs {
    fn new(declared: &[String]) -> Self {
        let globs = declared.iter().filter_map(|text| {
            let text = text.trim().trim_start_matches("./");
            // A folder with a slash behind it means everything below.
            let whole = if text.ends_with('/') { format!("{text}**") } else { text.to_owned() };
            let glob = GlobBuilder::new(&whole).literal_separator(true).build().ok()?;
            Some((text.starts_with(['/', '~']), glob.compile_matcher()))
        });
        Self(globs.collect())
    }

    /// Whether one of them means a place. A glob that starts neither at the root nor at home is seen from the project.
    fn mean(&self, place: &Place) -> bool {
        let is_outside = matches!(place.kind, PlaceKind::Home | PlaceKind::Absolute);
        let Some(path) = place.declarable() else { return false };
        self.0.iter().any(|(elsewhere, glob)| *elsewhere == is_outside && glob.is_match(path))
    }
}

/// Whether a script leaves the folder it starts in.
fn moves_in_shell(shell: &Shell) -> bool {
    let mut programs = shell.commands.iter().filter_map(|command| command.program());
    programs.any(|(program, _)| matches!(program, "cd" | "pushd"))
}

fn moves_in_pieces(pieces: &Pieces<'_>) -> bool {
    let mut code = pieces.all.iter().filter(|piece| piece.kind == PieceKind::Code);
    code.any(|piece| pieces.of(piece).contains("chdir("))
}

fn in_shell(shell: &Shell) -> Vec<(String, Range<usize>)> {
    let mut found = Vec::new();
    for command in &shell.commands {
        found.extend(command.targets.iter().map(|word| (word.text.clone(), word.span.clone())));
        if let Some(("tee", arguments)) = command.program() {
            let files = arguments.iter().filter(|word| !word.text.starts_with('-'));
            found.extend(files.map(|word| (word.text.clone(), word.span.clone())));
        }
    }
    found
}

fn in_python(pieces: &Pieces<'_>) -> Vec<(String, Range<usize>)> {
    let mut found = Vec::new();
    for (index, piece) in pieces.all.iter().enumerate().filter(|(_, piece)| piece.kind == PieceKind::Plain) {
        let (before, (after, next)) = (pieces.code_before(index), pieces.code_after(index));
        let (before, after) = match before.strip_suffix("os.path.expanduser(") {
            Some(before) => (before, after.strip_prefix(')').unwrap_or(after).trim_start()),
            None => (before, after),
        };
        let mode = || {
            pieces.all.get(next).filter(|piece| piece.kind == PieceKind::Plain).map(|piece| pieces.of(piece))
        };
        let writes = if is_open(before) {
            let is_mode = matches!(after.trim_end(), "," | ", mode=" | ",mode=");
            is_mode && mode().is_some_and(is_write_mode)
        } else if before.ends_with("Path(") {
            let after = after.strip_prefix(')').unwrap_or_default();
            let after = after.strip_prefix(".expanduser()").unwrap_or(after);
            after.starts_with(".write_text(")
                || after.starts_with(".write_bytes(")
                || (after.trim_end() == ".open(" && mode().is_some_and(is_write_mode))
        } else {
            false
        };
        if writes {
            found.push((pieces.of(piece).to_owned(), piece.span.clone()));
        }
    }
    found
}

/// Whether code ends with a call of the `open` that opens files.
fn is_open(code: &str) -> bool {
    let Some(owner) = code.strip_suffix("open(") else { return false };
    match owner.strip_suffix('.') {
        Some(module) => {
            ["aiofiles", "bz2", "codecs", "gzip", "io", "lzma"].iter().any(|own| module.ends_with(own))
        }
        None => !owner.ends_with(|c: char| c.is_alphanumeric() || c == '_'),
    }
}

/// Whether a mode of `open` writes.
fn is_write_mode(mode: &str) -> bool {
    mode.len() <= 4
        && mode.bytes().all(|byte| b"rwaxbt+U".contains(&byte))
        && mode.contains(['w', 'a', 'x', '+'])
}

fn in_javascript(pieces: &Pieces<'_>) -> Vec<(String, Range<usize>)> {
    let texts = pieces.all.iter().enumerate().filter(|(_, piece)| piece.kind.is_text());
    let written = texts.filter(|(index, _)| {
        let (before, (after, _)) = (pieces.code_before(*index), pieces.code_after(*index));
        // A text that goes on with `+` is not the whole path.
        after.starts_with([',', ')']) && JAVASCRIPT_WRITES.iter().any(|call| before.ends_with(call))
    });
    written.map(|(_, piece)| (pieces.of(piece).to_owned(), piece.span.clone())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::tests::check_names;

    fn check(path: &str, text: &str, expect: &[&str]) {
        check_names(&RULE, path, text, expect);
    }

    #[test]
    fn writes_of_shell_scripts_are_found() {
        let check = |text: &str, expect: &[&str]| check("scripts/a.sh", text, expect);
        check("a > out.json; b >> ./out.json", &["out.json"]);
        check("a > \"$PROJECT_DIR/docs/x.md\"", &["docs/x.md"]);
        check("a | tee -a ~/.config/x", &["~/.config/x"]);
        check("a > /etc/x", &["/etc/x"]);
        check("a > \"$SKILL_DIR/x\"", &["x"]);
        check("a > /tmp/x; b >/dev/null 2>&1; c > $TMPDIR/x; d > \"$SKILL_DATA/x\"", &[]);
        check("a > \"$OUT\"; b > \"$1.md\"; c > x-$(date).log", &[]);
        check("cd \"$PROJECT_DIR\"; a > x; b > /etc/y", &["/etc/y"]);
        check("[ a \\> b ]; [[ a > b ]]; (( a > b ))", &[]);
        check("# a > b\necho 'a > b'", &[]);
    }

    #[test]
    fn writes_of_python_are_found() {
        let check = |text: &str, expect: &[&str]| check("scripts/a.py", text, expect);
        check("with open('a.json', 'w') as f: pass", &["a.json"]);
        check("open('a.json', mode=\"ab\", encoding='x')", &["a.json"]);
        check("open(os.path.expanduser('~/.x/y'), 'w')", &["~/.x/y"]);
        check("Path('/etc/x').write_text(y)", &["/etc/x"]);
        check("Path('~/x').expanduser().write_bytes(y)", &["~/x"]);
        check("open('a.json'); open('b.json', 'r'); open('c', encoding='w')", &[]);
        check("open(f'{x}.json', 'w'); open(x, 'w'); open('/tmp/x', 'w')", &[]);
        check("Image.open('a', 'w'); reopen('a', 'w')", &[]);
        check("os.chdir(x)\nopen('a.json', 'w')", &[]);
        check("open('a/' + x, 'w')", &[]);
    }

    #[test]
    fn writes_of_javascript_are_found() {
        let check = |text: &str, expect: &[&str]| check("scripts/a.js", text, expect);
        check("fs.writeFileSync('a.json', x)", &["a.json"]);
        check("await writeFile(`${process.env.PROJECT_DIR}/a/b.md`, x)", &["a/b.md"]);
        check("fs.writeFileSync('a/' + b, x); fs.writeFileSync(`${a}.json`, x)", &[]);
        check("fs.readFileSync('a.json')", &[]);
    }

    #[test]
    fn declared_globs_are_seen_from_the_project_or_from_where_they_start() {
        let check = |glob: &str, path: &str, expect: bool| {
            let place = Place::of(path).unwrap();
            assert_eq!(Globs::new(&[glob.to_owned()]).mean(&place), expect, "{glob} {path}");
        };
        check("docs/**", "$PROJECT_DIR/docs/a/b.md", true);
        check("docs/", "docs/a.md", true);
        check("./*.md", "a.md", true);
        check("*.md", "docs/a.md", false);
        check("**", "/etc/x", false);
        check("~/notes/**", "$HOME/notes/a", true);
        check("/srv/**", "/srv/a", true);
        check("**", "$SKILL_DIR/x", false);
    }
}
