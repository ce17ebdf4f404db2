//! `list`: the skills that were found, and what is wrong with the rest.

mod json;
mod text;
mod watch;

use crate::args::List;
use crate::output::Output;
use crate::surroundings::Surroundings;
use anyhow::Result;
use metier_catalog::{Cost, Entry, EntryId, Include, Provenance, Snapshot};
use metier_files::TreeDigest;

pub(crate) fn run(args: &List, surroundings: &Surroundings, output: &mut Output) -> Result<()> {
    let include = if args.all { Include::Nested } else { Include::Usual };
    if args.watch {
        return watch::run(args, include, surroundings, output);
    }
    let snapshot = surroundings.snapshot(include);
    write(args, surroundings, &snapshot, output)?;
    // Names by the thousand are freed one by one for nothing: the process ends here.
    std::mem::forget(snapshot);
    Ok(())
}

/// The listing itself.
fn write(args: &List, surroundings: &Surroundings, snapshot: &Snapshot, output: &mut Output) -> Result<()> {
    if output.is_json() {
        json::write(args, snapshot, output)
    } else {
        text::write(args, surroundings, snapshot, output)
    }
}

/// Whether an entry is listed; what equals another one stands under it and never on its own.
fn is_listed(entry: &Entry, args: &List) -> bool {
    entry.is_listed() || (args.all && !entry.is_copy())
}

/// What is only read when asked for.
struct Extras {
    cost: Option<Cost>,
    digest: Option<Result<String, String>>,
    source: Option<Provenance>,
    also_at: Vec<std::path::PathBuf>,
}

impl Extras {
    fn of(args: &List, snapshot: &Snapshot, id: EntryId, entry: &Entry) -> Self {
        let opened = || snapshot.open(entry).map_err(|error| error.to_string());
        let digest = |folder| {
            TreeDigest::of(&folder).map(|digest| digest.to_string()).map_err(|error| error.to_string())
        };
        Self {
            cost: args.tokens.then(|| snapshot.cost(entry)),
            digest: args.digest.then(|| opened().and_then(digest)),
            source: args
                .all
                .then(|| opened().ok().and_then(|folder| Provenance::of(&folder).ok().flatten()))
                .flatten(),
            also_at: if args.all { snapshot.other_folders(id) } else { Vec::new() },
        }
    }
}
