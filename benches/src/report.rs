//! The figures as tables for people and as JSON for programs.

use std::fmt;

use serde::Serialize;

use crate::answer::Answer;
use crate::contestant::Contestant;
use crate::measurement::Series;
use crate::target::{Target, judge};

/// Everything one bench found.
#[derive(Serialize)]
pub(crate) struct Report {
    pub(crate) bench: &'static str,
    pub(crate) rounds: u32,
    pub(crate) trees: Vec<TreeFigures>,
    pub(crate) targets: Vec<Target>,
}

/// All contestants on one tree.
#[derive(Serialize)]
pub(crate) struct TreeFigures {
    pub(crate) tree: String,
    pub(crate) skills: usize,
    pub(crate) contestants: Vec<Figures>,
}

/// One contestant on one tree.
#[derive(Serialize)]
pub(crate) struct Figures {
    pub(crate) contestant: &'static str,
    pub(crate) ratio_to_floor: f64,
    pub(crate) median_ms: f64,
    pub(crate) least_ms: f64,
    pub(crate) ms_per_1000_skills: f64,
    pub(crate) peak_memory_mb: f64,
    pub(crate) answer: Answer,
}

impl Figures {
    /// The figures of a series, set against the floor's median.
    #[expect(clippy::cast_precision_loss, reason = "counts and bytes far below 2^52, shown with two digits")]
    pub(crate) fn new(
        contestant: Contestant,
        series: &Series,
        floor: f64,
        skills: usize,
        answer: Answer,
    ) -> Self {
        let median = series.median();
        Self {
            contestant: contestant.name(),
            ratio_to_floor: median / floor,
            median_ms: median,
            least_ms: series.least(),
            ms_per_1000_skills: median * 1_000.0 / skills as f64,
            peak_memory_mb: series.memory() as f64 / 1e6,
            answer,
        }
    }
}

impl TreeFigures {
    /// The figures of one contestant.
    pub(crate) fn of(&self, contestant: Contestant) -> Option<&Figures> {
        self.contestants.iter().find(|figures| figures.contestant == contestant.name())
    }
}

impl Report {
    /// A report that has no figures yet.
    pub(crate) fn new(rounds: u32) -> Self {
        Self { bench: "discovery", rounds, trees: Vec::new(), targets: Vec::new() }
    }

    /// Sets the figures against the targets.
    pub(crate) fn judge(&mut self) {
        self.targets = judge(&self.trees);
    }

    fn table(
        &self,
        formatter: &mut fmt::Formatter<'_>,
        title: &str,
        cell: impl Fn(&Figures) -> String,
    ) -> fmt::Result {
        writeln!(formatter, "\n{title}")?;
        write!(formatter, "{:18}", "tree")?;
        for contestant in Contestant::ALL {
            write!(formatter, "{:>24}", contestant.name())?;
        }
        writeln!(formatter)?;
        for tree in &self.trees {
            write!(formatter, "{:18}", tree.tree)?;
            for figures in &tree.contestants {
                write!(formatter, "{:>24}", cell(figures))?;
            }
            writeln!(formatter)?;
        }
        Ok(())
    }
}

impl fmt::Display for Report {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            formatter,
            "{}: whole processes, warm page cache, {} rounds in turns, standard output to /dev/null",
            self.bench, self.rounds
        )?;
        self.table(formatter, "time as a ratio to the floor (median ms, best ms)", |figures| {
            let Figures { ratio_to_floor, median_ms, least_ms, .. } = figures;
            format!("{ratio_to_floor:.2} ({median_ms:.1}, {least_ms:.1})")
        })?;
        self.table(formatter, "growth: ms per 1,000 skills", |figures| {
            format!("{:.2}", figures.ms_per_1000_skills)
        })?;
        self.table(formatter, "peak resident memory, MB", |figures| {
            format!("{:.1}", figures.peak_memory_mb)
        })?;
        self.table(formatter, "skills loaded + refused", |figures| {
            format!("{} + {}", figures.answer.loaded, figures.answer.failed)
        })?;
        writeln!(formatter, "\ntargets")?;
        self.targets.iter().try_for_each(|target| writeln!(formatter, "{target}"))
    }
}
