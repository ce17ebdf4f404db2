//! The rule that is printed for a path means that path when it is read back, and no other.

use crate::gate_acts::skill;
use metier_policy::{
    Action, Actor, Answers, Asking, Gate, Layer, List, Need, Owner, Place, Rules, Source, Standing,
};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;

/// What is special in rules, in globs, on a terminal, or in no text at all.
const PIECES: &[&[u8]] = &[
    b"a",
    b"b",
    b"u",
    b"x80",
    b"u{25c6}",
    b"{",
    b"}",
    b"[",
    b"]",
    b"*",
    b"**",
    b"?",
    b"!",
    b",",
    b"\\",
    b" ",
    b"'",
    b"\"",
    b"(",
    b")",
    b":",
    b"\n",
    b"\r",
    b"\t",
    b"\x1b",
    b"\x7f",
    b"\x80",
    b"\xff",
    b"\xc3",
    b"\xa4",
    b"\xc3\xa4",
    b"\xe2\x97\x86",
    b"\xe2\x80\x8b",
    b"\xe3\x80\x80",
    b"\xef\xbf\xbd",
    b"\xf4\x8f\xbe\x80",
    b"\xf4\x8f\xbf\xbf",
    b".git",
    b"hooks",
    b".envrc",
];

/// A path inside the project.
fn path() -> impl Strategy<Value = Vec<u8>> {
    let step = prop_oneof![
        3 => vec(select(PIECES), 1..5).prop_map(|pieces| pieces.concat()),
        1 => vec(any::<u8>().prop_filter("a name has none", |byte| *byte != 0 && *byte != b'/'), 1..6),
    ];
    let step = step
        .prop_filter("a step of its own", |step| !matches!(step.as_slice(), b"." | b"..") && step[0] != b'~');
    vec(step, 1..4).prop_map(|steps| steps.join(&b'/'))
}

fn write(path: &[u8]) -> Action {
    Action::more(Actor::Skill(skill("pdf")), Need::Write(Place::from_bytes(path)))
}

fn is_allowed(rule: &str, action: &Action) -> bool {
    let layer = Layer::new(Source::new(Owner::Flag, "x")).list(List::Allow, &[rule.to_owned()]);
    assert_eq!(layer.problems(), [], "{rule}");
    let rules = Rules::new(vec![layer], Standing::Untrusted);
    let gate = Gate { rules: &rules, answers: &Answers::default(), scopes: &[], asking: Asking::Nobody };
    gate.decide(action).is_allowed()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn the_rule_of_a_path_means_that_path_and_no_other(path in path(), other in path(), at in any::<usize>(), byte in 1_u8..) {
        let rules = write(&path).rules();
        prop_assert_eq!(rules.len(), 1);
        let rule = rules[0].to_string();
        prop_assert!(!rule.contains(char::is_control) && rule.trim() == rule, "{}", rule);
        prop_assert!(is_allowed(&rule, &write(&path)), "{}", rule);
        // Another path, and one that differs in one byte.
        let mut near = path.clone();
        let at = at % near.len();
        near[at] = byte;
        for other in [other, near, [path.as_slice(), b"/x"].concat(), [b"x/", path.as_slice()].concat()] {
            if Place::from_bytes(&other) != Place::from_bytes(&path) {
                prop_assert!(!is_allowed(&rule, &write(&other)), "{} means {}", rule, other.escape_ascii());
            }
        }
    }
}
