//! What a process may see, change and use up.

use std::ffi::OsString;
use std::net::{Ipv4Addr, SocketAddrV4};
use std::path::PathBuf;
use std::time::Duration;

use serde::{Deserialize, Serialize};

/// What a contained process may see, change and use up. What is not named here is not there: no other file of the
/// user's, no network, no variable of the caller's environment.
///
/// Two calls with equal profiles are prepared by one [room](crate::Sandbox), and share nothing while they run.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Profile {
    /// Folders and files that can be read, such as the skill's own folder. Absolute, without links on the way.
    #[serde(with = "crate::wire::paths")]
    pub readable: Vec<PathBuf>,
    /// Folders that are shown in the place of others, read-only: copies that nobody else can change. It takes mounts, so
    /// [`Tier::Landlock`](crate::Tier::Landlock) does not have it ([`Error::NoStandIn`](crate::Error::NoStandIn)).
    pub stand_ins: Vec<StandIn>,
    /// Folders that can be written, without a bound of their own.
    #[serde(with = "crate::wire::paths")]
    pub writable: Vec<PathBuf>,
    /// The project, whose files need more care than a folder that is simply readable.
    pub project: Option<Project>,
    /// The folders that keep what a skill remembers between runs: its own, and the one it shares with others. Each can be
    /// written, belongs to whom the call runs as, and has a bound of its own ([`Limits::data`]).
    pub data: Vec<DataFolder>,
    /// Places among the writable ones, the project's included, that may grow by no more than [`Limits::data`] each while
    /// the call runs. They stay whose they are.
    #[serde(with = "crate::wire::paths")]
    pub bounded: Vec<PathBuf>,
    /// Where interpreters and tools live that are not in the system's own folders, read-only.
    #[serde(with = "crate::wire::paths")]
    pub programs: Vec<PathBuf>,
    /// What can be reached over the network.
    pub network: Network,
    /// The whole environment but for `TMPDIR` and `HOME`, which lie in the scratch folder of each call.
    pub environment: Vec<(OsString, OsString)>,
    /// Where the process starts; a folder that can be read.
    #[serde(with = "crate::wire::path")]
    pub working_directory: PathBuf,
    /// What it may use up.
    pub limits: Limits,
}

/// A folder that is shown in the place of another.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct StandIn {
    /// Where it is shown.
    #[serde(with = "crate::wire::path")]
    pub at: PathBuf,
    /// Where it lies.
    #[serde(with = "crate::wire::path")]
    pub by: PathBuf,
}

/// A folder that keeps what a skill remembers.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct DataFolder {
    /// The folder.
    #[serde(with = "crate::wire::path")]
    pub path: PathBuf,
    /// How much somebody else put into it, in bytes, which does not count against the call.
    pub spared: u64,
}

impl DataFolder {
    /// A folder that holds nothing but what calls keep in it.
    pub fn new(path: PathBuf) -> Self {
        Self { path, spared: 0 }
    }
}

/// The project's folder.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Project {
    /// The folder.
    #[serde(with = "crate::wire::path")]
    pub folder: PathBuf,
    /// What becomes of writes.
    pub access: ProjectAccess,
    /// Files and folders inside it that can be written in place, or the folder itself. Must be empty with a layer.
    #[serde(with = "crate::wire::paths")]
    pub writable: Vec<PathBuf>,
    /// What cannot be opened: files that look like secrets, sockets.
    #[serde(with = "crate::wire::paths")]
    pub masked: Vec<PathBuf>,
    /// What stays read-only though it lies in something writable: places that run or configure things later. Means
    /// nothing with a layer, from which nothing reaches the project by itself.
    #[serde(with = "crate::wire::paths")]
    pub protected: Vec<PathBuf>,
}

/// What becomes of writes to the project.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum ProjectAccess {
    /// They fail.
    #[default]
    ReadOnly,
    /// They go to a layer that each call brings along ([`LayerMount`](crate::LayerMount)); the project stays as it is.
    ///
    /// The kernel has limits here. It does not rename a folder that was there before; the supervisor moves what is in it, which
    /// takes as long as copying. Where an ordinary user runs metier, a file or folder of another owner or another group than the
    /// user's own cannot be changed (`EOVERFLOW`, "Value too large for defined data type"), only read and deleted. Locks are not shared with programs outside.
    Layered,
}

/// What can be reached over the network.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Network {
    /// Nothing: no address family but local sockets of its own.
    #[default]
    None,
    /// One address and nothing else: [`GATEWAY`], a port of the call's own loopback device. The caller is given what
    /// listens there, and whatever goes further is the caller's doing. Nothing but TCP is spoken, no program can listen, and
    /// no other address leads anywhere.
    ///
    /// It takes a network namespace, so [`Tier::Landlock`](crate::Tier::Landlock) does not have it
    /// ([`Error::NoGateway`](crate::Error::NoGateway)).
    Gateway,
}

/// Where the gateway of a call is, as the call sees it. The same for all calls, for each has a network of its own: what
/// announces it to programs is the same text in all of them, and equal profiles stay equal. Below the ports that the
/// kernel picks by itself, and above those that only root may have.
pub const GATEWAY: SocketAddrV4 = SocketAddrV4::new(Ipv4Addr::LOCALHOST, 3128);

/// What a call may use up. Each default is far above what the scripts of public skills use, and far below what would
/// trouble the machine they run on.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Limits {
    /// How long it may take.
    pub time: Duration,
    /// How much processor time all of its processes may take together.
    pub cpu: Duration,
    /// How much memory all of its processes may hold together, in bytes.
    pub memory: u64,
    /// How many processes and threads there may be at once.
    pub processes: u32,
    /// How large one file may grow, in bytes.
    pub file_size: u64,
    /// How much the scratch folder may hold, in bytes. It lies in memory.
    pub scratch: u64,
    /// How much each data folder may hold, in bytes.
    pub data: u64,
    /// How much disk space the layer of a call may take, in bytes.
    pub layer: u64,
    /// How many files and folders the layer of a call may hold.
    pub layer_files: u64,
    /// How much of each stream the report keeps, in bytes: half from the beginning, half from the end.
    pub output: usize,
    /// How much it may write to both streams together before it is stopped, in bytes.
    pub chatter: u64,
}

/// How long a script or a command line may take where nobody says.
pub const DEFAULT_TIMEOUT: Duration = Duration::from_mins(2);

impl Default for Limits {
    fn default() -> Self {
        const MIB: u64 = 1 << 20;
        Self {
            time: DEFAULT_TIMEOUT,
            cpu: Duration::from_mins(4),
            memory: 2048 * MIB,
            // Threads count: one node process has eleven, a parallel build a few dozen.
            processes: 256,
            // The length, not what it takes on disk: sparse files are long. The other limits bound the disk.
            file_size: 2048 * MIB,
            scratch: 512 * MIB,
            data: 256 * MIB,
            // A large build folder has some hundred megabytes, `node_modules` some ten thousand files.
            layer: 2048 * MIB,
            layer_files: 200_000,
            output: 256 * 1024,
            chatter: 512 * MIB,
        }
    }
}

impl Profile {
    /// A profile that shows nothing but the system's programs and one folder, in which the process starts.
    pub fn new(working_directory: PathBuf) -> Self {
        Self {
            readable: vec![working_directory.clone()],
            stand_ins: Vec::new(),
            writable: Vec::new(),
            project: None,
            data: Vec::new(),
            bounded: Vec::new(),
            programs: Vec::new(),
            network: Network::None,
            environment: Vec::new(),
            working_directory,
            limits: Limits::default(),
        }
    }

    /// The project, where each call has a layer for it.
    pub(crate) fn layered_project(&self) -> Option<&Project> {
        self.project.as_ref().filter(|project| project.access == ProjectAccess::Layered)
    }

    /// Whether the process starts in the project, at a place that is not shown for another reason.
    pub(crate) fn starts_in_project(&self) -> bool {
        let start = &self.working_directory;
        self.project.as_ref().is_some_and(|project| start.starts_with(&project.folder))
            && !self.shown().any(|place| start.starts_with(place))
    }

    /// The folders and files that are shown where they lie, but for the project and programs.
    pub(crate) fn shown(&self) -> impl Iterator<Item = &PathBuf> {
        self.readable.iter().chain(&self.writable).chain(self.data_paths())
    }

    /// Where everything lies that is shown, but for the project.
    pub(crate) fn sources(&self) -> impl Iterator<Item = &PathBuf> {
        self.shown().chain(&self.programs).chain(self.stand_ins.iter().map(|stand_in| &stand_in.by))
    }

    /// Where its data folders are.
    pub(crate) fn data_paths(&self) -> impl Iterator<Item = &PathBuf> {
        self.data.iter().map(|data| &data.path)
    }
}
