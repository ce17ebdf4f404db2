//! Measures a load against the sweep it is made of:
//! `cargo run --release -p metier-catalog --example load -- DIR [TIMES] [sweep|parse|load]`.
#![allow(clippy::print_stdout, reason = "an example prints what it measured")]

use metier_catalog::{Include, Layout, Places, RootChoice, Snapshot};
use metier_files::{Bounds, LinkPolicy, SweepRoot, sweep};
use std::any::Any;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// A step with its name. What it made is given back, so that its end is not measured: the program ends without it.
type Step<'a> = (&'a str, &'a dyn Fn() -> Box<dyn Any>);

fn main() {
    let mut arguments = std::env::args_os().skip(1);
    let Some(folder) = arguments.next().map(PathBuf::from) else {
        println!("usage: load DIR [TIMES] [sweep|parse|load]");
        return;
    };
    let times: usize = arguments.next().and_then(|text| text.to_str()?.parse().ok()).unwrap_or(20);
    let only = arguments.next();
    let places = Places::bare(folder.clone());
    let choice = RootChoice::Given(vec![folder.clone()]);
    let roots = [SweepRoot::new(&folder, LinkPolicy::Anywhere)];
    let steps: [Step<'_>; 3] = [
        ("sweep", &|| Box::new(sweep(&roots, &Bounds::default(), |candidate| candidate.head.len()))),
        ("parse", &|| {
            Box::new(sweep(&roots, &Bounds::default(), |candidate| {
                let folder = candidate.folder.to_str();
                metier_skill::summarize(candidate.head, folder, metier_skill::Portion::Beginning).is_some()
            }))
        }),
        ("load", &|| Box::new(Snapshot::load(Arc::new(Layout::new(&places, &choice)), Include::Usual))),
    ];

    // Taken in turns, so that whatever else the machine does is shared by all.
    let mut taken = [const { Vec::new() }; 3];
    for _ in 0..times {
        for ((name, step), taken) in steps.iter().zip(&mut taken) {
            if only.as_ref().is_none_or(|only| only == name) {
                let start = Instant::now();
                let made = step();
                taken.push(start.elapsed());
                drop(made);
            }
        }
    }
    for ((name, _), taken) in steps.iter().zip(&mut taken).filter(|(_, taken)| !taken.is_empty()) {
        taken.sort();
        println!("{name:>6}: best {:6.1} ms, median {:6.1} ms", ms(taken[0]), ms(taken[taken.len() / 2]));
    }
}

fn ms(time: Duration) -> f64 {
    time.as_secs_f64() * 1000.0
}
