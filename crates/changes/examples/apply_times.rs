//! How long it takes to scan and to apply, against a loop that does the same to the files directly.
//!
//! `cargo run --release -p metier-changes --example apply_times [FOLDER]` prints one JSON object a line: what was done to how
//! many files, the milliseconds of the bare loop, of the scan and of applying, and the ratio of both together to the loop.
//! The work of the contained process itself (writing to the layer) is not part of it. FOLDER is where the files are made; the
//! system's temporary folder without it. On a disk the times of applying hold two syncs of the whole file system; in memory
//! (`/dev/shm`) they are those of the work itself.
#![expect(
    clippy::disallowed_methods,
    clippy::print_stdout,
    reason = "a measurement makes its own files and prints its result"
)]

use std::collections::BTreeSet;
use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use metier_changes::{CallOrigin, LayerPath, LayerStore, apply, scan};
use rustix::fs::{CWD, FileType, Mode, mknodat};

/// How often each is measured; the median counts.
const ROUNDS: usize = 5;
const CONTENT: &str = "a line of text that is about as long as lines are\n";

fn main() -> Result<(), Box<dyn Error>> {
    let place = std::env::args_os().nth(1).map_or_else(std::env::temp_dir, PathBuf::from);
    let root = place.join(format!("metier-apply-times-{}", std::process::id()));
    let empty = measure_empty(&root)?;
    println!("{{\"deed\":\"nothing\",\"layer_us\":{:.0}}}", empty.as_secs_f64() * 1e6);
    for deed in [Deed::Create, Deed::Change, Deed::Delete] {
        for files in [1_000, 10_000] {
            let mut rounds = Vec::new();
            for _ in 0..ROUNDS {
                let measured = measure(&root, deed, files);
                fs::remove_dir_all(&root)?;
                rounds.push(measured?);
            }
            let median = |of: fn(&Times) -> Duration| {
                let mut times: Vec<f64> = rounds.iter().map(|times| of(times).as_secs_f64() * 1e3).collect();
                times.sort_by(f64::total_cmp);
                times[ROUNDS / 2]
            };
            let (bare, scan, apply) =
                (median(|times| times.bare), median(|times| times.scan), median(|times| times.apply));
            println!(
                "{{\"deed\":\"{}\",\"files\":{files},\"bare_ms\":{bare:.1},\"scan_ms\":{scan:.1},\"apply_ms\":{apply:.1},\"ratio\":{:.2}}}",
                deed.word(),
                (scan + apply) / bare
            );
        }
    }
    Ok(())
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Deed {
    Create,
    Change,
    Delete,
}

impl Deed {
    fn word(self) -> &'static str {
        match self {
            Self::Create => "create",
            Self::Change => "change",
            Self::Delete => "delete",
        }
    }
}

struct Times {
    bare: Duration,
    scan: Duration,
    apply: Duration,
}

/// The files of a measurement, a hundred in each folder.
fn names(files: usize) -> impl Iterator<Item = PathBuf> {
    (0..files).map(|number| PathBuf::from(format!("d{}/f{number}", number / 100)))
}

fn fill(folder: &Path, files: usize, text: &str) -> Result<(), Box<dyn Error>> {
    for name in names(files) {
        if let Some(parent) = name.parent() {
            fs::create_dir_all(folder.join(parent))?;
        }
        fs::write(folder.join(name), text)?;
    }
    Ok(())
}

/// What a call that writes nothing takes, for one layer: made, scanned, removed.
fn measure_empty(root: &Path) -> Result<Duration, Box<dyn Error>> {
    const LAYERS: u32 = 200;
    let project = root.join("project");
    fs::create_dir_all(&project)?;
    let store = LayerStore::new(&root.join("data"));
    let began = Instant::now();
    for _ in 0..LAYERS {
        let layer = store.create(&project, CallOrigin::default())?;
        scan(&layer)?;
        layer.remove()?;
    }
    let elapsed = began.elapsed();
    fs::remove_dir_all(root)?;
    Ok(elapsed / LAYERS)
}

fn measure(root: &Path, deed: Deed, files: usize) -> Result<Times, Box<dyn Error>> {
    let (project, bare, data) = (root.join("project"), root.join("bare"), root.join("data"));
    for folder in [&project, &bare, &data] {
        fs::create_dir_all(folder)?;
    }
    if deed != Deed::Create {
        fill(&project, files, "old")?;
        fill(&bare, files, "old")?;
    }
    let began = Instant::now();
    match deed {
        Deed::Create | Deed::Change => fill(&bare, files, CONTENT)?,
        Deed::Delete => names(files).try_for_each(|name| fs::remove_file(bare.join(name)))?,
    }
    let bare = began.elapsed();
    let layer = LayerStore::new(&data).create(&project, CallOrigin::default())?;
    match deed {
        Deed::Create | Deed::Change => fill(&layer.upper(), files, CONTENT)?,
        Deed::Delete => {
            for name in names(files) {
                let mark = layer.upper().join(name);
                if let Some(parent) = mark.parent() {
                    fs::create_dir_all(parent)?;
                }
                mknodat(CWD, &mark, FileType::CharacterDevice, Mode::empty(), 0)?;
            }
        }
    }
    let began = Instant::now();
    let changes = scan(&layer)?;
    let scan = began.elapsed();
    let selected: BTreeSet<LayerPath> = changes.entries.iter().map(|change| change.path.clone()).collect();
    let began = Instant::now();
    apply(&layer, &changes, &selected)?;
    Ok(Times { bare, scan, apply: began.elapsed() })
}
