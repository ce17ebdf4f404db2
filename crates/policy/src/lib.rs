//! May it happen? Actions as values, rules, modes, answers, fences and grants, and the analysis of shell lines.
//!
//! Pure: nothing here reads a file, asks a person or starts a process. Who asks gets a decision with the rule that made
//! it.
//!
//! [`Action`] is what somebody wants to do. [`Rules`] are put together from [`Layer`]s: the user's configuration, files of
//! the project, flags. A [`Scope`] is what an active skill's tool lists mean, [`Answers`] are what the user has said so far.
//! [`Gate::decide`] hears them in a fixed order and gives a [`Decision`]. `docs/gate.md` is the same for users, and says what
//! was decided where several answers were possible.
//!
//! What holds for every input:
//!
//! - **A deny rule that is about an action refuses it**, whatever else is said.
//! - **A project that is not trusted never widens**, and neither does anything that cannot be read: a deny rule with a
//!   mistake in it makes ask what it can have meant.
//! - **Every part is judged.** A compound command has a part for each simple command, and each need is a part; one denied
//!   part denies the action, and only an action whose every part is allowed is allowed.
//! - **An answer is bound** to the question and to the digests of what would run.
//!
//! What this crate is not: it contains nothing. What a program does once it runs is for the sandbox to bound; a rule
//! about a command line is about the line.
//!
//! ```
//! use metier_policy::{Action, Answers, Asking, Gate, Host, Layer, List, Need, Owner, Rules, Skill, Source, Standing};
//!
//! let user = Layer::new(Source::new(Owner::User, "config.toml")).list(List::Deny, ["command:rm:*"]);
//! let rules = Rules::new(vec![user], Standing::Untrusted);
//! let gate = Gate { rules: &rules, answers: &Answers::default(), scopes: &[], asking: Asking::Nobody };
//!
//! // What a trusted skill does inside the default containment passes.
//! let pdf = Skill::new("pdf", "user");
//! let convert = Action::script(pdf, "scripts/convert.py", &["python3", "/skills/pdf/scripts/convert.py"], None);
//! assert!(gate.decide(&convert).is_allowed());
//!
//! // More than that takes a yes, or the rule that the refusal names.
//! let host = Host::new("api.example.com").expect("a host");
//! let refused = gate.decide(&convert.needing(Need::Host { host, port: 443 }));
//! assert_eq!(refused.allow_with[0].to_string(), "skill:user:pdf/host:api.example.com:443");
//!
//! // A compound command is denied if any simple command in it is.
//! let line = Action::command(metier_policy::Actor::Agent, "ls && rm -rf build");
//! assert_eq!(gate.decide(&line).to_string(), "refused: the deny rule `command:rm:*` in `config.toml` says so");
//! ```

// The gate.
mod action;
mod answer;
mod approval_key;
mod approval_request;
mod aspect;
mod changes_decision;
mod decision;
mod file_glob;
mod gate;
mod host;
mod international;
mod matchable;
mod mode;
mod name_glob;
mod path_change;
mod place;
mod rule;
mod rules;
mod scope;
mod sentence;
mod wording;
mod wrappers;
pub use action::{Action, Actor, CommandLine, Deed, Digest, Need, Skill, Trust};
pub use answer::{Answer, Answers, Question};
pub use approval_key::ApprovalKey;
pub use approval_request::ApprovalRequest;
pub use changes_decision::{ChangeRules, ChangesDecision, UndecidedChanges};
pub use decision::{Decision, Reason, Ruling};
pub use file_glob::{FileGlob, NoGlob};
pub use gate::Gate;
pub use host::{Host, HostPattern, NoHost};
pub use mode::{Asking, Mode, NoMode};
pub use name_glob::{NameGlob, NoName, SkillPattern};
pub use path_change::{EntryFacts, ModeChange, PathChange, PathChangeKind, PathEntryKind};
pub use place::{Place, holds_git_control, is_guarded};
pub use rule::{Reach, Rule, RuleError, RuleProblem, SkillPart};
pub use rules::{
    Cited, Layer, List, Owner, Problem, Rules, Source, Standing, from_agents_json, from_claude_settings,
};
pub use scope::{Dialect, Folders, McpTools, Meaning, Offered, Scope, Terms};
pub use wording::NoAction;

// Shell lines.
mod command_pattern;
pub mod shell;
pub use command_pattern::{CommandPattern, PatternError};
