//! An agent with side effects, killed at random moments and taken up again: nothing that was acknowledged is lost, nothing is done
//! twice, and every run comes to its end or says that it needs a yes.
//!
//! The agent is this very program, made to run one test below as a process of its own. It knows in which phase it is (asking the
//! model, calling a tool, with a child, making the conversation shorter, writing down) and kills itself a moment of chance after it
//! has entered one, so that each phase is hit; some are killed from outside after a time of chance, whatever they do then.

mod stand;

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use metier_agent::{
    Agent, CancelToken, Compaction, EmittedEvent, Observer, RetryDecision, RunHooks, Session, UncertainCall,
    UserMessage,
};
use metier_model::{Message, Part, Request};
use metier_runtime::Skills;
use metier_sandbox::Helper;
use metier_store::{Called, Effect, EventKind, EventQuery, Outcome, SessionId, Store};
use metier_testkit::Workspace;
use metier_tools::Setting;
use serde_json::{Value, json};

use self::stand::{Aim, CHILD, PHASES, Phase, say, stand, tell};
use crate::resume_place::{Act, Acting, assert_pairs, begun};

/// How many runs are killed where nobody says: enough to meet every kind of moment, and no more than a minute.
const ROUNDS: u64 = 20;

/// What changes the number of rounds, and the seed of all chance.
const ROUNDS_NAME: &str = "METIER_CRASH_ROUNDS";
const SEED_NAME: &str = "METIER_CRASH_SEED";

/// How long the model takes, so that it can be killed meanwhile; longer for a summary, of which there are few.
const THOUGHT: Duration = Duration::from_millis(4);
const SUMMARY: Duration = Duration::from_millis(15);

/// How many lines the agent adds to its file.
const STEPS: u64 = 9;

/// The step that a child does, and the line that it adds after that.
const FORKED: u64 = 5;
const FORKED_TOO: u64 = 50;

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

/// What the agent does next, after some thought.
fn act(request: &Request) -> Act {
    let phase = if request.tools.is_empty() { Phase::Compaction } else { Phase::Model };
    {
        let mut stand = stand();
        stand.doing = phase;
        stand.enter(phase);
    }
    std::thread::sleep(if phase == Phase::Model { THOUGHT } else { SUMMARY });
    let act = next_act(request);
    // What a summary is for is over when it is written down.
    if phase == Phase::Model {
        stand().doing = Phase::Between;
    }
    act
}

/// Its own steps one after the other, by what stands in the conversation.
fn next_act(request: &Request) -> Act {
    if request.tools.is_empty() {
        return Act::says("Lines are added to the ledger, one in each step.");
    }
    assert_pairs(&request.messages);
    if let Some(line) = request.system.iter().find_map(|text| line_of(text.split_once("the clerk: ")?.1)) {
        return clerk(request, line);
    }
    let (step, has_skill) = so_far(request);
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
        append(next)
    } else {
        edit(next)
    };
    Act::Calls(vec![look("log.txt"), look("long.txt"), effect])
}

/// The last line that was added, as far as the conversation tells, and whether the skill is in it.
fn so_far(request: &Request) -> (u64, bool) {
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
                    if is_done || outcome.text.contains("may have run") {
                        step = *number;
                    }
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
    (step, has_skill)
}

/// What the child does: one line, another one, and a word about them.
fn clerk(request: &Request, line: u64) -> Act {
    let look = ("Read".to_owned(), json!({"file_path": "log.txt"}));
    match so_far(request).0 {
        done if done == FORKED_TOO => Act::says(&format!("Added line {line}.")),
        done if done == line => Act::Calls(vec![look, append(FORKED_TOO)]),
        _ => Act::Calls(vec![look, edit(line)]),
    }
}

fn append(line: u64) -> (String, Value) {
    ("Bash".to_owned(), json!({"command": format!("printf 'line {line}.\\n' >> log.txt")}))
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
struct Teller(RetryDecision);

impl Observer for Teller {
    fn event(&self, event: &EmittedEvent) {
        let mut stand = stand();
        // Such an event was acknowledged before this; every other one is on its way.
        if !event.kind.outlives_power_cuts() {
            stand.hand_in();
        }
        match event.kind {
            EventKind::ChildBegan { .. } => {
                stand.has_child = true;
                stand.enter(Phase::Fork);
            }
            EventKind::ChildEnded { .. } => stand.has_child = false,
            EventKind::Called(_) => {
                stand.doing = Phase::Tool;
                stand.enter(Phase::Tool);
            }
            EventKind::Finished(_) | EventKind::Compacted { .. } => stand.doing = Phase::Between,
            _ => {}
        }
    }

    fn settled(&self, seq: u64) {
        stand().handed_in = None;
        tell(&format!("settled {seq}"));
    }

    fn uncertain_call(&self, _: &UncertainCall) -> RetryDecision {
        self.0
    }
}

/// Works in a folder until it is done, or ends.
fn work(folder: &Path, session: Option<SessionId>, says: RetryDecision) -> Outcome {
    let skills = Skills::builder()
        .root(folder.join("skills"))
        .project(folder.join("project"))
        .search_path("/usr/bin:/bin")
        .allow("Edit(log.txt)")
        .allow("write:log.txt")
        .helper(Helper::Program(metier_testkit::example("contained")))
        .open();
    let store = Store::open(&folder.join("data/metier.db")).unwrap();
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    let compaction = Compaction { window: Some(9_000), ..Compaction::default() };
    let agent = Agent { compaction, ..Agent::new(skills, Acting::new(act) as _, store, Arc::new(runtime)) };
    let setting =
        Setting { project: Some(folder.join("project")), commands: true, memory: true, ..Setting::default() };
    let company =
        RunHooks { observer: Arc::new(Teller(says)), cancel: CancelToken::new().unwrap(), ask: None };
    let mut talk = match session {
        Some(id) => {
            let resumed = Session::resume(&agent, setting, id, company).unwrap();
            if !resumed.has_work {
                return Outcome::Done;
            }
            resumed.session
        }
        None => Session::start(&agent, setting, UserMessage::new("fill the ledger"), company).unwrap(),
    };
    tell(&format!("session {}", talk.id()));
    talk.run().unwrap().ended.outcome
}

#[test]
fn an_agent_with_effects_works_until_it_ends() {
    let own = workspace();
    let variable = |name: &str| std::env::var(name).ok();
    let folder = variable(CHILD[0]).map_or_else(|| own.join(""), PathBuf::from);
    let session = variable(CHILD[1]).map(|id| id.parse().unwrap());
    let says = match variable(CHILD[2]).as_deref() {
        Some("yes") => RetryDecision::Retry,
        Some("no") => RetryDecision::Skip,
        _ => RetryDecision::Unanswered,
    };
    stand().aim = variable(CHILD[3]).as_deref().and_then(Aim::read);
    let outcome = work(&folder, session, says);
    tell(&format!("ended {}", outcome.word()));
    if variable(CHILD[0]).is_none() {
        assert_eq!(outcome, Outcome::Done);
        let log = std::fs::read_to_string(folder.join("project/log.txt")).unwrap();
        assert_eq!(lines(&log), every_line_once());
        let store = Store::open(&folder.join("data/metier.db")).unwrap();
        let events = store.events(&EventQuery::all()).unwrap();
        assert!(
            events.iter().any(|event| matches!(event.kind, EventKind::Compacted { .. })),
            "kills meet compactions, too"
        );
    }
}

fn every_line_once() -> BTreeMap<u64, usize> {
    (1..=STEPS).chain([FORKED_TOO]).map(|line| (line, 1)).collect()
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
    /// What it was doing when it was killed, where it knew.
    dies: Option<Phase>,
}

impl Process {
    fn start(folder: &Path, session: Option<SessionId>, says: &str, moment: Moment) -> Self {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.args(["--exact", "crash::an_agent_with_effects_works_until_it_ends", "--nocapture"]);
        command.env(CHILD[0], folder).env(CHILD[2], says).stdout(Stdio::piped()).stderr(Stdio::null());
        if let Some(session) = session {
            command.env(CHILD[1], session.to_string());
        }
        if let Moment::Aimed(aim) = moment {
            command.env(CHILD[3], aim.text());
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
        Self { child, told, session, settled: 0, ended: None, dies: None }
    }

    /// Lets it work until then, and gives what it told. What it told before it was killed counts.
    fn work_until(mut self, moment: Moment) -> Self {
        match moment {
            Moment::End | Moment::Aimed(_) => while self.hear_next() {},
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
            Some(("dies", phase)) => self.dies = Some(Phase::named(phase)),
            _ => {}
        }
    }
}

/// When a process is killed. A kill comes at no event, so it comes a moment of chance after a phase was entered; that wait is the thing
/// that is tried.
#[derive(Clone, Copy)]
enum Moment {
    /// Never.
    End,
    /// In this phase, or right behind it.
    Aimed(Aim),
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
    phases: BTreeMap<Phase, u64>,
}

/// When the next process is killed. The first one of each run is aimed at one phase after the other.
fn moment(chance: &mut Chance, number: u64, attempt: u64) -> Moment {
    if attempt > 0 && (attempt > 4 || chance.below(3) == 0) {
        return Moment::End;
    }
    if chance.below(8) == 0 {
        return Moment::After(Duration::from_millis(chance.below(60)));
    }
    let which = if attempt == 0 { number } else { chance.below(PHASES.len() as u64) };
    let (phase, times, most) = PHASES[usize::try_from(which).unwrap() % PHASES.len()];
    // Less of it is left the second time.
    let times = if attempt == 0 { times } else { times / 3 };
    Moment::Aimed(Aim {
        phase,
        times: 1 + chance.below(times),
        later: Duration::from_micros(chance.below(most)),
    })
}

/// Everything that is in the store, by session.
fn events(store: &Store) -> BTreeMap<SessionId, Vec<EventKind>> {
    let mut sessions: BTreeMap<SessionId, Vec<EventKind>> = BTreeMap::new();
    for event in store.events(&EventQuery::all()).unwrap() {
        sessions.entry(event.session).or_default().push(event.kind);
    }
    sessions
}

/// The step that nobody knows of whether it has happened: of a child that is at work its own one.
fn in_doubt(store: &Store, id: SessionId) -> Option<Called> {
    let (called, child) =
        begun(store, id).into_iter().find(|(called, _)| called.effect != Effect::ReadOnly)?;
    child.and_then(|child| in_doubt(store, child)).or(Some(called))
}

/// One run, killed as chance wants, until it has come to its end.
fn round(number: u64, chance: &mut Chance, tally: &mut Tally) {
    let workspace = workspace();
    let folder = workspace.join("");
    let mut session = None;
    let mut says = "nobody";
    let mut known: BTreeMap<SessionId, Vec<EventKind>> = BTreeMap::new();
    let mut has_needed = false;
    for attempt in 0.. {
        let moment = moment(chance, number, attempt);
        let process = Process::start(&folder, session, says, moment).work_until(moment);
        session = process.session;
        if process.ended.is_none() {
            tally.kills += 1;
            *tally.phases.entry(process.dies.unwrap_or(Phase::Between)).or_default() += 1;
        }
        // Without a session nothing was acknowledged: it begins anew.
        let Some(id) = session else { continue };
        let store = Store::open(&folder.join("data/metier.db")).unwrap();
        let now = events(&store);
        let there = now.get(&id).map_or(0, Vec::len) as u64;
        assert!(there >= process.settled, "{} was acknowledged, {there} are there", process.settled);
        for (id, known) in &known {
            assert_eq!(now[id][..known.len()], known[..], "an event has changed");
        }
        let log = std::fs::read_to_string(folder.join("project/log.txt")).unwrap();
        assert!(lines(&log).values().all(|times| *times == 1), "done twice:\n{log}");
        match process.ended.as_deref() {
            Some("done") => break,
            Some("needs_yes") => {
                has_needed = true;
                let called = in_doubt(&store, id).unwrap();
                // Whoever is asked looks whether it has happened.
                let line = line_of(&called.input.to_string());
                let has_happened = line.is_some_and(|line| lines(&log).contains_key(&line));
                says = if has_happened { "no" } else { "yes" };
            }
            Some(other) => panic!("a run ended as {other}"),
            // What is doubtful now was not asked about yet.
            None => says = "nobody",
        }
        known = now;
    }
    tally.needed_a_yes += u64::from(has_needed);
    tally.finished += 1;
    let log = std::fs::read_to_string(folder.join("project/log.txt")).unwrap();
    assert_eq!(lines(&log), every_line_once(), "every line once:\n{log}");
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
            round(number, &mut chance, &mut tally.lock().unwrap_or_else(PoisonError::into_inner));
        }));
        assert!(outcome.is_ok(), "round {number} of {rounds} failed; {SEED_NAME}={seed} makes it again");
    }
    let tally = tally.into_inner().unwrap_or_else(PoisonError::into_inner);
    say(&format!("seed {seed}: {tally:?}"));
    assert_eq!(tally.finished, rounds);
    // A run that is aimed at a phase it does not come to is not killed; the others are, most of them more than once.
    assert!(tally.kills >= rounds, "{tally:?}");
    for (phase, ..) in PHASES {
        let hits = tally.phases.get(&phase).copied().unwrap_or_default();
        // Few rounds may miss one by chance.
        assert!(hits > 0 || rounds < 5 * ROUNDS, "no kill has hit {phase:?}: {tally:?}");
    }
}
