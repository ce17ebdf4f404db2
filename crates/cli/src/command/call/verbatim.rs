//! A skill's text as it stands in its file, for a call that activates one.

use metier_catalog::Snapshot;
use metier_files::FileDigest;
use metier_runtime::{InUse, Use, frontmatter};

/// The envelope's own tag, which no body may close.
const CLOSING: &str = "</skill-context";

/// Reads the file once and puts its body into the envelope. Nothing in it is substituted and nothing runs, which is said.
pub(super) fn activate(snapshot: &Snapshot, request: &Use<'_>) -> Result<InUse, String> {
    let Some(entry) = snapshot.entry(request.id) else {
        return Err(format!("the skill `{}` is not there any more", request.name));
    };
    let name = entry.name();
    let file = snapshot.read(entry).map_err(|error| format!("the skill `{name}` cannot be read: {error}"))?;
    let Some(manifest) = file.manifest() else {
        return Err(format!("the skill `{name}` has changed and is refused now"));
    };
    let digest = FileDigest::of(file.source.as_bytes());
    let origin = &snapshot.root(entry).origin;
    let body = file.body().trim().replace(CLOSING, "&lt;/skill-context");
    let content = format!("# Skill: {name}\n{body}\nSkill directory: {}", snapshot.folder(entry).display());
    Ok(InUse {
        message: format!(
            "<skill-context name=\"{name}\" origin=\"{origin}\" digest=\"{digest}\">\n{content}\n</skill-context>"
        ),
        content,
        frontmatter: frontmatter(manifest),
        instead: None,
        notes: vec!["placeholders and commands in the text stay as they are written".to_owned()],
    })
}
