//! Two actions that differ in anything shown have different keys, and a key is read back as it was written.

use metier_policy::{
    Action, Actor, ApprovalKey, Digest, Host, HostPattern, Need, PathChange, PathChangeKind, Place, Skill,
};
use metier_skill::Tool;
use proptest::prelude::*;

/// Texts that would run into each other if they were only joined.
const WORDS: &[&str] = &[
    "a", "b", "a b", "a,b", "a\"", "\"b", "a\\", "[", "]", "null", "", "\u{fffd}", "é", "a\nb", "a`b", "*",
    "a/b", "\0a",
];

fn word() -> impl Strategy<Value = String> {
    prop::sample::select(WORDS).prop_map(str::to_owned)
}

fn digest() -> impl Strategy<Value = Option<Digest>> {
    prop::option::of(word().prop_map(Digest))
}

fn actor() -> impl Strategy<Value = Actor> {
    let skill =
        (word(), word(), digest(), prop::option::of(word())).prop_map(|(name, origin, tree, place)| {
            Actor::Skill(Skill { tree, place, ..Skill::new(&name, &origin) })
        });
    prop_oneof![Just(Actor::Agent), skill]
}

fn need() -> impl Strategy<Value = Need> {
    let host = |name: &str| Host::new(name).expect(name);
    let pattern = |name: &str| name.parse::<HostPattern>().expect(name);
    prop_oneof![
        word().prop_map(|path| Need::Write(Place::new(&path))),
        prop::sample::select(&["a", "a/**", "**", "b/**"][..])
            .prop_map(|glob| Need::WriteBelow(glob.parse().expect(glob))),
        (prop::sample::select(&["x.org", "y.org"][..]), 79_u16..82)
            .prop_map(move |(name, port)| Need::Host { host: host(name), port }),
        prop::sample::select(&["x.org", "*.x.org", "x.org:80"][..])
            .prop_map(move |name| Need::Hosts(pattern(name))),
        word().prop_map(Need::Secret),
    ]
}

fn change() -> impl Strategy<Value = PathChange> {
    (word(), prop::sample::select(&PathChangeKind::ALL[..]))
        .prop_map(|(path, kind)| PathChange::new(Place::new(&path), kind))
}

fn action() -> impl Strategy<Value = Action> {
    let skill = || (word(), word()).prop_map(|(name, origin)| Skill::new(&name, &origin));
    let base = prop_oneof![
        skill().prop_map(Action::activate),
        (skill(), word()).prop_map(|(skill, path)| Action::read(skill, &path)),
        (skill(), word(), prop::collection::vec(word(), 0..3), digest()).prop_map(
            |(skill, file, argv, digest)| {
                let argv: Vec<&str> = argv.iter().map(String::as_str).collect();
                Action::script(skill, &file, &argv, digest)
            }
        ),
        (actor(), word()).prop_map(|(actor, line)| Action::command(actor, &line)),
        (skill(), word()).prop_map(|(skill, line)| Action::inject(skill, &line)),
        (skill(), word(), word()).prop_map(|(skill, event, line)| Action::hook(skill, &event, &line)),
        (actor(), need()).prop_map(|(actor, need)| Action::more(actor, need)),
        (actor(), prop::sample::select(&[Tool::Write, Tool::Edit][..]), word())
            .prop_map(|(actor, tool, path)| Action::write(actor, tool, Place::new(&path))),
        (actor(), prop::option::of(word())).prop_map(|(actor, path)| Action::tool(
            actor,
            Tool::Read,
            path.map(|path| Place::new(&path))
        )),
        (actor(), word(), word()).prop_map(|(actor, server, tool)| Action::mcp(actor, &server, &tool)),
        (actor(), prop::collection::vec(change(), 0..3))
            .prop_map(|(actor, changes)| Action::changes(actor, changes)),
    ];
    (base, prop::collection::vec(need(), 0..2)).prop_map(|(action, needs)| {
        let is_list = matches!(action.deed, metier_policy::Deed::Changes(_));
        if is_list { action } else { needs.into_iter().fold(action, Action::needing) }
    })
}

/// All that a person sees, as a set where the order means nothing.
fn shown(action: &Action) -> Vec<String> {
    let mut lines = action.approval_request().lines();
    lines.sort();
    lines.dedup();
    lines
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 4_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn what_is_shown_otherwise_has_another_key(one in action(), other in action()) {
        let (key, second) = (one.approval_key(), other.approval_key());
        prop_assert_eq!(key == second, key.text() == second.text());
        // How often the same thing is named says nothing more.
        let is_counted = matches!(one.deed, metier_policy::Deed::Changes(_));
        if !is_counted && shown(&one) != shown(&other) {
            prop_assert_ne!(key.text(), second.text());
        }
        if one.approval_request().changes != other.approval_request().changes && key == second {
            let set = |action: &Action| shown(action).split_off(0).into_iter().filter(|line| line.starts_with("  ")).collect::<Vec<_>>();
            prop_assert_eq!(set(&one), set(&other));
        }
    }

    #[test]
    fn a_key_is_read_back_as_it_was_written(action in action()) {
        let key = action.approval_key();
        let again: ApprovalKey = serde_json::from_str(&key.text()).unwrap();
        prop_assert_eq!(&again, &key);
        prop_assert_eq!(again.text(), key.text());
    }
}

/// One thing changed at a time, for what a random pair rarely meets.
#[test]
fn each_part_is_in_the_key() {
    let tree = |digest: &str| Skill { tree: Some(Digest(digest.to_owned())), ..Skill::new("pdf", "user") };
    let script = |skill: Skill, file: &str, word: &str, digest: &str| {
        Action::script(skill, file, &["bash", file, word], Some(Digest(digest.to_owned())))
    };
    let base = || script(tree("1"), "a.sh", "x", "2");
    let host = |name: &str, port| Need::Host { host: Host::new(name).expect(name), port };
    let all = [
        base(),
        script(tree("9"), "a.sh", "x", "2"),
        script(Skill { place: Some("/p".into()), ..tree("1") }, "a.sh", "x", "2"),
        script(Skill { origin: "project".into(), ..tree("1") }, "a.sh", "x", "2"),
        script(Skill { name: "csv".into(), ..tree("1") }, "a.sh", "x", "2"),
        script(tree("1"), "b.sh", "x", "2"),
        script(tree("1"), "a.sh", "y", "2"),
        script(tree("1"), "a.sh", "x", "3"),
        base().needing(host("x.org", 443)),
        base().needing(host("x.org", 80)),
        base().needing(host("y.org", 443)),
        base().needing(Need::Secret("TOKEN".into())),
        base().needing(Need::Write(Place::new("a"))),
        base().needing(Need::WriteBelow("a".parse().unwrap())),
        base().needing(Need::Write(Place::from_bytes(b"\xff"))),
        base().needing(Need::Write(Place::from_bytes(b"\xfe"))),
    ];
    for (at, one) in all.iter().enumerate() {
        for (other_at, other) in all.iter().enumerate() {
            assert_eq!(
                one.approval_key().text() == other.approval_key().text(),
                at == other_at,
                "{at} {other_at}"
            );
        }
    }
    let text = base().approval_key().text();
    assert!(text.starts_with(r#"{"version":1,"actor":{"skill":{"origin":"user","name":"pdf","#), "{text}");
    let old = text.replacen("\"version\":1", "\"version\":2", 1);
    assert!(serde_json::from_str::<ApprovalKey>(&old).is_err(), "another version is not read");
}
