//! Files that change while somebody reads them.

use std::fs;

use metier_mcp::server::Server;
use serde_json::json;

use super::wire::{Revision, Wire};
use super::{builder, skill, workspace};

#[tokio::test(flavor = "multi_thread")]
async fn clients_are_told_when_skills_come_and_go() {
    let workspace = workspace();
    let server = Server::builder(builder(&workspace).watch().open()).open().unwrap();
    for revision in [Revision::V2025, Revision::V2026] {
        let mut wire = Wire::open(&server, revision).await;
        if revision == Revision::V2026 {
            let wanted = json!({ "notifications": { "resourcesListChanged": true, "promptsListChanged": true, "toolsListChanged": true } });
            wire.start("subscriptions/listen", wanted).await;
            wire.until_told("notifications/subscriptions/acknowledged").await;
        }
        let before = wire.result("skills/list", json!({})).await["skills"].as_array().unwrap().len();
        let name = if revision == Revision::V2025 { "fresh" } else { "newer" };
        fs::create_dir_all(workspace.join(format!("skills/{name}"))).unwrap();
        fs::write(workspace.join(format!("skills/{name}/SKILL.md")), skill(name, "", "New.")).unwrap();
        wire.until_told("notifications/resources/list_changed").await;
        wire.until_told("notifications/prompts/list_changed").await;
        // The names are in the schemas, so the tools are other ones, too.
        wire.until_told("notifications/tools/list_changed").await;
        let after = wire.result("skills/list", json!({})).await["skills"].as_array().unwrap().len();
        assert_eq!(after, before + 1);
        drop(wire);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_below_a_skill_that_changed_is_found_out_by_reading_it() {
    let workspace = workspace();
    let server = Server::builder(builder(&workspace).watch().open()).open().unwrap();
    let mut wire = Wire::open(&server, Revision::V2025).await;
    let uri = json!({ "uri": "skill://greet/SKILL.md" });
    let old = wire.result("skills/get", uri.clone()).await;
    fs::write(workspace.join("skills/greet/references/tone.md"), "Be calm.").unwrap();
    let read = wire.result("resources/read", json!({ "uri": "skill://greet/references/tone.md" })).await;
    assert_eq!(read["contents"][0]["text"], "Be calm.");
    wire.until_told("notifications/resources/list_changed").await;
    let new = wire.result("skills/get", uri).await;
    assert_ne!(old, new);
    let digest = metier_files::FileDigest::of(b"Be calm.").to_string();
    assert!(new.to_string().contains(&digest), "{new}");
}
