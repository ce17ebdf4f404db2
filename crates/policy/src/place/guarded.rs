//! Protected places: what acts later, without being called.

mod git;

use metier_protected::PROTECTED;
use std::collections::BTreeMap;
use std::sync::LazyLock;

/// Places that the sandbox needs no row for: it knows skills by their folders, hides secrets, and shows nothing of the home.
const MORE: &[&str] = &["skill.md", "mcp.json", ".npmrc", "config.fish", ".config/metier", ".ssh"];

/// The places of both tables, each one step of a path or several, in lower case, with one `*` in a step for anything; with a `/`
/// before it, seen from the project alone. What lies below is meant, too. Files of a git folder have rules of their own in `git`:
/// git writes most of them in ordinary use.
fn places() -> impl Iterator<Item = &'static str> {
    let protected = PROTECTED.iter().map(|rule| rule.pattern);
    protected.filter(|pattern| !pattern.starts_with(".git/")).chain(MORE.iter().copied())
}

/// A row, split once: ten thousand paths are held against the table when a build is over.
struct Row {
    steps: Vec<&'static str>,
    is_anchored: bool,
}

/// The rows by the first byte of their first step: hardly a step of a path begins like a row.
static ROWS: LazyLock<BTreeMap<u8, Vec<Row>>> = LazyLock::new(|| {
    let mut rows: BTreeMap<u8, Vec<Row>> = BTreeMap::new();
    for place in places() {
        let (place, is_anchored) = place.strip_prefix('/').map_or((place, false), |place| (place, true));
        let row = Row { steps: place.split('/').collect(), is_anchored };
        rows.entry(first_byte(place)).or_default().push(row);
    }
    rows
});

fn first_byte(text: &str) -> u8 {
    text.bytes().next().unwrap_or_default().to_ascii_lowercase()
}

/// Whether a path is one of the places that may be written only with a yes to this very question. A path that ends in `.git` is
/// taken for a file, which sends git to another folder; see [`super::Place::folder`].
///
/// Names are compared without case, since some file systems do not tell them apart.
pub fn is_guarded(path: &str) -> bool {
    is_git_file(path) || is_listed(path)
}

/// Whether a path is a folder in which git keeps protected files among others, such as `.git/info`: a link or a file there brings
/// others.
pub fn holds_git_control(path: &str) -> bool {
    git::is_holder(&path.split('/').filter(|step| !step.is_empty()).collect::<Vec<_>>())
}

/// The same as [`is_guarded`] but for a path that ends in `.git`.
pub(super) fn is_listed(path: &str) -> bool {
    let steps: Vec<&str> = path.split('/').filter(|step| !step.is_empty()).collect();
    let is_relative = !path.starts_with(['/', '~']);
    let begins_row = |at: usize| {
        let rest = &steps[at..];
        let is_row = |row: &Row| {
            (!row.is_anchored || is_relative && at == 0)
                && rest.len() >= row.steps.len()
                && rest.iter().zip(&row.steps).all(|(step, wanted)| is_step(step, wanted))
        };
        // A row that begins with a star is for steps that begin with anything.
        [first_byte(rest[0]), b'*'].iter().filter_map(|byte| ROWS.get(byte)).flatten().any(is_row)
    };
    git::is_control(&steps) || (0..steps.len()).any(begins_row)
}

/// Whether the last step is `.git`.
pub(super) fn is_git_file(path: &str) -> bool {
    path.rsplit('/').next().is_some_and(git::is_git)
}

/// Whether a step of a path is the one that is wanted, which may have one `*`.
fn is_step(step: &str, wanted: &str) -> bool {
    let Some((start, end)) = wanted.split_once('*') else { return step.eq_ignore_ascii_case(wanted) };
    let is = |part: Option<&str>, wanted: &str| part.is_some_and(|part| part.eq_ignore_ascii_case(wanted));
    let at = step.len().checked_sub(end.len()).filter(|at| *at >= start.len());
    at.is_some_and(|at| is(step.get(..start.len()), start) && is(step.get(at..), end))
}
