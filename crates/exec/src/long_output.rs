//! What a program wrote beyond what a model gets, kept so that it can be read later, as a file.

use metier_sandbox::{Report, Stream};

use crate::output::{MODEL_HEAD, MODEL_TAIL};

/// How much of the beginning of a stream its file holds, in bytes. A model reads it in pages, and nobody reads a hundred of
/// them; both streams of a call are held in memory until it is over.
pub const MAX_OUTPUT_FILE: usize = 8 << 20;

/// A stream that is longer than what a model gets, for whoever keeps it where it can be read: without what nobody may see.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LongOutput {
    /// Which of the two it is.
    pub stream: Stream,
    /// The name for its file, which none of the call's results has: `stdout.txt`, `stderr.txt`.
    pub name: String,
    /// Its bytes: all, or [`MAX_OUTPUT_FILE`] of the beginning and what the report has of the end, with a line between.
    pub bytes: Vec<u8>,
}

impl LongOutput {
    /// The words about where the rest of a stream is, for the line in place of what is left out.
    pub(crate) fn hint(&self, place: &str) -> String {
        format!("; all of it is in {place}{}", self.name)
    }
}

/// Both streams of a call while it runs, as far as they may have to be kept.
#[derive(Debug, Default)]
pub(crate) struct Transcript {
    output: Vec<u8>,
    error: Vec<u8>,
}

impl Transcript {
    /// Takes a piece of a stream, after the redaction.
    pub(crate) fn push(&mut self, stream: Stream, piece: &[u8]) {
        let kept = match stream {
            Stream::Output => &mut self.output,
            Stream::Error => &mut self.error,
        };
        let room = MAX_OUTPUT_FILE - kept.len();
        kept.extend_from_slice(&piece[..room.min(piece.len())]);
    }

    /// What of it is longer than what a model gets.
    pub(crate) fn finish(self, report: &Report) -> Vec<LongOutput> {
        let streams = [
            (Stream::Output, "stdout", self.output, &report.stdout),
            (Stream::Error, "stderr", self.error, &report.stderr),
        ];
        let long = streams.into_iter().filter(|(.., captured)| captured.total > MODEL as u64);
        long.map(|(stream, stem, mut bytes, captured)| {
            let missing = captured.total.saturating_sub((bytes.len() + captured.tail.len()) as u64);
            if bytes.len() as u64 != captured.total {
                // What both have of the stream stands in the file once.
                let twice = (bytes.len() + captured.tail.len()) as u64;
                let twice = usize::try_from(twice.saturating_sub(captured.total)).unwrap_or(0);
                if missing > 0 {
                    bytes.extend_from_slice(format!("\n[... {missing} bytes left out ...]\n").as_bytes());
                }
                bytes.extend_from_slice(captured.tail.get(twice..).unwrap_or_default());
            }
            LongOutput { stream, name: free_name(stem, report), bytes }
        })
        .collect()
    }
}

const MODEL: usize = MODEL_HEAD + MODEL_TAIL;

/// A name that none of the results has.
fn free_name(stem: &str, report: &Report) -> String {
    let is_taken = |name: &String| report.outputs.entries.iter().any(|output| output.path == *name.as_str());
    let mut name = format!("{stem}.txt");
    for number in 2_usize.. {
        if !is_taken(&name) {
            break;
        }
        name = format!("{stem}-{number}.txt");
    }
    name
}

#[cfg(test)]
mod tests {
    use metier_sandbox::{Captured, Containment, Ended, Meter, Output, OutputKind, Outputs, Tier, Usage};

    use super::*;

    fn report(stdout: Captured, results: &[&str]) -> Report {
        let mut outputs = Outputs::default();
        let entry = |path: &&str| Output { path: path.into(), kind: OutputKind::File, size: 1 };
        outputs.entries = results.iter().map(entry).collect();
        Report {
            ended: Ended::Exited(0),
            stdout,
            stderr: Captured::default(),
            usage: Usage::default(),
            outputs,
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

    /// A stream of `total` bytes that comes in pieces, with a tail in the report of `tail` bytes.
    fn kept(total: usize, tail: usize) -> Option<Vec<u8>> {
        let all: Vec<u8> = (0..total).map(|at| b'a' + u8::try_from(at / 7 % 26).unwrap()).collect();
        let mut transcript = Transcript::default();
        for piece in all.chunks(65_521) {
            transcript.push(Stream::Output, piece);
        }
        let captured = Captured { head: Vec::new(), tail: all[total - tail..].to_vec(), total: total as u64 };
        let mut long = transcript.finish(&report(captured, &[]));
        assert!(long.len() < 2);
        let bytes = long.pop().map(|long| long.bytes)?;
        if bytes == all { Some(Vec::new()) } else { Some(bytes) }
    }

    #[test]
    fn what_a_model_gets_whole_needs_no_file_and_what_is_longer_is_kept() {
        assert_eq!(kept(MODEL, 0), None);
        assert_eq!(kept(MODEL + 1, 0), Some(Vec::new()), "whole");
        assert_eq!(kept(300_000, 128 << 10), Some(Vec::new()), "whole");
        assert_eq!(kept(MAX_OUTPUT_FILE, 128 << 10), Some(Vec::new()), "whole");
        // The tail reaches back into what was kept from the beginning.
        assert_eq!(kept(MAX_OUTPUT_FILE + 1000, 128 << 10), Some(Vec::new()), "whole");
        let long = kept(MAX_OUTPUT_FILE + 200_000, 128 << 10).unwrap();
        let line = format!("\n[... {} bytes left out ...]\n", 200_000 - (128 << 10));
        assert_eq!(long.len(), MAX_OUTPUT_FILE + line.len() + (128 << 10));
        assert!(long[MAX_OUTPUT_FILE..].starts_with(line.as_bytes()));
    }

    #[test]
    fn its_name_is_not_that_of_a_result() {
        let long = || Captured { head: Vec::new(), tail: Vec::new(), total: MODEL as u64 + 1 };
        let check = |results: &[&str], expect: &str| {
            let kept = Transcript::default().finish(&report(long(), results));
            assert_eq!(kept[0].name, expect);
        };
        check(&["a.txt", "d/stdout.txt"], "stdout.txt");
        check(&["stdout.txt", "stdout-2.txt"], "stdout-3.txt");
    }
}
