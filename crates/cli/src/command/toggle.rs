//! `enable` and `disable`: the list of names in a root's `.disabled.json`.

use crate::output::Output;
use crate::surroundings::Surroundings;
use anyhow::{Result, bail};
use metier_catalog::{Class, DISABLED_FILE, Entry, Include, Lookup, Reference, Snapshot, Switch};
use serde_json::json;

pub(crate) fn run(
    names: &[String],
    change: Switch,
    surroundings: &Surroundings,
    output: &mut Output,
) -> Result<()> {
    let snapshot = surroundings.snapshot(Include::Usual);
    // All names are looked up before any file is written: half of an order is worse than none.
    let entries: Vec<&Entry> =
        names.iter().map(|name| meant(name, &snapshot, surroundings)).collect::<Result<_>>()?;
    let mut done = Vec::new();
    for entry in &entries {
        let root = &snapshot.root(entry).path;
        let changed = snapshot.switch(entry, change)?;
        done.push((entry.name().to_string(), root.join(DISABLED_FILE), changed));
    }
    let after = surroundings.snapshot(Include::Usual);
    for ((name, file, changed), entry) in done.into_iter().zip(entries) {
        let path = snapshot.document_path(entry);
        let state = after
            .entries()
            .find(|(_, now)| after.document_path(now) == path)
            .map_or(entry.state(), |(_, now)| now.state());
        if output.is_json() {
            let file = file.display().to_string();
            output.json(&json!({ "name": name, "file": file, "changed": changed, "state": state }))?;
        } else {
            let file = surroundings.shown(&file);
            let what =
                if changed { format!("written to {file}") } else { format!("nothing to change in {file}") };
            output.line(format!("{name}: {state} ({what})"))?;
        }
    }
    Ok(())
}

fn meant<'a>(name: &str, snapshot: &'a Snapshot, surroundings: &Surroundings) -> Result<&'a Entry> {
    let reference: Reference = name.parse()?;
    match snapshot.find(&reference) {
        // The folder is a copy of what is in the program, and a list in it would be gone with the next version.
        Lookup::Found(_, entry) | Lookup::Unusable(_, entry)
            if snapshot.root(entry).origin.class == Class::Bundled =>
        {
            let file = surroundings.shown(&surroundings.places.config_file());
            bail!(
                "`{name}` comes with metier; say `visibility = \"off\"` or `\"on\"` under `[skills.{}]` in {file}; \
                 nothing was changed",
                entry.name()
            )
        }
        Lookup::Found(_, entry) | Lookup::Unusable(_, entry) => Ok(entry),
        other => bail!("`{name}`: {}; nothing was changed", snapshot.in_words(&other)),
    }
}
