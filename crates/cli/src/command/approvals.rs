//! `approvals`: what was approved for good, and taking it back.

use crate::approval_store::{ApprovalStore, StoredApproval};
use crate::args::{Approvals, ApprovalsAction, Revoke};
use crate::output::{Output, Tone, clean};
use crate::surroundings::Surroundings;
use anyhow::{Result, bail};
use metier_diagnostic::counted;
use serde_json::{Value, json};

/// The fewest characters of an id that mean an approval.
const MIN_TYPED: usize = 4;

pub(crate) fn run(args: &Approvals, surroundings: &Surroundings, output: &mut Output) -> Result<()> {
    match &args.action {
        Some(ApprovalsAction::Revoke(revoke)) => take_back(revoke, surroundings, output),
        None => list(args.all, surroundings, output),
    }
}

fn list(is_all: bool, surroundings: &Surroundings, output: &mut Output) -> Result<()> {
    let store = ApprovalStore::of(surroundings);
    let all = store.all()?;
    let total = all.len();
    let shown: Vec<StoredApproval> =
        all.into_iter().filter(|approval| is_all || approval.project == store.project()).collect();
    if output.is_json() {
        let approvals: Vec<Value> = shown.iter().map(object).collect();
        return output.json(&json!({
            "project": store.project(),
            "file": store.file(),
            "approvals": approvals,
            "elsewhere": total - shown.len(),
        }));
    }
    let project = surroundings.shown(store.project());
    if shown.is_empty() {
        let place = if is_all { "anywhere".to_owned() } else { format!("in {project}") };
        output.line(format!("nothing is approved for good {place}"))?;
    }
    let mut last = None;
    for approval in &shown {
        if last != Some(&approval.project) {
            output.section(format!("in {}", surroundings.shown(&approval.project)))?;
            last = Some(&approval.project);
        }
        write(approval, output)?;
    }
    let elsewhere = total - shown.len();
    if elsewhere > 0 {
        let count = counted(elsewhere, "approval", "approvals");
        output.comment(format!("\n{count} in other projects: `metier approvals --all`"))?;
    }
    if !shown.is_empty() {
        output.comment("\n`metier approvals revoke ID` takes one back")?;
    }
    Ok(())
}

/// One approval: its id, when it was given, who may do what, and a line for each grant.
fn write(approval: &StoredApproval, output: &mut Output) -> Result<()> {
    let StoredApproval { key, given, .. } = approval;
    let id = output.tinted(Tone::Strong, &approval.id());
    let day: String = given.chars().take(10).collect();
    output.line(format!("  {id}  {day}  {} may {}", key.who(), key.what()))?;
    for grant in key.grants() {
        output.line(format!("      - {grant}"))?;
    }
    if key.tree().is_some() {
        output.comment("      for this version of the skill")?;
    }
    Ok(())
}

fn object(approval: &StoredApproval) -> Value {
    let StoredApproval { project, key, given } = approval;
    json!({
        "id": approval.id(),
        "project": project,
        "given": given,
        "scope": "always in this project",
        "who": key.who(),
        "what": key.what(),
        "grants": key.grants(),
        "skill_digest": key.tree(),
        "key": key,
    })
}

fn take_back(args: &Revoke, surroundings: &Surroundings, output: &mut Output) -> Result<()> {
    let store = ApprovalStore::of(surroundings);
    let gone = if args.all {
        store.revoke(|_| true)?
    } else {
        // All of them are looked for before one is removed: a mistyped id changes nothing.
        let known = store.all()?;
        let mut ids = Vec::new();
        for typed in &args.ids {
            // A shell's variable that is not set would be the beginning of every id, and a single digit that of a stranger's.
            if typed.len() < MIN_TYPED {
                let typed = clean(typed);
                bail!(
                    "`{typed}` is too short for an id: write {MIN_TYPED} characters; `metier approvals --all` lists them"
                );
            }
            let mut found = known.iter().map(StoredApproval::id).filter(|id| id.starts_with(typed.as_str()));
            match (found.next(), found.next()) {
                (Some(id), None) => ids.push(id),
                (Some(_), Some(_)) => {
                    bail!("`{}` means several approvals; write more of the id", clean(typed))
                }
                (None, _) => {
                    bail!("no approval has the id `{}`; `metier approvals --all` lists them", clean(typed))
                }
            }
        }
        store.revoke(|approval| ids.contains(&approval.id()))?
    };
    if output.is_json() {
        return output.json(&json!({ "revoked": gone.iter().map(object).collect::<Vec<_>>() }));
    }
    if gone.is_empty() {
        return output.line("nothing is approved for good, so nothing was revoked");
    }
    for approval in &gone {
        let (who, what) = (approval.key.who(), approval.key.what());
        let project = surroundings.shown(&approval.project);
        output.line(format!("revoked {}: {who} may {what} in {project}", approval.id()))?;
    }
    output.comment("a session that runs already keeps what it was given")
}
