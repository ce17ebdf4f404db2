//! `secret`: values that one skill's processes get, and nobody sees.

mod hidden;

use crate::args::{SecretAction, SecretList, SecretRemove, SecretSet};
use crate::environment;
use crate::output::{Output, clean};
use crate::surroundings::Surroundings;
use anyhow::{Context, Result, bail};
use metier_catalog::{Entry, Include, Lookup, Reference, Snapshot};
use metier_secret::{KeptSecret, Owner, Place, Removed, Secret, SecretName, Vault, Was};
use serde::Serialize;
use std::collections::BTreeSet;
use std::io::{self, IsTerminal, Read};

/// What `set` did.
#[derive(Serialize)]
struct Done<'a> {
    name: &'a SecretName,
    #[serde(flatten)]
    owner: &'a Owner,
    kept: Place,
    replaced: bool,
    short: bool,
}

/// What `list` found.
#[derive(Serialize)]
struct Listed<'a> {
    kept: Place,
    secrets: &'a [KeptSecret],
}

pub(crate) fn run(action: &SecretAction, surroundings: &Surroundings, output: &mut Output) -> Result<()> {
    match action {
        SecretAction::Set(args) => set(args, surroundings, output),
        SecretAction::List(args) => list(args, surroundings, output),
        SecretAction::Remove(args) => remove(args, surroundings, output),
    }
}

/// Where this user's secrets are: the keyring, else a file.
pub(crate) fn vault(surroundings: &Surroundings) -> Vault {
    Vault::best(&surroundings.places.data.join("secrets"), environment::bus_address().as_deref())
}

/// A skill as the owner of secrets. A project's skill has its secrets in that project only, and one of `--root DIR` in that
/// folder only: whoever else has a skill of that name must not get them.
pub(crate) fn owner(snapshot: &Snapshot, entry: &Entry) -> Owner {
    let owner = Owner::new(&snapshot.root(entry).origin.to_string(), entry.name().as_str());
    match snapshot.owning_folder(entry) {
        Some(folder) => owner.within(folder),
        None => owner,
    }
}

fn set(args: &SecretSet, surroundings: &Surroundings, output: &mut Output) -> Result<()> {
    let SecretSet { name, skill } = args;
    let reference: Reference = skill.parse()?;
    let snapshot = surroundings.snapshot(Include::Usual);
    let owner = match snapshot.find(&reference) {
        // A skill that may not be used yet can be given what it will need; the gate has its say when it runs.
        Lookup::Found(_, entry) | Lookup::Unusable(_, entry) => owner(&snapshot, entry),
        other => bail!("`{skill}`: {}; `metier explain {skill}` says more", snapshot.in_words(&other)),
    };
    let secret = Secret::from_bytes(value(name, &owner)?)
        .with_context(|| format!("`{name}` was not kept, nothing was changed"))?;
    let vault = vault(surroundings);
    let when = jiff::Timestamp::now().strftime("%Y-%m-%dT%H:%M:%SZ").to_string();
    let was = vault.set(&owner, name, &secret, &when)?;
    let done = Done {
        name,
        owner: &owner,
        kept: vault.place(),
        replaced: was == Was::Replaced,
        short: secret.is_short(),
    };
    if done.short {
        output.aside(&format!(
            "`{name}` has fewer than {} bytes: ordinary words that hold it are taken out of outputs, too",
            metier_secret::COMFORTABLE
        ))?;
    }
    if output.is_json() {
        return output.json(&done);
    }
    let what = if done.replaced { "replaced" } else { "kept" };
    output.line(format!("{name}: {what} for {}", clean(&owner.to_string())))?;
    output.comment(format!("in {}", done.kept))?;
    output.comment(format!(
        "its processes get it when you say yes, or by the rule `skill:{}/secret:{name}`",
        owner.name()
    ))
}

/// The value: typed without being shown, or all of standard input.
fn value(name: &SecretName, owner: &Owner) -> Result<Vec<u8>> {
    if io::stdin().is_terminal() {
        return hidden::line(&format!("value of {name} for {} (not shown): ", clean(&owner.to_string())));
    }
    // A byte more than is taken, and a line end: the value's own check says what is too long.
    let most = metier_secret::MAX_SECRET + 3;
    // Room for all of it at once: a buffer that grows leaves copies of the value behind.
    let mut bytes = Vec::with_capacity(most);
    io::stdin().lock().take(most as u64).read_to_end(&mut bytes).context("standard input cannot be read")?;
    if bytes.last() == Some(&b'\n') {
        bytes.pop();
        if bytes.last() == Some(&b'\r') {
            bytes.pop();
        }
    }
    Ok(bytes)
}

fn list(args: &SecretList, surroundings: &Surroundings, output: &mut Output) -> Result<()> {
    let vault = vault(surroundings);
    let mut secrets = vault.list()?;
    if let Some(skill) = &args.skill {
        let owners = meant(skill, &secrets, surroundings)?;
        secrets.retain(|kept| owners.contains(&kept.owner));
    }
    if output.is_json() {
        return output.json(&Listed { kept: vault.place(), secrets: &secrets });
    }
    for kept in &secrets {
        let owner = clean(&kept.owner.to_string());
        let set = clean(&kept.set);
        let place = match kept.kept {
            Place::Keyring => "keyring",
            _ => "file",
        };
        output.line(format!("{:<24} {owner} (set {set}, in the {place})", kept.name.as_str()))?;
    }
    let here = vault.place();
    if secrets.is_empty() {
        output.comment("no secret is kept; `metier secret set NAME --skill SKILL` keeps one")?;
        if let Some(unseen) = unseen(&here) {
            output.comment(unseen)?;
        }
    }
    let places: BTreeSet<&Place> = secrets.iter().map(|kept| &kept.kept).collect();
    for place in places {
        // Without a keyring all are in the file, and the vault also says why.
        let place = if here == Place::Keyring { place } else { &here };
        output.comment(format!("kept in {place}"))?;
    }
    Ok(())
}

fn remove(args: &SecretRemove, surroundings: &Surroundings, output: &mut Output) -> Result<()> {
    let SecretRemove { name, skill } = args;
    let vault = vault(surroundings);
    // One in a keyring that cannot be looked into is back as soon as that can be used again.
    if let Some(unseen) = unseen(&vault.place()) {
        output.aside(&unseen)?;
    }
    let secrets: Vec<KeptSecret> = vault.list()?.into_iter().filter(|kept| kept.name == *name).collect();
    let owners = meant(skill, &secrets, surroundings)?;
    let owner = match owners.iter().collect::<Vec<_>>()[..] {
        [owner] => owner,
        [] => bail!("`{skill}` has no secret `{name}`; `metier secret list` shows what is kept"),
        _ => {
            let all: Vec<String> =
                owners.iter().map(|owner| format!("  {}", clean(&owner.to_string()))).collect();
            bail!(
                "`{skill}` may mean several skills that have `{name}`; name one as ORIGIN:NAME, and go to its folder if it \
                 has one:\n{}",
                all.join("\n")
            )
        }
    };
    if vault.remove(owner, name)? == Removed::NotThere {
        bail!("`{skill}` has no secret `{name}`; `metier secret list` shows what is kept");
    }
    if output.is_json() {
        return output.json(&serde_json::json!({"name": name, "skill": owner.skill(), "removed": true}));
    }
    output.line(format!("{name}: removed from {}", clean(&owner.to_string())))?;
    Ok(())
}

/// That there is a keyring which was not looked into, and why.
fn unseen(place: &Place) -> Option<String> {
    match place {
        Place::File { keyring: Some(reason), .. } => Some(format!("not looked for in the keyring: {reason}")),
        _ => None,
    }
}

/// Whose secrets are meant: the skill that is found from here and nobody else, or, because a skill may be gone while its
/// secrets are not, every owner that is called like that, those of this project first.
fn meant(skill: &str, kept: &[KeptSecret], surroundings: &Surroundings) -> Result<BTreeSet<Owner>> {
    let reference: Reference = skill.parse()?;
    let snapshot = surroundings.snapshot(Include::Usual);
    if let Lookup::Found(_, entry) | Lookup::Unusable(_, entry) = snapshot.find(&reference) {
        return Ok(BTreeSet::from([owner(&snapshot, entry)]));
    }
    let called: BTreeSet<Owner> = kept
        .iter()
        .map(|kept| &kept.owner)
        .filter(|owner| owner.skill() == skill || owner.name() == skill)
        .cloned()
        .collect();
    let project = surroundings.layout.project.as_ref().map(|project| project.folder.as_path());
    let here: BTreeSet<Owner> = called
        .iter()
        .filter(|owner| owner.folder().is_some_and(|folder| Some(folder) == project))
        .cloned()
        .collect();
    Ok(if here.is_empty() { called } else { here })
}
