//! The index as a whole.

mod invariant;

use proptest::prelude::*;

/// Words that meet, cues, headings and scripts without blanks: what ranks are about.
fn body() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        "[a-d]{2,5}",
        Just("review contracts".to_owned()),
        Just("Not for".to_owned()),
        Just("do not use".to_owned()),
        Just("\n## When not to use\n".to_owned()),
        Just("\n# Title\n".to_owned()),
        Just("broken builds → `ci-doctor`".to_owned()),
        Just("不适用于视频".to_owned()),
        Just("診断してください".to_owned()),
        Just("Wildly Important Goal (WIG)".to_owned()),
        Just("```".to_owned()),
        Just(". ".to_owned()),
        "\\PC{0,6}",
    ];
    proptest::collection::vec(piece, 0..30).prop_map(|pieces| pieces.join(" "))
}

proptest! {
    #[test]
    fn ranks_do_not_depend_on_how_skills_came_into_the_index(
        bodies in proptest::collection::vec(body(), 1..6),
        request in body(),
    ) {
        let bodies: Vec<&str> = bodies.iter().map(String::as_str).collect();
        invariant::holds(&bodies, &request);
    }
}
