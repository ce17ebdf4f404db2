//! Fifty children at once.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use metier_agent::CancelToken;
use metier_model::{Message, Part};
use metier_store::{EventKind, Outcome};
use tokio::sync::Barrier;

use super::stage::{Actor, Stage, calls, says, uses};

const MANY: usize = 50;

/// Whether a process has this word on its command line.
pub(crate) fn is_running(word: &str) -> bool {
    let processes = std::fs::read_dir("/proc").unwrap().filter_map(Result::ok);
    let lines = processes.filter_map(|process| std::fs::read(process.path().join("cmdline")).ok());
    lines.into_iter().any(|line| line.split(|byte| *byte == 0).any(|argument| argument == word.as_bytes()))
}

fn many() -> Vec<(&'static str, String)> {
    (0..MANY).map(|number| ("work", format!("number {number:02}"))).collect()
}

#[test]
fn e03_fifty_forks_run_two_at_a_time_in_their_order_and_the_parent_gets_fifty_results_and_nothing_else() {
    let stage =
        Stage::new(&[("work", "context: fork\n", "Work on $ARGUMENTS. Say nothing of the secret way.")]);
    let (working, most) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let barrier = Arc::new(Barrier::new(2));
    let (now, peak) = (Arc::clone(&working), Arc::clone(&most));
    let model = Actor::new(move |scene| {
        let all = many();
        match (scene.skill.as_str(), scene.turn) {
            ("", 0) => uses(&all.iter().map(|(skill, told)| (*skill, told.as_str())).collect::<Vec<_>>()),
            ("", _) => says("so"),
            (_, 0) => {
                peak.fetch_max(now.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
                calls([("Read", r#"{"file_path": "notes.md"}"#)])
            }
            // It ends only when another one works beside it: two are there at once, and never a third.
            _ => {
                let (barrier, now) = (Arc::clone(&barrier), Arc::clone(&now));
                says(&format!("result of {}", scene.told)).after(async move {
                    barrier.wait().await;
                    now.fetch_sub(1, Ordering::SeqCst);
                })
            }
        }
    });
    let answer = stage.run(&model);
    assert_eq!(answer.ended.outcome, Outcome::Done);
    assert_eq!((most.load(Ordering::SeqCst), working.load(Ordering::SeqCst)), (2, 0));

    // In the order of the calls: two begin at once, so neighbours may change places.
    let began: Vec<String> = stage
        .seen
        .events
        .lock()
        .unwrap()
        .iter()
        .filter_map(|event| match &event.kind {
            EventKind::Started(started) if event.parent.is_some() => Some(started.request.clone()),
            _ => None,
        })
        .collect();
    assert_eq!(began.len(), MANY);
    for (at, told) in began.iter().enumerate() {
        let number: usize = told.trim_start_matches("number ").parse().unwrap();
        assert!(number.abs_diff(at) <= 1, "{told} began as number {at}");
    }

    // What the parent was sent of it: each result, to the byte, and not a byte more.
    let second = &model.asked("")[1];
    assert_eq!(second.request.messages.len(), 3);
    let Message::Results(outcomes) = &*second.request.messages[2] else { panic!("{:?}", second.request) };
    let expect: Vec<String> = (0..MANY)
        .map(|number| {
            format!("[skill work: complete (2 turns, 1 call, 220 tokens)]\nresult of number {number:02}")
        })
        .collect();
    let texts: Vec<&str> = outcomes.iter().map(|outcome| &*outcome.text).collect();
    assert_eq!(texts, expect);
    let Message::Assistant(parts) = &*second.request.messages[1] else { panic!("{:?}", second.request) };
    let asked: usize = parts
        .iter()
        .map(|part| if let Part::Call(call) = part { call.arguments.raw().len() } else { 0 })
        .sum();
    let bytes = stage.events(stage.top()).into_iter().filter_map(|event| match event.kind {
        EventKind::Asked { turn: 2, bytes, .. } => Some(bytes),
        _ => None,
    });
    let results: usize = expect.iter().map(String::len).sum();
    assert_eq!(bytes.collect::<Vec<_>>(), [("please".len() + asked + results) as u64]);
    let of_parent = format!("{:?}", stage.events(stage.top()));
    assert!(!of_parent.contains("secret way"), "the child's own text is in the parent's session");
}

#[test]
fn stopping_fifty_forks_ends_those_in_flight_and_those_in_the_queue_and_leaves_no_process_and_no_half_session()
 {
    const NAP: &str = "61.734";
    let stage = Stage::new(&[("work", "context: fork\n", "Work on $ARGUMENTS.")]);
    let model = Actor::new(|scene| {
        let all = many();
        match (scene.skill.as_str(), scene.turn) {
            ("", 0) => uses(&all.iter().map(|(skill, told)| (*skill, told.as_str())).collect::<Vec<_>>()),
            (_, 0) => calls([("Bash", &*format!(r#"{{"command": "sleep {NAP}"}}"#))]),
            _ => says("never"),
        }
    });
    let halt = CancelToken::new().unwrap();
    // How many children were asked for, and how many run a command.
    let running = Arc::new(Mutex::new((0, 0)));
    let (stop, count) = (halt.clone(), Arc::clone(&running));
    stage.seen.then(move |event| {
        let EventKind::Called(called) = &event.kind else { return };
        let mut count = count.lock().unwrap();
        match called.tool.as_str() {
            "Bash" => count.1 += 1,
            _ => count.0 += 1,
        }
        if *count == (MANY, 2) {
            let stop = stop.clone();
            std::thread::spawn(move || {
                let since = Instant::now();
                // Processes tell nobody that they are there, so they are looked for.
                while !is_running(NAP) && since.elapsed() < Duration::from_secs(20) {
                    std::thread::sleep(Duration::from_millis(5));
                }
                stop.cancel();
            });
        }
    });
    let began = Instant::now();
    let answer = stage.talk(&stage.agent(&model), &halt).run().unwrap();
    assert!(began.elapsed() < Duration::from_secs(50), "{:?}", began.elapsed());
    assert_eq!(answer.ended.outcome, Outcome::Cancelled);
    assert_eq!(*running.lock().unwrap(), (MANY, 2), "no third one began");
    assert!(!is_running(NAP), "a process is left");

    let results = stage.results();
    assert_eq!(results.len(), MANY);
    let in_flight = results
        .iter()
        .filter(|text| text.starts_with("[skill work: cancelled: it was stopped (1 turn, 1 call"));
    let in_queue = results.iter().filter(|text| {
        text.starts_with(
            "[skill work: cancelled: it was stopped before it started (0 turns, 0 calls, 0 tokens",
        )
    });
    assert_eq!((in_flight.count(), in_queue.count()), (2, MANY - 2), "{:?}", &results[..4]);
    let children = stage.children(stage.top());
    assert_eq!(children.len(), 2, "what never left the queue is nowhere");
    assert!(children.iter().all(|child| child.outcome == Some(Outcome::Cancelled)), "{children:?}");
}
