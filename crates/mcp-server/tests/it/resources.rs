//! The skills extension, resources and capabilities.

use metier_files::FileDigest;
use metier_mcp_server::Server;
use metier_testkit::Workspace;
use serde_json::{Value, json};
use std::sync::{Arc, Mutex};

use super::wire_client::{Revision, WireClient};
use super::{builder, server, skill, workspace};

fn uris(list: &Value) -> Vec<&str> {
    list.as_array().unwrap().iter().map(|one| one["uri"].as_str().unwrap()).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn both_revisions_announce_their_capabilities() {
    let workspace = workspace();
    let server = server(&workspace);
    for revision in [Revision::V2025, Revision::V2026] {
        let client = WireClient::open(&server, revision).await;
        let can = &client.server_info["capabilities"];
        assert_eq!(can["extensions"]["io.modelcontextprotocol/skills"], json!({ "directoryRead": true }));
        assert_eq!(can["resources"]["listChanged"], true);
        let instructions = client.server_info["instructions"].as_str().unwrap();
        assert!(instructions.contains("- **greet**: Does greet."), "{instructions}");
        assert!(!instructions.contains("deploy"), "{instructions}");
        client.close().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_skill_is_listed_with_its_frontmatter_and_every_file() {
    let workspace = workspace();
    let server = server(&workspace);
    for revision in [Revision::V2025, Revision::V2026] {
        let mut client = WireClient::open(&server, revision).await;
        let listed = client.result("skills/list", json!({})).await;
        // A skill is listed by the name in its frontmatter. One for users only is not listed.
        assert_eq!(
            uris(&listed["skills"]),
            ["skill://fenced/SKILL.md", "skill://greet/SKILL.md", "skill://other/SKILL.md"]
        );
        let greet = &listed["skills"][1];
        assert_eq!(
            greet["frontmatter"],
            json!({ "name": "greet", "description": "Does greet.", "version": 1.1 })
        );
        assert_eq!(uris(&greet["resources"]).len(), 6);
        let is_new = revision == Revision::V2026;
        assert_eq!(listed.get("resultType").is_some(), is_new);
        assert_eq!(listed.get("ttlMs").is_some() && listed["cacheScope"] == "private", is_new);
        let got = client.result("skills/get", json!({ "uri": "skill://greet/SKILL.md" })).await;
        assert_eq!(got["skill"], *greet);
        for uri in [
            "skill://greet",
            "skill://greet/logo.png",
            "skill://deploy/SKILL.md",
            "skill://none/SKILL.md",
            "x",
        ] {
            assert_eq!(client.error("skills/get", json!({ "uri": uri })).await.0, -32602, "{uri}");
        }
        client.close().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn every_listed_file_is_read_as_it_was_listed() {
    let workspace = workspace();
    let mut client = WireClient::open(&server(&workspace), Revision::V2026).await;
    let got = client.result("skills/get", json!({ "uri": "skill://greet/SKILL.md" })).await;
    for file in got["skill"]["resources"].as_array().unwrap() {
        let read = client.result("resources/read", json!({ "uri": file["uri"] })).await;
        let contents = &read["contents"][0];
        let bytes = match contents["text"].as_str() {
            Some(text) => text.as_bytes().to_vec(),
            None => decoded(contents["blob"].as_str().unwrap()),
        };
        assert_eq!(file["size"], bytes.len() as u64, "{file}");
        assert_eq!(file["digest"], FileDigest::of(&bytes).to_string(), "{file}");
    }
    let resources = client.result("resources/list", json!({})).await;
    let listed = resources["resources"].as_array().unwrap();
    let document = listed.iter().find(|one| one["uri"] == "skill://greet/SKILL.md").unwrap();
    assert_eq!((&document["name"], &document["mimeType"]), (&json!("greet"), &json!("text/markdown")));
    assert_eq!(document["description"], "Does greet.");
    let logo = listed.iter().find(|one| one["uri"] == "skill://greet/logo.png").unwrap();
    assert_eq!((&logo["mimeType"], &logo["size"]), (&json!("image/png"), &json!(9)));
    assert!(logo["_meta"]["io.modelcontextprotocol.skills/digest"].as_str().unwrap().starts_with("sha256:"));
}

/// Decodes base64 without the server's library, so that a bug in it would show.
fn decoded(text: &str) -> Vec<u8> {
    const LETTERS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut bytes = Vec::new();
    let (mut bits, mut count) = (0_u32, 0);
    for letter in text.bytes().filter(|letter| *letter != b'=') {
        let value = LETTERS.iter().position(|known| *known == letter).unwrap();
        bits = bits << 6 | u32::try_from(value).unwrap();
        count += 6;
        if count >= 8 {
            count -= 8;
            bytes.push(u8::try_from(bits >> count & 0xff).unwrap());
        }
    }
    bytes
}

#[tokio::test(flavor = "multi_thread")]
async fn a_folder_is_read_one_level_at_a_time() {
    let workspace = workspace();
    std::fs::create_dir(workspace.join("skills/greet/empty")).unwrap();
    let mut client = WireClient::open(&server(&workspace), Revision::V2026).await;
    let top = client.result("resources/directory/read", json!({ "uri": "skill://greet" })).await;
    assert_eq!(
        uris(&top["resources"]),
        [
            "skill://greet/SKILL.md",
            "skill://greet/logo.png",
            "skill://greet/references",
            "skill://greet/scripts"
        ]
    );
    assert_eq!(
        top["resources"][2],
        json!({ "uri": "skill://greet/references", "name": "references", "mimeType": "inode/directory" })
    );
    assert_eq!(top["resultType"], "complete");
    let below = client.result("resources/directory/read", json!({ "uri": "skill://greet/references" })).await;
    assert_eq!(
        uris(&below["resources"]),
        ["skill://greet/references/more", "skill://greet/references/tone.md"]
    );
    let empty = client.result("resources/directory/read", json!({ "uri": "skill://greet/empty" })).await;
    assert_eq!(empty["resources"], json!([]));
    for uri in [
        "skill://greet/SKILL.md",
        "skill://greet/none",
        "skill://greet/",
        "skill://deploy",
        "file:///etc",
        "skill://greet/..",
    ] {
        let (code, _) = client.error("resources/directory/read", json!({ "uri": uri })).await;
        assert_eq!(code, -32602, "{uri}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_outside_of_a_skill_is_readable() {
    let workspace = workspace()
        .file("skills/greet/.git/config", "token")
        .symlink("skills/greet/passwd", "/etc/passwd")
        .symlink("skills/greet/neighbour", "../deploy/notes.md");
    let server = server(&workspace);
    for (revision, code) in [(Revision::V2025, -32002), (Revision::V2026, -32602)] {
        let mut client = WireClient::open(&server, revision).await;
        for uri in [
            "skill://greet/../deploy/SKILL.md",
            "skill://greet/%2e%2e/deploy/SKILL.md",
            "skill://greet/passwd",
            "skill://greet/neighbour",
            "skill://greet/.git/config",
            "skill://greet/none.md",
            "skill://greet",
            "skill://deploy/notes.md",
            "file:///etc/passwd",
            "file:/etc/passwd",
            "/etc/passwd",
            "",
        ] {
            assert_eq!(client.error("resources/read", json!({ "uri": uri })).await.0, code, "{uri}");
        }
        client.close().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_rule_hides_a_skill_or_refuses_a_file() {
    let workspace = workspace();
    let skills = builder(&workspace).deny("skill:fenced").deny("skill:greet/read:references/**").open();
    let mut client = WireClient::open(&Server::builder(skills).open().unwrap(), Revision::V2026).await;
    let listed = client.result("skills/list", json!({})).await;
    assert_eq!(uris(&listed["skills"]), ["skill://greet/SKILL.md", "skill://other/SKILL.md"]);
    let (_, why) = client.error("resources/read", json!({ "uri": "skill://greet/references/tone.md" })).await;
    assert!(why.contains("refused"), "{why}");
    client.result("resources/read", json!({ "uri": "skill://greet/SKILL.md" })).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn skills_that_hosts_would_refuse_are_served_by_tools_only_and_reported_once() {
    let many = (0..512)
        .fold(workspace(), |workspace, number| workspace.file(format!("skills/many/f/{number}"), "x"));
    let workspace = many
        .file("skills/many/SKILL.md", skill("many", "", "Many."))
        .file("skills/odd/SKILL.md", "---\nname: odd\ndescription: Use when: it is odd\n---\nOdd.\n")
        .file("skills/large/SKILL.md", skill("large", "", "Large."))
        .file("skills/large/blob", vec![0_u8; 17 << 20]);
    let reported: Arc<Mutex<Vec<String>>> = Arc::default();
    let sink = Arc::clone(&reported);
    let server = Server::builder(builder(&workspace).open())
        .on_diagnostic(move |found| sink.lock().unwrap().push(found.message.clone()))
        .open()
        .unwrap();
    let mut client = WireClient::open(&server, Revision::V2026).await;
    for _ in 0..2 {
        let listed = client.result("skills/list", json!({})).await;
        assert_eq!(listed["skills"].as_array().unwrap().len(), 3);
    }
    for name in ["many", "odd", "large"] {
        let used = client.call("skill_use", json!({ "skill_name": name })).await;
        assert_eq!(used["isError"], false, "{used}");
        let uri = format!("skill://{name}/SKILL.md");
        assert_eq!(client.error("resources/read", json!({ "uri": uri })).await.0, -32602);
    }
    let mut reported = reported.lock().unwrap().clone();
    reported.sort();
    assert_eq!(
        reported,
        [
            "the files of the skill `large` are not served over MCP: its files have more than 16 MiB in total",
            "the files of the skill `many` are not served over MCP: it has more than 512 files",
            "the files of the skill `odd` are not served over MCP: its frontmatter is not plain YAML, and other parsers would read it differently",
        ]
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_long_list_is_paginated_without_gaps_or_repeats() {
    let workspace = (0..130).fold(Workspace::new(), |workspace, number| {
        let name = format!("skill-{number:03}");
        workspace
            .file(format!("skills/{name}/SKILL.md"), skill(&name, "", "Do."))
            .file(format!("skills/{name}/a.md"), "a")
    });
    let mut client = WireClient::open(&server(&workspace), Revision::V2026).await;
    for (method, key, pages, count) in [
        ("skills/list", "skills", 3, 130),
        ("resources/list", "resources", 2, 260),
        ("prompts/list", "prompts", 2, 130),
    ] {
        let (mut found, mut cursor, mut rounds) = (Vec::new(), Value::Null, 0);
        loop {
            let params = if cursor.is_null() { json!({}) } else { json!({ "cursor": cursor }) };
            let page = client.result(method, params).await;
            let name = |one: &Value| one["uri"].as_str().or(one["name"].as_str()).unwrap().to_owned();
            found.extend(page[key].as_array().unwrap().iter().map(name));
            rounds += 1;
            match page.get("nextCursor") {
                Some(next) => cursor = next.clone(),
                None => break,
            }
        }
        let mut once = found.clone();
        once.sort();
        once.dedup();
        assert_eq!((found.len(), once.len(), rounds), (count, count, pages), "{method}");
        assert_eq!(client.error(method, json!({ "cursor": "nonsense" })).await.0, -32602, "{method}");
    }
    let tools = client.result("tools/list", json!({})).await;
    assert!(tools.to_string().len() < 20_000, "{}", tools.to_string().len());
}
