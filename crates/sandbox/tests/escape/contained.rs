//! One attack inside the sandbox. Nothing else here knows the sandbox's own words.

use std::io::Write;
use std::net::TcpListener;
use std::num::NonZeroUsize;
use std::time::{Duration, Instant};

use metier_sandbox::{
    Attendance, Choice, Command, Ended, Expecting, Helper, Limits, Metering, Profile, Report, Running,
    Sandbox, Setup, Tier,
};
use tempfile::TempDir;

use crate::folders::Folders;
use crate::ground::{CANARY, Ground};
use crate::judge::{End, Outcome, by_clock, judge};
use crate::once;
use crate::part;
use crate::probes::{Ending, Probe};
use crate::suite::{Grant, WORKERS, Way};

/// A sandbox of one tier, which all workers share.
pub(crate) struct Contained {
    sandbox: Sandbox,
    tier: Tier,
    way: Way,
    _scratch: TempDir,
}

const MIB: u64 = 1 << 20;

/// What is allowed: small, so that an attack on a limit takes little time and harms nobody if it works.
pub(crate) fn limits(name: &str) -> Limits {
    Limits {
        time: Duration::from_secs(if by_clock(name) { 1 } else { 12 }),
        cpu: Duration::from_secs(if name.starts_with("cpu-") { 1 } else { 60 }),
        memory: 128 * MIB,
        processes: 48,
        file_size: 24 * MIB,
        scratch: 32 * MIB,
        data: 32 * MIB,
        layer: 32 * MIB,
        layer_files: 20_000,
        output: 64 << 10,
        chatter: 4 * MIB,
    }
}

/// What the probe is told to use up: several times what is allowed. The bytes of memory exceed the limit of memory,
/// those of folders the limit of folders.
const LARGE: &[(&str, &str)] = &[
    ("seconds", "4"),
    ("bytes", "402653184"),
    ("count", "200"),
    ("files", "150000"),
    ("chatter", "67108864"),
];

/// What is known of a call when it is over.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Ran {
    pub(crate) end: End,
    pub(crate) said: String,
    pub(crate) took: Duration,
    pub(crate) tier: String,
    /// How many bytes were kept of the stream of which most was.
    pub(crate) kept: usize,
}

impl Ran {
    /// Runs a command and takes what matters.
    pub(crate) fn run(sandbox: &Sandbox, profile: &Profile, command: &Command) -> Result<Self, String> {
        let started = Instant::now();
        // Somebody who answers, and not with the canary: who hears that came somewhere else.
        let mut porter = |listener: TcpListener| {
            std::thread::spawn(move || {
                for mut stream in listener.incoming().map_while(Result::ok) {
                    let _ = stream.write_all(b"this is the gateway\n");
                }
            });
        };
        let attendance = Attendance { porter: Some(&mut porter), ..Attendance::default() };
        let report = sandbox.run_with(profile, command, attendance).map_err(|error| error.to_string())?;
        Ok(Self::new(&report, started.elapsed()))
    }

    fn new(report: &Report, took: Duration) -> Self {
        let text = report.stdout.text();
        let kept = [&report.stdout, &report.stderr].map(|stream| stream.head.len() + stream.tail.len());
        Self {
            end: match report.ended {
                Ended::Exited(status) => End::Exited(status),
                Ended::Signaled(signal) => End::Signaled(signal),
                Ended::Stopped(stop) => End::Stopped(stop.word().to_owned()),
            },
            said: text.lines().rfind(|line| line.contains(": ")).unwrap_or_default().to_owned(),
            took,
            tier: report.containment.tier.word().to_owned(),
            kept: kept.into_iter().max().unwrap_or(0),
        }
    }
}

impl Contained {
    /// A sandbox of this tier, or why there is none. One call shows which.
    pub(crate) fn new(tier: Tier, way: Way, ground: &Ground) -> Result<Self, String> {
        let scratch =
            tempfile::Builder::new().prefix("scratch-").tempdir_in(part::ground()).expect("a folder");
        let path = std::env::var_os("PATH").unwrap_or_default();
        let bubblewrap =
            std::env::split_paths(&path).map(|folder| folder.join("bwrap")).find(|file| file.exists());
        let sandbox = Sandbox::new(Setup {
            metering: Metering::Best,
            helper: Helper::Itself,
            choice: Choice::Only(tier),
            scratch: scratch.path().to_owned(),
            bubblewrap,
            at_once: NonZeroUsize::new(WORKERS).expect("not zero"),
            expecting: Expecting::Many,
        });
        let contained = Self { sandbox, tier, way, _scratch: scratch };
        let ran = contained.call(&ground.folders, Grant::Nothing, "--list", &[])?;
        if ran.end == End::Exited(0) && ran.tier == tier.word() {
            Ok(contained)
        } else {
            Err(format!("{:?} {}", ran.end, ran.said))
        }
    }

    /// Whether this tier has namespaces: a project that is shown, and a network that a gateway can be in.
    pub(crate) fn has_namespaces(&self) -> bool {
        self.tier != Tier::Landlock
    }

    fn call(&self, folders: &Folders, grant: Grant, name: &str, arguments: &[String]) -> Result<Ran, String> {
        match self.way {
            Way::Kept => {
                let command = folders.command(grant, name, arguments);
                Ran::run(&self.sandbox, &folders.profile(grant, limits(name)), &command)
            }
            Way::Once => once::ask(folders, grant, name, arguments),
        }
    }

    /// Starts a call that runs until it is told to end, with an environment of its own. Without data folders: those that
    /// cannot be mounted with another owner have an id that all calls with them share.
    pub(crate) fn start(&self, folders: &Folders, arguments: &[&str]) -> Result<Running, String> {
        let command = Command::new(folders.probe()).arguments(arguments.iter().copied());
        let mut profile = folders.profile(Grant::Nothing, limits("nap"));
        profile.data.clear();
        profile.environment.push(("VICTIM_CANARY".into(), CANARY.into()));
        self.sandbox.start(&profile, &command).map_err(|error| error.to_string())
    }

    /// Runs one attack in the sandbox and judges it.
    pub(crate) fn attack(&self, ground: &Ground, probe: &Probe, grant: Grant, token: &str) -> Outcome {
        self.attack_on(ground, probe, grant, token, &[])
    }

    /// The same with arguments that come before the usual ones and so count instead of them.
    pub(crate) fn attack_on(
        &self,
        ground: &Ground,
        probe: &Probe,
        grant: Grant,
        token: &str,
        first: &[String],
    ) -> Outcome {
        let mut arguments = vec!["--contained".to_owned()];
        arguments.extend_from_slice(first);
        if self.tier != Tier::Landlock {
            arguments.push("--own-pids".to_owned());
        }
        if grant == Grant::Gateway {
            arguments.push("--gateway".to_owned());
        }
        arguments.extend(ground.arguments(token));
        for (key, value) in LARGE {
            arguments.extend([format!("--{key}"), (*value).to_owned()]);
        }
        let ran = match self.call(&ground.folders, grant, &probe.name, &arguments) {
            Ok(ran) => ran,
            Err(error) => return Outcome::Broken(format!("the sandbox: {error}")),
        };
        let limits = limits(&probe.name);
        let outcome = judge(probe.ending, &probe.name, &ran.end, &ran.said);
        if ran.tier != self.tier.word() {
            return Outcome::Broken(format!("it ran on {}", ran.tier));
        }
        // A call that is over in time is over soon after; a stream that somebody keeps open is no reason to wait.
        if ran.took > limits.time + Duration::from_secs(3) {
            return Outcome::Through(format!("the call took {:?} of {:?}; {outcome}", ran.took, limits.time));
        }
        if probe.ending == Ending::Floods && ran.kept > limits.output {
            return Outcome::Through(format!("{} bytes were kept of {}; {outcome}", ran.kept, limits.output));
        }
        outcome
    }
}
