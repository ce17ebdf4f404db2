//! How fast is a sweep? Prints its time over a folder beside that of a floor: it lists the folders that hold skills, then
//! two threads open every `SKILL.md` in them and read 4 KB. The second line of each is without the listing, as if the
//! paths were known. Processor time is printed too: on a machine with other work to do it is the steadier of the two.
//!
//! `cargo run --release -p metier-files --example sweep -- FOLDER [RUNS]`

#![expect(
    clippy::disallowed_methods,
    clippy::expect_used,
    clippy::print_stdout,
    reason = "a measurement at the terminal; the floor is the plainest code there is"
)]

use std::collections::BTreeSet;
use std::fs::{File, read_dir};
use std::hint::black_box;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use rustix::time::{ClockId, clock_gettime};

use metier_files::{Bounds, LinkPolicy, SweepRoot, sweep};

fn main() {
    let mut arguments = std::env::args().skip(1);
    let folder = PathBuf::from(arguments.next().expect("usage: sweep FOLDER [RUNS]"));
    let runs = arguments.next().map_or(15, |runs| runs.parse().expect("RUNS is a number"));

    let roots = [SweepRoot::new(&folder, LinkPolicy::Anywhere)];
    let bounds = Bounds::default();
    let first = sweep(&roots, &bounds, |_| ());
    let holders: BTreeSet<PathBuf> = first
        .found
        .iter()
        .filter_map(|skill| folder.join(&skill.folder).parent().map(Path::to_owned))
        .collect();

    let mut sweeps = Vec::new();
    let mut floors = Vec::new();
    let mut known = Vec::new();
    for _ in 0..runs {
        // One after the other in every run, so that what disturbs the machine disturbs all of them.
        let mut paths = Vec::new();
        let listing = measure(|| paths = list(&holders));
        let opening = measure(|| floor(&paths));
        floors.push([listing[0] + opening[0], listing[1] + opening[1]]);
        known.push(opening);
        sweeps.push(measure(|| {
            black_box(sweep(&roots, &bounds, |candidate| candidate.head.len()));
        }));
    }
    println!("{} skills, {} problems", first.found.len(), first.problems.len());
    for (label, pick) in [("time", 0), ("processor", 1)] {
        let median = |times: &[[f64; 2]]| {
            let mut times: Vec<f64> = times.iter().map(|pair| pair[pick]).collect();
            times.sort_unstable_by(f64::total_cmp);
            times[times.len() / 2] * 1e3
        };
        let sweep = median(&sweeps);
        for (what, floor) in [("floor", median(&floors)), ("paths known", median(&known))] {
            println!(
                "{label:>9}: sweep {sweep:6.2} ms, {what:>11} {floor:6.2} ms, ratio {:.3}",
                sweep / floor
            );
        }
    }
}

fn list(holders: &BTreeSet<PathBuf>) -> Vec<PathBuf> {
    let entries =
        holders.iter().flat_map(|holder| read_dir(holder).expect("a folder with skills can be listed"));
    entries.map(|entry| entry.expect("and read to its end").path()).collect()
}

fn floor(folders: &[PathBuf]) {
    let next = AtomicUsize::new(0);
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                let mut buffer = [0; 4096];
                while let Some(folder) = folders.get(next.fetch_add(1, Ordering::Relaxed)) {
                    if let Ok(mut file) = File::open(folder.join("SKILL.md")) {
                        let _ = black_box(file.read(&mut buffer));
                    }
                }
            });
        }
    });
}

/// Seconds by the clock and by the processor.
fn measure(work: impl FnOnce()) -> [f64; 2] {
    let processor = || {
        let time = clock_gettime(ClockId::ProcessCPUTime);
        Duration::try_from(time).unwrap_or_default()
    };
    let (start, used) = (Instant::now(), processor());
    work();
    [start.elapsed(), processor().saturating_sub(used)].map(|time| time.as_secs_f64())
}
