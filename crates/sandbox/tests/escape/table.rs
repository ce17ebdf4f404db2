//! The table at the end of a part.

use std::collections::BTreeMap;

use crate::judge::Outcome;
use crate::part;
use crate::probes::Probe;

/// What became of every probe, in order.
#[derive(Default)]
pub(crate) struct Table {
    rows: Vec<(Probe, Outcome)>,
    known: Vec<(String, &'static str)>,
}

#[derive(Default)]
struct Count {
    held: usize,
    not_applicable: usize,
    known: usize,
    through: usize,
    broken: usize,
}

impl Count {
    fn add(&mut self, outcome: &Outcome, is_known: bool) {
        match outcome {
            Outcome::Held(_) => self.held += 1,
            Outcome::NotApplicable(_) => self.not_applicable += 1,
            Outcome::Through(_) if is_known => self.known += 1,
            Outcome::Through(_) => self.through += 1,
            Outcome::Broken(_) => self.broken += 1,
        }
    }
}

/// The names of the columns of a summary.
pub(crate) fn columns() -> String {
    format!(
        "{:32} {:>5} {:>6} {:>11} {:>8} {:>7}",
        "tier and user", "held", "known", "cannot say", "through", "broken"
    )
}

impl Table {
    pub(crate) fn push(&mut self, probe: &Probe, outcome: Outcome) {
        self.rows.push((probe.clone(), outcome));
    }

    /// Adds a row that gets through, as the documentation says.
    pub(crate) fn push_known(&mut self, probe: &Probe, outcome: Outcome, reason: &'static str) {
        self.known.push((probe.name.clone(), reason));
        self.push(probe, outcome);
    }

    fn is_known(&self, name: &str) -> bool {
        self.known.iter().any(|(known, _)| known == name)
    }

    /// Prints the counts by class, then everything that is not what was hoped for, with its reason.
    pub(crate) fn print(&self, title: &str, hoped_for: fn(&Outcome) -> bool) {
        let mut classes: BTreeMap<&str, Count> = BTreeMap::new();
        for (probe, outcome) in &self.rows {
            for class in [probe.class.as_str(), "TOTAL"] {
                classes.entry(class).or_default().add(outcome, self.is_known(&probe.name));
            }
        }
        println!("\n== {title} ==");
        println!("{:12} {:>5} {:>5} {:>6} {:>8} {:>7}", "class", "held", "n/a", "known", "through", "broken");
        for (class, count) in &classes {
            println!(
                "{class:12} {:>5} {:>5} {:>6} {:>8} {:>7}",
                count.held, count.not_applicable, count.known, count.through, count.broken
            );
        }
        for (probe, outcome) in &self.rows {
            if !hoped_for(outcome) {
                let known = self.known.iter().find(|(name, _)| *name == probe.name);
                let known =
                    known.map(|(_, reason)| format!(" (known, see docs: {reason})")).unwrap_or_default();
                println!("  {:24} {outcome}{known}; it {}", probe.name, probe.tries);
            }
        }
    }

    fn total(&self) -> Count {
        let mut total = Count::default();
        for (probe, outcome) in &self.rows {
            total.add(outcome, self.is_known(&probe.name));
        }
        total
    }

    /// Hands the totals on to whoever prints them for all parts together.
    pub(crate) fn summarise(&self, title: &str) {
        let Count { held, not_applicable, known, through, broken } = self.total();
        let line = format!("{title:32} {held:>5} {known:>6} {not_applicable:>11} {through:>8} {broken:>7}\n");
        part::add_to_summary(&line);
    }

    /// The names of what got through or did not work.
    pub(crate) fn failures(&self) -> Vec<&str> {
        let failed = self.rows.iter().filter(|(probe, outcome)| match outcome {
            Outcome::Through(_) => !self.is_known(&probe.name),
            Outcome::Broken(_) => true,
            Outcome::Held(_) | Outcome::NotApplicable(_) => false,
        });
        failed.map(|(probe, _)| probe.name.as_str()).collect()
    }
}
