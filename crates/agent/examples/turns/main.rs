//! What the loop costs beside its model: `cargo xtask bench loop`.
//!
//! The model is a server on loopback in a process of its own, which speaks chat completions and does what the request says. It measures
//! from outside: metier's own time is from the last byte of an answer to the last byte of the next request.

#![expect(
    clippy::print_stdout,
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a measurement is a program, and stops where its fixture fails"
)]

mod server;

use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use metier_agent::{
    Agent, CancelToken, Limits, NoObserver, Observer, RunHooks, Session, StreamDelta, UserMessage,
    open_approvals,
};
use metier_model::{Endpoint, Protocol, Remote, Scripted, Turn};
use metier_policy::Mode;
use metier_runtime::{ApprovalReply, ApprovalRequest, Skills};
use metier_store::{Outcome, Store};
use metier_testkit::Workspace;
use metier_tools::Setting;
use tokio::runtime::{Builder, Runtime};

const SKILLS: usize = 1_000;
const SESSIONS: usize = 1_000;
/// Sessions that wait for a person.
const WAITING: u64 = 10_000;
/// Turns of one conversation; those behind the fiftieth are counted.
const TURNS: usize = 70;
/// How many first bytes are timed.
const FIRST_BYTES: usize = 200;

fn main() {
    if std::env::args().nth(1).as_deref() == Some("serve") {
        return server::serve();
    }
    let bench = Bench::new();
    println!("loop: {SKILLS} skills, a scripted model over loopback, the store on disk\n");
    bench.own_time();
    bench.first_byte();
    bench.many_at_once();
    Bench::waiting_for_a_person();
}

struct Bench {
    agent: Agent,
    server: Child,
    port: u16,
    _workspace: Workspace,
}

impl Bench {
    fn new() -> Self {
        let mut workspace = Workspace::new();
        for number in 0..SKILLS {
            let text = format!(
                "---\nname: skill-{number:04}\ndescription: Does the work number {number} for department {}. Use when \
                 number {number} is asked for.\n---\n# Work {number}\n\nDo step {}, then step {}.\n",
                number % 37,
                number * 7 % 101,
                number * 13 % 211,
            );
            workspace = workspace.file(format!("skills/skill-{number:04}/SKILL.md"), text);
        }
        let mut server = Command::new(std::env::current_exe().unwrap())
            .arg("serve")
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        let out = server.stdout.take().unwrap();
        std::io::BufRead::read_line(&mut std::io::BufReader::new(out), &mut line).unwrap();
        let port: u16 = line.trim().parse().unwrap();
        let endpoint = Endpoint::new(&format!("http://127.0.0.1:{port}/v1")).unwrap();
        let model = Remote::new("local/scripted".parse().unwrap(), Protocol::OpenAi, endpoint).unwrap();
        let skills = Skills::builder().root(workspace.join("skills")).cache(workspace.join("cache")).open();
        let store = Store::open(&workspace.join("store/metier.db")).unwrap();
        let runtime: Runtime = Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
        let limits = Limits { turns: 1_000, calls: 1_000, ..Limits::default() };
        let agent = Agent { limits, ..Agent::new(skills, Arc::new(model), store, Arc::new(runtime)) };
        Self { agent, server, port, _workspace: workspace }
    }

    fn talk(&self, request: &str, watch: Arc<dyn Observer>) -> Session {
        let company = RunHooks { observer: watch, cancel: CancelToken::new().unwrap(), ask: None };
        Session::start(&self.agent, Setting::default(), UserMessage::new(request), company).unwrap()
    }

    fn stats(&self) -> Vec<u64> {
        server::stats(self.port)
    }

    /// From an answer to the next request, at more than fifty turns of context.
    fn own_time(&self) {
        for round in 0..5 {
            let mut talk = self.talk(&format!("id=own{round} turns={TURNS} delay=0"), Arc::new(NoObserver));
            assert_eq!(talk.run().unwrap().ended.outcome, Outcome::Done);
        }
        let mut times = self.stats();
        times.sort_unstable();
        let at = |share: usize| Duration::from_micros(times[times.len() * share / 100]).as_secs_f64() * 1e3;
        println!(
            "own time of a turn behind the fiftieth   p50 {:.2} ms   p99 {:.2} ms   limit 2 ms   ({} turns)",
            at(50),
            at(99),
            times.len()
        );
    }

    /// From the first byte that the server wrote to the piece that a watcher saw.
    fn first_byte(&self) {
        let seen = Arc::new(FirstPiece::default());
        let mut times = Vec::new();
        for round in 0..FIRST_BYTES {
            let mut talk =
                self.talk(&format!("id=first{round} turns=0 delay=1 stamp"), Arc::clone(&seen) as _);
            talk.run().unwrap();
            times.extend(seen.0.lock().unwrap().take());
        }
        times.sort_unstable();
        let at = |share: usize| times[times.len() * share / 100].as_secs_f64() * 1e3;
        println!(
            "first byte passed on                     p50 {:.2} ms   p99 {:.2} ms   limit 1 ms",
            at(50),
            at(99)
        );
    }

    /// Many sessions that wait for their model, and then finish.
    fn many_at_once(&self) {
        let before = resident();
        let began = Instant::now();
        let waiting = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..SESSIONS)
                .map(|number| {
                    let work = move || {
                        let mut talk =
                            self.talk(&format!("id=many{number} turns=2 delay=8000"), Arc::new(NoObserver));
                        talk.run().unwrap().ended.outcome
                    };
                    // A conversation needs little of a stack; what is not touched is not resident in any case.
                    std::thread::Builder::new().stack_size(1 << 20).spawn_scoped(scope, work).unwrap()
                })
                .collect();
            // All have asked by now, and none has its answer.
            std::thread::sleep(Duration::from_secs(7));
            let waiting = resident();
            let done = threads.into_iter().map(|thread| thread.join().unwrap());
            let done = done.filter(|outcome| *outcome == Outcome::Done).count();
            println!(
                "sessions at once that finished           {done} of {SESSIONS} in {:.1} s",
                began.elapsed().as_secs_f64()
            );
            waiting
        });
        let each = waiting.saturating_sub(before) / SESSIONS as u64;
        println!(
            "resident per waiting session             {each} KB   limit 200 KB   (process before {} MB, waiting {} MB)",
            before / 1024,
            waiting / 1024
        );
    }

    /// Sessions whose call needs an approval that comes later. Nothing of them is left in the process but what the store caches.
    fn waiting_for_a_person() {
        let workspace = Workspace::new().dir("project");
        let skills = Skills::builder().mode(Mode::Strict).ask(|_: &ApprovalRequest<'_>| ApprovalReply::Later);
        let skills = skills.root(workspace.join("none")).project(workspace.join("project")).open();
        let store = Store::open(&workspace.join("store/metier.db")).unwrap();
        let script = || Scripted::new([Turn::calls([("Write", r#"{"file_path":"a.md","content":"x"}"#)])]);
        let runtime = Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
        let agent = Agent::new(skills, Arc::new(script()), store.clone(), Arc::new(runtime));
        let setting = Setting { project: Some(workspace.join("project")), ..Setting::default() };
        let start = || {
            let hooks =
                RunHooks { observer: Arc::new(NoObserver), cancel: CancelToken::new().unwrap(), ask: None };
            let message = UserMessage::new("Write it down.");
            // The scripted model keeps what it was asked, so each session has its own.
            let mut agent = agent.clone();
            agent.selection.model = Arc::new(script());
            let mut session = Session::start(&agent, setting.clone(), message, hooks).unwrap();
            assert_eq!(session.run().unwrap().ended.outcome, Outcome::NeedsYes);
            session.rest();
            session.id()
        };
        for _ in 0..100 {
            start();
        }
        let before = resident();
        let began = Instant::now();
        let waiting: Vec<_> = (0..WAITING).map(|_| start()).collect();
        let each = resident().saturating_sub(before) * 1024 / WAITING;
        assert_eq!(open_approvals(&store, waiting[waiting.len() / 2]).unwrap().len(), 1);
        let disk = std::fs::metadata(workspace.join("store/metier.db")).unwrap().len() / (WAITING + 100);
        println!(
            "resident per session awaiting a person   {:.1} KB   limit 20 KB   ({WAITING} sessions in {:.1} s, {:.1} KB of disk each)",
            f64::from(u32::try_from(each).unwrap()) / 1024.0,
            began.elapsed().as_secs_f64(),
            f64::from(u32::try_from(disk).unwrap()) / 1024.0
        );
    }
}

impl Drop for Bench {
    fn drop(&mut self) {
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}

/// When the server wrote its first byte is its text; both processes read the same clock.
#[derive(Default)]
struct FirstPiece(Mutex<Option<Duration>>);

impl Observer for FirstPiece {
    fn delta(&self, piece: StreamDelta<'_>) {
        if let StreamDelta::Text(text) = piece
            && let Ok(sent) = text.trim().parse::<u64>()
        {
            let passed = server::now().saturating_sub(sent);
            self.0.lock().unwrap().get_or_insert(Duration::from_nanos(passed));
        }
    }
}

/// The process's resident memory in kilobytes.
fn resident() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with("VmRSS")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}
