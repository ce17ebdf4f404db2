//! Eight clients at once, over HTTP, while skills are edited.

use super::http::serve;
use super::workspace;
use metier_files::FileDigest;
use rmcp::ClientHandler;
use rmcp::model::{
    ClientRequest, CustomRequest, ProtocolVersion, ReadResourceRequestParams, ResourceContents, ServerResult,
};
use rmcp::service::{ClientLifecycleMode, ClientServiceExt, NotificationContext, RoleClient, RunningService};
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::transport::streamable_http_client::StreamableHttpClientTransportConfig;
use serde_json::{Value, json};
use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// How long somebody waits for what has to come, however busy the machine is.
const PATIENCE: Duration = Duration::from_mins(1);

/// What is edited, and read.
const FILES: [&str; 2] = ["skill://greet/SKILL.md", "skill://greet/references/tone.md"];

/// How much the server may hold more at the end than after the first quarter, in kilobytes. Sessions wait and allocators keep;
/// what grows with each of thousands of edits and reads is more than that after two minutes.
const MOST_GROWTH: u64 = 16 * 1024;

/// How long they go on. The variable makes it as long as somebody likes: `METIER_MCP_SECONDS=120`.
fn duration() -> Duration {
    let seconds = std::env::var("METIER_MCP_SECONDS").ok().and_then(|seconds| seconds.parse().ok());
    Duration::from_secs(seconds.unwrap_or(4))
}

/// Counts how often the server says that the list is another one.
#[derive(Clone, Default)]
struct Listener {
    told: Arc<AtomicU64>,
}

impl ClientHandler for Listener {
    async fn on_resource_list_changed(&self, _: NotificationContext<RoleClient>) {
        self.told.fetch_add(1, Ordering::SeqCst);
    }
}

type Client = RunningService<RoleClient, Listener>;

/// The digests of the skill's files as they are listed now, by URI.
async fn listed(client: &Client) -> HashMap<String, String> {
    let params = json!({ "uri": FILES[0] });
    let request = ClientRequest::CustomRequest(CustomRequest::new("skills/get", Some(params)));
    let result = match client.send_request(request).await.unwrap() {
        ServerResult::CustomResult(result) => result.0,
        other => serde_json::to_value(other).unwrap(),
    };
    let files = result["skill"]["resources"].as_array().unwrap();
    let text = |file: &Value, key: &str| file[key].as_str().unwrap().to_owned();
    files.iter().map(|file| (text(file, "uri"), text(file, "digest"))).collect()
}

async fn read(client: &Client, uri: &str) -> String {
    let read = client.read_resource(ReadResourceRequestParams::new(uri)).await.unwrap();
    let ResourceContents::TextResourceContents { text, .. } = &read.contents[0] else {
        panic!("{uri} is text")
    };
    FileDigest::of(text.as_bytes()).to_string()
}

/// Replaces a file as a whole, as editors do.
fn replace(path: &Path, text: &str) {
    let next = path.with_extension("next");
    std::fs::write(&next, text).unwrap();
    std::fs::rename(&next, path).unwrap();
}

/// What clients have seen together.
#[derive(Default)]
struct Seen {
    is_over: AtomicBool,
    reads: AtomicU64,
    stale: AtomicU64,
}

/// Reads, and when a read is not what was listed: is told, lists again, and finds what it reads in the list.
async fn watch(client: Client, lifecycle: ClientLifecycleMode, seen: Arc<Seen>) {
    let told = Arc::clone(&client.service().told);
    // Without a handshake nobody is told who did not ask to be.
    let is_told = matches!(lifecycle, ClientLifecycleMode::Initialize);
    let mut before = told.load(Ordering::SeqCst);
    let mut held = listed(&client).await;
    while !seen.is_over.load(Ordering::Relaxed) {
        for uri in FILES {
            let digest = read(&client, uri).await;
            seen.reads.fetch_add(1, Ordering::Relaxed);
            if held.get(uri) == Some(&digest) {
                continue;
            }
            seen.stale.fetch_add(1, Ordering::Relaxed);
            let patience = Instant::now() + PATIENCE;
            while is_told && told.load(Ordering::SeqCst) == before {
                assert!(Instant::now() < patience, "nobody says that the list is another one");
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
            loop {
                before = told.load(Ordering::SeqCst);
                held = listed(&client).await;
                // Unless it was edited in between once more.
                if held.get(uri) == Some(&read(&client, uri).await) {
                    break;
                }
                assert!(Instant::now() < patience, "the list never meets what is read");
            }
        }
    }
    client.cancel().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn eight_clients_read_what_is_listed_while_skills_are_edited() {
    // Nothing is encrypted here, and the client wants to know how it would be.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let workspace = workspace();
    let serving = serve(&workspace, &[]);
    let seen = Arc::<Seen>::default();
    let mut clients = Vec::new();
    for number in 0..8 {
        let lifecycle = if number % 2 == 0 {
            ClientLifecycleMode::Initialize
        } else {
            ClientLifecycleMode::Discover { preferred_versions: vec![ProtocolVersion::V_2026_07_28] }
        };
        let config = StreamableHttpClientTransportConfig::with_uri(serving.url.clone())
            .auth_header(serving.token.clone());
        let transport = StreamableHttpClientTransport::from_config(config);
        let client = Listener::default().serve_with_lifecycle(transport, lifecycle.clone()).await.unwrap();
        clients.push(tokio::spawn(watch(client, lifecycle, Arc::clone(&seen))));
    }
    let folder = workspace.join("home/.claude/skills/greet");
    let (began, mut before, mut edit) = (Instant::now(), None, 0_u64);
    while began.elapsed() < duration() {
        edit += 1;
        let text = format!("---\nname: greet\ndescription: Greets somebody by name.\n---\nEdit {edit}.\n");
        replace(&folder.join("SKILL.md"), &text);
        replace(&folder.join("references/tone.md"), &format!("Tone {edit}.\n"));
        tokio::time::sleep(Duration::from_millis(50)).await;
        if before.is_none() && began.elapsed() > duration() / 4 {
            before = Some(serving.running.memory());
        }
    }
    let (before, after) = (before.unwrap(), serving.running.memory());
    seen.is_over.store(true, Ordering::Relaxed);
    for client in clients {
        client.await.unwrap();
    }
    let (reads, stale) = (seen.reads.load(Ordering::Relaxed), seen.stale.load(Ordering::Relaxed));
    eprintln!(
        "{edit} edits, {reads} reads, {stale} of them newer than the list; {before} kB, then {after} kB"
    );
    assert!(reads > 16 && stale > 0, "{reads} reads, {stale} of them newer than the list");
    assert!(after < before + MOST_GROWTH, "memory grew from {before} to {after} kB");
}
