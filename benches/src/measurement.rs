//! One process, from before it starts to after it ended: wall time and peak memory.
//!
//! Linux counts the peak memory of whoever started a process as that process's own, because until it becomes the new
//! program it shares the memory of the old one. This program therefore stays small: it holds no tree and no output.

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use wait4::Wait4;

use crate::answer::Answer;

/// The runs of one contestant on one tree.
#[derive(Default)]
pub(crate) struct Series {
    times: Vec<Duration>,
    memory: u64,
}

impl Series {
    /// Runs the process once more and adds what it cost. Its output goes to `/dev/null`: writing it is part of the
    /// work, reading it is not.
    pub(crate) fn measure(&mut self, command: &mut Command) -> Result<()> {
        self.measure_up_to(command, 0)
    }

    /// The same for a program that answers with its exit code, too: anything up to `most` is an answer.
    pub(crate) fn measure_up_to(&mut self, command: &mut Command, most: i32) -> Result<()> {
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let started = Instant::now();
        let child = command.spawn().with_context(|| format!("{command:?} could not be started"))?;
        let ended = child.wait4().with_context(|| format!("{command:?} could not be waited for"))?;
        let time = started.elapsed();
        if ended.status.code().is_none_or(|code| code > most) {
            bail!("{command:?} failed ({})", ended.status);
        }
        self.times.push(time);
        self.memory = self.memory.max(ended.rusage.maxrss);
        Ok(())
    }

    /// The middle of the times, in milliseconds.
    pub(crate) fn median(&self) -> f64 {
        let mut times = self.times.clone();
        times.sort();
        let middle = times.len() / 2;
        match times.len() {
            0 => f64::NAN,
            length if length % 2 == 1 => milliseconds(times[middle]),
            _ => milliseconds(times[middle - 1] + times[middle]) / 2.0,
        }
    }

    /// The best of the times, in milliseconds.
    pub(crate) fn least(&self) -> f64 {
        self.times.iter().min().copied().map_or(f64::NAN, milliseconds)
    }

    /// The highest peak of resident memory, in bytes.
    pub(crate) fn memory(&self) -> u64 {
        self.memory
    }
}

fn milliseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1_000.0
}

/// Runs the process once without timing it and reads what it found.
pub(crate) fn answer(command: &mut Command) -> Result<Answer> {
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::inherit());
    let mut child = command.spawn().with_context(|| format!("{command:?} could not be started"))?;
    let output = child.stdout.take().context("a piped process has an output")?;
    let answer = Answer::read(std::io::BufReader::new(output));
    let status = child.wait().with_context(|| format!("{command:?} could not be waited for"))?;
    if !status.success() {
        bail!("{command:?} failed ({status})");
    }
    answer.with_context(|| format!("{command:?}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn series(milliseconds: &[u64]) -> Series {
        Series { times: milliseconds.iter().copied().map(Duration::from_millis).collect(), memory: 0 }
    }

    #[test]
    fn the_median_is_the_middle_and_not_the_mean() {
        assert!((series(&[9, 1, 2]).median() - 2.0).abs() < 1e-9);
        assert!((series(&[9, 1, 2, 4]).median() - 3.0).abs() < 1e-9);
        assert!(series(&[]).median().is_nan());
        assert!((series(&[9, 1, 2]).least() - 1.0).abs() < 1e-9);
    }

    #[test]
    fn a_process_is_timed_and_a_failing_one_is_an_error() {
        let mut series = Series::default();
        series.measure(&mut Command::new("true")).unwrap();
        assert!(series.median() > 0.0 && series.memory() > 0);
        assert!(series.measure(&mut Command::new("false")).is_err());
        assert!(answer(&mut Command::new("true")).is_err());
    }
}
