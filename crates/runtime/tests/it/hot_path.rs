//! Activations while somebody replaces the skill's files as fast as they can.

use std::fs;
use std::io::Write;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use metier_activation::{ActivationError, ActivationOutcome};
use metier_exec::SkillFoldersError;
use metier_files::FileDigest;
use metier_runtime::{SkillSession, Skills, UseError};
use metier_testkit::Workspace;
use serde_json::json;

const ACTIVATIONS: usize = 1_000;

/// The same in every version, and shorter than a page of the file system: a body that is written in pieces has it whole.
const FRONTMATTER: &str = "---\nname: hot\ndescription: Changes all the time.\n---\n";

/// A version of the file: every line says which it is. Nothing in it is replaced, so the text has the body as it was read.
fn version(number: usize) -> String {
    format!("{FRONTMATTER}{}", format!("Version {number:06} of the instructions.\n").repeat(250))
}

/// Replaces files until it is told to stop, and says how often it did.
fn while_it_changes(change: impl Fn(usize) + Sync, work: impl FnOnce()) -> usize {
    let (stop, made) = (AtomicBool::new(false), AtomicUsize::new(0));
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !stop.load(Ordering::Relaxed) {
                change(made.fetch_add(1, Ordering::Relaxed) + 1);
            }
        });
        // Stops the other thread also where the work fails, or the test would never end.
        let done = std::panic::catch_unwind(std::panic::AssertUnwindSafe(work));
        stop.store(true, Ordering::Relaxed);
        if let Err(panic) = done {
            std::panic::resume_unwind(panic);
        }
    });
    made.into_inner()
}

/// How the file is written.
#[derive(Clone, Copy, PartialEq)]
enum Writing {
    /// Whole, under another name, which then takes the file's place.
    Rename,
    /// Over itself.
    InPlace,
    /// Emptied, then filled.
    Truncated,
    /// With its folder: the old one is moved away, another takes its place.
    Folder,
}

fn check(writing: Writing) {
    let workspace = Workspace::new().file("skills/hot/SKILL.md", version(0)).dir("spare");
    let (folder, spare) = (workspace.join("skills/hot"), workspace.join("spare"));
    let document = folder.join("SKILL.md");
    let change = |number: usize| change(writing, number, &folder, &document, &spare);
    let mut session = Skills::open([workspace.join("skills")]).session();
    let (mut fresh, mut mixed) = (0, 0);
    let made = while_it_changes(change, || {
        // On a busy machine the writer may be set aside while the file is empty: then more rounds give the same number of texts.
        let enough = |fresh: usize| fresh > ACTIVATIONS / 20;
        for round in 0..20 * ACTIVATIONS {
            if round >= ACTIVATIONS && enough(fresh) {
                break;
            }
            session.forget_texts();
            if round.is_multiple_of(8) {
                session.user_message();
            }
            match activated(&mut session, round) {
                Some((digest, body)) => {
                    fresh += 1;
                    // Line breaks at the end of a body are not in the text; a file that is half there may have none.
                    let is_of = |end: &str| {
                        let source = format!("{FRONTMATTER}{}{end}", body.trim_end());
                        FileDigest::of(source.as_bytes()).to_string() == digest
                    };
                    assert!(is_of("\n") || is_of(""), "round {round}: the digest is of another text");
                    mixed += usize::from(!is_one_version(&body));
                }
                None => assert!(writing != Writing::Rename, "a file that is always there was not activated"),
            }
        }
    });
    assert!(made > 10, "nothing changed meanwhile");
    assert!(fresh > ACTIVATIONS / 20, "{fresh} of {ACTIVATIONS}");
    // Whoever writes over a file shows halves to every reader; whoever renames or moves does not.
    if matches!(writing, Writing::Rename | Writing::Folder) {
        assert_eq!(mixed, 0);
    }
}

fn change(writing: Writing, number: usize, folder: &Path, document: &Path, spare: &Path) {
    let text = version(number);
    match writing {
        Writing::Rename => {
            let next = spare.join("next");
            fs::write(&next, text).unwrap();
            fs::rename(&next, document).unwrap();
        }
        Writing::InPlace => {
            let mut file = fs::OpenOptions::new().write(true).open(document).unwrap();
            for piece in text.as_bytes().chunks(4_096) {
                file.write_all(piece).unwrap();
            }
        }
        Writing::Truncated => {
            fs::write(document, text).unwrap();
            // Whoever empties it again at once leaves nothing to be read at all.
            std::thread::sleep(std::time::Duration::from_micros(200));
        }
        Writing::Folder => {
            let (next, old) = (spare.join("next"), spare.join("old"));
            fs::create_dir_all(&next).unwrap();
            fs::write(next.join("SKILL.md"), text).unwrap();
            fs::rename(folder, &old).unwrap();
            fs::rename(&next, folder).unwrap();
            fs::remove_dir_all(&old).unwrap();
        }
    }
}

/// Activates the skill, by the program and by the model in turns: the digest that is told, and the body in the text.
fn activated(session: &mut SkillSession, round: usize) -> Option<(String, String)> {
    if round.is_multiple_of(2) {
        return match session.activate("hot", "") {
            Ok(used) => {
                let ActivationOutcome::Fresh(activation) = used.activated else { panic!("it was forgotten") };
                let body = activation.rendered.text().to_owned();
                assert!(used.text.contains(body.trim_end()), "the text has another body");
                Some((activation.digest.to_string(), body))
            }
            Err(
                UseError::Activation(ActivationError::Broken { .. } | ActivationError::Gone { .. })
                | UseError::Folders(SkillFoldersError::Gone { .. })
                | UseError::FolderGone { .. }
                | UseError::Unknown { .. },
            ) => None,
            Err(error) => panic!("{error}"),
        };
    }
    let result = session.call("skill_use", &json!({ "skill_name": "hot" }));
    let Some(message) = result.message else {
        assert!(result.is_error(), "{}", result.text);
        return None;
    };
    let (_, digest) = message.text.split_once("digest=\"").unwrap();
    let (digest, rest) = digest.split_once("\">\n# Skill: hot\n").unwrap();
    let (body, _) = rest.rsplit_once("\nSkill directory: ").unwrap();
    Some((digest.to_owned(), body.to_owned()))
}

fn is_one_version(body: &str) -> bool {
    let mut lines = body.lines();
    let first = lines.next();
    lines.all(|line| Some(line) == first)
}

#[test]
fn a_text_is_of_one_read_while_the_file_is_replaced_by_rename() {
    check(Writing::Rename);
}

#[test]
fn a_digest_is_of_its_text_while_the_file_is_written_over() {
    check(Writing::InPlace);
}

#[test]
fn a_file_that_is_emptied_and_filled_gives_its_text_or_an_error() {
    check(Writing::Truncated);
}

#[test]
fn a_folder_that_is_replaced_gives_its_text_or_an_error() {
    check(Writing::Folder);
}
