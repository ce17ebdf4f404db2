//! Several clients at once while skills are edited.

use std::collections::HashMap;
use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use metier_files::FileDigest;
use metier_mcp_server::Server;
use serde_json::{Value, json};

use super::wire_client::{Revision, WireClient};
use super::{builder, skill, workspace};

/// How long the clients run; `METIER_MCP_SECONDS=120` sets it.
fn duration() -> Duration {
    let seconds = std::env::var("METIER_MCP_SECONDS").ok().and_then(|seconds| seconds.parse().ok());
    Duration::from_secs(seconds.unwrap_or(3))
}

/// The digests of a skill's files by URI.
fn digests(entry: &Value) -> HashMap<String, String> {
    let files = entry["skill"]["resources"].as_array().unwrap();
    let pair = |file: &Value| {
        (file["uri"].as_str().unwrap().to_owned(), file["digest"].as_str().unwrap().to_owned())
    };
    files.iter().map(pair).collect()
}

/// Replaces a file atomically, as editors do.
fn replace(path: &Path, text: &str) {
    let next = path.with_extension("next");
    fs::write(&next, text).unwrap();
    fs::rename(&next, path).unwrap();
}

/// Resident memory of this process in kilobytes.
fn memory() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with("VmRSS:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}

/// Set in the process that runs this test alone.
const ALONE: &str = "METIER_TEST_ALONE";

/// Runs in its own process, so that it does not measure the memory of other tests.
#[test]
fn every_read_matches_a_listed_version() {
    if std::env::var_os(ALONE).is_some() {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(4).enable_all().build();
        return runtime.unwrap().block_on(clients_read_while_skills_are_edited());
    }
    let mut command = std::process::Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", "--nocapture", "concurrent_clients::every_read_matches_a_listed_version"]);
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
            let mut client = WireClient::open(&server, revision).await;
            let whole = json!({ "uri": "skill://greet/SKILL.md" });
            let mut held = digests(&client.result("skills/get", whole.clone()).await);
            while !is_over.load(Ordering::Relaxed) {
                for uri in ["skill://greet/SKILL.md", "skill://greet/references/tone.md"] {
                    let read = client.result("resources/read", json!({ "uri": uri })).await;
                    let digest =
                        FileDigest::of(read["contents"][0]["text"].as_str().unwrap().as_bytes()).to_string();
                    reads.fetch_add(1, Ordering::Relaxed);
                    if held.get(uri) == Some(&digest) {
                        continue;
                    }
                    stale.fetch_add(1, Ordering::Relaxed);
                    if revision == Revision::V2025 {
                        client.wait_for_notification("notifications/resources/list_changed").await;
                        client.notifications.clear();
                    }
                    // A new listing matches what can be read, unless another edit came in between.
                    let deadline = Instant::now() + Duration::from_secs(30);
                    loop {
                        held = digests(&client.result("skills/get", whole.clone()).await);
                        let again = client.result("resources/read", json!({ "uri": uri })).await;
                        let again = FileDigest::of(again["contents"][0]["text"].as_str().unwrap().as_bytes())
                            .to_string();
                        if held.get(uri) == Some(&again) {
                            break;
                        }
                        assert!(Instant::now() < deadline, "the listing never matches what is read");
                    }
                }
            }
            client.close().await;
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
        // Memory after a quarter of the time must not grow until the end.
        if before.is_none() && began.elapsed() > duration() / 4 {
            before = Some(memory());
        }
    }
    let (before, after) = (before.unwrap_or_else(memory), memory());
    is_over.store(true, Ordering::Relaxed);
    for client in clients {
        client.await.unwrap();
    }
    assert!(reads.load(Ordering::Relaxed) > 8, "too few reads");
    assert!(stale.load(Ordering::Relaxed) > 0, "no client saw an edit");
    assert!(after < before + 64 * 1024, "memory grew from {before} to {after} kB");
}
