//! An agent with side effects, killed at random moments and taken up again: nothing that was acknowledged is lost, nothing is done
//! twice, and every run comes to its end or says that it needs a yes.
//!
//! The agent is this very program, made to run one test below as a process of its own.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use metier_agent::{Again, Agent, Begun, Compaction, Company, Halt, Offer, Setting, Talk, Watch};
use metier_model::{Message, Part, Request};
use metier_runtime::Skills;
use metier_sandbox::Helper;
use metier_store::{EventKind, EventQuery, Outcome, SessionId, Store};
use metier_testkit::Workspace;
use serde_json::{Value, json};

use crate::resume_place::{Act, Acting, assert_pairs};

/// How many runs are killed where nobody says: enough to meet every kind of moment, and no more than a minute or two.
const ROUNDS: u64 = 40;

/// What changes the number of rounds, and the seed of all chance.
const ROUNDS_NAME: &str = "METIER_CRASH_ROUNDS";
const SEED_NAME: &str = "METIER_CRASH_SEED";

/// What the process of the agent is told: its folder, the session to go on with, what somebody says about what may have happened.
const CHILD: [&str; 3] = ["METIER_CRASH_PLACE", "METIER_CRASH_SESSION", "METIER_CRASH_SAYS"];

/// How many lines the agent adds to its file.
const STEPS: u64 = 9;

/// The line that a child adds.
const FORKED: u64 = 5;

/// How many events a run has before its last ones.
const EVENTS: u64 = 100;

const SKILL: &str =
    "---\nname: ledger\ndescription: Keeps a ledger. Use for ledgers.\n---\nAdd each line once.\n";

const CLERK: &str = "---\nname: clerk\ndescription: Adds one line. Use for one line.\ncontext: fork\n---\nYou are the clerk: add $ARGUMENTS\n";

fn workspace() -> Workspace {
    Workspace::new()
        .file("skills/clerk/SKILL.md", CLERK)
        .file("skills/ledger/SKILL.md", SKILL)
        .file("project/.git/HEAD", "")
        .file("project/log.txt", "BEGIN\nEND\n")
        .file("project/long.txt", "a line that is read in every step\n".repeat(150))
}

/// What the agent does next: its own steps one after the other, by what stands in the conversation.
fn act(request: &Request) -> Act {
    if request.tools.is_empty() {
        return Act::says("Lines are added to the ledger, one in each step.");
    }
    assert_pairs(&request.messages);
    if let Some(line) =
        request.system.iter().find_map(|block| line_of(block.text.split_once("the clerk: ")?.1))
    {
        return clerk(request, line);
    }
    let mut step = 0;
    let mut calls: BTreeMap<Arc<str>, u64> = BTreeMap::new();
    let mut has_skill = false;
    for message in &request.messages {
        match &**message {
            Message::Assistant(parts) => {
                for part in parts {
                    let Part::Call(call) = part else { continue };
                    has_skill |= call.arguments.raw().contains("\"ledger\"");
                    if let Some(number) = line_of(call.arguments.raw()) {
                        calls.insert(Arc::clone(&call.id), number);
                    }
                }
            }
            Message::Results(outcomes) => {
                for outcome in outcomes {
                    let Some(number) = calls.get(&outcome.call_id) else { continue };
                    let is_done = outcome.status == metier_model::OutcomeStatus::Done;
                    step = if is_done || outcome.text.contains("may have happened") {
                        *number
                    } else {
                        number - 1
                    };
                }
            }
            Message::User(parts) => {
                let is_head =
                    |part: &Part| matches!(part, Part::Text(text) if text.contains("<conversation-summary>"));
                has_skill |= parts.iter().any(is_head);
            }
            _ => {}
        }
    }
    if !has_skill {
        return Act::call("skill_use", json!({"skill_name": "ledger"}));
    }
    if step >= STEPS {
        return Act::says("All lines are there.");
    }
    let next = step + 1;
    let look = |file: &str| ("Read".to_owned(), json!({ "file_path": file }));
    let effect = if next == FORKED {
        ("skill_use".to_owned(), json!({"skill_name": "clerk", "arguments": format!("line {next}.")}))
    } else if next.is_multiple_of(3) {
        ("Bash".to_owned(), json!({"command": format!("printf 'line {next}.\\n' >> log.txt")}))
    } else {
        edit(next)
    };
    Act::Calls(vec![look("log.txt"), look("long.txt"), effect])
}

/// What the child does: one line, and a word about it.
fn clerk(request: &Request, line: u64) -> Act {
    let is_done = request.messages.iter().any(|message| matches!(**message, Message::Results(_)));
    if is_done {
        return Act::says(&format!("Added line {line}."));
    }
    Act::Calls(vec![("Read".to_owned(), json!({"file_path": "log.txt"})), edit(line)])
}

fn edit(line: u64) -> (String, Value) {
    let (old, new) = ("BEGIN\n", format!("BEGIN\nline {line}.\n"));
    ("Edit".to_owned(), json!({"file_path": "log.txt", "old_string": old, "new_string": new}))
}

/// The number of the line that a call adds.
fn line_of(arguments: &str) -> Option<u64> {
    let (_, behind) = arguments.split_once("line ")?;
    behind.split('.').next()?.parse().ok()
}

/// Tells the parent what happens, one line at a time, and says what it was told to say.
struct Teller(Again);

impl Watch for Teller {
    fn settled(&self, seq: u64) {
        tell(&format!("settled {seq}"));
    }

    fn begun(&self, _: &Begun) -> Again {
        self.0
    }
}

/// Only a process of its own has somebody who hears it.
fn tell(text: &str) {
    if std::env::var_os(CHILD[0]).is_some() {
        say(text);
    }
}

fn say(text: &str) {
    let mut out = std::io::stdout().lock();
    // The test runner may have begun a line. One write: a kill leaves whole lines, and at most one that is cut.
    let _ = out.write_all(format!("\ncrash {text}\n").as_bytes());
    let _ = out.flush();
}

/// Works in a folder until it is done, or ends.
fn work(folder: &Path, session: Option<SessionId>, says: Again) -> Outcome {
    let skills = Skills::builder()
        .root(folder.join("skills"))
        .project(folder.join("project"))
        .search_path("/usr/bin:/bin")
        .allow("Edit(log.txt)")
        .allow("write:log.txt")
        .helper(Helper::Program(crate::room::helper()))
        .open();
    let store = Store::open(&folder.join("data/metier.db")).unwrap();
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    let compaction = Compaction { window: Some(9_000), ..Compaction::default() };
    let agent = Agent::new(skills, Acting::new(act) as _, store, Arc::new(runtime)).compaction(compaction);
    let setting = Setting {
        project: Some(folder.join("project")),
        commands: Offer::Yes,
        memory: Offer::Yes,
        ..Setting::default()
    };
    let company = Company { watch: Arc::new(Teller(says)), halt: Halt::new().unwrap(), ask: None };
    let mut talk = match session {
        Some(id) => {
            let resumed = Talk::resume(&agent, setting, id, company).unwrap();
            if resumed.left == metier_agent::Left::Nothing {
                return Outcome::Done;
            }
            resumed.talk
        }
        None => Talk::begin(&agent, setting, "fill the ledger", company).unwrap(),
    };
    tell(&format!("session {}", talk.id()));
    talk.work().unwrap().ended.outcome
}

#[test]
fn an_agent_with_effects_works_until_it_ends() {
    let own = workspace();
    let variable = |name: &str| std::env::var(name).ok();
    let folder = variable(CHILD[0]).map_or_else(|| own.join(""), PathBuf::from);
    let session = variable(CHILD[1]).map(|id| id.parse().unwrap());
    let says = match variable(CHILD[2]).as_deref() {
        Some("yes") => Again::Yes,
        Some("no") => Again::No,
        _ => Again::Nobody,
    };
    let outcome = work(&folder, session, says);
    tell(&format!("ended {}", outcome.word()));
    if variable(CHILD[0]).is_none() {
        assert_eq!(outcome, Outcome::Done);
        let log = std::fs::read_to_string(folder.join("project/log.txt")).unwrap();
        assert_eq!(lines(&log), (1..=STEPS).map(|step| (step, 1)).collect::<BTreeMap<_, _>>());
        let store = Store::open(&folder.join("data/metier.db")).unwrap();
        let events = store.events(&EventQuery::all()).unwrap();
        assert!(
            events.iter().any(|event| matches!(event.kind, EventKind::Compacted { .. })),
            "kills meet compactions, too"
        );
    }
}

/// How often each line is in the file.
fn lines(log: &str) -> BTreeMap<u64, usize> {
    let mut lines = BTreeMap::new();
    for line in log.lines().filter_map(line_of) {
        *lines.entry(line).or_default() += 1;
    }
    lines
}

/// A process of the agent, and what it has told so far.
struct Process {
    child: Child,
    told: Receiver<String>,
    session: Option<SessionId>,
    settled: u64,
    ended: Option<String>,
}

impl Process {
    fn start(folder: &Path, session: Option<SessionId>, says: &str) -> Self {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.args(["--exact", "crash::an_agent_with_effects_works_until_it_ends", "--nocapture"]);
        command.env(CHILD[0], folder).env(CHILD[2], says).stdout(Stdio::piped()).stderr(Stdio::null());
        if let Some(session) = session {
            command.env(CHILD[1], session.to_string());
        }
        let mut child = command.spawn().unwrap();
        let (sender, told) = channel();
        let out = BufReader::new(child.stdout.take().unwrap());
        std::thread::spawn(move || {
            for line in out.lines().map_while(Result::ok) {
                if let Some(text) = line.strip_prefix("crash ") {
                    let _ = sender.send(text.to_owned());
                }
            }
        });
        Self { child, told, session, settled: 0, ended: None }
    }

    /// Lets it work until then, kills it, and gives what it told. What it told before it was killed counts.
    fn work_until(mut self, moment: Moment) -> Self {
        match moment {
            Moment::End => while self.hear_next() {},
            Moment::Settled(seq, later) => {
                while self.settled < seq && self.hear_next() {}
                std::thread::sleep(later);
            }
            Moment::After(time) => std::thread::sleep(time),
        }
        let _ = self.child.kill();
        self.child.wait().unwrap();
        while self.hear_next() {}
        self
    }

    /// Waits for the next line; says whether there was one.
    fn hear_next(&mut self) -> bool {
        let told = self.told.recv();
        if let Ok(told) = &told {
            self.hear(told);
        }
        told.is_ok()
    }

    fn hear(&mut self, told: &str) {
        match told.split_once(' ') {
            Some(("session", id)) => self.session = id.parse().ok().or(self.session),
            Some(("settled", seq)) => self.settled = seq.parse().unwrap_or(self.settled).max(self.settled),
            Some(("ended", outcome)) => self.ended = Some(outcome.to_owned()),
            _ => {}
        }
    }
}

/// When a process is killed. A kill comes at no event, so it comes a moment of chance after one; that wait is the thing that is tried.
#[derive(Clone, Copy)]
enum Moment {
    /// Never.
    End,
    /// So long after this event was acknowledged.
    Settled(u64, Duration),
    /// So long after it was started, whatever it does then.
    After(Duration),
}

/// Chance that a seed makes again.
struct Chance(u64);

impl Chance {
    fn below(&mut self, most: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % most.max(1)
    }
}

#[derive(Debug, Default)]
struct Tally {
    kills: u64,
    needed_a_yes: u64,
    finished: u64,
    moments: BTreeMap<String, u64>,
}

/// One run, killed as chance wants, until it has come to its end.
fn round(chance: &mut Chance, tally: &mut Tally) {
    let workspace = workspace();
    let folder = workspace.join("");
    let mut session = None;
    let mut says = "nobody";
    let mut known: Vec<EventKind> = Vec::new();
    let mut has_needed = false;
    for attempt in 0.. {
        // Each run is killed at least once, most of them more often; then it may come to its end.
        let moment = match chance.below(8) {
            _ if attempt > 0 && (attempt > 4 || chance.below(3) == 0) => Moment::End,
            0 => Moment::After(Duration::from_millis(chance.below(60))),
            _ => {
                let seq =
                    known.len() as u64 + 1 + chance.below(if attempt == 0 { EVENTS } else { EVENTS / 2 });
                Moment::Settled(seq, Duration::from_micros(chance.below(8_000)))
            }
        };
        let process = Process::start(&folder, session, says).work_until(moment);
        session = process.session;
        let Some(id) = session else {
            // Nothing was acknowledged: it begins anew.
            tally.kills += 1;
            continue;
        };
        let store = Store::open(&folder.join("data/metier.db")).unwrap();
        let events: Vec<EventKind> =
            store.events(&EventQuery::of(id)).unwrap().into_iter().map(|event| event.kind).collect();
        assert!(
            events.len() as u64 >= process.settled,
            "{} was acknowledged, {} are there",
            process.settled,
            events.len()
        );
        assert_eq!(events[..known.len()], known, "an event has changed");
        let log = std::fs::read_to_string(folder.join("project/log.txt")).unwrap();
        assert!(lines(&log).values().all(|times| *times == 1), "done twice:\n{log}");
        let standing = store.standing(id).unwrap();
        match process.ended.as_deref() {
            Some("done") => break,
            Some("needs_yes") => {
                has_needed = true;
                let begun = standing.begun.iter().find(|begun| begun.is_doubtful()).unwrap();
                // Whoever is asked looks whether it has happened.
                let line = line_of(&begun.called.input.to_string());
                let has_happened = line.is_some_and(|line| lines(&log).contains_key(&line));
                says = if has_happened { "no" } else { "yes" };
            }
            Some(other) => panic!("a run ended as {other}"),
            None => {
                tally.kills += 1;
                let last = events.last().map(|kind| serde_json::to_value(kind).unwrap()["type"].clone());
                *tally
                    .moments
                    .entry(last.as_ref().and_then(Value::as_str).unwrap_or_default().to_owned())
                    .or_default() += 1;
                // What is doubtful now was not asked about yet.
                says = "nobody";
            }
        }
        known = events;
    }
    tally.needed_a_yes += u64::from(has_needed);
    tally.finished += 1;
    let log = std::fs::read_to_string(folder.join("project/log.txt")).unwrap();
    let expect: BTreeMap<u64, usize> = (1..=STEPS).map(|step| (step, 1)).collect();
    assert_eq!(lines(&log), expect, "every line once:\n{log}");
}

#[test]
fn runs_that_are_killed_lose_nothing_do_nothing_twice_and_come_to_their_end() {
    let number = |name: &str| std::env::var(name).ok().and_then(|text| text.parse::<u64>().ok());
    let rounds = number(ROUNDS_NAME).unwrap_or(ROUNDS);
    let clock = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap();
    let seed = number(SEED_NAME).unwrap_or(clock.as_secs() | 1);
    let tally = Mutex::new(Tally::default());
    let mut chance = Chance(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
    for number in 0..rounds {
        let outcome = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            round(&mut chance, &mut tally.lock().unwrap_or_else(std::sync::PoisonError::into_inner));
        }));
        assert!(outcome.is_ok(), "round {number} of {rounds} failed; {SEED_NAME}={seed} makes it again");
    }
    let tally = tally.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
    assert_eq!(tally.finished, rounds);
    assert!(tally.kills >= rounds, "{tally:?}");
    say(&format!("seed {seed}: {tally:?}"));
}
