//! Whatever a server sends: events in their order, and no panic.

use metier_model::Protocol;
use proptest::prelude::*;

use crate::invariant;
use crate::stories::{beginning, calls, end, story};

fn protocol() -> impl Strategy<Value = Protocol> {
    prop::sample::select(vec![Protocol::OpenAi, Protocol::Anthropic, Protocol::Gemini])
}

/// Lines of real answers of any protocol, and odd ones.
fn lines() -> Vec<String> {
    let mut lines = Vec::new();
    for protocol in [Protocol::OpenAi, Protocol::Anthropic, Protocol::Gemini] {
        let two: &[(&str, &str, &[&str])] = &[("", "f", &["{\"x\"", ":1}"]), ("b", "g", &["{}"])];
        let two = if protocol == Protocol::Gemini { &two[1..] } else { two };
        let text =
            [story(protocol), beginning(protocol), calls(protocol, two), end(protocol, "other")].concat();
        lines.extend(text.split_inclusive("\n\n").map(str::to_owned));
    }
    let odd = [
        "data: {}\n\n",
        "data: []\n\n",
        "data: null\n\n",
        "data: {\"choices\":[{}]}\n\n",
        "data: {oops\n\n",
        ": x\n\n",
        "\r",
        "data:",
    ];
    lines.extend(odd.map(str::to_owned));
    lines
}

proptest! {
    #[test]
    fn lines_of_any_protocol_in_any_order(
        protocol in protocol(),
        text in prop::collection::vec(prop::sample::select(lines()), 0..12),
        cuts in prop::collection::vec(any::<usize>(), 0..8),
    ) {
        invariant::holds(protocol, text.concat().as_bytes(), &cuts);
    }

    #[test]
    fn real_answers_with_bytes_changed(
        protocol in protocol(),
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..6),
        cuts in prop::collection::vec(any::<usize>(), 0..8),
    ) {
        let mut bytes = story(protocol).into_bytes();
        for (place, byte) in changes {
            let place = place.index(bytes.len());
            bytes[place] = byte;
        }
        invariant::holds(protocol, &bytes, &cuts);
    }
}
