//! The tests of metier-policy that need only its public face.
#![expect(
    clippy::panic,
    clippy::expect_used,
    clippy::disallowed_methods,
    reason = "a test that cannot go on says so, and a real shell is started in a temporary folder"
)]

mod shell_accepted;
mod shell_bash;
mod shell_cost;
mod shell_invariant;
mod shell_mutants;
mod shell_patterns;
mod shell_property;
mod shell_real;
mod shell_refused;
mod shell_table;
mod wrapped;

mod approval_keys;
mod changes;
mod gate_acts;
mod gate_answers;
mod gate_layers;
mod gate_order;
mod gate_property;
mod gate_rules;
mod gate_scope;

mod git_places;
mod printed_paths;
mod refusals;
mod rule_invariant;
mod rule_property;
