//! What holds a process on this machine, tried with real violations, and which programs are shown to it.

use crate::output::{Output, Tone, clean};
use crate::sandbox_setup::setup;
use crate::surroundings::Surroundings;
use anyhow::Result;
use metier_exec::TOOLS;
use metier_files::read_bounded;
use metier_sandbox::{Examination, Held, Tier, examine};
use serde::Serialize;
use std::path::{Path, PathBuf};

/// What holds a process here.
#[derive(Serialize)]
pub(crate) struct Containment {
    /// The means that is used; without one nothing runs.
    in_force: Option<&'static str>,
    /// What bounds memory and processes of a call with that means.
    meter: Option<&'static str>,
    /// Why nothing better does.
    meter_reason: Option<String>,
    tiers: Vec<TierFinding>,
    /// Programs outside of the system's folders that scripts see.
    tools: Vec<Tool>,
    /// Why no means could be tried.
    problem: Option<String>,
}

#[derive(Serialize)]
struct TierFinding {
    tier: &'static str,
    works: bool,
    /// Why it does not work.
    reason: Option<String>,
    /// How to mend that, as far as this machine tells.
    remedy: Option<&'static str>,
    checks: Vec<Check>,
}

#[derive(Serialize)]
struct Check {
    mechanism: &'static str,
    /// `null` where it could not be tried.
    held: Option<bool>,
    detail: Option<String>,
}

#[derive(Serialize)]
struct Tool {
    name: &'static str,
    file: PathBuf,
    shown: Vec<PathBuf>,
}

impl Containment {
    /// Tries everything.
    pub(crate) fn examine(surroundings: &Surroundings) -> Self {
        let temp = &surroundings.places.temp;
        let (examinations, problem) = match examine(&setup(temp), temp) {
            Ok(examinations) => (examinations, None),
            Err(error) => (Vec::new(), Some(error.to_string())),
        };
        let used = examinations.iter().find(|examination| examination.findings.is_ok());
        let metered = used.and_then(|used| used.metered.clone());
        let meter = metered.as_ref().map(|metered| metered.meter.word());
        let meter_reason = metered.and_then(|metered| metered.reason);
        let tiers: Vec<TierFinding> = examinations.into_iter().map(TierFinding::of).collect();
        let path = surroundings.search_path();
        let tools = TOOLS.iter().filter_map(|name| {
            let program = path.find(name).filter(|program| !program.shown.is_empty())?;
            Some(Tool { name, file: program.file, shown: program.shown })
        });
        let tools = tools.collect();
        let in_force = |tiers: &[TierFinding]| tiers.iter().find(|tier| tier.works).map(|tier| tier.tier);
        Self { in_force: in_force(&tiers), meter, meter_reason, tiers, tools, problem }
    }

    /// Whether what is used holds against everything that was tried.
    pub(crate) fn is_sound(&self) -> bool {
        let used = self.tiers.iter().find(|tier| Some(tier.tier) == self.in_force);
        used.is_some_and(|tier| tier.checks.iter().all(|check| check.held != Some(false)))
    }

    pub(crate) fn write(&self, surroundings: &Surroundings, output: &mut Output) -> Result<()> {
        output.section("containment of what runs")?;
        if let Some(problem) = &self.problem {
            output.line(format!("  {}", clean(problem)))?;
        }
        for tier in &self.tiers {
            let used = if Some(tier.tier) == self.in_force { " (used)" } else { "" };
            let held = tier.checks.iter().filter(|check| check.held == Some(true)).count();
            let tried = tier.checks.iter().filter(|check| check.held.is_some()).count();
            let word = match (&tier.reason, held == tried) {
                (Some(reason), _) => output.tinted(Tone::Caution, &format!("does not work here: {reason}")),
                (None, true) => output.tinted(Tone::Good, &format!("held against {held} violations")),
                (None, false) => {
                    output.tinted(Tone::Bad, &format!("held against {held} of {tried} violations"))
                }
            };
            output.line(format!("  {:<12} {word}{used}", tier.tier))?;
            if let Some(remedy) = &tier.remedy {
                output.line(format!("               {}", clean(remedy)))?;
            }
            for check in tier.checks.iter().filter(|check| check.held != Some(true)) {
                let detail = check.detail.as_deref().unwrap_or_default();
                let word = if check.held == Some(false) { "got through" } else { "not tried" };
                output.line(format!("               {word}: {} ({})", check.mechanism, clean(detail)))?;
            }
        }
        if let Some(meter) = self.meter {
            let reason =
                self.meter_reason.iter().map(|reason| format!("; no control group: {}", clean(reason)));
            output
                .line(format!("  memory and processes are held by {meter}{}", reason.collect::<String>()))?;
        }
        if self.in_force.is_none() {
            let text = output.tinted(Tone::Bad, "  no process can be contained here, so none is run");
            output.line(text)?;
        }
        if !self.tools.is_empty() {
            output.section("programs outside of the system's folders that scripts see, read-only")?;
            for tool in &self.tools {
                let shown: Vec<String> = tool.shown.iter().map(|path| surroundings.shown(path)).collect();
                output.line(format!("  {:<10} {}", tool.name, clean(&shown.join(", "))))?;
            }
        }
        Ok(())
    }
}

impl TierFinding {
    fn of(examination: Examination) -> Self {
        let tier = examination.tier;
        let (reason, checks) = match examination.findings {
            Ok(findings) => (None, findings),
            Err(reason) => (Some(reason), Vec::new()),
        };
        let checks = checks.into_iter().map(|finding| {
            let (held, detail) = match finding.held {
                Held::Yes => (Some(true), None),
                Held::No(seen) => (Some(false), Some(seen)),
                Held::NotTried(why) => (None, Some(why)),
            };
            Check { mechanism: finding.mechanism, held, detail }
        });
        Self {
            tier: tier.word(),
            works: reason.is_none(),
            remedy: reason.as_ref().map(|_| remedy(tier)),
            reason,
            checks: checks.collect(),
        }
    }
}

/// What this machine says about why something does not work.
fn remedy(tier: Tier) -> &'static str {
    let setting = |path: &str| -> Option<u64> {
        let bytes = read_bounded(Path::new(path), 64).ok().flatten()?;
        String::from_utf8_lossy(&bytes).trim().parse().ok()
    };
    match tier {
        Tier::Namespaces if setting("/proc/sys/kernel/apparmor_restrict_unprivileged_userns") == Some(1) => {
            "AppArmor keeps user namespaces from this program; install bubblewrap, or allow them with `sysctl \
             kernel.apparmor_restrict_unprivileged_userns=0`"
        }
        Tier::Namespaces if setting("/proc/sys/kernel/unprivileged_userns_clone") == Some(0) => {
            "user namespaces are switched off; allow them with `sysctl kernel.unprivileged_userns_clone=1`"
        }
        Tier::Namespaces if setting("/proc/sys/user/max_user_namespaces") == Some(0) => {
            "user namespaces are switched off; allow them with `sysctl user.max_user_namespaces=10000`"
        }
        Tier::Namespaces => {
            "in a container, namespaces have to be allowed from outside; without them Landlock alone is used"
        }
        Tier::Bubblewrap => "install it with your package manager; the package is `bubblewrap`",
        Tier::Landlock => "it takes Linux 6.12 or newer with `landlock` among its `lsm=`",
    }
}
