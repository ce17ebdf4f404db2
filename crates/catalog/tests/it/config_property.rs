//! What holds for every text as a configuration, made of pieces that configurations have.

use crate::config_invariant::holds;
use proptest::prelude::*;

/// Sections, keys and values, right ones and wrong ones.
const PIECES: &[&str] = &[
    "[gate]\n",
    "[[roots]]\n",
    "[skills.a]\n",
    "[skills.a.needs]\n",
    "[catalog]\n",
    "[discovery]\n",
    "[lint]\n",
    "[[lint.paths]]\n",
    "[env.A]\n",
    "[models.a]\n",
    "[providers.a]\n",
    "[limits]\n",
    "[mcp.servers.a]\n",
    "path = ",
    "depth = ",
    "ignore = ",
    "nested = ",
    "visibility = ",
    "hosts = ",
    "budget = ",
    "disclosure = ",
    "allow = ",
    "deny = ",
    "mode = ",
    "bundled = ",
    "model = ",
    "command = ",
    "url = ",
    "seconds = ",
    "true\n",
    "0\n",
    "-1\n",
    "1e400\n",
    "\"off\"\n",
    "\"strict\"\n",
    "\"a\"\n",
    "[]\n",
    "[\"a\", 1]\n",
    "{}\n",
    "{ a = 1 }\n",
    "\"",
    "\n",
    "é",
    "#",
    "=",
    "\"\\u0001\"\n",
    "\"\\u202e\" = 1\n",
];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn one_mistake_costs_one_setting(pieces in prop::collection::vec(prop::sample::select(PIECES), 0..14)) {
        holds(&pieces.concat());
    }
}
