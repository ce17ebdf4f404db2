//! How many tests passed, failed and were not tried.

use std::fmt;

/// Sums over the closing lines of test binaries.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Counts {
    passed: usize,
    failed: usize,
    ignored: usize,
    /// What tests could not try on this machine, with the reason.
    pub(super) not_tried: Vec<String>,
}

impl Counts {
    /// Adds the closing lines in the output of a test binary; gives how many tests failed.
    pub(super) fn add(&mut self, output: &str) -> usize {
        let lines = output.lines().filter_map(|line| line.strip_prefix("test result: "));
        let mut failed = 0;
        for line in lines {
            self.passed += number_before(line, " passed");
            self.ignored += number_before(line, " ignored");
            failed += number_before(line, " failed");
        }
        self.failed += failed;
        failed
    }
}

/// The number in front of a word: 12 in `ok. 12 passed; 0 failed`.
fn number_before(line: &str, word: &str) -> usize {
    let before = line.split(word).next().filter(|before| before.len() < line.len()).unwrap_or_default();
    before.rsplit(' ').next().and_then(|number| number.parse().ok()).unwrap_or(0)
}

impl fmt::Display for Counts {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        for line in &self.not_tried {
            writeln!(formatter, "not tried: {line}")?;
        }
        let Self { passed, failed, ignored, not_tried } = self;
        writeln!(formatter, "{ignored} tests are run by other tests, in processes of their own")?;
        // The form that services for continuous integration read.
        write!(formatter, "tests: {passed} passed, {failed} failed, {} skipped", not_tried.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn closing_lines_are_added_up() {
        let mut counts = Counts::default();
        let output = "test a ... ok\ntest result: ok. 12 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.10s\n";
        assert_eq!(counts.add(output), 0);
        let output = "test result: FAILED. 2 passed; 3 failed; 0 ignored; 0 measured\n";
        assert_eq!(counts.add(output), 3);
        counts.not_tried.push("groups: no control groups".to_owned());
        assert_eq!(
            counts.to_string(),
            "not tried: groups: no control groups\n1 tests are run by other tests, in processes of their own\n\
             tests: 14 passed, 3 failed, 1 skipped"
        );
    }
}
