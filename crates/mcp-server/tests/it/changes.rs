//! Skills and files that change while clients are connected.

use std::fs;

use metier_mcp_server::Server;
use serde_json::json;

use super::wire_client::{Revision, WireClient};
use super::{builder, skill, workspace};

#[tokio::test(flavor = "multi_thread")]
async fn clients_are_notified_when_skills_are_added() {
    let workspace = workspace();
    let server = Server::builder(builder(&workspace).watch().open()).open().unwrap();
    for revision in [Revision::V2025, Revision::V2026] {
        let mut client = WireClient::open(&server, revision).await;
        if revision == Revision::V2026 {
            let wanted = json!({ "notifications": { "resourcesListChanged": true, "promptsListChanged": true, "toolsListChanged": true } });
            client.start("subscriptions/listen", wanted).await;
            client.wait_for_notification("notifications/subscriptions/acknowledged").await;
        }
        let before = client.result("skills/list", json!({})).await["skills"].as_array().unwrap().len();
        let name = if revision == Revision::V2025 { "fresh" } else { "newer" };
        fs::create_dir_all(workspace.join(format!("skills/{name}"))).unwrap();
        fs::write(workspace.join(format!("skills/{name}/SKILL.md")), skill(name, "", "New.")).unwrap();
        client.wait_for_notification("notifications/resources/list_changed").await;
        client.wait_for_notification("notifications/prompts/list_changed").await;
        // Skill names are part of the schemas, so the tools change, too.
        client.wait_for_notification("notifications/tools/list_changed").await;
        let after = client.result("skills/list", json!({})).await["skills"].as_array().unwrap().len();
        assert_eq!(after, before + 1);
        drop(client);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn reading_a_changed_file_notifies_the_client() {
    let workspace = workspace();
    let server = Server::builder(builder(&workspace).watch().open()).open().unwrap();
    let mut client = WireClient::open(&server, Revision::V2025).await;
    let uri = json!({ "uri": "skill://greet/SKILL.md" });
    let old = client.result("skills/get", uri.clone()).await;
    fs::write(workspace.join("skills/greet/references/tone.md"), "Be calm.").unwrap();
    let read = client.result("resources/read", json!({ "uri": "skill://greet/references/tone.md" })).await;
    assert_eq!(read["contents"][0]["text"], "Be calm.");
    client.wait_for_notification("notifications/resources/list_changed").await;
    let new = client.result("skills/get", uri).await;
    assert_ne!(old, new);
    let digest = metier_files::FileDigest::of(b"Be calm.").to_string();
    assert!(new.to_string().contains(&digest), "{new}");
}
