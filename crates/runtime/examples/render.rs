//! How long it takes to render a body of 12 KB with 20 placeholders: `cargo run --release --example render`.

use std::hint::black_box;
use std::io::{self, Write};
use std::path::Path;
use std::time::{Duration, Instant};

use metier_runtime::{Arguments, Plan, Values};

const BATCHES: usize = 10;
const ROUNDS: u32 = 200;

fn main() -> io::Result<()> {
    let mut body = String::new();
    for number in 0..20 {
        let token = ["$ARGUMENTS", "$0", "${SKILL_DIR}", "\\$1", "{baseDir}"][number % 5];
        body.push_str(&format!("## Step {number}\n\nUse {token} here.\n"));
        while body.len() < (number + 1) * 12 * 1024 / 20 {
            body.push_str("Look at the diff and say what it changes; `code` in {braces} and prose alike.\n");
        }
    }
    let arguments = Arguments::Text("main 'my branch'".to_owned());
    let values = Values {
        arguments: &arguments,
        declared: &[],
        skill: Path::new("/skills/demo"),
        data: None,
        plugin: None,
        project: None,
        session: "s-1",
        environment: &[],
    };
    // The best of several, since somebody else uses the machine, too.
    let mut best = Duration::MAX;
    for _ in 0..BATCHES {
        let begin = Instant::now();
        for _ in 0..ROUNDS {
            let plan = Plan::new(black_box(&body), values).map_err(io::Error::other)?;
            black_box(plan.render(&[]));
        }
        best = best.min(begin.elapsed() / ROUNDS);
    }
    writeln!(io::stdout(), "{} bytes: {best:?} for one", body.len())
}
