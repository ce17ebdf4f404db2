//! The listing for people: by root, one line a skill, then what failed.

use super::{Extras, is_listed};
use crate::args::List;
use crate::output::{Output, Tone, clean, shortened, width};
use crate::surroundings::Surroundings;
use anyhow::Result;
use metier_catalog::{Entry, EntryId, Relation, RootTrust, Snapshot, State, Tokens};
use metier_diagnostic::Severity;

/// The widest name that lines up; longer ones push their line to the right.
pub(super) const NAME_COLUMN: usize = 28;

pub(super) fn write(
    args: &List,
    surroundings: &Surroundings,
    snapshot: &Snapshot,
    output: &mut Output,
) -> Result<()> {
    output.line(format!("loaded {}, failed {}", snapshot.loaded(), snapshot.failures().len()))?;
    let mut shown_root = None;
    let mut warned = Vec::new();
    let mut hidden = 0;
    for (id, entry) in snapshot.entries() {
        if !is_listed(entry, args) {
            hidden += usize::from(!entry.is_copy());
            continue;
        }
        let root = snapshot.root(entry);
        if shown_root != Some(&root.path) {
            shown_root = Some(&root.path);
            let origin = output.tinted(Tone::Strong, &root.origin.to_string());
            let path = output.tinted(Tone::Dim, &surroundings.shown(&root.path));
            output.section(format!("{origin} {path}"))?;
            if root.trust == RootTrust::Untrusted {
                output.comment("  not trusted: `metier trust --preview` shows what trust would switch on")?;
            }
        }
        if entry.diagnostics().iter().any(|found| found.severity() >= Severity::Warning) {
            warned.push(entry.call_name());
        }
        line(args, snapshot, id, entry, output)?;
    }
    close(surroundings, snapshot, &warned, hidden, output)
}

fn line(args: &List, snapshot: &Snapshot, id: EntryId, entry: &Entry, output: &mut Output) -> Result<()> {
    let extras = Extras::of(args, snapshot, id, entry);
    let name = clean(entry.call_name());
    let tone = match entry.state() {
        State::Ready => Tone::Good,
        State::Shadowed | State::Disabled | State::Off | State::Nested => Tone::Dim,
        State::Untrusted | State::UserOnly | State::NameOnly => Tone::Caution,
    };
    let mut facts = Vec::new();
    facts.extend(entry.version_text().map(|version| clean(&version)));
    if entry.state() != State::Ready {
        facts.push(entry.state().to_string());
    }
    if let Some(cost) = extras.cost {
        let shown = |tokens: Option<Tokens>| tokens.map_or("0".to_owned(), |tokens| tokens.0.to_string());
        facts.push(format!("{} + {} tokens", shown(cost.catalogue), shown(cost.activation)));
    }
    let facts = if facts.is_empty() { String::new() } else { format!("({}) ", facts.join(", ")) };
    let padded = format!("{name:<NAME_COLUMN$}");
    let room = width().saturating_sub(padded.chars().count() + facts.chars().count() + 3);
    let description = shortened(entry.description(), room);
    let name = output.tinted(tone, &padded);
    let facts = output.tinted(Tone::Dim, &facts);
    output.line(format!("  {name} {facts}{description}").trim_end())?;
    match extras.digest {
        Some(Ok(digest)) => output.comment(format!("    {digest}"))?,
        Some(Err(why)) => output.comment(format!("    no digest: {why}"))?,
        None => {}
    }
    if let Some(source) = extras.source.as_ref() {
        let from = ["url", "version", "commit"]
            .iter()
            .filter_map(|key| source.text(key))
            .collect::<Vec<_>>()
            .join(" ");
        output.comment(format!("    from {} {from}", source.kind().unwrap_or("somewhere")).trim_end())?;
    }
    if args.all {
        if let Relation::ShadowedBy(winner) = entry.relation()
            && let Some(winner) = snapshot.entry(winner)
        {
            output.comment(format!("    shadowed by {}", snapshot.folder(winner).display()))?;
        }
        for path in extras.also_at {
            output.comment(format!("    the same at {}", path.display()))?;
        }
    }
    Ok(())
}

/// What failed and what else there is to know, last, where it is seen.
fn close(
    surroundings: &Surroundings,
    snapshot: &Snapshot,
    warned: &[&str],
    hidden: usize,
    output: &mut Output,
) -> Result<()> {
    /// How many skills with warnings are named.
    const MAX_NAMES: usize = 8;
    for failure in snapshot.failures() {
        if let Some(diagnostic) = failure.reason() {
            output.line("")?;
            output.diagnostic(&surroundings.relative(diagnostic), None)?;
        }
    }
    for diagnostic in snapshot.diagnostics().iter().filter(|found| found.severity() >= Severity::Warning) {
        output.line("")?;
        output.diagnostic(&surroundings.relative(diagnostic), None)?;
    }
    if !warned.is_empty() {
        let more = if warned.len() > MAX_NAMES { ", …" } else { "" };
        let names: Vec<String> = warned.iter().take(MAX_NAMES).map(|name| clean(name)).collect();
        output.comment(format!(
            "\n{} with warnings: {}{more}; `metier explain NAME` says which, `metier doctor` all of them",
            warned.len(),
            names.join(", ")
        ))?;
    }
    if hidden > 0 {
        output.comment(format!(
            "\n{hidden} not shown (shadowed, disabled or off); `metier list --all` shows them"
        ))?;
    }
    if snapshot.loaded() == 0 && snapshot.failures().is_empty() {
        let roots: Vec<String> =
            surroundings.layout.roots.iter().map(|root| surroundings.shown(&root.path)).collect();
        output.comment(format!("\nnothing was found in {}", roots.join(", ")))?;
        output.comment("make a skill with `metier new NAME`, or look elsewhere with `--root DIR`")?;
    }
    Ok(())
}
