//! Several clients at once while skills are edited.

use std::collections::HashMap;
use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use metier_files::FileDigest;
use metier_mcp::server::Server;
use serde_json::{Value, json};

use super::wire::{Revision, Wire};
use super::{builder, skill, workspace};

/// How long they go on. The variable makes it as long as somebody likes: `METIER_MCP_SECONDS=120`.
fn duration() -> Duration {
    let seconds = std::env::var("METIER_MCP_SECONDS").ok().and_then(|seconds| seconds.parse().ok());
    Duration::from_secs(seconds.unwrap_or(3))
}

/// The digests of a skill's files, by URI.
fn digests(entry: &Value) -> HashMap<String, String> {
    let files = entry["skill"]["resources"].as_array().unwrap();
    let pair = |file: &Value| {
        (file["uri"].as_str().unwrap().to_owned(), file["digest"].as_str().unwrap().to_owned())
    };
    files.iter().map(pair).collect()
}

/// Replaces a file as a whole, as editors do.
fn replace(path: &Path, text: &str) {
    let next = path.with_extension("next");
    fs::write(&next, text).unwrap();
    fs::rename(&next, path).unwrap();
}

/// What this process holds in memory, in kilobytes.
fn memory() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with("VmRSS:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}

/// Set in the process that has the test to itself.
const ALONE: &str = "METIER_TEST_ALONE";

/// Runs in a process of its own: the memory that it measures is then not that of other tests.
#[test]
fn every_read_is_a_version_that_is_listed() {
    if std::env::var_os(ALONE).is_some() {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(4).enable_all().build();
        return runtime.unwrap().block_on(clients_read_while_skills_are_edited());
    }
    let mut command = std::process::Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", "--nocapture", "server::many::every_read_is_a_version_that_is_listed"]);
    let output = command.env(ALONE, "1").output().unwrap();
    let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success() && out.contains("1 passed"), "{out}{err}");
}

async fn clients_read_while_skills_are_edited() {
    let workspace = workspace();
    let server = Server::builder(builder(&workspace).watch().open()).open().unwrap();
    let (is_over, stale, reads) =
        (Arc::new(AtomicBool::new(false)), Arc::new(AtomicU64::new(0)), Arc::new(AtomicU64::new(0)));
    let mut clients = Vec::new();
    for number in 0..8 {
        let (server, is_over, stale, reads) =
            (server.clone(), Arc::clone(&is_over), Arc::clone(&stale), Arc::clone(&reads));
        clients.push(tokio::spawn(async move {
            let revision = if number % 2 == 0 { Revision::V2025 } else { Revision::V2026 };
            let mut wire = Wire::open(&server, revision).await;
            let whole = json!({ "uri": "skill://greet/SKILL.md" });
            let mut held = digests(&wire.result("skills/get", whole.clone()).await);
            while !is_over.load(Ordering::Relaxed) {
                for uri in ["skill://greet/SKILL.md", "skill://greet/references/tone.md"] {
                    let read = wire.result("resources/read", json!({ "uri": uri })).await;
                    let digest =
                        FileDigest::of(read["contents"][0]["text"].as_str().unwrap().as_bytes()).to_string();
                    reads.fetch_add(1, Ordering::Relaxed);
                    if held.get(uri) == Some(&digest) {
                        continue;
                    }
                    stale.fetch_add(1, Ordering::Relaxed);
                    if revision == Revision::V2025 {
                        wire.until_told("notifications/resources/list_changed").await;
                        wire.told.clear();
                    }
                    // Whoever lists again finds what can be read now, unless it was edited in between once more.
                    let patience = Instant::now() + Duration::from_secs(30);
                    loop {
                        held = digests(&wire.result("skills/get", whole.clone()).await);
                        let again = wire.result("resources/read", json!({ "uri": uri })).await;
                        let again = FileDigest::of(again["contents"][0]["text"].as_str().unwrap().as_bytes())
                            .to_string();
                        if held.get(uri) == Some(&again) {
                            break;
                        }
                        assert!(Instant::now() < patience, "the list never meets what is read");
                    }
                }
            }
            wire.close().await;
        }));
    }
    let began = Instant::now();
    let mut before = None;
    let mut edit = 0_u64;
    while began.elapsed() < duration() {
        edit += 1;
        replace(&workspace.join("skills/greet/SKILL.md"), &skill("greet", "", &format!("Edit {edit}.")));
        replace(&workspace.join("skills/greet/references/tone.md"), &format!("Tone {edit}."));
        tokio::time::sleep(Duration::from_millis(50)).await;
        // What is held after a quarter of the time is held at the end.
        if before.is_none() && began.elapsed() > duration() / 4 {
            before = Some(memory());
        }
    }
    let (before, after) = (before.unwrap_or_else(memory), memory());
    is_over.store(true, Ordering::Relaxed);
    for client in clients {
        client.await.unwrap();
    }
    assert!(reads.load(Ordering::Relaxed) > 8, "they read something");
    assert!(stale.load(Ordering::Relaxed) > 0, "the edits were seen");
    assert!(after < before + 64 * 1024, "memory grew from {before} to {after} kB");
}
