//! What became of a call.

use std::path::PathBuf;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::outputs::Outputs;
use crate::stream::Captured;
use crate::tier::Tier;

/// What became of a call. When there is one, every process of the call is dead.
#[derive(Debug)]
pub struct Report {
    /// How it ended.
    pub ended: Ended,
    /// What it wrote to its standard output.
    pub stdout: Captured,
    /// What it wrote to its standard error.
    pub stderr: Captured,
    /// What it used up.
    pub usage: Usage,
    /// What it left in its scratch folder.
    pub outputs: Outputs,
    /// What it tried and was not given, as far as the kernel tells.
    pub denied: Vec<Denied>,
    /// What held it.
    pub containment: Containment,
    /// The folder that held too much, where that is why it was stopped and one of them can be named.
    pub overrun: Option<Overrun>,
    /// What the supervisor could not measure, where that is why it was stopped.
    pub fault: Option<String>,
    /// How many processes it left in the background, which were ended with it.
    pub left: u32,
}

impl Report {
    /// Whether the program said that all went well.
    pub fn succeeded(&self) -> bool {
        self.ended == Ended::Exited(0)
    }
}

/// How a call ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Ended {
    /// The program ended by itself, with this status.
    Exited(i32),
    /// A signal ended it that we did not send.
    Signaled(i32),
    /// We ended it.
    Stopped(Stop),
}

/// A folder that held more than it may.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Overrun {
    /// Which.
    #[serde(with = "crate::wire::path")]
    pub folder: PathBuf,
    /// What it held too much of.
    pub of: OverrunOf,
    /// How much it held. Of files beyond the limit only the first is counted: they are more than this, or this many.
    pub held: u64,
    /// How much it may hold.
    pub most: u64,
}

/// What a folder held too much of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum OverrunOf {
    /// Bytes on the disk.
    Bytes,
    /// Files and folders.
    Files,
}

impl OverrunOf {
    /// The word for scripts.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Bytes => "bytes",
            Self::Files => "files",
        }
    }
}

/// Why a call was ended from outside.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Stop {
    /// It took longer than it may.
    Time,
    /// Its processes took more processor time than they may.
    Cpu,
    /// Its processes held more memory than they may.
    Memory,
    /// It wrote more to its streams than it may.
    Chatter,
    /// A data folder, or a place that is bounded like one, grew larger than it may, or held too many files.
    Data,
    /// It had more processes and threads at once than it may.
    Processes,
    /// Its layer grew larger than it may, or held too many files.
    Layer,
    /// Its scratch folder grew larger than it may, or held too many files.
    Scratch,
    /// The caller took it back.
    Cancelled,
    /// What it uses up could not be measured any more; [`Report::fault`] says what.
    Unmeasured,
}

impl Stop {
    /// The word for scripts.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Time => "time",
            Self::Cpu => "cpu",
            Self::Memory => "memory",
            Self::Chatter => "output",
            Self::Data => "data",
            Self::Processes => "processes",
            Self::Layer => "layer",
            Self::Scratch => "scratch",
            Self::Cancelled => "cancelled",
            Self::Unmeasured => "unmeasured",
        }
    }
}

/// What a call used up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// From the request to the end, on the wall.
    pub time: Duration,
    /// For how much of it the clock stood still.
    pub paused: Duration,
    /// Processor time of all processes, in the program and in the kernel for it.
    pub cpu: Duration,
    /// The most memory that its processes were seen to hold together, in bytes; at least that of the largest one.
    pub memory: u64,
}

/// Something that was tried and not given.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Denied {
    /// The system call, such as `socket`.
    pub call: String,
    /// What exactly, in words.
    pub what: String,
    /// How often.
    pub times: u32,
}

/// What held a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Containment {
    /// The means.
    pub tier: Tier,
    /// What bounds memory and processes.
    pub meter: Meter,
    /// What the call could not be shown, or was shown differently, and why.
    pub notes: Vec<String>,
    /// Files that looked like secrets and could not be opened.
    pub masked: Vec<PathBuf>,
}

/// What bounds memory and processes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Meter {
    /// A control group of the kernel's.
    ControlGroup,
    /// Limits of each process, and a watcher that sums them up several times a second.
    Watcher,
}

impl Meter {
    /// The word users see.
    pub const fn word(self) -> &'static str {
        match self {
            Self::ControlGroup => "control group",
            Self::Watcher => "limits and watcher",
        }
    }
}
