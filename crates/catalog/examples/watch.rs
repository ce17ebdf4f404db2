//! Measures how long a change takes to be in force: `cargo run --release -p metier-catalog --example watch -- DIR [TIMES]`.
//!
//! It writes into the skills below DIR, so give it a copy.
#![allow(
    clippy::print_stdout,
    clippy::disallowed_methods,
    reason = "an example prints what it measured, and writes files"
)]

use metier_catalog::{Catalog, Include, Places, RootChoice, WatchOptions, Watcher};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

fn main() -> std::io::Result<()> {
    let mut arguments = std::env::args_os().skip(1);
    let Some(folder) = arguments.next().map(PathBuf::from) else {
        println!("usage: watch DIR [TIMES]");
        return Ok(());
    };
    let times: usize = arguments.next().and_then(|text| text.to_str()?.parse().ok()).unwrap_or(100);
    let catalog =
        Catalog::load(Places::bare(folder.clone()), RootChoice::Given(vec![folder.clone()]), Include::Usual);
    let catalog = Arc::new(catalog);
    let start = Instant::now();
    let watcher = catalog.watch(WatchOptions::default());
    let snapshot = watcher.snapshot();
    println!(
        "{} skills; {}; ready after {:.1} ms",
        snapshot.loaded(),
        watcher.watching(),
        ms(start.elapsed())
    );

    let documents: Vec<PathBuf> =
        snapshot.entries().map(|(_, entry)| snapshot.document_path(entry)).collect();
    if documents.is_empty() {
        return Ok(());
    }
    let read = watcher.documents_read();
    let mut taken = Vec::with_capacity(times);
    for time in 0..times {
        // Spread over all skills, so that no place is better than another.
        let document = &documents[time * 7919 % documents.len()];
        taken.push(change(&watcher, document, time)?);
    }
    taken.sort();
    println!(
        "{times} changes: median {:.1} ms, worst {:.1} ms from write to snapshot; {} documents read",
        ms(taken[taken.len() / 2]),
        ms(taken[taken.len() - 1]),
        watcher.documents_read() - read,
    );
    Ok(())
}

/// Writes a new description and waits until it is in force. A half of the writes is in place, the other by rename.
fn change(watcher: &Watcher, document: &Path, time: usize) -> std::io::Result<Duration> {
    let description = format!("Written at {time} by {}.", std::process::id());
    let name = document.parent().and_then(Path::file_name).unwrap_or_default().to_string_lossy();
    let text = format!("---\nname: {name}\ndescription: {description}\n---\n\nBody.\n");
    let beside = document.with_extension("new");
    if time % 2 == 1 {
        std::fs::write(&beside, &text)?;
    }
    let start = Instant::now();
    if time % 2 == 1 {
        std::fs::rename(&beside, document)?;
    } else {
        std::fs::write(document, &text)?;
    }
    while !watcher.snapshot().entries().any(|(_, entry)| entry.description() == description) {
        // The machine has few cores, and the watcher needs one.
        std::thread::sleep(Duration::from_micros(500));
    }
    Ok(start.elapsed())
}

fn ms(time: Duration) -> f64 {
    time.as_secs_f64() * 1000.0
}
