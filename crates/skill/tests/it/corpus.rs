//! Real public files, where they are at hand: nothing panics, nearly everything loads, and what does not says why.
//!
//! The corpus is no part of the project (see `../shared/README.md`), so without it these tests only say so.

use crate::invariant::{judging_answers, listed};
use crate::summary::summary;
use metier_diagnostic::Severity;
use metier_skill::profile::{FileView, Meaning, Profile, judge};
use metier_skill::yaml::{self, parse_fully, parse_plainly};
use metier_skill::{Portion, parse, summarize};
use std::path::{Path, PathBuf};

/// What discovery reads of a file at first.
const HEAD: usize = 2_048;

struct File {
    path: PathBuf,
    folder: String,
    bytes: Vec<u8>,
}

impl File {
    fn is_odd(&self) -> bool {
        self.path.components().any(|part| part.as_os_str() == "odd")
    }

    /// Whether the file begins as one with frontmatter does.
    fn has_frontmatter(&self) -> bool {
        let text = String::from_utf8_lossy(&self.bytes);
        text.trim_start_matches(['\u{feff}', '\n', '\r', ' ']).starts_with("---")
    }
}

/// Every SKILL.md of the corpus; nothing when it is not there.
#[expect(clippy::disallowed_methods, reason = "test data beside the project, read only here")]
fn files() -> Vec<File> {
    let root = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/corpus"));
    let mut folders = vec![root.to_owned()];
    let mut files = Vec::new();
    while let Some(folder) = folders.pop() {
        let Ok(entries) = std::fs::read_dir(&folder) else { continue };
        for path in entries.flatten().map(|entry| entry.path()) {
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "md") {
                let bytes = std::fs::read(&path).expect("a file of the corpus can be read");
                let name = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
                files.push(File { path, folder: name, bytes });
            }
        }
    }
    files.sort_by(|a, b| a.path.cmp(&b.path));
    if files.is_empty() {
        metier_testkit::not_tried("corpus", "the corpus of real files is not beside the project");
    }
    files
}

#[test]
fn nearly_everything_loads_and_the_rest_says_why() {
    let files = files();
    let mut counts = [(0_u32, 0_u32); 2];
    for file in &files {
        let parsed = parse(&file.bytes, Some(&file.folder));
        for found in &parsed.diagnostics {
            let path = file.path.display();
            assert!(found.line().is_some() && found.column().is_some(), "{path}: {found:?} has no place");
            let says_enough = found.help.is_some() || found.severity() == Severity::Info;
            assert!(!found.message.is_empty() && says_enough, "{path}: {found:?} says too little");
        }
        let is_refused = parsed.document.is_none();
        let has_reason = parsed.diagnostics.iter().any(|found| found.severity() == Severity::Error);
        assert!(!is_refused || has_reason, "{}: refused without a reason", file.path.display());
        if file.is_odd() || file.has_frontmatter() {
            let (all, loaded) = &mut counts[usize::from(file.is_odd())];
            *all += 1;
            *loaded += u32::from(!is_refused);
        }
    }
    for ((all, loaded), (what, least)) in
        counts.into_iter().zip([("ordinary files with frontmatter", 99.5), ("odd files", 80.0)])
    {
        let share = f64::from(loaded) / f64::from(all.max(1)) * 100.0;
        println!("{what}: {loaded} of {all} load ({share:.2} %)");
        assert!(all == 0 || share >= least, "{what}: {share:.2} % load, {least} % are the least");
    }
}

#[test]
fn every_client_has_an_opinion_on_every_file() {
    let files = files();
    let mut counts = vec![(0_u32, 0_u32); Profile::ALL.len()];
    for file in &files {
        judging_answers(&file.bytes, Some(&file.folder));
        let source = String::from_utf8_lossy(&file.bytes);
        let parsed = parse(&file.bytes, Some(&file.folder));
        for (profile, (loads, same)) in Profile::ALL.iter().zip(&mut counts) {
            let verdict = judge(*profile, &FileView::new(&source, &parsed, Some(&file.folder)));
            *loads += u32::from(verdict.loads.is_yes());
            *same += u32::from(verdict.meaning() == Meaning::Same);
        }
    }
    for (profile, (loads, same)) in Profile::ALL.iter().zip(counts) {
        println!("{profile}: {loads} of {} load, {same} mean the same", files.len());
    }
}

#[test]
fn the_beginning_of_a_file_is_judged_as_the_whole_or_not_at_all() {
    let files = files();
    let mut judged = 0;
    for file in &files {
        for length in [HEAD, 512, 300, file.bytes.len()] {
            let head = &file.bytes[..length.min(file.bytes.len())];
            let folder = Some(&*file.folder);
            let Some(beginning) = summarize(head, folder, Portion::Beginning) else { continue };
            let whole = listed(parse(&file.bytes, folder));
            assert_eq!(listed(beginning), whole, "{}", file.path.display());
            assert_eq!(
                summarize(&file.bytes, folder, Portion::Whole).map(listed),
                Some(whole),
                "{}",
                file.path.display()
            );
            judged += u32::from(length == HEAD);
        }
    }
    println!("{judged} of {} files are judged by their first {HEAD} bytes", files.len());
}

#[test]
fn both_parsers_read_every_frontmatter_alike() {
    let (mut all, mut fast) = (0_u32, 0_u32);
    for file in files() {
        let text = String::from_utf8_lossy(&file.bytes);
        let Some(span) = parse(&file.bytes, None).document.and_then(|document| document.frontmatter) else {
            continue;
        };
        let frontmatter = span.of(&text);
        let full = parse_fully(frontmatter, 0);
        if !file.is_odd() {
            all += 1;
        }
        if let Some(tree) = parse_plainly(frontmatter, 0) {
            assert_eq!(Ok(Some(tree)), full, "{}", file.path.display());
            fast += u32::from(!file.is_odd());
        }
        assert_eq!(yaml::parse(frontmatter, 0), full, "{}", file.path.display());
    }
    let share = f64::from(fast) / f64::from(all.max(1)) * 100.0;
    println!("{fast} of {all} frontmatters take the fast path ({share:.1} %)");
    assert!(all == 0 || share >= 94.0, "only {share:.1} % of the frontmatters take the fast path");
}

#[test]
fn a_repaired_file_reads_the_same_without_repair_once_its_fixes_are_made() {
    let mut whole = 0;
    for file in files() {
        let lines = summary(&file.bytes, Some(&file.folder));
        let fix = lines.iter().find(|line| line.starts_with("fix: "));
        assert!(!fix.is_some_and(|fix| fix.contains("BROKEN")), "{}: {fix:?}", file.path.display());
        whole += u32::from(fix.is_some_and(|fix| fix == "fix: whole"));
    }
    println!("{whole} files are mended as a whole by the fixes they are offered");
}
