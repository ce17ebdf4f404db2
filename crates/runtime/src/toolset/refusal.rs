//! What a model is told when it may not have a skill.

use metier_catalog::State;

use super::surface::Surface;
use super::visible::Available;

/// Why a model does not get a skill.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Refusal {
    /// It is no name.
    NoReference {
        /// Why not.
        why: String,
    },
    /// There is none of that name.
    Unknown {
        /// What was asked for.
        name: String,
        /// Those that may have been meant.
        nearest: Vec<String>,
        /// Those that there are.
        available: Available,
    },
    /// The agent's list does not name it.
    NotListed {
        /// What was asked for.
        name: String,
        /// What the list names.
        available: Available,
    },
    /// It cannot be used as it stands.
    State {
        /// The skill.
        name: String,
        /// How it stands.
        state: State,
    },
    /// It is for the user.
    UserOnly {
        /// The skill.
        name: String,
        /// Whether `/name` exists.
        is_invocable: bool,
    },
    /// It is there, in other versions.
    NoVersion {
        /// What was asked for.
        name: String,
        /// The versions that there are.
        versions: Vec<String>,
    },
    /// Several are meant equally.
    Ambiguous {
        /// What was asked for.
        name: String,
        /// Their names.
        names: Vec<String>,
    },
    /// Its file is no skill.
    Broken {
        /// What was asked for.
        name: String,
        /// What is wrong with it.
        why: String,
    },
}

impl Refusal {
    /// The answer, in the words of the surface. Where a system has a text for a case, that is it, to the byte.
    pub fn text(&self, surface: Surface) -> String {
        match (surface, self) {
            (
                Surface::Agentmd,
                Self::Unknown { name, available, .. } | Self::NotListed { name, available },
            ) => {
                format!("Skill '{name}' is not enabled for this agent. Available: {}", list(available))
            }
            (Surface::Adk, Self::Unknown { name, .. } | Self::NotListed { name, .. }) => {
                format!("skill not found: {name}")
            }
            _ => self.sentence(),
        }
    }

    fn sentence(&self) -> String {
        match self {
            Self::NoReference { why } => format!("{why}; give the name of a skill"),
            Self::Unknown { name, nearest, available } => match (nearest.as_slice(), available) {
                ([], Available { names, .. }) if names.is_empty() => {
                    format!("there is no skill `{name}`; there are none at all")
                }
                ([], available) => format!("there is no skill `{name}`; there are {}", quoted(available)),
                (nearest, _) => {
                    let nearest = Available { names: nearest.to_vec(), more: 0 };
                    format!("there is no skill `{name}`; did you mean {}?", quoted(&nearest))
                }
            },
            Self::NotListed { name, available } if available.names.is_empty() => {
                format!("the skill `{name}` is not on this agent's list, which names none")
            }
            Self::NotListed { name, available } => {
                format!("the skill `{name}` is not on this agent's list, which names {}", quoted(available))
            }
            Self::State { name, state } => match state {
                State::Disabled => {
                    format!(
                        "the skill `{name}` is disabled; the user can switch it on: `metier enable {name}`"
                    )
                }
                State::Off => format!(
                    "the skill `{name}` is turned off by the configuration; the user can see where: `metier explain {name}`"
                ),
                State::Untrusted => format!(
                    "the skill `{name}` belongs to a project that is not trusted; the user can look at it and then run \
                     `metier trust`"
                ),
                State::Nested => format!(
                    "the skill `{name}` lies inside another skill and is not used by itself; the user can see where: \
                     `metier explain {name}`"
                ),
                other => {
                    format!("the skill `{name}` is {other}; the user can see why: `metier explain {name}`")
                }
            },
            Self::UserOnly { name, is_invocable: true } => format!(
                "the skill `{name}` is started by the user alone; ask for `/{name}`, or do the work without it"
            ),
            Self::UserOnly { name, is_invocable: false } => format!(
                "the skill `{name}` is started by the user alone; ask for `metier use {name}`, or do the work without it"
            ),
            Self::NoVersion { name, versions } => {
                format!("no version of the skill fits `{name}`; there is {}", versions.join(", "))
            }
            Self::Ambiguous { name, names } if names.is_empty() => {
                format!("`{name}` is the name of none; call a skill by its own name")
            }
            Self::Ambiguous { name, names } => {
                let names = Available { names: names.clone(), more: 0 };
                format!("`{name}` could be {}; call it by its own name", quoted(&names))
            }
            Self::Broken { name, why } => format!(
                "the skill `{name}` cannot be loaded: {why}; the user can see where: `metier explain {name}`"
            ),
        }
    }
}

fn list(available: &Available) -> String {
    match (available.names.as_slice(), available.more) {
        ([], _) => "none".to_owned(),
        (names, 0) => names.join(", "),
        (names, more) => format!("{} and {more} more", names.join(", ")),
    }
}

fn quoted(available: &Available) -> String {
    let names = available.names.iter().map(|name| format!("`{name}`")).collect();
    list(&Available { names, more: available.more })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_refusal_has_an_answer_of_its_own() {
        let available = |names: &[&str], more| Available {
            names: names.iter().map(|name| (*name).to_owned()).collect(),
            more,
        };
        let unknown = |nearest: &[&str], available| Refusal::Unknown {
            name: "x".into(),
            nearest: nearest.iter().map(|name| (*name).to_owned()).collect(),
            available,
        };
        let check = |surface: Surface, refusal: &Refusal, expect: &str| {
            assert_eq!(refusal.text(surface), expect);
        };
        let here = Surface::Canonical;
        check(here, &unknown(&["xy"], available(&["a"], 0)), "there is no skill `x`; did you mean `xy`?");
        check(
            here,
            &unknown(&[], available(&["a", "b"], 3)),
            "there is no skill `x`; there are `a`, `b` and 3 more",
        );
        check(here, &unknown(&[], available(&[], 0)), "there is no skill `x`; there are none at all");
        let not_listed = Refusal::NotListed { name: "x".into(), available: available(&["a", "b"], 0) };
        check(here, &not_listed, "the skill `x` is not on this agent's list, which names `a`, `b`");
        check(Surface::Agentmd, &not_listed, "Skill 'x' is not enabled for this agent. Available: a, b");
        check(
            Surface::Agentmd,
            &unknown(&["xy"], available(&[], 0)),
            "Skill 'x' is not enabled for this agent. Available: none",
        );
        check(Surface::Adk, &not_listed, "skill not found: x");
        let state = |state| Refusal::State { name: "x".into(), state };
        for (state, word) in [
            (state(State::Disabled), "metier enable x"),
            (state(State::Off), "turned off by the configuration"),
            (state(State::Untrusted), "`metier trust`"),
            (state(State::Nested), "inside another skill"),
            (Refusal::UserOnly { name: "x".into(), is_invocable: true }, "`/x`"),
            (Refusal::UserOnly { name: "x".into(), is_invocable: false }, "`metier use x`"),
        ] {
            for surface in Surface::ALL {
                assert!(state.text(surface).contains(word), "{state:?}: {}", state.text(surface));
            }
        }
    }
}
