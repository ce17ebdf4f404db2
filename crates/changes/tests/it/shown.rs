//! Changes as people and scripts see them.

use std::fs;

use metier_changes::{CallOrigin, NoTextError, TextChange, scan, text_of};

use crate::support::{Ground, path, put, whiteout};

#[test]
fn each_change_is_listed_with_what_is_there_afterwards() {
    let ground = Ground::new(&[
        ("a", "one"),
        ("moved", "the same content"),
        ("gone/x", "12"),
        ("gone/deep/y", "345"),
        ("partly/a", "a"),
        ("partly/b", "b"),
    ]);
    let layer = ground.store.create(&ground.project(), CallOrigin::default()).unwrap();
    let upper = layer.upper();
    put(&upper.join("a"), "changed");
    put(&upper.join("to/there"), "the same content");
    put(&upper.join("new/1"), "1");
    put(&upper.join("new/in/2"), "22");
    fs::create_dir(upper.join("empty")).unwrap();
    fs::create_dir(upper.join("partly")).unwrap();
    for gone in ["moved", "gone", "partly/a"] {
        whiteout(&upper.join(gone));
    }
    let changes = scan(&layer).unwrap();
    let json = serde_json::to_value(changes.listed()).unwrap();
    let expected = serde_json::json!({
        "path": "a", "kind": "modified", "entry": "file", "size": 7,
        "digest": metier_files::FileDigest::of(b"changed").to_string(), "mode": json[0]["mode"],
    });
    assert_eq!(json[0], expected);
    assert!(json[0]["mode"].as_str().unwrap().starts_with("06"));
    assert_eq!(json[2]["path"], "gone");
    assert!(json[2].get("size").is_none());
}

#[test]
fn both_texts_of_a_change_are_given_and_binary_or_large_ones_refused() {
    let ground = Ground::new(&[("a", "one\n"), ("gone", "text\n")]);
    let layer = ground.store.create(&ground.project(), CallOrigin::default()).unwrap();
    put(&layer.upper().join("a"), "two\n");
    put(&layer.upper().join("binary"), "a\0b");
    put(&layer.upper().join("large"), &"x".repeat((1 << 20) + 1));
    put(&layer.upper().join("new/file"), "new\n");
    whiteout(&layer.upper().join("gone"));
    let changes = scan(&layer).unwrap();
    let text = |name: &str| {
        let change = changes.entries.iter().find(|change| change.path == path(name)).unwrap();
        text_of(&layer, change)
    };
    let both = |before: &str, after: &str| TextChange { before: before.to_owned(), after: after.to_owned() };
    assert_eq!(text("a").unwrap(), both("one\n", "two\n"));
    assert_eq!(text("new/file").unwrap(), both("", "new\n"));
    assert_eq!(text("gone").unwrap(), both("text\n", ""));
    assert!(matches!(text("binary"), Err(NoTextError::Binary)));
    assert!(matches!(text("new"), Err(NoTextError::NotAFile)));
    let error = text("large").unwrap_err();
    assert_eq!(error.to_string(), "it has 1048577 bytes, and a diff is shown up to 1048576");
    fs::write(ground.project().join("a"), "theirs").unwrap();
    assert!(matches!(text("a"), Err(NoTextError::Changed)));
}
