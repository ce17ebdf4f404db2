//! What activation costs, each figure beside copying or reading the same bytes: `cargo xtask bench activate` runs this.
//!
//! - rendering: a body of 12 KB with 20 placeholders;
//! - activating: the whole of it in a session: the file is found, read, parsed, judged by the gate, rendered, put into its envelope;
//! - memory: 10,000 activations in 1,000 conversations;
//! - reading: `skill_read_file` with input, gate, confined read and result, a reference of 4 KB.
//!
//! The first word of each is an argument that measures it alone.

#![expect(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a bench: what fails ends it"
)]

use std::hint::black_box;
use std::path::Path;
use std::time::{Duration, Instant};

use metier_activation::{RenderPlan, SkillArguments, TokenValues};
use metier_runtime::{SkillSession, Skills};
use metier_testkit::Workspace;
use serde_json::json;

/// How often everything is measured, in turns with its floor. The median counts.
const ROUNDS: usize = 31;

/// How often a thing is done in one round, so that a round is long beside the clock's steps.
const TIMES: u32 = 200;

/// Microseconds that rendering may take.
const RENDERING: f64 = 50.0;

/// Reads a second that have to be reached.
const READS: f64 = 50_000.0;

/// What memory may grow by over 10,000 activations, in KB: a page here and there, and nothing for each.
const GROWTH: i64 = 1024;

fn main() {
    metier_runtime::begin(std::env::args_os());
    let body = body();
    let reference = "A line of a reference that somebody looks something up in.\n".repeat(70);
    let workspace = Workspace::new()
        .file("skills/demo/SKILL.md", format!("---\nname: demo\ndescription: Demo.\n---\n{body}"))
        .file("skills/demo/references/more.md", &reference);
    let skills = Skills::open([workspace.join("skills")]);
    println!("activate: medians of {ROUNDS} rounds of {TIMES}, in turns with the floor");
    // One part alone is for whoever looks for where its time goes.
    let part = std::env::args().nth(1);
    let is_wanted = |name: &str| part.as_deref().is_none_or(|part| part == name);
    if is_wanted("rendering") {
        rendering(&body);
    }
    if is_wanted("activating") {
        activating(&skills, &workspace.join("skills/demo/SKILL.md"));
    }
    if is_wanted("reading") {
        reading(&skills.session(), &workspace.join("skills/demo/references/more.md"));
    }
    if is_wanted("memory") {
        memory(&skills);
    }
}

/// 12 KB with 20 placeholders.
fn body() -> String {
    let mut body = String::new();
    for number in 0..20 {
        let token = ["$ARGUMENTS", "$0", "${SKILL_DIR}", "\\$1", "{baseDir}"][number % 5];
        body.push_str(&format!("## Step {number}\n\nUse {token} here.\n"));
        while body.len() < (number + 1) * 12 * 1024 / 20 {
            body.push_str("Look at the diff and say what it changes; `code` in {braces} and prose alike.\n");
        }
    }
    body
}

fn rendering(body: &str) {
    let arguments = SkillArguments::Text("main 'my branch'".to_owned());
    let values = TokenValues {
        arguments: &arguments,
        declared: &[],
        skill: Path::new("/skills/demo"),
        data: None,
        plugin: None,
        project: None,
        session: "s-1",
        environment: &[],
    };
    let render = || {
        black_box(RenderPlan::new(black_box(body), values).unwrap().render(&[]));
    };
    let copy = || {
        black_box(black_box(body).to_owned());
    };
    let (rendered, copied) = beside(render, copy);
    let size = body.len();
    println!("  copying {size} bytes                  {copied:>9.2} µs");
    println!(
        "  rendering them, 20 placeholders      {rendered:>9.2} µs  {}",
        verdict(rendered <= RENDERING, "50 µs")
    );
}

fn activating(skills: &Skills, document: &Path) {
    let mut session = skills.session();
    let activate = || {
        session.forget_texts();
        session.user_message();
        black_box(session.activate("demo", "main 'my branch'").unwrap());
    };
    let read = || {
        black_box(std::fs::read(document).unwrap());
    };
    let (activated, read) = beside(activate, read);
    println!("  reading the file                     {read:>9.2} µs");
    println!(
        "  a whole activation, changes looked for {activated:>7.2} µs  {:.1} of reading",
        activated / read
    );
}

fn reading(session: &SkillSession, file: &Path) {
    let input = json!({ "skill_name": "demo", "file_path": "references/more.md" });
    let call = || {
        let result = session.call("skill_read_file", &input);
        assert!(!result.is_error(), "{}", result.text);
        black_box(result);
    };
    let read = || {
        black_box(std::fs::read(file).unwrap());
    };
    let (called, read) = beside(call, read);
    let [called, read] = [called, read].map(|micros| 1e6 / micros);
    println!("  reading a reference of 4 KB          {read:>9.0} a second");
    println!(
        "  skill_read_file of it                {called:>9.0} a second  {}",
        verdict(called >= READS, "50,000")
    );
}

fn memory(skills: &Skills) {
    let conversation = || {
        let mut session = skills.session();
        for round in 0..10 {
            session.user_message();
            black_box(session.activate("demo", format!("branch-{round}")).unwrap());
        }
    };
    // What is made once, such as buffers of threads, is made before.
    (0..100).for_each(|_| conversation());
    let before = resident();
    (0..1_000).for_each(|_| conversation());
    let grown = resident() - before;
    println!("  memory before 10,000 activations     {before:>9} KB");
    println!(
        "  grown by                             {grown:>9} KB  {}",
        verdict(grown <= GROWTH, "1,024 KB")
    );
}

/// The resident memory of this process, in KB.
fn resident() -> i64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
    line.trim().trim_end_matches(" kB").parse().unwrap()
}

/// The medians of two things in turns, in microseconds for one.
fn beside(mut one: impl FnMut(), mut other: impl FnMut()) -> (f64, f64) {
    let (mut ones, mut others) = (Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        ones.push(time(&mut one));
        others.push(time(&mut other));
    }
    (median(&mut ones), median(&mut others))
}

fn time(what: &mut impl FnMut()) -> Duration {
    let began = Instant::now();
    (0..TIMES).for_each(|_| what());
    began.elapsed()
}

fn median(times: &mut [Duration]) -> f64 {
    times.sort_unstable();
    times.get(times.len() / 2).map_or(0.0, Duration::as_secs_f64) * 1e6 / f64::from(TIMES)
}

fn verdict(holds: bool, limit: &str) -> String {
    format!("(limit {limit}: {})", if holds { "holds" } else { "does not hold" })
}
