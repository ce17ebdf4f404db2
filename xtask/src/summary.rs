//! What the steps of a run came to: one line each, aligned.

use std::fmt;
use std::time::Duration;

/// How a step ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// It ran and found nothing.
    Passed,
    /// The tests passed; how many did, and how many could not be tried.
    Counted(String),
    /// It ran and found something.
    Failed,
    /// It did not run, for this reason; that is never the same as having passed.
    NotRun(String),
}

/// The lines of a run, in the order of its steps.
#[derive(Debug, Default)]
pub(crate) struct Summary {
    rows: Vec<Row>,
}

#[derive(Debug)]
struct Row {
    step: &'static str,
    outcome: Outcome,
    time: Duration,
}

impl Summary {
    /// Adds a step's line.
    pub(crate) fn push(&mut self, step: &'static str, outcome: Outcome, time: Duration) {
        self.rows.push(Row { step, outcome, time });
    }

    /// The step that failed, if one did.
    pub(crate) fn failed(&self) -> Option<&'static str> {
        self.rows.iter().find(|row| row.outcome == Outcome::Failed).map(|row| row.step)
    }
}

impl fmt::Display for Summary {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let width = self.rows.iter().map(|row| row.step.len()).max().unwrap_or(0).max("step".len());
        writeln!(formatter, "{:width$}  {:7}  {:>7}", "step", "result", "seconds")?;
        for Row { step, outcome, time } in &self.rows {
            match outcome {
                Outcome::Passed | Outcome::Counted(_) => {
                    writeln!(formatter, "{step:width$}  {:7}  {:>7.1}", "passed", time.as_secs_f64())?;
                }
                Outcome::Failed => {
                    writeln!(formatter, "{step:width$}  {:7}  {:>7.1}", "FAILED", time.as_secs_f64())?;
                }
                Outcome::NotRun(reason) => {
                    writeln!(formatter, "{step:width$}  {:7}  {:>7}  {reason}", "not run", "-")?;
                }
            }
        }
        // The last line, where whoever reads only the end of a log looks.
        for Row { outcome, .. } in &self.rows {
            if let Outcome::Counted(counts) = outcome {
                writeln!(formatter, "{counts}")?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_per_step_with_the_reason_of_the_one_that_did_not_run() {
        let mut summary = Summary::default();
        summary.push("format", Outcome::Passed, Duration::from_millis(1_240));
        summary.push("unit tests", Outcome::Counted("tests: 9 passed".to_owned()), Duration::from_secs(9));
        summary.push("tests", Outcome::Failed, Duration::from_secs(61));
        summary.push("licences", Outcome::NotRun("tests failed".to_owned()), Duration::ZERO);
        assert_eq!(
            summary.to_string(),
            "step        result   seconds\n\
             format      passed       1.2\n\
             unit tests  passed       9.0\n\
             tests       FAILED      61.0\n\
             licences    not run        -  tests failed\n\
             tests: 9 passed\n"
        );
        assert_eq!(summary.failed(), Some("tests"));
    }

    #[test]
    fn a_step_that_did_not_run_is_no_failure() {
        let mut summary = Summary::default();
        summary.push("licences", Outcome::NotRun("not installed".to_owned()), Duration::ZERO);
        assert_eq!(summary.failed(), None);
    }
}
