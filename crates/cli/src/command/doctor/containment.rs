//! What holds a process on this machine, tried with real violations, and which programs are shown to it.

use crate::output::{Output, Tone, clean};
use crate::sandbox_setup::setup;
use crate::surroundings::Surroundings;
use metier_exec::{Program, TOOLS};
use metier_files::read_bounded;
use metier_sandbox::{Examination, Held, Metered, Tier, examine};
use serde_json::{Value, json};
use std::path::Path;

/// What holds a process here.
pub(crate) struct Containment {
    examinations: Vec<Examination>,
    /// Programs outside of the system's folders that scripts see.
    tools: Vec<(&'static str, Program)>,
    /// Why no means could be tried.
    problem: Option<String>,
}

impl Containment {
    /// Tries everything.
    pub(crate) fn examine(surroundings: &Surroundings) -> Self {
        let temp = &surroundings.places.temp;
        let (examinations, problem) = match examine(&setup(temp), temp) {
            Ok(examinations) => (examinations, None),
            Err(error) => (Vec::new(), Some(error.to_string())),
        };
        let path = surroundings.search_path();
        let tools = TOOLS.iter().filter_map(|name| Some((*name, path.find(name)?)));
        let tools = tools.filter(|(_, program)| !program.shown.is_empty()).collect();
        Self { examinations, tools, problem }
    }

    /// The means that is used; without one nothing runs.
    fn used(&self) -> Option<&Examination> {
        self.examinations.iter().find(|examination| examination.findings.is_ok())
    }

    /// What bounds memory and processes of a call with that means.
    fn metered(&self) -> Option<&Metered> {
        self.used()?.metered.as_ref()
    }

    /// All of it, for programs.
    pub(crate) fn object(&self) -> Value {
        let tiers: Vec<Value> = self.examinations.iter().map(tier).collect();
        let tools = self.tools.iter().map(|(name, Program { file, shown, .. })| {
            let shown: Vec<String> = shown.iter().map(|path| path.display().to_string()).collect();
            json!({ "name": name, "file": file.display().to_string(), "shown": shown })
        });
        let meter = self.metered();
        json!({
            "in_force": self.used().map(|used| used.tier.word()),
            "meter": meter.map(|metered| metered.meter.word()),
            // Why nothing better does.
            "meter_reason": meter.and_then(|metered| metered.reason.as_deref()),
            "tiers": tiers,
            "tools": tools.collect::<Vec<_>>(),
            "problem": self.problem,
        })
    }

    /// Whether what is used holds against everything that was tried.
    pub(crate) fn is_sound(&self) -> bool {
        let findings = self.used().and_then(|used| used.findings.as_ref().ok());
        findings.is_some_and(|findings| !findings.iter().any(|found| matches!(found.held, Held::No(_))))
    }

    pub(crate) fn write(&self, surroundings: &Surroundings, output: &mut Output) -> anyhow::Result<()> {
        output.section("containment of what runs")?;
        if let Some(problem) = &self.problem {
            output.line(format!("  {}", clean(problem)))?;
        }
        let used = self.used().map(|used| used.tier);
        for Examination { tier, findings, .. } in &self.examinations {
            let mark = if Some(*tier) == used { " (used)" } else { "" };
            let checks = findings.as_deref().unwrap_or_default();
            let held = checks.iter().filter(|check| check.held == Held::Yes).count();
            let tried = checks.iter().filter(|check| !matches!(check.held, Held::NotTried(_))).count();
            let word = match findings {
                Err(reason) => output.tinted(Tone::Caution, &format!("does not work here: {reason}")),
                Ok(_) if held == tried => {
                    output.tinted(Tone::Good, &format!("held against {held} violations"))
                }
                Ok(_) => output.tinted(Tone::Bad, &format!("held against {held} of {tried} violations")),
            };
            output.line(format!("  {:<12} {word}{mark}", tier.word()))?;
            if let Some(remedy) = findings.as_ref().err().map(|_| remedy(*tier)) {
                output.line(format!("               {}", clean(remedy)))?;
            }
            for check in checks {
                let (word, detail) = match &check.held {
                    Held::Yes => continue,
                    Held::No(seen) => ("got through", seen),
                    Held::NotTried(why) => ("not tried", why),
                };
                output.line(format!("               {word}: {} ({})", check.mechanism, clean(detail)))?;
            }
        }
        if let Some(Metered { meter, reason }) = self.metered() {
            let reason = reason.iter().map(|reason| format!("; no control group: {}", clean(reason)));
            let reason: String = reason.collect();
            output.line(format!("  memory and processes are held by {}{reason}", meter.word()))?;
        }
        if used.is_none() {
            output.line(output.tinted(Tone::Bad, "  no process can be contained here, so none is run"))?;
        }
        if !self.tools.is_empty() {
            output.section("programs outside of the system's folders that scripts see, read-only")?;
            for (name, program) in &self.tools {
                let shown: Vec<String> = program.shown.iter().map(|path| surroundings.shown(path)).collect();
                output.line(format!("  {name:<10} {}", clean(&shown.join(", "))))?;
            }
        }
        Ok(())
    }
}

/// One means, for programs.
fn tier(Examination { tier, findings, .. }: &Examination) -> Value {
    let reason = findings.as_ref().err();
    let checks = findings.iter().flatten().map(|check| {
        // `null` where it could not be tried.
        let (held, detail) = match &check.held {
            Held::Yes => (Some(true), None),
            Held::No(seen) => (Some(false), Some(seen)),
            Held::NotTried(why) => (None, Some(why)),
        };
        json!({ "mechanism": check.mechanism, "held": held, "detail": detail })
    });
    json!({
        "tier": tier.word(),
        "works": reason.is_none(),
        "reason": reason,
        // How to mend that, as far as this machine tells.
        "remedy": reason.map(|_| remedy(*tier)),
        "checks": checks.collect::<Vec<_>>(),
    })
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
