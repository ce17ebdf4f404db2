//! The bench of `check`: judging every skill of a tree, against listing the same tree.

use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result};

use crate::arguments::Arguments;
use crate::measurement::Series;
use crate::tree::{Tree, thousands};

/// How many times a listing a check may take over the corpus.
const MOST: f64 = 10.0;

/// Linear: what a thousand skills cost in the large tree may be this many times what they cost in the small one.
const MOST_GROWTH: f64 = 1.25;

/// The trees by which growth is judged.
const SIZES: [usize; 2] = [1_000, 10_000];

/// What was measured on one tree.
struct Figures {
    name: String,
    skills: usize,
    list: Series,
    check: Series,
}

pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    let home = arguments.trees.join("home");
    fs::create_dir_all(&home).with_context(|| format!("{} cannot be made", home.display()))?;
    let folder = std::path::absolute(&arguments.trees)?;
    let mut all = Vec::new();
    if let Some(corpus) = arguments.corpus.as_ref().filter(|corpus| corpus.is_dir()) {
        all.push(measure(arguments, &home, &fs::canonicalize(corpus)?, "corpus".to_owned(), 0)?);
    } else {
        eprintln!("no corpus of real files: it is left out");
    }
    for size in SIZES {
        let tree = Tree::generated(&folder, size)?;
        all.push(measure(arguments, &home, &tree.root, tree.name, size)?);
    }
    print(&all, arguments.rounds);
    Ok(())
}

fn measure(arguments: &Arguments, home: &Path, root: &Path, name: String, skills: usize) -> Result<Figures> {
    eprintln!("measuring {name}");
    let command = |words: &[&str]| {
        let mut command = Command::new(&arguments.metier);
        command.args(words).arg(root).current_dir(home).env("HOME", home).env("METIER_HOME", home);
        command
    };
    let mut figures = Figures { name, skills, list: Series::default(), check: Series::default() };
    let mut warm = Series::default();
    for round in 0..=arguments.rounds {
        let (list, check) = if round == 0 {
            warm.measure(&mut command(&["list", "--json", "--root"]))?;
            continue;
        } else {
            (&mut figures.list, &mut figures.check)
        };
        list.measure(&mut command(&["list", "--json", "--root"]))?;
        // It ends with 1 where it found errors, which real files have.
        check.measure_up_to(&mut command(&["check", "--json"]), 1)?;
    }
    Ok(figures)
}

fn print(all: &[Figures], rounds: u32) {
    println!(
        "check: whole processes, warm page cache, {rounds} rounds in turns, standard output to /dev/null\n"
    );
    println!("{:<20} {:>12} {:>12} {:>8} {:>8}", "tree", "list, ms", "check, ms", "ratio", "MB");
    for one in all {
        #[expect(clippy::cast_precision_loss, reason = "megabytes")]
        let megabytes = one.check.memory() as f64 / 1e6;
        let (list, check) = (one.list.median(), one.check.median());
        println!("{:<20} {list:>12.1} {check:>12.1} {:>8.2} {megabytes:>8.1}", one.name, check / list);
    }
    println!();
    for one in all.iter().filter(|one| one.skills == 0) {
        verdict("corpus, check by listing", one.check.median() / one.list.median(), MOST);
    }
    let sized: Vec<&Figures> = all.iter().filter(|one| one.skills > 0).collect();
    for pair in sized.windows(2) {
        let [small, large] = pair else { continue };
        #[expect(clippy::cast_precision_loss, reason = "counts of skills")]
        let each = |one: &Figures| one.check.median() / one.skills as f64;
        let what =
            format!("growth per skill from {} to {}", thousands(small.skills), thousands(large.skills));
        verdict(&what, each(large) / each(small), MOST_GROWTH);
    }
}

fn verdict(what: &str, found: f64, most: f64) {
    let word = if found <= most { "holds" } else { "MISSED" };
    println!("{word:6}  {what}: {found:.2}, at most {most:.2}");
}
