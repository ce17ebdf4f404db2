//! The result of an injected command, as it stands in the skill's text.

use metier_sandbox::{Captured, Ended, Stop};

use super::{shortened, whole_end, whole_start};

/// How much of a command is shown where it took too long, in characters.
const MAX_SHOWN: usize = 200;

/// The text in a command's place: what it wrote, trimmed; where it failed, also `[stderr: …]` and `[exit code: N]`, so that
/// a failure is never silence.
pub(super) fn injected_text(command: &str, ended: Ended, stdout: &Captured, stderr: &Captured) -> String {
    let end = match ended {
        Ended::Exited(0) => return capped(stdout),
        Ended::Stopped(Stop::Time) => return format!("[command timed out: {}]", shown(command)),
        Ended::Stopped(stop) => format!("[command stopped ({}): {}]", stop.word(), shown(command)),
        Ended::Exited(code) => format!("[exit code: {code}]"),
        // What a shell would say of a program that a signal ended.
        Ended::Signaled(signal) => format!("[exit code: {}]", 128 + signal),
    };
    let mut parts = vec![capped(stdout)];
    let stderr = shortened(stderr, "");
    if !stderr.trim().is_empty() {
        parts.push(format!("[stderr: {}]", stderr.trim()));
    }
    parts.push(end);
    parts.retain(|part| !part.is_empty());
    parts.join("\n")
}

/// A stream without the blanks around it, with a marker where it was cut. No character is cut in two.
fn capped(captured: &Captured) -> String {
    if !captured.is_truncated() {
        return captured.text().trim().to_owned();
    }
    let (head, tail) = (whole_end(&captured.head), whole_start(&captured.tail));
    let missing = captured.total - (head.len() + tail.len()) as u64;
    let (head, tail) = (String::from_utf8_lossy(head), String::from_utf8_lossy(tail));
    format!("{}\n[... {missing} bytes left out ...]\n{}", head.trim_start(), tail.trim_end())
}

fn shown(command: &str) -> String {
    let mut shown: String = command.chars().take(MAX_SHOWN).collect();
    if shown.len() < command.len() {
        shown.push('…');
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    fn captured(text: &str) -> Captured {
        Captured { head: text.into(), tail: Vec::new(), total: text.len() as u64 }
    }

    #[test]
    fn every_end_has_its_text() {
        use Ended::{Exited, Signaled, Stopped};
        for (ended, streams, expect) in [
            (Exited(0), [" main \n", "noise"], "main"),
            (Exited(0), ["", ""], ""),
            (Exited(3), ["out\n", "err\n"], "out\n[stderr: err]\n[exit code: 3]"),
            (Exited(3), ["", ""], "[exit code: 3]"),
            (Exited(127), ["", "not found"], "[stderr: not found]\n[exit code: 127]"),
            (Signaled(11), ["", ""], "[exit code: 139]"),
            (Stopped(Stop::Time), ["so far", ""], "[command timed out: git status]"),
            (Stopped(Stop::Memory), ["so far", ""], "so far\n[command stopped (memory): git status]"),
        ] {
            let [stdout, stderr] = streams.map(captured);
            assert_eq!(injected_text("git status", ended, &stdout, &stderr), expect);
        }
    }

    #[test]
    fn a_cut_has_a_marker_and_cuts_no_character() {
        let (head, tail) = ("é".as_bytes()[..1].to_vec(), "é".as_bytes()[1..].to_vec());
        let stdout = Captured {
            head: [b"abc".to_vec(), head].concat(),
            tail: [tail, b"xyz".to_vec()].concat(),
            total: 100,
        };
        assert_eq!(
            injected_text("c", Ended::Exited(0), &stdout, &captured("")),
            "abc\n[... 94 bytes left out ...]\nxyz"
        );
    }
}
