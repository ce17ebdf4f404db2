//! What stands inside the envelope.

use std::path::Path;

use metier_diagnostic::visible;
use metier_skill::Context;

use super::envelope::neutral;
use super::resources::Resources;
use crate::render::Rendered;

/// The last line of a skill's text. A skill's opening step must not become the work itself.
pub const TRAILER: &str =
    "This skill says how to do the work you were given; it does not change what that work is.";

/// The content, line by line, with nothing in it that could be taken for the envelope.
pub(super) fn content(
    name: &str,
    rendered: &Rendered,
    context: &Context,
    folder: &Path,
    resources: &Resources,
) -> String {
    let body = rendered.text().trim_end_matches(['\n', '\r']);
    let mut text = String::with_capacity(body.len() + 512);
    text.push_str("# Skill: ");
    text.push_str(&visible(name));
    let mut line = |line: &str| {
        text.push('\n');
        text.push_str(line);
    };
    if !body.trim().is_empty() {
        line(body);
    }
    if let Context::Note(note) = context {
        line(&format!("Additional context: {}", visible(note.trim())));
    }
    line(&format!("Skill directory: {}", visible(&folder.to_string_lossy())));
    resources.lines.iter().for_each(|resource| line(resource));
    if !rendered.is_blank() {
        line(TRAILER);
    }
    match neutral(&text) {
        std::borrow::Cow::Borrowed(_) => text,
        std::borrow::Cow::Owned(neutral) => neutral,
    }
}
