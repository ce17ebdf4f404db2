//! The store as its users see it: through files, processes and kills.

#![expect(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    reason = "tests look at the bytes that were written, start processes, and fail loudly"
)]

mod appending;
mod conversation;
mod exchange;
mod following;
mod forgetting;
mod invariant;
mod memory;
mod opening;
mod processes;
mod reading;
mod standing;

use std::path::{Path, PathBuf};

use metier_store::{By, EventKind, Started};
use metier_testkit::Workspace;

/// A folder and the place of a store in it.
fn place() -> (Workspace, PathBuf) {
    let workspace = Workspace::new();
    let file = workspace.join("data/metier.db");
    (workspace, file)
}

fn said(text: &str) -> EventKind {
    EventKind::Said { text: text.to_owned(), by: By::User }
}

fn request(text: &str) -> Started {
    Started { request: text.to_owned(), ..Started::default() }
}

/// Whether these bytes are anywhere in the file of a store or in what `SQLite` keeps beside it.
fn is_on_disk(file: &Path, needle: &str) -> bool {
    let folder = file.parent().unwrap();
    std::fs::read_dir(folder).unwrap().any(|entry| {
        let bytes = std::fs::read(entry.unwrap().path()).unwrap();
        bytes.windows(needle.len()).any(|window| window == needle.as_bytes())
    })
}
