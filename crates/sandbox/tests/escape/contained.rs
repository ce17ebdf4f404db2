//! One attack inside the sandbox. Nothing else here knows the sandbox's own words.

use std::ffi::OsString;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::time::Duration;

use metier_sandbox::{
    Choice, Command, Ended, Error, Helper, Limits, Profile, Project as Shown, Report, Sandbox, Setup, Tier,
};
use tempfile::TempDir;

use crate::ground::Ground;
use crate::judge::{End, Outcome, by_clock, judge};
use crate::part;
use crate::probes::{Ending, Probe};
use crate::suite::{Project, Way};

/// A sandbox of one tier.
pub(crate) struct Room {
    sandbox: Sandbox,
    tier: Tier,
    way: Way,
    _scratch: TempDir,
}

const MIB: u64 = 1 << 20;

/// What is allowed: small, so that an attack on a limit takes little time and harms nobody if it works.
fn limits(probe: &Probe) -> Limits {
    let (time, cpu) = if by_clock(&probe.name) { (1, 60) } else { (30, 60) };
    Limits {
        time: Duration::from_secs(time),
        cpu: Duration::from_secs(if probe.name.starts_with("cpu-") { 1 } else { cpu }),
        memory: 192 * MIB,
        processes: 48,
        file_size: 24 * MIB,
        scratch: 32 * MIB,
        data: 32 * MIB,
        output: 64 << 10,
        chatter: 4 * MIB,
    }
}

/// What the probe is told to use up: several times what is allowed. The bytes of memory exceed the limit of memory,
/// those of folders the limit of folders.
const LARGE: &[(&str, &str)] = &[
    ("seconds", "8"),
    ("bytes", "805306368"),
    ("count", "512"),
    ("files", "150000"),
    ("chatter", "67108864"),
];

impl Room {
    /// A sandbox of this tier, or why there is none. One call shows which.
    pub(crate) fn new(tier: Tier, way: Way, ground: &Ground) -> Result<Self, String> {
        let scratch =
            tempfile::Builder::new().prefix("scratch-").tempdir_in(part::ground()).expect("a folder");
        let path = std::env::var_os("PATH").unwrap_or_default();
        let bubblewrap =
            std::env::split_paths(&path).map(|folder| folder.join("bwrap")).find(|file| file.exists());
        let sandbox = Sandbox::new(Setup {
            helper: Helper::Itself,
            choice: Choice::Only(tier),
            scratch: scratch.path().to_owned(),
            bubblewrap,
            at_once: NonZeroUsize::MIN,
        });
        let room = Self { sandbox, tier, way, _scratch: scratch };
        let data = ground.fresh_data();
        let profile = Self::profile(ground, Project::ReadOnly, data, Limits::default());
        let report = room.call(&profile, &Command::new(ground.probe()).argument("--list"));
        match report {
            Ok(report) if report.succeeded() && report.containment.tier == tier => Ok(room),
            Ok(report) => Err(format!("{:?} {}", report.ended, report.stderr.text())),
            Err(error) => Err(error.to_string()),
        }
    }

    /// Whether this tier shows the project at all.
    pub(crate) fn shows_project(&self) -> bool {
        self.tier != Tier::Landlock
    }

    fn profile(ground: &Ground, project: Project, data: PathBuf, limits: Limits) -> Profile {
        let folder = ground.project();
        let shown = Shown {
            writable: if project == Project::Writable { vec![folder.clone()] } else { Vec::new() },
            masked: ground.masked(),
            protected: ground.protected(),
            folder,
        };
        let variable = |name: &str, value: PathBuf| (OsString::from(name), value.into_os_string());
        Profile {
            project: Some(shown),
            environment: vec![
                variable("SKILL_DIR", ground.skill()),
                variable("SKILL_DATA", data.clone()),
                variable("PROJECT_DIR", ground.project()),
                variable("PATH", "/usr/local/bin:/usr/bin:/bin".into()),
                variable("LANG", "C.UTF-8".into()),
            ],
            data: Some(data),
            limits,
            ..Profile::new(ground.skill())
        }
    }

    fn call(&self, profile: &Profile, command: &Command) -> Result<Report, Error> {
        match self.way {
            Way::Kept => self.sandbox.run(profile, command),
            Way::Once => self.sandbox.run_once(profile, command, None, &mut |_, _| {}),
        }
    }
}

/// Runs one attack in the sandbox and judges it.
pub(crate) fn contained(
    room: &Room,
    ground: &Ground,
    probe: &Probe,
    project: Project,
    token: &str,
) -> Outcome {
    let data = ground.skill().with_file_name("data");
    let limits = limits(probe);
    let (kept, time) = (limits.output, limits.time);
    let profile = Room::profile(ground, project, data, limits);
    let mut command = Command::new(ground.probe()).argument(&probe.name).argument("--contained");
    if room.tier != Tier::Landlock {
        command = command.argument("--own-pids");
    }
    command = command.arguments(ground.arguments(token));
    for (key, value) in LARGE {
        command = command.argument(format!("--{key}")).argument(*value);
    }
    let started = std::time::Instant::now();
    let report = match room.call(&profile, &command) {
        Ok(report) => report,
        Err(error) => return Outcome::Broken(format!("the sandbox: {error}")),
    };
    let took = started.elapsed();
    let text = report.stdout.text();
    let said = text.lines().rfind(|line| line.contains(": ")).unwrap_or_default();
    let end = match report.ended {
        Ended::Exited(status) => End::Exited(status),
        Ended::Signaled(signal) => End::Signaled(signal),
        Ended::Stopped(stop) => End::Stopped(stop.word()),
    };
    let outcome = judge(probe.ending, &probe.name, &end, said);
    if report.containment.tier != room.tier {
        return Outcome::Broken(format!("it ran on {}", report.containment.tier));
    }
    // A call that is over in time is over soon after; a stream that somebody keeps open is no reason to wait.
    if took > time + Duration::from_secs(3) {
        return Outcome::Through(format!("the call took {took:?} of {time:?}; {outcome}"));
    }
    let most = [&report.stdout, &report.stderr].map(|stream| stream.head.len() + stream.tail.len());
    if probe.ending == Ending::Floods && most.iter().any(|length| *length > kept) {
        return Outcome::Through(format!("{most:?} bytes were kept of {kept}; {outcome}"));
    }
    outcome
}
