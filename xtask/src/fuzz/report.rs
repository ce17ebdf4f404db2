//! What the targets came to: a row each, and the inputs that broke something.

use std::fmt;
use std::path::Path;
use std::time::Duration;

/// What one target came to.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Outcome {
    /// How many inputs it tried.
    pub(super) runs: u64,
    /// How many different places of the code they reached.
    pub(super) places: u64,
    pub(super) time: Duration,
    /// Whether it ended otherwise than it should.
    pub(super) broke: bool,
    /// The inputs that broke something, as paths from the repository's top folder.
    pub(super) inputs: Vec<String>,
}

impl Outcome {
    /// Takes from a line of libFuzzer what is to be known in the end.
    pub(super) fn take(&mut self, line: &str, root: &Path) {
        if let Some(count) = line.strip_prefix("stat::number_of_executed_units:") {
            self.runs = count.trim().parse().unwrap_or(0);
        } else if let Some((_, path)) = line.split_once("Test unit written to ") {
            let path = Path::new(path.trim());
            self.inputs.push(path.strip_prefix(root).unwrap_or(path).display().to_string());
        } else if let Some((_, count)) = line.strip_prefix('#').and_then(|line| line.split_once(" cov: ")) {
            let count = count.split_whitespace().next().and_then(|count| count.parse().ok());
            self.places = count.unwrap_or(self.places);
        }
    }
}

/// The rows, in the order in which the targets ran.
#[derive(Debug, Default)]
pub(super) struct Report {
    rows: Vec<(String, Outcome)>,
}

impl Report {
    pub(super) fn push(&mut self, name: String, outcome: Outcome) {
        self.rows.push((name, outcome));
    }

    /// How many targets found something.
    pub(super) fn found(&self) -> usize {
        self.rows.iter().filter(|(_, outcome)| outcome.broke).count()
    }

    /// All rows in one line.
    pub(super) fn sums(&self) -> String {
        let runs = self.rows.iter().map(|(_, outcome)| outcome.runs).sum();
        let seconds: u64 = self.rows.iter().map(|(_, outcome)| outcome.time.as_secs()).sum();
        let (targets, found) = (self.rows.len(), self.found());
        format!("{targets} targets, {} runs in {seconds} s; {found} targets found something", grouped(runs))
    }
}

impl fmt::Display for Report {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let width = self.rows.iter().map(|(name, _)| name.len()).max().unwrap_or(0).max("target".len());
        writeln!(formatter, "{:width$}  {:>12}  {:>7}  {:>7}  found", "target", "runs", "places", "seconds")?;
        for (name, outcome) in &self.rows {
            let found = if outcome.broke { "SOMETHING" } else { "nothing" };
            let (runs, seconds) = (grouped(outcome.runs), outcome.time.as_secs());
            writeln!(formatter, "{name:width$}  {runs:>12}  {:>7}  {seconds:>7}  {found}", outcome.places)?;
        }
        for (name, outcome) in self.rows.iter().filter(|(_, outcome)| outcome.broke) {
            if outcome.inputs.is_empty() {
                writeln!(formatter, "\n`{name}` ended before it could write an input down; see above")?;
            }
            for input in &outcome.inputs {
                writeln!(formatter, "\n`{name}` broke on {input}; again with")?;
                writeln!(formatter, "  cargo xtask fuzz {name} --input {input}")?;
            }
        }
        Ok(())
    }
}

/// 1234567 as `1,234,567`. The libraries have this, too; chores depend on none of them, so that they work when those do not
/// compile.
fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outcome(lines: &[&str]) -> Outcome {
        let mut outcome = Outcome::default();
        for line in lines {
            outcome.take(line, Path::new("/home/somebody/metier"));
        }
        outcome
    }

    #[test]
    fn runs_places_and_inputs_are_read_from_what_the_fuzzer_says() {
        let outcome = outcome(&[
            "#2\tINITED cov: 12 ft: 13 corp: 1/1b exec/s: 0 rss: 30Mb",
            "#4096\tpulse  cov: 812 ft: 1290 corp: 80/2Kb lim: 43 exec/s: 2048 rss: 60Mb",
            "artifact_prefix='/home/somebody/metier/target/fuzz/findings/parse/'; Test unit written to \
             /home/somebody/metier/target/fuzz/findings/parse/crash-12",
            "stat::number_of_executed_units: 5123",
        ]);
        assert_eq!((outcome.runs, outcome.places), (5_123, 812));
        assert_eq!(outcome.inputs, ["target/fuzz/findings/parse/crash-12"]);
    }

    #[test]
    fn a_row_each_and_how_to_see_a_finding_again() {
        let mut report = Report::default();
        report.push(
            "split".to_owned(),
            Outcome { runs: 1_234_567, places: 80, time: Duration::from_mins(1), ..Outcome::default() },
        );
        let inputs = vec!["target/fuzz/findings/parse/crash-12".to_owned()];
        report.push("parse".to_owned(), Outcome { runs: 12, broke: true, inputs, ..Outcome::default() });
        assert_eq!(report.found(), 1);
        assert_eq!(report.sums(), "2 targets, 1,234,579 runs in 60 s; 1 targets found something");
        assert_eq!(
            report.to_string(),
            "target          runs   places  seconds  found\n\
             split      1,234,567       80       60  nothing\n\
             parse             12        0        0  SOMETHING\n\
             \n`parse` broke on target/fuzz/findings/parse/crash-12; again with\n  \
             cargo xtask fuzz parse --input target/fuzz/findings/parse/crash-12\n"
        );
    }

    #[test]
    fn numbers_are_written_in_groups_of_three() {
        for (number, text) in [(0, "0"), (999, "999"), (1_000, "1,000"), (1_234_567, "1,234,567")] {
            assert_eq!(grouped(number), text);
        }
    }
}
