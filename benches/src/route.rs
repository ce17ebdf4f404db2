//! The bench of the router: how well it chooses, and what choosing costs at 10,000 skills.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use metier_catalog::{Finder, Layout, Places, RootChoice, Snapshot};

use crate::arguments::Arguments;
use crate::measurement::Series;
use crate::routing;
use crate::routing_data::Data;
use crate::tree::{make, thousands, write};

/// The sizes at which it is measured; the limits are for the second.
const SIZES: [usize; 3] = [1_000, 10_000, 50_000];
const JUDGED: usize = 10_000;

/// Changes whenever the way of making the tree changes.
const EDITION: &str = "1";

pub(crate) fn run(arguments: &Arguments, folder: &Path) -> Result<()> {
    routing::quality(folder)?;
    let Some(data) = Data::read(folder)? else { return Ok(()) };
    println!("\nroute: index and requests in process, command as whole processes, warm page cache\n");
    println!(
        "{:<8} {:>9} {:>9} {:>9} {:>9} {:>9} {:>10} {:>10} {:>10}",
        "skills", "build, s", "read, s", "MB", "open, ms", "edit, ms", "p50, ms", "p99, ms", "command +"
    );
    for size in SIZES.into_iter().filter(|size| *size <= JUDGED || arguments.large) {
        measure(arguments, &data, size)?;
    }
    println!(
        "\nlimits at {}: build 2 s, 20 MB, command + 30 ms, edit 20 ms, p50 1 ms, p99 5 ms",
        thousands(JUDGED)
    );
    Ok(())
}

fn measure(arguments: &Arguments, data: &Data, size: usize) -> Result<()> {
    let trees = std::path::absolute(&arguments.trees)?;
    let root = tree(&trees, data, size)?;
    let cache = trees.join(format!("route-cache-{size}"));
    let snapshot = snapshot(&root);
    // What the file system alone takes: the same documents read on as many threads, nothing done with them.
    let read = median(3, || floor(&root))?;
    let build = median(3, || {
        let started = Instant::now();
        let _ = fs::remove_dir_all(&cache);
        let finder = Finder::open(Arc::clone(&snapshot), Some(&cache));
        let time = started.elapsed();
        finder.save()?;
        Ok(time)
    })?;
    let bytes: u64 =
        fs::read_dir(cache.join("search"))?.map(|file| Ok(file?.metadata()?.len())).sum::<Result<u64>>()?;
    // Files as young as a tick are read again, so the cache of a fresh tree is complete only now.
    Finder::open(Arc::clone(&snapshot), Some(&cache)).save()?;
    let open = median(arguments.rounds, || {
        let started = Instant::now();
        let finder = Finder::open(Arc::clone(&snapshot), Some(&cache));
        let time = started.elapsed();
        anyhow::ensure!(finder.synced().read == 0, "a warm cache reads {} documents", finder.synced().read);
        Ok(time)
    })?;
    let finder = Finder::open(Arc::clone(&snapshot), Some(&cache)).held();
    let edit = edits(&root, &finder, arguments.rounds)?;
    let mut times = Vec::new();
    for query in data.queries.iter() {
        let started = Instant::now();
        let route = finder.route(&query.query, 10);
        times.push(started.elapsed());
        std::hint::black_box(route);
    }
    times.sort();
    let command = command(arguments, &root, &trees)?;
    let (p50, p99) = (times[times.len() / 2], times[times.len() * 99 / 100]);
    #[expect(clippy::cast_precision_loss, reason = "megabytes")]
    let megabytes = bytes as f64 / 1e6;
    println!(
        "{:<8} {:>9.2} {:>9.2} {megabytes:>9.1} {:>9.1} {:>9.1} {:>10.2} {:>10.2} {command:>9.1}",
        thousands(size),
        build.as_secs_f64(),
        read.as_secs_f64(),
        milliseconds(open),
        milliseconds(edit),
        milliseconds(p50),
        milliseconds(p99)
    );
    Ok(())
}

fn milliseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

fn median(rounds: u32, mut once: impl FnMut() -> Result<Duration>) -> Result<Duration> {
    let mut times = (0..rounds.max(1)).map(|_| once()).collect::<Result<Vec<_>>>()?;
    times.sort();
    Ok(times[times.len() / 2])
}

fn snapshot(root: &Path) -> Arc<Snapshot> {
    let places = Places::bare(root.to_owned());
    let layout = Layout::new(&places, &RootChoice::Given(vec![root.to_owned()]));
    Arc::new(Snapshot::load_for_search(Arc::new(layout)))
}

/// Reads every document on two threads.
fn floor(root: &Path) -> Result<Duration> {
    let folders: Vec<PathBuf> = fs::read_dir(root)?.map(|entry| Ok(entry?.path())).collect::<Result<_>>()?;
    let started = Instant::now();
    std::thread::scope(|scope| {
        for share in folders.chunks(folders.len().div_ceil(2).max(1)) {
            scope.spawn(move || {
                share
                    .iter()
                    .filter_map(|folder| fs::read(folder.join("SKILL.md")).ok())
                    .map(|text| text.len())
                    .sum::<usize>()
            });
        }
    });
    Ok(started.elapsed())
}

/// How long it takes from a new snapshot to an index that knows a changed skill.
fn edits(root: &Path, finder: &Finder, rounds: u32) -> Result<Duration> {
    let path = root.join("skill-00000").join("SKILL.md");
    let text = fs::read_to_string(&path)?;
    let mut round = 0;
    let time = median(rounds.max(5), || {
        round += 1;
        fs::write(&path, format!("{text}\nEdited {round} times.\n"))?;
        let next = snapshot(root);
        let started = Instant::now();
        let next = finder.follow(next);
        let time = started.elapsed();
        anyhow::ensure!(next.synced().read >= 1, "an edit was not seen");
        Ok(time)
    });
    fs::write(&path, text)?;
    time
}

/// What routing adds to a command: `route` against `list` over the same tree.
fn command(arguments: &Arguments, root: &Path, trees: &Path) -> Result<f64> {
    let home = trees.join("route-home");
    fs::create_dir_all(&home)?;
    let run = |words: &[&str]| {
        let mut command = Command::new(&arguments.metier);
        command
            .args(words)
            .arg("--root")
            .arg(root)
            .current_dir(&home)
            .env("HOME", &home)
            .env("METIER_HOME", &home);
        command
    };
    let (mut list, mut route) = (Series::default(), Series::default());
    let mut warm = Series::default();
    let words: [&[&str]; 2] = [&["list", "--quiet"], &["route", "--quiet", "review a contract"]];
    for _ in 0..2 {
        warm.measure_up_to(&mut run(words[1]), 1)?;
    }
    for _ in 0..arguments.rounds {
        list.measure(&mut run(words[0]))?;
        route.measure_up_to(&mut run(words[1]), 1)?;
    }
    Ok(route.median() - list.median())
}

/// The pool of real skills, repeated up to a size. In each copy one word of twenty gets the number of the copy behind it: copies of
/// one text have no new words, and another ten thousand skills would have.
fn tree(trees: &Path, data: &Data, size: usize) -> Result<PathBuf> {
    let stamp = format!("{EDITION} {}", data.pool.len());
    make(&trees.join(format!("route-{size}")), &stamp, |root| {
        for at in 0..size {
            let (skill, copy) = (&data.pool[at % data.pool.len()], at / data.pool.len());
            let folder = root.join(format!("skill-{at:05}"));
            fs::create_dir(&folder).with_context(|| format!("{} cannot be made", folder.display()))?;
            write(&folder.join("SKILL.md"), varied(&skill.text, at, copy))?;
        }
        Ok(())
    })
}

fn varied(text: &str, at: usize, copy: usize) -> Vec<u8> {
    let mut varied = String::with_capacity(text.len() + 64);
    let mut named = false;
    let mut count = 0;
    for line in text.split_inclusive('\n') {
        if !named && line.starts_with("name:") {
            named = true;
            varied.push_str(&format!("name: skill-{at:05}\n"));
            continue;
        }
        for piece in line.split_inclusive(' ') {
            let word = piece.trim_end();
            count += 1;
            if copy > 0
                && named
                && count % 20 == 0
                && word.len() > 3
                && word.bytes().all(|byte| byte.is_ascii_lowercase())
            {
                varied.push_str(&format!("{word}{copy}{}", &piece[word.len()..]));
            } else {
                varied.push_str(piece);
            }
        }
    }
    varied.into_bytes()
}
