//! Resolves the skills that a role names, and checks that each may be used.

use std::path::Path;

use metier_catalog::{Entry, EntryId, Lookup, Reference, Snapshot, State};
use metier_diagnostic::Code;
use metier_files::{Kind, kind, real_path};

use crate::value_reader::Reader;
use crate::{DefinitionFormat, Role, SkillList, SkillRef, code};

impl Role {
    /// Its skills as exact references; `None` where it sees all skills.
    pub fn references(&self, snapshot: &Snapshot) -> Option<Vec<String>> {
        let SkillList::Named(skills) = &self.skills else { return None };
        let reference = |skill: &SkillRef| match &skill.folder {
            Some(folder) => match in_folder(snapshot, &folder.value) {
                Placed::Entry(_, entry) => exact(snapshot, entry),
                Placed::Broken(_) | Placed::Nowhere => skill.name.value.clone(),
            },
            None => skill.name.value.clone(),
        };
        Some(skills.iter().map(reference).collect())
    }
}

pub(crate) fn check(role: &Role, format: DefinitionFormat, snapshot: &Snapshot, reader: &mut Reader<'_>) {
    let mut seen: Vec<(EntryId, &str)> = Vec::new();
    let mut names: Vec<&str> = Vec::new();
    for skill in role.skills.named() {
        let name = skill.name.value.as_str();
        let found = if skill.folder.is_some() {
            placed(skill, snapshot, reader)
        } else {
            called(skill, snapshot, reader)
        };
        let twin =
            found.and_then(|id| seen.iter().find(|(known, _)| *known == id)).map(|(_, earlier)| *earlier);
        if let Some(earlier) = twin.or_else(|| names.iter().find(|known| **known == name).copied()) {
            let message = if earlier == name {
                format!("the skill `{name}` is named twice")
            } else {
                format!("`{name}` is the same skill as `{earlier}`")
            };
            let whose = if format == DefinitionFormat::Crew {
                format!(" for `{}`", role.name.value)
            } else {
                String::new()
            };
            reader.say(&code::AGENT_SKILL_DUPLICATE, skill.name.span, message + &whose, "leave one of them");
        }
        names.push(name);
        seen.extend(found.map(|id| (id, name)));
    }
}

/// A skill that is named and nothing more.
fn called(skill: &SkillRef, snapshot: &Snapshot, reader: &mut Reader<'_>) -> Option<EntryId> {
    let span = skill.name.span;
    let reference: Reference = match skill.name.value.parse() {
        Ok(reference) => reference,
        Err(error) => {
            let help = "write a name, `name@requirement` or `origin:name`";
            reader.say(&code::AGENT_SKILL_REFERENCE, span, error.to_string(), help);
            return None;
        }
    };
    let lookup = snapshot.find(&reference);
    let (code, help): (&'static Code, &str) = match &lookup {
        Lookup::Found(id, _) => return Some(*id),
        Lookup::Unusable(_, entry) => (&code::AGENT_SKILL_UNUSABLE, remedy(entry.state())),
        Lookup::NoVersion(_) => (&code::AGENT_SKILL_VERSION, "ask for a version that is there"),
        Lookup::Ambiguous(_) => (&code::AGENT_SKILL_AMBIGUOUS, "write the one that is meant"),
        Lookup::Failed(_) => (&code::AGENT_SKILL_BROKEN, "`metier check` shows what is wrong with it"),
        Lookup::NotFound(_) => (&code::AGENT_SKILL_MISSING, "`metier list` shows the skills that there are"),
    };
    let message = format!("`{}`: {}", skill.name.value, snapshot.in_words(&lookup));
    reader.say(code, span, message, help);
    None
}

/// A skill that is named together with its folder, as crews do.
fn placed(skill: &SkillRef, snapshot: &Snapshot, reader: &mut Reader<'_>) -> Option<EntryId> {
    let folder = skill.folder.as_ref()?;
    let (name, path) = (&skill.name.value, folder.value.display());
    let (id, entry) = match in_folder(snapshot, &folder.value) {
        Placed::Entry(id, entry) => (id, entry),
        Placed::Broken(why) => {
            let message = format!("`{name}`: the skill in `{path}` does not load: {why}");
            let help = "`metier check` shows what is wrong with it";
            reader.say(&code::AGENT_SKILL_BROKEN, folder.span, message, help);
            return None;
        }
        Placed::Nowhere => {
            nowhere(skill, snapshot, reader);
            return None;
        }
    };
    if entry.name().as_str() != name && entry.title() != Some(name) {
        let message = format!("the crew calls this skill `{name}`, its SKILL.md calls it `{}`", entry.name());
        let help = "write the same name in both";
        reader.say(&code::AGENT_SKILL_OTHER_NAME, skill.name.span, message, help);
        return Some(id);
    }
    if !entry.state().holds_name() {
        let message = format!("`{name}`: the skill in `{path}` is {}", entry.state());
        reader.say(&code::AGENT_SKILL_UNUSABLE, skill.name.span, message, remedy(entry.state()));
        return Some(id);
    }
    let reference: Result<Reference, _> = exact(snapshot, entry).parse();
    if let Ok(Lookup::Found(other, winner)) = reference.as_ref().map(|reference| snapshot.find(reference))
        && other != id
        && !snapshot.other_folders(other).contains(&snapshot.folder(entry))
    {
        let message =
            format!("`{name}` leads to `{}`, not to this folder", snapshot.folder(winner).display());
        let help = "give one of the two another name, or keep the crews in folders of their own";
        reader.say(&code::AGENT_SKILL_SHADOWED, folder.span, message, help);
    }
    Some(id)
}

/// Why a folder holds no skill that is known.
fn nowhere(skill: &SkillRef, snapshot: &Snapshot, reader: &mut Reader<'_>) {
    let Some(folder) = &skill.folder else { return };
    let layout = snapshot.layout();
    let path = &folder.value;
    let is_outside = |project: &Path| !real_path(path).as_deref().unwrap_or(path).starts_with(project);
    let shown = path.display();
    let (code, message, help): (&'static Code, String, &str) = if kind(path) != Kind::Folder {
        (
            &code::AGENT_FOLDER_MISSING,
            format!("`{shown}` is not a folder"),
            "paths are relative to the crew file",
        )
    } else if kind(&path.join("SKILL.md")) == Kind::Missing && kind(&path.join("skill.md")) == Kind::Missing {
        let message = format!("there is no SKILL.md in `{shown}`");
        (&code::AGENT_FOLDER_MISSING, message, "name the folder that the SKILL.md lies in")
    } else if layout.project.as_ref().is_none_or(|project| is_outside(&project.folder)) {
        let message = format!("`{shown}` is outside of the project, which is not trusted");
        (&code::AGENT_PATH_OUTSIDE, message, "look at it with `metier trust --preview`, then `metier trust`")
    } else {
        let message = format!("the skill in `{shown}` is not among the roots");
        (&code::AGENT_SKILL_MISSING, message, "leave `--root` out, and look at the crew from its own folder")
    };
    reader.say(code, folder.span, message, help);
}

/// What a folder is in a snapshot.
enum Placed<'a> {
    Entry(EntryId, &'a Entry),
    /// Its file does not load, for this reason.
    Broken(String),
    Nowhere,
}

fn in_folder<'a>(snapshot: &'a Snapshot, folder: &Path) -> Placed<'a> {
    let real = real_path(folder).unwrap_or_else(|_| folder.to_owned());
    // Links are looked at only where the names agree: a catalogue of thousands would otherwise be asked of the disk.
    let is_it = |known: &Path| {
        known == folder
            || known == real
            || (known.file_name() == real.file_name() && real_path(known).is_ok_and(|known| known == real))
    };
    if let Some((id, entry)) = snapshot.entries().find(|(_, entry)| is_it(&snapshot.folder(entry))) {
        return Placed::Entry(id, entry);
    }
    let roots = &snapshot.layout().roots;
    let failure = snapshot.failures().iter().find(|failure| {
        roots.get(failure.root).is_some_and(|root| is_it(&below(&root.path, &failure.folder)))
    });
    match failure {
        Some(failure) => {
            let reason = failure.reason().map_or_else(String::new, |reason| reason.message.clone());
            Placed::Broken(reason)
        }
        None => Placed::Nowhere,
    }
}

/// A folder below a root, which may be the root itself.
fn below(root: &Path, folder: &Path) -> std::path::PathBuf {
    if folder.as_os_str().is_empty() { root.to_owned() } else { root.join(folder) }
}

/// A reference that means this very skill.
fn exact(snapshot: &Snapshot, entry: &Entry) -> String {
    format!("{}:{}", snapshot.root(entry).origin, entry.name())
}

fn remedy(state: State) -> &'static str {
    match state {
        State::Untrusted => "look at the project with `metier trust --preview`, then `metier trust`",
        State::Disabled => "`metier enable` takes it up again",
        State::Off => "the configuration turns it off",
        _ => "`metier explain` says more",
    }
}
