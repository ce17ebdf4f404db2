//! The search index over files: what is found, what is read, and what is kept.

use crate::machine::{Machine, skill};
use metier_catalog::{Finder, Route, SHORTLIST_BUDGET, SHORTLIST_LENGTH, Shortlist, Tokens};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// Longer than the time within which a file system cannot tell two changes apart.
const TICK: Duration = Duration::from_millis(60);

fn finder(machine: &Machine) -> Finder {
    let snapshot = Arc::new(machine.load_roots(&["root"]));
    let finder = Finder::open(snapshot, Some(&machine.files.join("cache")));
    finder.save().unwrap();
    finder
}

fn names(finder: &Finder, route: &Route) -> Vec<String> {
    let entries = route.skills.iter().filter_map(|routed| finder.snapshot().entry(routed.entry));
    entries.map(|entry| entry.name().to_string()).collect()
}

fn library() -> Machine {
    Machine::new(|files| {
        files
            .file(
                "root/pdf/SKILL.md",
                skill("name: pdf\ndescription: Fills in PDF forms.", "Read the fields of the form."),
            )
            .file(
                "root/tax/SKILL.md",
                skill("name: tax\ndescription: Computes income tax.", "Not for PDF forms."),
            )
            .file(
                "root/log/SKILL.md",
                skill("name: log\ndescription: Finds errors.", "Reads server logs and stack traces."),
            )
            .file("root/log/scripts/rotate_archive.sh", "")
    })
}

#[test]
fn skills_are_found_by_their_bodies_and_scripts_too() {
    let finder = finder(&library());
    let check = |request: &str, first: &str| {
        let route = finder.route(request, 3);
        assert_eq!(names(&finder, &route).first().map(String::as_str), Some(first), "{request}");
        assert_eq!(route.abstain, None, "{request}");
    };
    check("fill in this form", "pdf");
    check("there is a stack trace from the server", "log");
    check("rotate the archive", "log");
    assert!(finder.route("knit a sweater of wool", 3).abstain.is_some());
}

#[test]
fn a_request_that_is_routed_again_has_the_same_route() {
    let library = library();
    let (kept, anew) = (finder(&library), || finder(&library));
    for (request, limit) in [
        ("income tax", 3),
        ("income tax", 3),
        ("income tax", 1),
        ("server logs", 1),
        ("income tax", 30),
        ("income tax", 3),
    ] {
        assert_eq!(kept.route(request, limit), anew().route(request, limit), "{request} {limit}");
    }
}

#[test]
fn what_is_known_is_not_read_again() {
    let machine = library();
    std::thread::sleep(TICK);
    assert_eq!(finder(&machine).synced().read, 3);
    let warm = finder(&machine);
    assert_eq!((warm.synced().read, warm.synced().changed), (0, false));

    let machine = machine.with(|files| {
        files.file(
            "root/tax/SKILL.md",
            skill("name: tax\ndescription: Computes wealth tax.", "Ask for the balance sheet."),
        )
    });
    std::thread::sleep(TICK);
    let next = finder(&machine);
    assert_eq!(next.synced().read, 1);
    assert_eq!(names(&next, &next.route("balance sheet", 1)), ["tax"]);
    assert_eq!(finder(&machine).synced().read, 0);
}

#[test]
fn a_file_that_was_just_written_is_not_trusted_by_its_time() {
    let machine = library();
    // Written and indexed within one tick, so that a second write could leave the same times.
    let first = finder(&machine).synced().read;
    assert_eq!(first, 3);
    std::thread::sleep(TICK);
    let again = finder(&machine).synced().read;
    assert!(again <= 3, "{again}");
    assert_eq!(finder(&machine).synced().read, 0);
}

#[test]
fn following_gives_what_opening_anew_gives() {
    let machine = library();
    let first = finder(&machine);
    let machine = machine.with(|files| {
        files
            .file(
                "root/pdf/SKILL.md",
                skill("name: pdf\ndescription: Fills in PDF forms.", "Now also signs the form."),
            )
            .file(
                "root/new/SKILL.md",
                skill("name: new\ndescription: Signs contracts.", "A contract is signed."),
            )
    });
    remove(&machine, "root/log/SKILL.md");
    let snapshot = Arc::new(machine.load_roots(&["root"]));
    let followed = first.follow(Arc::clone(&snapshot));
    let anew = Finder::open(snapshot, None);
    for request in ["sign the form", "sign a contract", "server logs", "income tax", "forms contracts tax"] {
        assert_eq!(followed.route(request, 9), anew.route(request, 9), "{request}");
    }
    // Whoever has the old one keeps it.
    assert_eq!(names(&first, &first.route("server logs", 1)), ["log"]);
}

#[test]
fn a_broken_cache_is_made_anew() {
    let machine = library();
    finder(&machine);
    let folder = machine.files.join("cache/search");
    for name in metier_files::names_in(&folder, 9) {
        metier_files::write_atomic(&folder.join(name), b"metfind\x02 torn", metier_files::Mode::Private)
            .unwrap();
    }
    let again = finder(&machine);
    assert_eq!(again.synced().read, 3);
    assert_eq!(names(&again, &again.route("fill in this form", 1)), ["pdf"]);
}

#[test]
fn without_a_cache_folder_nothing_is_written() {
    let machine = library();
    let finder = Finder::open(Arc::new(machine.load_roots(&["root"])), None);
    finder.save().unwrap();
    assert_eq!(names(&finder, &finder.route("income tax", 1)), ["tax"]);
    assert_eq!(metier_files::kind(&machine.files.join("cache")), metier_files::Kind::Missing);
}

#[test]
fn only_what_may_be_offered_is_found() {
    let machine = library().with(|files| {
        files.file("root/.disabled.json", r#"["tax"]"#).file(
            "root/mine/SKILL.md",
            skill("name: mine\ndescription: Income tax for me.\ndisable-model-invocation: true", "x"),
        )
    });
    let finder = finder(&machine);
    assert_eq!(names(&finder, &finder.route("income tax", 9)), Vec::<String>::new());
}

#[test]
fn skills_with_one_body_are_one_answer() {
    let body = "Fold the paper along the line and press the edge.";
    let machine = Machine::new(|files| {
        files
            .file("root/a/SKILL.md", skill("name: crane\ndescription: Folds paper.", body))
            .file("root/b/SKILL.md", skill("name: crane-copy\ndescription: Folds paper, too.", body))
            .skill("root/c", "Something else.")
    });
    let finder = finder(&machine);
    let route = finder.route("fold paper", 5);
    assert_eq!(names(&finder, &route).len(), 1);
    assert_eq!(route.skills[0].also.len(), 1);
}

#[test]
fn reasons_name_words_places_and_what_is_held_against_it() {
    let machine = library();
    let finder = finder(&machine);
    let route = finder.route("compute the tax of a pdf form", 3);
    let tax = route.skills.iter().find(|routed| {
        finder.snapshot().entry(routed.entry).is_some_and(|entry| entry.name().as_str() == "tax")
    });
    let reasons = finder.reasons("compute the tax of a pdf form", tax.unwrap().entry);
    assert!(reasons.words.iter().any(|reason| reason.word == "tax"), "{reasons:?}");
    assert_eq!(reasons.against.as_deref(), Some("PDF forms."), "{reasons:?}");
}

#[test]
fn a_shortlist_is_whole_counted_and_within_its_budget() {
    let machine = Machine::new(|mut files| {
        for number in 0..40 {
            let text = skill(
                &format!(
                    "name: skill-{number:02}\ndescription: Folds paper number {number}. {}",
                    "A long tail of words. ".repeat(10)
                ),
                "Fold the paper.",
            );
            files = files.file(format!("root/s{number:02}/SKILL.md"), text + &format!("{number}"));
        }
        files
    });
    let finder = finder(&machine);
    let note =
        Shortlist::new(finder.snapshot(), &finder.route("fold paper", 10), Tokens(300), "skill_search");
    assert!(note.tokens.0 <= 300 && note.described > 1 && note.described < 10, "{note:?}");
    assert!(note.text.starts_with("Of 40 skills these 10 fit"), "{}", note.text);
    assert_eq!(note.text.matches("words.\n").count(), note.described, "{}", note.text);
}

/// The library for which the issue was written: 227 real skills.
#[test]
fn a_library_of_227_real_skills_fits_its_budget_and_loses_nothing() {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/corpus");
    let mut documents = Vec::new();
    collect(&corpus, &mut documents);
    documents.sort();
    if documents.is_empty() {
        metier_testkit::not_tried("corpus", "the corpus of real files is not beside the project");
        return;
    }
    let fill = |folder: &str, documents: &[PathBuf], mut files: metier_testkit::Workspace| {
        for (number, document) in documents.iter().enumerate() {
            let bytes = metier_files::read_bounded(document, 1 << 22).unwrap().unwrap_or_default();
            files = files.file(format!("{folder}/s{number:04}/SKILL.md"), bytes);
        }
        files
    };
    let machine = Machine::new(|files| fill("all", &documents, files));
    let all = machine.load_roots(&["all"]);
    let offered = all.offered();
    let chosen: Vec<PathBuf> = offered.iter().take(227).map(|(_, entry)| all.document_path(entry)).collect();
    let machine = machine.with(|files| fill("root", &chosen, files));
    let finder = Finder::open(Arc::new(machine.load_roots(&["root"])), None);
    let snapshot = finder.snapshot();
    assert_eq!(snapshot.offered().len(), 227);
    let options = snapshot.catalogue_options(None);
    let catalogue = snapshot.catalogue(&options);
    assert!(catalogue.report.tokens.0 <= options.budget.0, "{}", catalogue.report);
    assert!(catalogue.text.contains("227 skills in all"), "the count is stated");

    let mut found = 0;
    for (id, entry) in snapshot.offered() {
        let description: String = entry.description().chars().take(300).collect();
        let route = finder.route(&description, SHORTLIST_LENGTH);
        found +=
            usize::from(route.skills.iter().any(|routed| routed.entry == id || routed.also.contains(&id)));
        // The prefix does not change with the request.
        assert_eq!(snapshot.catalogue(&options).text.len(), catalogue.text.len());
        let note = Shortlist::new(snapshot, &route, SHORTLIST_BUDGET, options.search);
        assert!(note.tokens.0 <= SHORTLIST_BUDGET.0, "{note:?}");
        let lines: Vec<&str> =
            note.text.lines().filter(|line| line.starts_with("- **") && !line.ends_with("**")).collect();
        assert_eq!(lines.len(), note.described);
        for line in lines {
            let name = line.trim_start_matches("- **").split("**").next().unwrap_or_default();
            let entry =
                snapshot.offered().into_iter().find(|(_, entry)| entry.name().as_str() == name).unwrap().1;
            let whole = metier_catalog::one_line(entry.description(), usize::MAX);
            assert!(line.replace("&lt;", "<").contains(&whole), "a description is cut: {line}");
        }
        assert!(note.text.is_empty() || note.text.contains("Of 227 skills"), "{}", note.text);
    }
    println!("{found} of 227 are among the first {SHORTLIST_LENGTH} for their own description");
    assert!(found >= 225, "{found} of 227");
}

fn collect(folder: &Path, found: &mut Vec<PathBuf>) {
    for name in metier_files::names_in(folder, usize::MAX) {
        let path = folder.join(name);
        if path.ends_with("odd") {
            continue;
        }
        if path.ends_with("SKILL.md") {
            found.push(path);
        } else if metier_files::kind(&path) == metier_files::Kind::Folder {
            collect(&path, found);
        }
    }
}

#[expect(clippy::disallowed_methods, reason = "the test's own file")]
fn remove(machine: &Machine, path: &str) {
    std::fs::remove_file(machine.files.join(path)).unwrap();
}
