//! A call without helper and room. Only a process with a single thread can make one, so this program is started again
//! for each, makes the call, and tells on its standard output what came of it.

use std::num::NonZeroUsize;
use std::path::Path;
use std::process::{ExitCode, Stdio};
use std::time::Duration;

use metier_sandbox::{Choice, Expecting, Helper, Metering, Sandbox, Setup, Tier};

use crate::contained::{Ran, limits};
use crate::folders::Folders;
use crate::judge::End;
use crate::suite::Grant;

/// Says that this process is to make one call.
pub(crate) const ONCE: &str = "METIER_ESCAPE_ONCE";

/// Has another process make the call.
pub(crate) fn ask(folders: &Folders, grant: Grant, name: &str, arguments: &[String]) -> Result<Ran, String> {
    let mut command = std::process::Command::new("/proc/self/exe");
    command.arg(folders.root()).args([grant.word(), name]).args(arguments);
    let child = command.env(ONCE, "1").stdin(Stdio::null()).output().expect("start this program again");
    let text = String::from_utf8_lossy(&child.stdout);
    let value: serde_json::Value =
        serde_json::from_str(&text).map_err(|error| format!("{error}: {text} ({})", child.status))?;
    let number = |key: &str| value[key].as_u64().unwrap_or(0);
    let word = |key: &str| value[key].as_str().unwrap_or_default().to_owned();
    let status = i32::try_from(value["status"].as_i64().unwrap_or(-1)).unwrap_or(-1);
    Ok(Ran {
        end: match word("end").as_str() {
            "exited" => End::Exited(status),
            "signaled" => End::Signaled(status),
            "stopped" => End::Stopped(word("stop")),
            _ => return Err(word("error")),
        },
        said: word("said"),
        took: Duration::from_millis(number("took")),
        tier: word("tier"),
        kept: usize::try_from(number("kept")).unwrap_or(usize::MAX),
    })
}

/// Makes the call that the words ask for.
pub(crate) fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [root, grant, name, arguments @ ..] = words.as_slice() else { return ExitCode::FAILURE };
    let Some(grant) = Grant::read(grant) else { return ExitCode::FAILURE };
    let folders = Folders::new(Path::new(root));
    let sandbox = Sandbox::new(Setup {
        metering: Metering::Best,
        // There is no such program: a call that does not go straight into its namespaces fails.
        helper: Helper::Program("/nonexistent/helper".into()),
        choice: Choice::Only(Tier::Namespaces),
        scratch: folders.at("scratch"),
        bubblewrap: None,
        at_once: NonZeroUsize::MIN,
        expecting: Expecting::One,
    });
    let command = folders.command(grant, name, arguments);
    let value = match Ran::run(&sandbox, &folders.profile(grant, limits(name)), &command) {
        Ok(ran) => {
            let (end, status, stop) = match &ran.end {
                End::Exited(status) => ("exited", *status, ""),
                End::Signaled(signal) => ("signaled", *signal, ""),
                End::Stopped(stop) => ("stopped", 0, stop.as_str()),
            };
            serde_json::json!({
                "end": end, "status": status, "stop": stop, "said": ran.said, "tier": ran.tier, "kept": ran.kept,
                "took": u64::try_from(ran.took.as_millis()).unwrap_or(u64::MAX),
            })
        }
        Err(error) => serde_json::json!({ "error": error }),
    };
    println!("{value}");
    ExitCode::SUCCESS
}
