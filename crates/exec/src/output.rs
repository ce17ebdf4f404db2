//! What came of a run, in the shapes that models know.

mod injected;

use metier_sandbox::{Captured, Ended, Limits, Overrun, OverrunOf, Report, Stop, Stream};
use serde_json::{Value, json};

use self::injected::injected_text;
use crate::long_output::LongOutput;

/// How much of the beginning of each stream a model gets, in bytes: about 4,000 tokens, which hold what a script says
/// first, and the headers of what it lists.
pub(crate) const MODEL_HEAD: usize = 16 * 1024;

/// How much of the end: errors stand there.
pub(crate) const MODEL_TAIL: usize = 16 * 1024;

/// How many names of hidden files a note lists.
const MAX_NAMES: usize = 5;

/// One stream as a model gets it: beginning and end, with a line between that says how much is missing, and `hint`, such as where the
/// rest is.
fn shortened(captured: &Captured, hint: &str) -> String {
    let mut all = captured.head.clone();
    if captured.dropped() == 0 {
        all.extend_from_slice(&captured.tail);
        if all.len() <= MODEL_HEAD + MODEL_TAIL {
            return String::from_utf8_lossy(&all).into_owned();
        }
        return join(&all, &all, captured.total, hint);
    }
    join(&captured.head, &captured.tail, captured.total, hint)
}

fn join(head: &[u8], tail: &[u8], total: u64, hint: &str) -> String {
    let head = whole_end(&head[..head.len().min(MODEL_HEAD)]);
    let tail = whole_start(&tail[tail.len().saturating_sub(MODEL_TAIL)..]);
    let missing = total.saturating_sub((head.len() + tail.len()) as u64);
    format!(
        "{}\n[... {missing} bytes left out{hint} ...]\n{}",
        String::from_utf8_lossy(head),
        String::from_utf8_lossy(tail)
    )
}

/// The bytes without a character at their end that was cut.
fn whole_end(bytes: &[u8]) -> &[u8] {
    match bytes.utf8_chunks().last() {
        // Only a character that lacks its end is cut; anything else is not UTF-8 and is replaced.
        Some(chunk)
            if std::str::from_utf8(chunk.invalid()).is_err_and(|error| error.error_len().is_none()) =>
        {
            &bytes[..bytes.len() - chunk.invalid().len()]
        }
        _ => bytes,
    }
}

/// The bytes without a character at their beginning that was cut.
fn whole_start(bytes: &[u8]) -> &[u8] {
    let inner = bytes.iter().take(3).take_while(|byte| **byte & 0b1100_0000 == 0b1000_0000).count();
    &bytes[inner..]
}

/// What the line in place of what is left out says of the rest of each stream.
#[derive(Clone, Debug, Default)]
pub(crate) struct Hints {
    stdout: String,
    stderr: String,
}

/// Of which tool a result is.
#[derive(Clone, Debug)]
pub(crate) enum Shape {
    /// `skill_run_script`, with the script's name as it was given.
    Script(String),
    /// `run_command_line`.
    CommandLine,
    /// `Bash`, the agent's own: like a script's, since it is read by the same model.
    Bash,
    /// A command inside a body, as it is written there.
    Injected(String),
}

impl Shape {
    /// The result as a model gets it. What it does not get at once lies in files below `place`, which is put before their names as it
    /// is: `outputs/`, or nothing; `None` where nobody keeps it.
    pub(crate) fn text(
        &self,
        report: &Report,
        limits: &Limits,
        long: &[LongOutput],
        place: Option<&str>,
    ) -> String {
        let hints = self.hints(long, place);
        match self {
            Self::Script(name) => program_text(&format!("Script {{}}: {name}"), report, limits, &hints),
            Self::Bash => program_text("Command {}", report, limits, &hints),
            Self::CommandLine => command_json(report, limits, &hints).to_string(),
            Self::Injected(command) => injected_text(command, report.ended, &report.stdout, &report.stderr),
        }
    }

    /// Both streams, with where the rest of each is.
    pub(crate) fn streams(
        &self,
        report: &Report,
        long: &[LongOutput],
        place: Option<&str>,
    ) -> (String, String) {
        let hints = self.hints(long, place);
        (shortened(&report.stdout, &hints.stdout), shortened(&report.stderr, &hints.stderr))
    }

    fn hints(&self, long: &[LongOutput], place: Option<&str>) -> Hints {
        let hint = |stream| match place {
            Some(place) => {
                let long = long.iter().find(|long| long.stream == stream);
                long.map_or_else(String::new, |long| long.hint(place))
            }
            None => self.advice().to_owned(),
        };
        Hints { stdout: hint(Stream::Output), stderr: hint(Stream::Error) }
    }

    /// What whoever reads a result can do to see the rest, where nobody keeps it. A model that is only told what is missing
    /// makes the same call again.
    const fn advice(&self) -> &'static str {
        match self {
            Self::Script(_) => {
                "; call it so that it prints less, or let the user run `metier exec --out DIR`, which keeps all of it"
            }
            Self::CommandLine => {
                "; run it so that it prints less, or into a file below $SKILL_DATA, and read that in parts"
            }
            Self::Bash => {
                "; run it so that it prints less, or into a file below $TMPDIR that the same line reads in parts"
            }
            // Its author's to mend, and nobody calls it again.
            Self::Injected(_) => "",
        }
    }
}

/// The result of `skill_run_script`: what the script wrote, `[stderr]` and what it wrote there, `[exit code: N]` if that
/// is not 0, `[no output]` if there is nothing. A script that took too long says so in the first line.
///
/// `stopped_line` is the first line of what was stopped, with `{}` for how.
fn program_text(stopped_line: &str, report: &Report, limits: &Limits, hints: &Hints) -> String {
    let how = match report.ended {
        Ended::Stopped(Stop::Time) => Some(format!("timed out after {}s", limits.time.as_secs())),
        Ended::Stopped(stop) => Some(format!("stopped ({})", stopped(stop, report, limits))),
        Ended::Exited(_) | Ended::Signaled(_) => None,
    };
    let first = how.map(|how| stopped_line.replacen("{}", &how, 1));
    let mut parts: Vec<String> = first.into_iter().collect();
    let stdout = shortened(&report.stdout, &hints.stdout);
    if !stdout.trim().is_empty() {
        parts.push(stdout.trim_end().to_owned());
    }
    let stderr = shortened(&report.stderr, &hints.stderr);
    if !stderr.trim().is_empty() {
        parts.push(format!("[stderr]\n{}", stderr.trim_end()));
    }
    match report.ended {
        Ended::Exited(0) | Ended::Stopped(_) => {}
        Ended::Exited(code) => parts.push(format!("[exit code: {code}]")),
        // What a shell would say of a program that a signal ended.
        Ended::Signaled(signal) => {
            parts.push(format!("[exit code: {}]\n[ended by signal {signal}]", 128 + signal));
        }
    }
    let text = parts.join("\n").trim().to_owned();
    if text.is_empty() { "[no output]".to_owned() } else { text }
}

/// The result of `run_command_line`: `exitCode`, `stdout`, `stderr` and `timedOut`. Both streams are trimmed, and `stderr`
/// is empty when all went well, as in the system whose tool this is.
pub(crate) fn command_json(report: &Report, limits: &Limits, hints: &Hints) -> Value {
    let stdout = shortened(&report.stdout, &hints.stdout).trim().to_owned();
    let mut stderr = shortened(&report.stderr, &hints.stderr).trim().to_owned();
    let exit = match report.ended {
        Ended::Exited(code) => Some(code),
        Ended::Signaled(signal) => Some(128 + signal),
        Ended::Stopped(_) => None,
    };
    if exit == Some(0) {
        stderr.clear();
    }
    if let Ended::Stopped(stop) = report.ended
        && stop != Stop::Time
    {
        let before = if stderr.is_empty() { "" } else { "\n" };
        stderr.push_str(&format!("{before}[stopped: {}]", stopped(stop, report, limits)));
    }
    let timed_out = report.ended == Ended::Stopped(Stop::Time);
    json!({ "exitCode": exit, "stdout": stdout, "stderr": stderr, "timedOut": timed_out })
}

/// The result of `run_command_line` where nothing ran.
pub fn command_error(message: &str) -> Value {
    json!({ "exitCode": null, "stdout": "", "stderr": format!("ERROR: {message}"), "timedOut": false })
}

/// Why a call was ended from outside, in words: which limit, and where it can be told, which folder and by how much.
pub fn why_stopped(report: &Report, limits: &Limits) -> Option<String> {
    match report.ended {
        Ended::Stopped(stop) => Some(stopped(stop, report, limits)),
        Ended::Exited(_) | Ended::Signaled(_) => None,
    }
}

fn stopped(stop: Stop, report: &Report, limits: &Limits) -> String {
    const MIB: u64 = 1 << 20;
    if let (Stop::Data | Stop::Layer, Some(overrun)) = (stop, &report.overrun) {
        return held_too_much(overrun);
    }
    match stop {
        Stop::Time => format!("it took longer than {} s", limits.time.as_secs()),
        Stop::Cpu => format!("it used more than {} s of processor time", limits.cpu.as_secs()),
        Stop::Memory => format!("it held more than {} MiB of memory", limits.memory / MIB),
        Stop::Chatter => format!("it wrote more than {} MiB", limits.chatter / MIB),
        Stop::Data => format!("its data folder, or one that it shares, grew over {} MiB", limits.data / MIB),
        Stop::Processes => format!("it had more than {} processes and threads at once", limits.processes),
        Stop::Layer => {
            format!("its changes took more than {} MiB or {} files", limits.layer / MIB, limits.layer_files)
        }
        Stop::Scratch => format!("its scratch folder grew over {} MiB or 20,000 files", limits.scratch / MIB),
        Stop::Cancelled => "it was cancelled".to_owned(),
        Stop::Unmeasured => {
            let why = report.fault.as_deref().unwrap_or("the supervisor failed");
            format!("what it uses could not be measured ({why}); make that readable, or remove it")
        }
    }
}

fn held_too_much(overrun: &Overrun) -> String {
    let Overrun { folder, of, held, most } = overrun;
    let folder = folder.display();
    match of {
        OverrunOf::Bytes => {
            let (more, held, most) = (size(held.saturating_sub(*most)), size(*held), size(*most));
            format!("`{folder}` held {held}, {more} more than the {most} that it may")
        }
        OverrunOf::Files => format!("`{folder}` held more than the {most} files and folders that it may"),
    }
}

/// A size in the largest unit in which it has digits before the point.
fn size(bytes: u64) -> String {
    let (unit, shift) = match bytes {
        0..0x400 => return format!("{bytes} bytes"),
        0x400..0x10_0000 => ("KiB", 10),
        _ => ("MiB", 20),
    };
    let tenths = (u128::from(bytes) * 10) >> shift;
    let point = if tenths % 10 == 0 { String::new() } else { format!(".{}", tenths % 10) };
    format!("{}{point} {unit}", tenths / 10)
}

/// What whoever reads a result should know of how it came about: files that were hidden, things that were refused, what
/// could not be shown.
pub(crate) fn notes(report: &Report) -> Vec<String> {
    let mut notes = Vec::new();
    let masked = &report.containment.masked;
    if !masked.is_empty() {
        let names: Vec<String> =
            masked.iter().take(MAX_NAMES).map(|path| format!("`{}`", path.display())).collect();
        let more = masked.len().saturating_sub(MAX_NAMES);
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        notes.push(format!(
            "files of the project that look like secrets could not be opened: {}{more}",
            names.join(", ")
        ));
    }
    notes.extend(report.containment.notes.iter().cloned());
    notes.extend(left_processes(report));
    notes.extend(report.denied.iter().map(|denied| match denied.times {
        0 | 1 => format!("refused: {} ({})", denied.what, denied.call),
        times => format!("refused {times} times: {} ({})", denied.what, denied.call),
    }));
    notes
}

/// What became of processes that a program left in the background, where it left some: a server that it started is not there
/// any more.
pub(crate) fn left_processes(report: &Report) -> Option<String> {
    match report.left {
        0 => None,
        1 => Some("it left 1 process in the background, which was ended with it".to_owned()),
        left => Some(format!("it left {left} processes in the background, which were ended with it")),
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use metier_sandbox::{Containment, Meter, Outputs, Tier, Usage};

    use super::*;

    fn captured(text: &str) -> Captured {
        Captured { head: text.into(), tail: Vec::new(), total: text.len() as u64 }
    }

    fn report(ended: Ended, stdout: &str, stderr: &str) -> Report {
        Report {
            ended,
            stdout: captured(stdout),
            stderr: captured(stderr),
            usage: Usage::default(),
            outputs: Outputs::default(),
            denied: Vec::new(),
            containment: Containment {
                tier: Tier::Namespaces,
                meter: Meter::Watcher,
                notes: Vec::new(),
                masked: Vec::new(),
            },
            overrun: None,
            fault: None,
            left: 0,
        }
    }

    fn limits() -> Limits {
        Limits { time: Duration::from_secs(30), ..Limits::default() }
    }

    #[test]
    fn a_scripts_result_has_the_shape_that_models_know() {
        let check = |ended, stdout, stderr, expect: &str| {
            assert_eq!(
                Shape::Script("s.py".into()).text(&report(ended, stdout, stderr), &limits(), &[], None),
                expect
            );
        };
        check(Ended::Exited(0), "hello\n", "", "hello");
        check(Ended::Exited(0), "", "", "[no output]");
        check(Ended::Exited(0), " \n", "\n", "[no output]");
        check(Ended::Exited(0), "hello\n", "careful\n", "hello\n[stderr]\ncareful");
        check(Ended::Exited(3), "", "broken\n", "[stderr]\nbroken\n[exit code: 3]");
        check(Ended::Exited(3), "a", "b", "a\n[stderr]\nb\n[exit code: 3]");
        check(Ended::Exited(1), "", "", "[exit code: 1]");
        check(Ended::Signaled(11), "", "", "[exit code: 139]\n[ended by signal 11]");
        check(Ended::Stopped(Stop::Time), "", "", "Script timed out after 30s: s.py");
        check(Ended::Stopped(Stop::Time), "so far\n", "", "Script timed out after 30s: s.py\nso far");
        check(
            Ended::Stopped(Stop::Memory),
            "",
            "",
            "Script stopped (it held more than 2048 MiB of memory): s.py",
        );
    }

    #[test]
    fn a_folder_that_held_too_much_is_named_with_how_much() {
        let check = |of, held, most, expect: &str| {
            let overrun = Some(Overrun { folder: "/d/todo".into(), of, held, most });
            let report = Report { overrun, ..report(Ended::Stopped(Stop::Data), "", "") };
            assert_eq!(why_stopped(&report, &limits()).unwrap(), expect);
        };
        let bytes = OverrunOf::Bytes;
        check(bytes, 9 << 20, 8 << 20, "`/d/todo` held 9 MiB, 1 MiB more than the 8 MiB that it may");
        check(
            bytes,
            1_048_576 + 1_536,
            1 << 20,
            "`/d/todo` held 1 MiB, 1.5 KiB more than the 1 MiB that it may",
        );
        check(bytes, 2_000, 1_900, "`/d/todo` held 1.9 KiB, 100 bytes more than the 1.8 KiB that it may");
        check(
            OverrunOf::Files,
            20_001,
            20_000,
            "`/d/todo` held more than the 20000 files and folders that it may",
        );
        // Where no folder can be named, the limit is.
        let text = why_stopped(&report(Ended::Stopped(Stop::Data), "", ""), &limits()).unwrap();
        assert!(text.starts_with("its data folder, or one that it shares, grew over"), "{text}");
        assert_eq!(why_stopped(&report(Ended::Exited(1), "", ""), &limits()), None);
    }

    #[test]
    fn a_command_lines_result_has_four_keys() {
        let check = |ended, stdout, stderr, expect: &str| {
            assert_eq!(
                command_json(&report(ended, stdout, stderr), &limits(), &Hints::default()).to_string(),
                expect
            );
        };
        check(
            Ended::Exited(0),
            " a\n",
            "noise",
            r#"{"exitCode":0,"stdout":"a","stderr":"","timedOut":false}"#,
        );
        check(Ended::Exited(2), "a", " b\n", r#"{"exitCode":2,"stdout":"a","stderr":"b","timedOut":false}"#);
        check(
            Ended::Stopped(Stop::Time),
            "",
            "b",
            r#"{"exitCode":null,"stdout":"","stderr":"b","timedOut":true}"#,
        );
        check(
            Ended::Stopped(Stop::Cancelled),
            "",
            "",
            r#"{"exitCode":null,"stdout":"","stderr":"[stopped: it was cancelled]","timedOut":false}"#,
        );
        assert_eq!(
            command_error("no").to_string(),
            r#"{"exitCode":null,"stdout":"","stderr":"ERROR: no","timedOut":false}"#
        );
    }

    #[test]
    fn a_long_stream_keeps_its_beginning_and_its_end() {
        let exact = "x".repeat(MODEL_HEAD + MODEL_TAIL);
        assert_eq!(shortened(&captured(&exact), ""), exact);
        let long = format!("{}{}", "a".repeat(MODEL_HEAD), "z".repeat(MODEL_TAIL + 1000));
        let text = shortened(&captured(&long), "");
        assert!(text.starts_with("aaa") && text.ends_with("zzz"));
        assert!(text.contains("\n[... 1000 bytes left out ...]\n"));
        let cut = Captured { head: vec![b'a'; 100_000], tail: vec![b'z'; 100_000], total: 1_000_000 };
        let text = shortened(&cut, "");
        assert!(text.contains(&format!("[... {} bytes left out ...]", 1_000_000 - MODEL_HEAD - MODEL_TAIL)));
        assert!(text.len() < MODEL_HEAD + MODEL_TAIL + 100);
    }

    #[test]
    fn the_line_between_says_where_the_rest_is() {
        let long = "x".repeat(MODEL_HEAD + MODEL_TAIL + 10);
        let report = report(Ended::Exited(1), &long, "short");
        let files = [LongOutput { stream: Stream::Output, name: "stdout.txt".into(), bytes: long.into() }];
        let check = |shape: Shape, rest, expect: &str| {
            let text = shape.text(&report, &limits(), &files, rest);
            assert!(text.contains(&format!("[... 10 bytes left out{expect} ...]")), "{rest:?}");
        };
        let script = || Shape::Script("s.py".into());
        check(script(), Some("results/"), "; all of it is in results/stdout.txt");
        check(Shape::CommandLine, Some(""), "; all of it is in stdout.txt");
        check(
            script(),
            None,
            "; call it so that it prints less, or let the user run `metier exec --out DIR`, which keeps all of it",
        );
        check(
            Shape::CommandLine,
            None,
            "; run it so that it prints less, or into a file below $SKILL_DATA, and read that in parts",
        );
        let (stdout, stderr) = script().streams(&report, &[], None);
        assert!(stdout.contains("let the user run `metier exec --out DIR`") && stderr == "short");
    }

    #[test]
    fn no_character_is_cut() {
        for shift in 0..4 {
            let long = format!("{}{}", "x".repeat(shift), "🙂".repeat(20_000));
            let text = shortened(&captured(&long), "");
            assert!(!text.contains('\u{fffd}') && text.len() <= MODEL_HEAD + MODEL_TAIL + 60, "{shift}");
        }
    }

    #[test]
    fn hidden_files_are_said() {
        let mut report = report(Ended::Exited(0), "", "");
        assert_eq!(notes(&report), [""; 0]);
        report.containment.masked = (0..7).map(|number| format!("/p/{number}/.env").into()).collect();
        assert_eq!(
            notes(&report),
            [
                "files of the project that look like secrets could not be opened: `/p/0/.env`, `/p/1/.env`, `/p/2/.env`, \
              `/p/3/.env`, `/p/4/.env` and 2 more"
            ]
        );
    }
}
