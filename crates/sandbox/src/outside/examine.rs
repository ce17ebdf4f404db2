//! What holds here: each mechanism is tried with a real violation.

use std::path::{Path, PathBuf};
use std::time::Duration;

use super::attendance::Attendance;
use super::sandbox::{Choice, Sandbox, Setup};
use crate::command::Command;
use crate::error::Error;
use crate::profile::{Network, Profile, Project, ProjectAccess};
use crate::report::{Ended, Meter, Report, Stop};
use crate::tier::Tier;

/// What one tier is worth here.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Examination {
    /// The tier.
    pub tier: Tier,
    /// What was tried, or why nothing could be.
    pub findings: Result<Vec<Finding>, String>,
    /// What bounds memory and processes there; nothing where nothing runs.
    pub metered: Option<Metered>,
}

/// What bounds memory and processes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Metered {
    /// What was in force in a call.
    pub meter: Meter,
    /// Why nothing better was.
    pub reason: Option<String>,
}

/// What became of one violation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// What should hold, in words.
    pub mechanism: &'static str,
    /// Whether it did.
    pub held: Held,
}

/// Whether a mechanism held.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Held {
    /// The violation failed.
    Yes,
    /// It got through, with what was seen.
    No(String),
    /// It could not be tried.
    NotTried(String),
}

/// A violation, and how to see that it failed.
struct Violation {
    mechanism: &'static str,
    /// The program that tries it.
    program: &'static str,
    /// What it is told, with `{outside}`, `{project}` and `{pid}` in place of what is only known then.
    line: &'static str,
    holds: fn(&Report) -> bool,
    /// What it can reach.
    network: Network,
    /// Tiers that cannot try it, since what it would violate is not shown there at all.
    meaningless: &'static [Tier],
}

const SHELL: &str = "/bin/sh";
const BASH: &str = "/bin/bash";

/// One that a shell tries on every tier, without a network.
const fn violation(mechanism: &'static str, line: &'static str, holds: fn(&Report) -> bool) -> Violation {
    Violation { mechanism, program: SHELL, line, holds, network: Network::None, meaningless: &[] }
}

const VIOLATIONS: &[Violation] = &[
    violation("files outside cannot be read", "cat {outside}/file", is_silent),
    violation("the skill's folder cannot be written", "echo x > new && echo written", is_silent),
    Violation {
        meaningless: &[Tier::Landlock],
        ..violation("masked files cannot be opened", "cat {project}/.env", is_silent)
    },
    violation("other processes cannot be reached", "kill -0 {pid} && echo reached", is_silent),
    violation(
        "the supervisor cannot be reached",
        "kill -0 $PPID && echo signalled; prlimit --pid $PPID --nofile=64:64 && echo limited",
        is_silent,
    ),
    Violation {
        program: BASH,
        ..violation("the network cannot be reached", "exec 3<>/dev/tcp/127.0.0.1/9", |report| {
            report.denied.iter().any(|denied| denied.call == "socket")
        })
    },
    Violation {
        program: BASH,
        network: Network::Gateway,
        meaningless: &[Tier::Landlock],
        ..violation(
            "nobody but the proxy can be reached where there is one",
            "exec 3<>/dev/tcp/127.0.0.1/9 && echo reached; exec 4<>/dev/udp/127.0.0.1/9 && echo reached",
            is_silent,
        )
    },
    violation("no new namespaces can be made", "unshare --user true && echo made", is_silent),
    violation(
        "the caller's environment is not there",
        "env | grep -v -e ^PWD= -e ^HOME= -e ^TMPDIR= -e ^PATH= -e ^SHLVL= -e ^_= -e ^OLDPWD=",
        is_silent,
    ),
    violation("time is limited", "sleep 60", |report| report.ended == Ended::Stopped(Stop::Time)),
    violation("memory is limited", "x=0123456789abcdef; while :; do x=$x$x; done", |report| {
        !report.succeeded() && report.ended != Ended::Stopped(Stop::Time)
    }),
    violation("no process stays behind", "(setsid sleep 60 >/dev/null 2>&1 &); echo started", |report| {
        report.ended == Ended::Exited(0)
    }),
];

fn is_silent(report: &Report) -> bool {
    report.stdout.total == 0
}

/// Tries every tier of this system. `place` is a folder in which files may be made; what is made is removed.
pub fn examine(setup: &Setup, place: &Path) -> Result<Vec<Examination>, Error> {
    let ground = Ground::new(place)?;
    let examine = |tier: &Tier| {
        let sandbox = Sandbox::new(Setup { choice: Choice::Only(*tier), ..setup.clone() });
        let mut meter = None;
        let findings = ground.violate(*tier, &sandbox, &mut meter);
        let metered = meter.map(|meter| Metered { meter, reason: sandbox.why_no_group() });
        Examination { tier: *tier, findings, metered }
    };
    Ok(Tier::ALL.iter().map(examine).collect())
}

/// Folders to violate.
struct Ground {
    folder: PathBuf,
}

impl Ground {
    #[expect(clippy::disallowed_methods, reason = "a folder of its own, made for this and removed after it")]
    fn new(place: &Path) -> Result<Self, Error> {
        let folder = place.canonicalize()?.join(format!("metier-examine-{}", std::process::id()));
        let ground = Self { folder };
        for name in ["skill", "project", "outside"] {
            std::fs::create_dir_all(ground.folder.join(name))?;
        }
        std::fs::write(ground.folder.join("outside/file"), "outside")?;
        std::fs::write(ground.folder.join("project/.env"), "masked")?;
        Ok(ground)
    }

    fn profile(&self) -> Profile {
        let mut profile = Profile::new(self.folder.join("skill"));
        let project = self.folder.join("project");
        profile.project = Some(Project {
            access: ProjectAccess::ReadOnly,
            masked: vec![project.join(".env")],
            folder: project,
            writable: vec![],
            protected: vec![],
        });
        profile.environment = vec![("PATH".into(), "/usr/bin:/bin".into())];
        profile.limits.time = Duration::from_millis(1500);
        profile.limits.memory = 64 << 20;
        profile
    }

    fn violate(
        &self,
        tier: Tier,
        sandbox: &Sandbox,
        meter: &mut Option<Meter>,
    ) -> Result<Vec<Finding>, String> {
        let profile = self.profile();
        // First something harmless: a tier that runs nothing would hold against everything.
        let greeting = Command::new(SHELL).arguments(["-c", "echo hello"]);
        let report = sandbox.run(&profile, &greeting).map_err(|error| error.to_string())?;
        *meter = Some(report.containment.meter);
        if report.stdout.text() != "hello\n" {
            return Err(format!("a harmless command did not work: {:?}", report.ended));
        }
        Ok(VIOLATIONS
            .iter()
            .map(|violation| Finding {
                mechanism: violation.mechanism,
                held: self.try_it(violation, tier, &profile, sandbox),
            })
            .collect())
    }

    fn try_it(&self, violation: &Violation, tier: Tier, profile: &Profile, sandbox: &Sandbox) -> Held {
        if violation.meaningless.contains(&tier) {
            return Held::NotTried("this tier has nothing of it".into());
        }
        let path = |name: &str| self.folder.join(name).display().to_string();
        let line = violation
            .line
            .replace("{outside}", &path("outside"))
            .replace("{project}", &path("project"))
            .replace("{pid}", &std::process::id().to_string());
        let profile = Profile { network: violation.network, ..profile.clone() };
        let command = Command::new(violation.program).argument("-c").argument(line);
        // Nobody answers at the gateway, which a violation goes around anyway.
        let attendance = Attendance { porter: Some(&mut |_| {}), ..Attendance::default() };
        match sandbox.run_with(&profile, &command, attendance) {
            Ok(report) if (violation.holds)(&report) => Held::Yes,
            Ok(report) => Held::No(format!("{:?}: {}", report.ended, report.stdout.text().trim())),
            Err(error) => Held::NotTried(error.to_string()),
        }
    }
}

impl Drop for Ground {
    #[expect(clippy::disallowed_methods, reason = "what was made here is removed here")]
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}
