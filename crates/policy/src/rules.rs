//! The rules in force: the user's, the project's and those of the call, put together by who may say what.

mod foreign;

pub use foreign::{from_agents_json, from_claude_settings};

use crate::aspect::Aspect;
use crate::mode::Mode;
use crate::rule::Rule;
use crate::wrappers::Touch;
use metier_diagnostic::{Severity, visible};
use std::fmt;

/// Where rules stand.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Source {
    /// Whose word it is.
    pub owner: Owner,
    /// The file or the flag, for people.
    pub label: String,
}

impl Source {
    /// A source.
    pub fn new(owner: Owner, label: &str) -> Self {
        Self { owner, label: label.to_owned() }
    }
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}`", visible(&self.label))
    }
}

/// Whose word a rule is. The order is the order in which they are heard.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Owner {
    /// The user's configuration.
    User,
    /// A file of the project.
    Project,
    /// A file of the project, as far as the user has not trusted it: new since, or changed. It narrows and nothing else.
    Stranger,
    /// A flag of this call.
    Flag,
}

/// What the user has said about the project.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// Nothing: its files can narrow and nothing else.
    Untrusted,
    /// It is trusted: its rules are as good as the user's. Its `yolo` is not taken.
    Trusted,
    /// It is trusted, and the user said yes to its `yolo`.
    TrustedWithYolo,
}

/// One of the three lists.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum List {
    /// Refused, whatever else says yes.
    Deny,
    /// Asked, whatever would allow it.
    Ask,
    /// Allowed.
    Allow,
}

impl List {
    /// The word users see.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Deny => "deny",
            Self::Ask => "ask",
            Self::Allow => "allow",
        }
    }
}

/// A rule, as it is written and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cited {
    /// What it means.
    pub rule: Rule,
    /// The text, so that whoever looks for it finds it.
    pub text: String,
    /// Where it stands.
    pub source: Source,
}

impl Cited {
    /// Whether the rule may allow something to this skill. Flags name what the user looks at, and a trusted project's rules
    /// are about its own work; a line of the user's configuration holds everywhere, so its bare names mean the user's own.
    fn may_widen(&self, aspect: &Aspect<'_>) -> bool {
        match (&self.rule, self.source.owner, aspect.actor.skill()) {
            (Rule::Skill { skill, .. }, Owner::User, Some(own)) => skill.may_widen(&own.origin),
            _ => true,
        }
    }
}

impl fmt::Display for Cited {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` in {}", visible(&self.text), self.source)
    }
}

/// Something that could not be taken as it is written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// The file or flag.
    pub source: Source,
    /// The entry: `deny[2]`.
    pub entry: String,
    /// How bad it is: an error where what is in force differs from what was meant.
    pub severity: Severity,
    /// What is wrong, and what holds because of it.
    pub message: String,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, {}: {}", self.source, self.entry, self.message)
    }
}

/// What one file or one call says.
///
/// Nothing is dropped in silence: whatever cannot be read is among the problems, and narrows as far as it can have been
/// meant. A deny entry that cannot be read makes everything ask that its beginning names; an ask entry likewise; an
/// allow entry allows nothing; a mode that is none counts as `strict`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layer {
    source: Source,
    mode: Option<Mode>,
    deny: Vec<Cited>,
    ask: Vec<Cited>,
    allow: Vec<Cited>,
    /// Deny entries that could not be read, as wide as they can have been meant.
    unread: Vec<Cited>,
    problems: Vec<Problem>,
}

impl Layer {
    /// A layer that says nothing yet.
    pub fn new(source: Source) -> Self {
        let (deny, ask, allow, unread, problems) = Default::default();
        Self { source, mode: None, deny, ask, allow, unread, problems }
    }

    /// The same with the rules of one list.
    #[must_use]
    pub fn list<T: AsRef<str>>(mut self, list: List, texts: impl IntoIterator<Item = T>) -> Self {
        for (at, text) in texts.into_iter().enumerate() {
            self.add(list, &format!("{}[{at}]", list.word()), text.as_ref());
        }
        self
    }

    /// The same with a mode.
    #[must_use]
    pub fn mode(mut self, text: &str) -> Self {
        self.set_mode("mode", text);
        self
    }

    /// The same for a file of which a part could not be read: a deny rule may be in it, so everything asks.
    #[must_use]
    pub fn incomplete(mut self, why: &str) -> Self {
        self.lost("file", why);
        self
    }

    /// What could not be taken as it is written.
    pub fn problems(&self) -> &[Problem] {
        &self.problems
    }

    /// The rules of one list, as they are written.
    pub fn written(&self, list: List) -> impl Iterator<Item = &str> {
        let rules = match list {
            List::Deny => &self.deny,
            List::Ask => &self.ask,
            List::Allow => &self.allow,
        };
        rules.iter().map(|cited| cited.text.as_str())
    }

    /// The mode it sets.
    pub fn wanted_mode(&self) -> Option<Mode> {
        self.mode
    }

    /// Cuts the layer of a trusted project's file in two: what the user trusted, and the rest, which is a stranger's word.
    /// What denies stays whoever wrote it.
    #[must_use]
    pub fn split(
        self,
        is_trusted: impl Fn(List, &str) -> bool,
        is_mode_trusted: impl Fn(Mode) -> bool,
    ) -> [Self; 2] {
        let stranger = Source { owner: Owner::Stranger, ..self.source.clone() };
        let cut = |rules: Vec<Cited>, list: List| -> (Vec<Cited>, Vec<Cited>) {
            let (trusted, mut rest): (Vec<Cited>, Vec<Cited>) =
                rules.into_iter().partition(|cited| is_trusted(list, &cited.text));
            for cited in &mut rest {
                cited.source = stranger.clone();
            }
            (trusted, rest)
        };
        let (ask, other_ask) = cut(self.ask, List::Ask);
        let (allow, other_allow) = cut(self.allow, List::Allow);
        let is_trusted = self.mode.is_some_and(is_mode_trusted);
        let mut rest = Self::new(stranger);
        (rest.ask, rest.allow, rest.mode) = (other_ask, other_allow, self.mode.filter(|_| !is_trusted));
        [Self { ask, allow, mode: self.mode.filter(|_| is_trusted), ..self }, rest]
    }

    fn add(&mut self, list: List, entry: &str, text: &str) {
        let (rule, is_read) = match text.parse::<Rule>() {
            Ok(Rule::Absent(_)) => {
                let message = format!("metier has no tool `{}`, so the rule never matches", visible(text));
                return self.report(entry, Severity::Info, message);
            }
            Ok(rule) => (rule, true),
            Err(error) => {
                let holds = match list {
                    List::Deny | List::Ask => {
                        format!("until it can be read, what `{}` means is asked about", error.meant)
                    }
                    List::Allow => "it allows nothing".to_owned(),
                };
                self.report(entry, Severity::Error, format!("{error}; {holds}"));
                (*error.meant, false)
            }
        };
        let rules = match (list, is_read) {
            (List::Deny, true) => &mut self.deny,
            (List::Deny, false) => &mut self.unread,
            (List::Ask, _) => &mut self.ask,
            (List::Allow, true) => &mut self.allow,
            (List::Allow, false) => return,
        };
        rules.push(Cited { rule, text: text.to_owned(), source: self.source.clone() });
    }

    fn set_mode(&mut self, entry: &str, text: &str) {
        match text.parse() {
            Ok(mode) => self.mode = Some(mode),
            Err(error) => self.no_mode(entry, &format!("{error}; until then it counts as `strict`")),
        }
    }

    fn no_mode(&mut self, entry: &str, message: &str) {
        self.mode = Some(Mode::Strict);
        self.report(entry, Severity::Error, message.to_owned());
    }

    /// Something is there that may be a deny rule and cannot be read at all.
    fn lost(&mut self, entry: &str, why: &str) {
        self.unread.push(Cited { rule: Rule::Any, text: entry.to_owned(), source: self.source.clone() });
        let message = format!("{}; until it can be read, everything is asked about", visible(why));
        self.report(entry, Severity::Error, message);
    }

    /// Says that what it allows does not count, since it is a project's word without the user's.
    fn leave_allow_out(&mut self, project: Standing) {
        let what = match self.allow.len() {
            0 => return,
            1 => "1 rule".to_owned(),
            count => format!("{count} rules"),
        };
        let why = match project {
            Standing::Untrusted => "since the project is not trusted; `metier trust` changes that",
            _ => "new since you trusted the project; `metier trust --diff` shows what is new",
        };
        self.report("allow", Severity::Info, format!("{what} not taken, {why}"));
    }

    fn report(&mut self, entry: &str, severity: Severity, message: String) {
        let (source, entry) = (self.source.clone(), entry.to_owned());
        self.problems.push(Problem { source, entry, severity, message });
    }
}

/// The rules in force.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rules {
    mode: Mode,
    mode_source: Option<Source>,
    is_project_trusted: bool,
    deny: Vec<Cited>,
    ask: Vec<Cited>,
    allow: Vec<Cited>,
    unread: Vec<Cited>,
    problems: Vec<Problem>,
}

impl Rules {
    /// Puts layers together. The user's are heard first, then the project's, then the flags; among those of one owner
    /// the later one's mode holds. What narrows counts from everybody. What widens counts from a project only when it
    /// is trusted: a folder that was cloned a minute ago must not say what may run.
    pub fn new(mut layers: Vec<Layer>, project: Standing) -> Self {
        layers.sort_by_key(|layer| layer.source.owner);
        let mut rules = Self { is_project_trusted: project != Standing::Untrusted, ..Self::default() };
        for mut layer in layers {
            rules.hear_mode(&mut layer, project);
            if rules.is_heard_in_full(&layer.source) {
                rules.allow.append(&mut layer.allow);
            } else {
                layer.leave_allow_out(project);
            }
            rules.deny.append(&mut layer.deny);
            rules.ask.append(&mut layer.ask);
            rules.unread.append(&mut layer.unread);
            rules.problems.append(&mut layer.problems);
        }
        rules
    }

    fn hear_mode(&mut self, layer: &mut Layer, project: Standing) {
        let Some(mode) = layer.mode else { return };
        let is_taken = if self.is_heard_in_full(&layer.source) {
            // The `yolo` of a project takes a yes of its own.
            layer.source.owner != Owner::Project || mode != Mode::Yolo || project == Standing::TrustedWithYolo
        } else {
            mode.narrows(self.mode)
        };
        if is_taken {
            self.mode = mode;
            self.mode_source = Some(layer.source.clone());
        } else {
            let message = format!("`{mode}` is not taken from a project without a yes");
            layer.report("mode", Severity::Info, message);
        }
    }

    /// What holds where nothing else says anything.
    pub fn mode(&self) -> Mode {
        self.mode
    }

    /// Who chose the mode, if somebody did.
    pub fn mode_source(&self) -> Option<&Source> {
        self.mode_source.as_ref()
    }

    /// What could not be taken as it is written, in the order in which the layers were heard.
    pub fn problems(&self) -> &[Problem] {
        &self.problems
    }

    pub(crate) fn denying(&self, aspect: &Aspect<'_>) -> Option<&Cited> {
        self.deny.iter().find(|cited| cited.rule.touches(aspect) == Touch::Yes)
    }

    /// A deny rule that may be about this, and why nobody can say.
    pub(crate) fn doubting(&self, aspect: &Aspect<'_>) -> Option<(&Cited, String)> {
        let unread = self.unread.iter().find(|cited| cited.rule.touches(aspect) != Touch::No);
        if let Some(cited) = unread {
            return Some((cited, "the rule cannot be read".to_owned()));
        }
        self.deny.iter().find_map(|cited| match cited.rule.touches(aspect) {
            Touch::Unsure(why) => Some((cited, why)),
            Touch::No | Touch::Yes => None,
        })
    }

    /// The ask rules that are about this.
    pub(crate) fn asking<'a>(&'a self, aspect: &Aspect<'_>) -> impl Iterator<Item = &'a Cited> {
        self.ask.iter().filter(|cited| cited.rule.touches(aspect) != Touch::No)
    }

    /// Whether what stands there is the user's word or as good as that. A project that is not trusted only narrows.
    pub(crate) fn is_heard_in_full(&self, source: &Source) -> bool {
        match source.owner {
            Owner::User | Owner::Flag => true,
            Owner::Project => self.is_project_trusted,
            Owner::Stranger => false,
        }
    }

    pub(crate) fn allowing(&self, aspect: &Aspect<'_>) -> Option<&Cited> {
        self.allow.iter().find(|cited| cited.rule.covers(aspect) && cited.may_widen(aspect))
    }
}
