//! The bench of the server: how soon it answers, how many calls a second it takes, how long a page takes; and the same of other
//! servers of skills, in the same run.

mod client;
mod peer;

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use serde_json::{Value, json};

use crate::arguments::Arguments;
use crate::mcp::client::Client;
use crate::mcp::peer::{PEERS, Peer};
use crate::tree::Tree;

/// The size at which servers are compared, and the one at which pages are judged.
const SKILLS: usize = 1_000;
const MANY: usize = 10_000;

/// How long calls are made for a figure: long enough for a slow server to be counted, short enough for eight of them.
const CALLING: Duration = Duration::from_secs(3);

/// No text of a skill is shorter, so what is shorter is none.
const SHORTEST: usize = 64;

const MOST_START_MS: f64 = 60.0;
const MOST_TOOLS_BYTES: f64 = 20_000.0;
const MOST_PAGE_MS: f64 = 5.0;
const LEAST_TIMES: f64 = 10.0;

pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    let trees = std::path::absolute(&arguments.trees)?;
    let tree = Tree::generated(&trees, SKILLS)?;
    let skills = names(&tree.root)?;
    let mut figures: BTreeMap<&str, f64> = BTreeMap::new();
    let mut misses = Vec::new();
    let mut judge = |what: &'static str, found: f64, holds: bool| {
        println!("{:6}  {what}: {found:.2}", if holds { "holds" } else { "MISSED" });
        figures.insert(what, found);
        if !holds {
            misses.push(what);
        }
    };

    let home = trees.join("mcp-home");
    fs::create_dir_all(&home)?;
    let own = |root: &Path| {
        let mut command = std::process::Command::new(&arguments.metier);
        command.args(["mcp", "--root"]).arg(root).env("METIER_HOME", &home).current_dir(&home);
        command
    };
    let mut starts = Vec::new();
    for _ in 0..arguments.rounds {
        let began = Instant::now();
        let mut client = Client::start(own(&tree.root))?;
        client.begin()?;
        starts.push(began.elapsed());
    }
    let start = median(&mut starts);
    judge("start to the first answer, ms, at most 60", start, start <= MOST_START_MS);
    let mut client = Client::start(own(&tree.root))?;
    client.begin()?;
    let size = f64::from(u32::try_from(client.request("tools/list", json!({}))?.to_string().len())?);
    judge("tools/list, bytes, at most 20,000", size, size <= MOST_TOOLS_BYTES);
    let ours = calls_a_second(&mut client, &skills, |name| {
        ("skill_read_file".to_owned(), json!({ "skill_name": name, "file_path": "SKILL.md" }))
    })?;
    drop(client);
    println!("metier: {ours:.0} calls a second");

    let mut best = None::<f64>;
    for peer in PEERS {
        match peers_figure(peer, &trees, &tree.root, &skills) {
            Ok((start, calls)) => {
                println!("{}: {start:.0} ms to the first answer, {calls:.0} calls a second", peer.package);
                best = Some(best.map_or(calls, |best| best.max(calls)));
            }
            // One that cannot be had here is said and not counted.
            Err(error) => println!("{}: not measured: {error:#}", peer.package),
        }
    }
    match best {
        Some(best) => judge(
            "calls a second, times the best of the others, at least 10",
            ours / best,
            ours / best >= LEAST_TIMES,
        ),
        None => bail!("none of the other servers could be measured, so there is nothing to compare with"),
    }

    let many = Tree::generated(&trees, MANY)?;
    let mut client = Client::start(own(&many.root))?;
    client.begin()?;
    let (mut pages, mut cursor) = (Vec::new(), Value::Null);
    for _ in 0..arguments.rounds.max(15) {
        let params = if cursor.is_null() { json!({}) } else { json!({ "cursor": cursor }) };
        let began = Instant::now();
        let page = client.request("skills/list", params)?;
        pages.push(began.elapsed());
        cursor = page.get("nextCursor").cloned().unwrap_or(Value::Null);
    }
    let page = median(&mut pages);
    judge("a page of skills/list among 10,000, ms, at most 5", page, page <= MOST_PAGE_MS);
    if let Some(file) = &arguments.json {
        fs::write(file, serde_json::to_vec_pretty(&figures)?)?;
    }
    if !misses.is_empty() {
        bail!("missed: {}", misses.join("; "));
    }
    Ok(())
}

fn peers_figure(peer: &Peer, trees: &Path, root: &Path, skills: &[String]) -> Result<(f64, f64)> {
    let folder = trees.join("mcp-peers").join(peer.package);
    peer.install(&folder)?;
    let began = Instant::now();
    let mut client = Client::start(peer.command(&folder, root))?;
    client.begin()?;
    let start = began.elapsed();
    let tools = client.request("tools/list", json!({}))?;
    let tools: Vec<String> = tools["tools"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(|tool| tool["name"].as_str().map(str::to_owned))
        .collect();
    let calls = calls_a_second(&mut client, skills, |name| peer.call(&tools, name))?;
    Ok((start.as_secs_f64() * 1_000.0, calls))
}

/// Calls one after the other, each about another skill, for a while.
fn calls_a_second(
    client: &mut Client,
    skills: &[String],
    call: impl Fn(&str) -> (String, Value),
) -> Result<f64> {
    let (began, mut count) = (Instant::now(), 0_u32);
    for name in skills.iter().cycle() {
        let (tool, arguments) = call(name);
        let result = client.request("tools/call", json!({ "name": tool, "arguments": arguments }))?;
        // Some say what went wrong as if it were the answer; a refusal is no read.
        let text = result["content"][0]["text"].as_str().unwrap_or_default();
        if result["isError"] == true || text.starts_with("Error") || text.len() < SHORTEST {
            bail!("{tool} failed: {result}");
        }
        count += 1;
        if began.elapsed() >= CALLING {
            break;
        }
    }
    Ok(f64::from(count) / began.elapsed().as_secs_f64())
}

fn names(root: &Path) -> Result<Vec<String>> {
    let mut names = Vec::new();
    for entry in fs::read_dir(root)? {
        names.push(entry?.file_name().into_string().ok().context("the name of a skill is not UTF-8")?);
    }
    names.sort();
    Ok(names)
}

fn median(times: &mut [Duration]) -> f64 {
    times.sort();
    times.get(times.len() / 2).map_or(0.0, |time| time.as_secs_f64() * 1_000.0)
}
