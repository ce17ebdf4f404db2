//! Measures a load: `cargo run --release -p metier-catalog --example load -- DIR [TIMES]`.
#![allow(clippy::print_stdout, reason = "an example prints what it measured")]

use metier_catalog::{Include, Layout, Places, RootChoice, Snapshot};
use metier_files::{Bounds, LinkPolicy, SweepRoot, sweep};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

fn main() {
    let mut arguments = std::env::args_os().skip(1);
    let Some(folder) = arguments.next().map(PathBuf::from) else {
        println!("usage: load DIR [TIMES]");
        return;
    };
    let times: usize = arguments.next().and_then(|text| text.to_str()?.parse().ok()).unwrap_or(20);
    let places = Places {
        home: None,
        current: folder.clone(),
        temp: "/tmp".into(),
        config: "/nonexistent".into(),
        data: "/nonexistent".into(),
        user_skills: "/nonexistent".into(),
        system_skills: "/nonexistent".into(),
    };
    let choice = RootChoice::Given(vec![folder.clone()]);
    let roots = [SweepRoot::new(&folder, LinkPolicy::Anywhere)];

    let (mut sweeps, mut parses, mut loads) = (Vec::new(), Vec::new(), Vec::new());
    let mut loaded = (0, 0);
    for _ in 0..times {
        let start = Instant::now();
        let swept = sweep(&roots, &Bounds::default(), |candidate| candidate.head().len());
        sweeps.push(start.elapsed());
        drop(swept);

        let start = Instant::now();
        let swept = sweep(&roots, &Bounds::default(), |candidate| {
            metier_skill::parse_beginning(candidate.head(), candidate.folder().to_str()).is_some()
        });
        parses.push(start.elapsed());
        drop(swept);

        let start = Instant::now();
        let snapshot = Snapshot::load(Arc::new(Layout::new(&places, &choice)), Include::Usual);
        loads.push(start.elapsed());
        loaded = (snapshot.loaded(), snapshot.failures().len());
    }
    println!("loaded {}, failed {}", loaded.0, loaded.1);
    for (what, times) in [("sweep", &mut sweeps), ("sweep + parse", &mut parses), ("load", &mut loads)] {
        times.sort();
        println!("{what:>14}: best {:6.1} ms, median {:6.1} ms", ms(times[0]), ms(times[times.len() / 2]));
    }
}

fn ms(time: Duration) -> f64 {
    time.as_secs_f64() * 1000.0
}
