//! The bench of discovery: every contestant on every tree, in turns.

use std::fs;
use std::path::PathBuf;

use anyhow::{Context, Result};

use crate::arguments::Arguments;
use crate::contestant::{Contestant, Programs};
use crate::corpus;
use crate::measurement::{Series, answer};
use crate::report::{Figures, Report, TreeFigures};
use crate::tree::{Tree, thousands, write};

/// Sizes that are always measured, and the one that takes its time.
const SIZES: [usize; 3] = [100, 1_000, 10_000];
const LARGE: usize = 50_000;

/// The size of the tree of real texts.
const REAL: usize = 10_000;

pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    let home = arguments.trees.join("home");
    fs::create_dir_all(&home).with_context(|| format!("{} cannot be made", home.display()))?;
    let absolute =
        |path: &PathBuf| fs::canonicalize(path).with_context(|| format!("{} is not there", path.display()));
    let programs = Programs {
        metier: absolute(&arguments.metier)?,
        benches: std::env::current_exe().context("this program cannot find itself")?,
        home: absolute(&home)?,
    };
    let mut report = Report::new(arguments.rounds);
    for tree in trees(arguments)? {
        report.trees.push(measure(&programs, &tree, arguments.rounds)?);
    }
    report.judge();
    print!("{report}");
    if let Some(file) = &arguments.json {
        write(file, serde_json::to_string_pretty(&report)? + "\n")?;
    }
    Ok(())
}

fn trees(arguments: &Arguments) -> Result<Vec<Tree>> {
    let folder = std::path::absolute(&arguments.trees)?;
    let large = arguments.large.then_some(LARGE);
    let mut trees: Vec<Tree> =
        SIZES.into_iter().chain(large).map(|size| Tree::generated(&folder, size)).collect::<Result<_>>()?;
    let real = match &arguments.corpus {
        Some(corpus) => corpus::tree(&folder, corpus, REAL)?,
        None => None,
    };
    if real.is_none() {
        eprintln!("no corpus of real files: the tree of {} real texts is left out", thousands(REAL));
    }
    trees.extend(real);
    Ok(trees)
}

/// Runs all contestants on one tree in turns, so that whatever else the machine does meets all of them.
///
/// The first turn is not timed: it checks the answers and warms the page cache. The order moves on by one each turn, so
/// that nobody always runs behind the same neighbour.
fn measure(programs: &Programs, tree: &Tree, rounds: u32) -> Result<TreeFigures> {
    eprintln!("measuring {}", tree.name);
    let mut answers = Vec::new();
    for contestant in Contestant::ALL {
        let found = answer(&mut contestant.command(programs, tree))
            .with_context(|| format!("{} cannot be measured", contestant.name()))?;
        if contestant.must_be_right() {
            found
                .check(tree.skills, tree.least_percent)
                .with_context(|| format!("{} gives a wrong answer on {}", contestant.name(), tree.name))?;
        }
        answers.push(found);
    }
    let mut series = Contestant::ALL.map(|_| Series::default());
    for round in 0..rounds as usize {
        for turn in 0..Contestant::ALL.len() {
            let index = (round + turn) % Contestant::ALL.len();
            series[index].measure(&mut Contestant::ALL[index].command(programs, tree))?;
        }
    }
    let floor = series[0].median();
    let contestants = Contestant::ALL
        .iter()
        .zip(&series)
        .zip(answers)
        .map(|((contestant, series), answer)| Figures::new(*contestant, series, floor, tree.skills, answer))
        .collect();
    Ok(TreeFigures { tree: tree.name.clone(), skills: tree.skills, contestants })
}
