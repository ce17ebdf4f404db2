//! Children that work while their parent goes on.

use std::sync::Arc;
use std::time::{Duration, Instant};

use metier_agent::{Agent, CancelToken};
use metier_store::{EventKind, NoteTopic, Outcome};
use tokio::sync::Semaphore;

use super::stage::{Actor, Stage, calls, hangs, says, uses};

const BACKGROUND: &str = "context: fork\nbackground: true\n";

/// Is over when somebody gives a permit.
fn allowed(permits: &Arc<Semaphore>) -> impl Future<Output = ()> + Send + 'static {
    permitted(permits, 1)
}

/// The same with as many permits.
fn permitted(permits: &Arc<Semaphore>, number: u32) -> impl Future<Output = ()> + Send + 'static {
    let permits = Arc::clone(permits);
    async move { permits.acquire_many(number).await.unwrap().forget() }
}

/// The notes in a session.
fn notes(stage: &Stage) -> Vec<String> {
    let noted = stage.events(stage.top()).into_iter().filter_map(|event| match event.kind {
        EventKind::Noted { text, about: NoteTopic::Subagent } => Some(text),
        _ => None,
    });
    noted.collect()
}

#[test]
fn the_call_returns_at_once_with_an_id_and_the_result_comes_with_a_later_turn() {
    let stage = Stage::new(&[("slow", BACKGROUND, "Do.")]);
    let permits = Arc::new(Semaphore::new(0));
    let gate = Arc::clone(&permits);
    let model = Actor::new(move |scene| match (scene.skill.as_str(), scene.turn) {
        ("", 0) => uses(&[("slow", "")]),
        ("", 1) => {
            // The child cannot have ended before its parent went on.
            gate.add_permits(1);
            says("Meanwhile.")
        }
        ("", _) => says("Now I know."),
        _ => says("At last.").after(allowed(&gate)),
    });
    let answer = stage.run(&model);
    assert_eq!((answer.ended.text.as_str(), answer.ended.turns), ("Now I know.", 3));
    let child = &stage.children(stage.top())[0];
    let short = child.id.short();
    let first = &model.asked("")[1].results[0];
    assert!(first.starts_with(&format!("Skill 'slow' works in the background as {short}.")), "{first}");
    let last = model.asked("").pop().unwrap();
    let told = format!("{:?}", last.request.messages.last().unwrap());
    assert!(told.contains("is over") && told.contains("At last."), "{told}");
    assert_eq!(notes(&stage).len(), 1);
    assert_eq!(answer.ended.usage.input, 400, "three answers of its own and one of the child");
}

#[test]
fn who_does_not_end_in_time_is_stopped_at_the_end_and_told_with_what_is_there() {
    let stage = Stage::new(&[("slow", BACKGROUND, "Do.")]);
    let model = Actor::new(|scene| match (scene.skill.as_str(), scene.turn) {
        ("", 0) => uses(&[("slow", "")]),
        ("", _) => says("over"),
        _ => hangs("half"),
    });
    let agent = Agent { patience: Duration::from_millis(300), ..stage.agent(&model) };
    let began = Instant::now();
    let answer = stage.talk(&agent, &CancelToken::new().unwrap()).run().unwrap();
    assert!(began.elapsed() < Duration::from_secs(20));
    assert_eq!(answer.ended.outcome, Outcome::Done);
    let notes = notes(&stage);
    assert!(
        notes[0].contains("[skill slow: cancelled: it was stopped") && notes[0].ends_with("half"),
        "{notes:?}"
    );
    assert_eq!(stage.children(stage.top())[0].outcome, Some(Outcome::Cancelled));
}

#[test]
fn the_end_of_a_run_stops_its_children_and_nothing_of_them_is_left_open() {
    let stage = Stage::new(&[("slow", BACKGROUND, "Do.")]);
    let began = Arc::new(Semaphore::new(0));
    let gate = Arc::clone(&began);
    let model = Actor::new(move |scene| match (scene.skill.as_str(), scene.turn) {
        ("", 0) => uses(&[("slow", "1"), ("slow", "2"), ("slow", "3")]),
        ("", 1) => says("over").after(permitted(&gate, 2)),
        ("", _) => says("over"),
        (_, 0) => calls([("Bash", r#"{"command": "sleep 63.218"}"#)]),
        _ => says("never"),
    });
    let agent = Agent { patience: Duration::from_millis(300), ..stage.agent(&model) };
    stage.seen.then(move |event| {
        if matches!(&event.kind, EventKind::Called(called) if called.tool == "Bash") {
            began.add_permits(1);
        }
    });
    stage.talk(&agent, &CancelToken::new().unwrap()).run().unwrap();
    assert!(!super::queue::is_running("63.218"));
    let children = stage.children(stage.top());
    assert_eq!(children.len(), 2, "the third never began");
    assert!(children.iter().all(|child| child.outcome == Some(Outcome::Cancelled)), "{children:?}");
}

#[test]
fn stopping_the_run_stops_them() {
    let stage = Stage::new(&[("slow", BACKGROUND, "Do.")]);
    let model = Actor::new(|scene| match (scene.skill.as_str(), scene.turn) {
        ("", 0) => uses(&[("slow", "")]),
        _ => hangs("half"),
    });
    let halt = CancelToken::new().unwrap();
    let stop = halt.clone();
    stage.seen.then(move |event| {
        if event.parent.is_some() && matches!(event.kind, EventKind::Asked { .. }) {
            stop.cancel();
        }
    });
    let answer = stage.talk(&stage.agent(&model), &halt).run().unwrap();
    assert_eq!(answer.ended.outcome, Outcome::Cancelled);
    assert!(notes(&stage)[0].contains("[skill slow: cancelled"), "{:?}", notes(&stage));
}
