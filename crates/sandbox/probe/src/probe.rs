//! One attack, and what has to be known of it.

use crate::answer::Answer;
use crate::arguments::Arguments;

/// An attack.
#[derive(Clone, Copy)]
pub(crate) struct Probe {
    pub(crate) class: Class,
    pub(crate) name: &'static str,
    pub(crate) tries: &'static str,
    pub(crate) control: Control,
    pub(crate) who: Who,
    pub(crate) ending: Ending,
    pub(crate) run: fn(&Arguments) -> Answer,
}

/// The kind of attack: a row of the attack catalogue or a line of the bar.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Class {
    Read,
    Secrets,
    Write,
    Layer,
    Persistence,
    Wrapper,
    Toctou,
    Environment,
    Network,
    Gateway,
    Sockets,
    Ipc,
    Descriptors,
    Terminal,
    Process,
    Namespace,
    Mount,
    Privilege,
    Kernel,
    Proc,
    Device,
    Survival,
    Limit,
    Supervisor,
    Quota,
    KernelMemory,
}

impl Class {
    pub(crate) const fn word(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Secrets => "secrets",
            Self::Write => "write",
            Self::Layer => "layer",
            Self::Persistence => "persistence",
            Self::Wrapper => "wrapper",
            Self::Toctou => "toctou",
            Self::Environment => "environment",
            Self::Network => "network",
            Self::Gateway => "gateway",
            Self::Sockets => "sockets",
            Self::Ipc => "ipc",
            Self::Descriptors => "descriptors",
            Self::Terminal => "terminal",
            Self::Process => "process",
            Self::Namespace => "namespace",
            Self::Mount => "mount",
            Self::Privilege => "privilege",
            Self::Kernel => "kernel",
            Self::Proc => "proc",
            Self::Device => "device",
            Self::Survival => "survival",
            Self::Limit => "limit",
            Self::Supervisor => "supervisor",
            Self::Quota => "quota",
            Self::KernelMemory => "kernel-mem",
        }
    }
}

/// How it is shown that an attack works where nothing stops it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Control {
    /// It is harmless and runs without a sandbox.
    Plain,
    /// It runs in namespaces that are thrown away.
    Throwaway,
    /// It is not shown, for this reason.
    None(&'static str),
}

/// Who can do it where nothing stops it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Who {
    Anyone,
    Root,
    Unprivileged,
}

/// Who judges the end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ending {
    /// The probe's own answer.
    Says,
    /// The probe's own answer; that something ended it before it could give one counts as held.
    Stopped,
    /// The test: whether processes are left.
    Outlives,
    /// The test: how much of what was written was kept.
    Floods,
}

impl Probe {
    const fn new(
        class: Class,
        name: &'static str,
        tries: &'static str,
        control: Control,
        run: fn(&Arguments) -> Answer,
    ) -> Self {
        Self { class, name, tries, control, who: Who::Anyone, ending: Ending::Says, run }
    }

    /// A harmless attack.
    pub(crate) const fn plain(
        class: Class,
        name: &'static str,
        tries: &'static str,
        run: fn(&Arguments) -> Answer,
    ) -> Self {
        Self::new(class, name, tries, Control::Plain, run)
    }

    /// An attack that changes the namespaces it runs in.
    pub(crate) const fn throwaway(
        class: Class,
        name: &'static str,
        tries: &'static str,
        run: fn(&Arguments) -> Answer,
    ) -> Self {
        Self::new(class, name, tries, Control::Throwaway, run)
    }

    /// An attack that never runs outside.
    pub(crate) const fn uncontrolled(
        class: Class,
        name: &'static str,
        tries: &'static str,
        reason: &'static str,
        run: fn(&Arguments) -> Answer,
    ) -> Self {
        Self::new(class, name, tries, Control::None(reason), run)
    }

    /// Only this user could do it where nothing stops it.
    pub(crate) const fn by(mut self, who: Who) -> Self {
        self.who = who;
        self
    }

    pub(crate) const fn ending(mut self, ending: Ending) -> Self {
        self.ending = ending;
        self
    }

    /// Whether it could change the machine.
    pub(crate) fn is_dangerous(&self) -> bool {
        self.control != Control::Plain
    }

    /// The row of the table, as JSON.
    pub(crate) fn row(&self) -> String {
        let (control, reason) = match self.control {
            Control::Plain => ("plain", ""),
            Control::Throwaway => ("throwaway", ""),
            Control::None(reason) => ("none", reason),
        };
        let who = match self.who {
            Who::Anyone => "anyone",
            Who::Root => "root",
            Who::Unprivileged => "unprivileged",
        };
        let ending = match self.ending {
            Ending::Says => "says",
            Ending::Stopped => "stopped",
            Ending::Outlives => "outlives",
            Ending::Floods => "floods",
        };
        let fields = [
            ("name", self.name),
            ("class", self.class.word()),
            ("tries", self.tries),
            ("control", control),
            ("reason", reason),
            ("who", who),
            ("ending", ending),
        ];
        let fields: Vec<String> =
            fields.iter().map(|(key, value)| format!("{key:?}:{}", quoted(value))).collect();
        format!("{{{}}}", fields.join(","))
    }
}

/// A JSON string. The table holds plain text only, so these two need an escape and nothing else.
fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}
