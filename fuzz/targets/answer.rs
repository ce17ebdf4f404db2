//! Any bytes as what a model's provider sends: events in their order, wherever the bytes are split.
//!
//! The first byte says which protocol, the second how many of the next say where to cut.
#![no_main]

#[path = "../../crates/model/tests/it/invariant.rs"]
mod invariant;

use libfuzzer_sys::fuzz_target;
use metier_model::Protocol;

fuzz_target!(|bytes: &[u8]| {
    let [protocol, cuts, rest @ ..] = bytes else { return };
    let protocol = match protocol % 3 {
        0 => Protocol::OpenAi,
        1 => Protocol::Anthropic,
        _ => Protocol::Gemini,
    };
    let (cuts, body) = rest.split_at(usize::from(cuts % 8).min(rest.len()));
    // Steps of 37 reach far into a body with one byte.
    let cuts: Vec<usize> = cuts.iter().map(|cut| usize::from(*cut) * 37).collect();
    invariant::holds(protocol, body, &cuts);
});
