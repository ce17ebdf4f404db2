//! Skills that the user or a program starts.

use metier_agent::{CancelToken, SessionError, UserMessage};
use metier_store::{By, EventKind, Outcome};

use super::stage::{Actor, Stage, fails, says};

#[test]
fn a_fork_that_the_user_starts_answers_the_user_and_the_conversation_knows_of_it() {
    let stage = Stage::new(&[("mine", "context: fork\ndisable-model-invocation: true\n", "Say $ARGUMENTS.")]);
    let model = Actor::new(|scene| match scene.skill.as_str() {
        "" => says("I saw it."),
        _ => says("Hello, Ada."),
    });
    let mut talk = stage.talk(&stage.agent(&model), &CancelToken::new().unwrap());
    let answer = talk
        .send(UserMessage::Skill { by: By::User, name: "mine".into(), arguments: "hello to Ada".into() })
        .unwrap();
    assert_eq!((answer.ended.outcome, answer.ended.text.as_str()), (Outcome::Done, "Hello, Ada."));
    assert!(model.asked("").is_empty(), "nobody else had to be asked");
    assert_eq!(model.asked("mine")[0].told, "hello to Ada");
    let used =
        stage.events(stage.children(stage.top())[0].id).into_iter().find_map(|event| match event.kind {
            EventKind::Used(used) => Some(used.by),
            _ => None,
        });
    assert_eq!(used, Some(By::User));
    talk.send(UserMessage::new("did you see?")).unwrap();
    let told = format!("{:?}", model.asked("")[0].request.messages);
    assert!(told.contains("Hello, Ada.") && told.contains("did you see?"), "{told}");
}

#[test]
fn an_inline_skill_that_a_program_starts_is_in_the_conversation() {
    let stage = Stage::new(&[("greet", "", "Greet $ARGUMENTS.")]);
    let model = Actor::new(|_| says("Hello."));
    let mut talk = stage.talk(&stage.agent(&model), &CancelToken::new().unwrap());
    talk.run().unwrap();
    let answer = talk
        .send(UserMessage::Skill { by: By::Caller, name: "greet".into(), arguments: "Bob".into() })
        .unwrap();
    assert_eq!(answer.ended.outcome, Outcome::Done);
    let told = format!("{:?}", model.asked("")[1].request.messages);
    assert!(told.contains("/greet Bob") && told.contains("Greet Bob."), "{told}");
    let by = stage.events(stage.top()).into_iter().find_map(|event| match event.kind {
        EventKind::Used(used) => Some((used.skill, used.by)),
        _ => None,
    });
    assert_eq!(by, Some(("greet".to_owned(), By::Caller)));
}

#[test]
fn a_skill_that_is_not_there_or_not_for_the_user_is_said() {
    let stage = Stage::new(&[("hidden", "user-invocable: false\n", "Do.")]);
    let model = Actor::new(|_| fails("never asked"));
    let mut talk = stage.talk(&stage.agent(&model), &CancelToken::new().unwrap());
    assert!(matches!(
        talk.send(UserMessage::Skill { by: By::User, name: "nothing".into(), arguments: String::new() }),
        Err(SessionError::Skill(_))
    ));
    let answer = talk
        .send(UserMessage::Skill { by: By::User, name: "hidden".into(), arguments: String::new() })
        .unwrap();
    assert_eq!(answer.ended.outcome, Outcome::Failed);
    assert!(answer.ended.why.unwrap().contains("user-invocable: false"));
    assert!(model.asked("").is_empty());
}

#[test]
fn a_background_skill_that_the_user_starts_is_waited_for_and_told() {
    let stage = Stage::new(&[("slow", "context: fork\nbackground: true\n", "Do.")]);
    let model = Actor::new(|scene| match scene.skill.as_str() {
        "" => says("It found gold."),
        _ => says("Gold."),
    });
    let mut talk = stage.talk(&stage.agent(&model), &CancelToken::new().unwrap());
    let answer = talk
        .send(UserMessage::Skill { by: By::User, name: "slow".into(), arguments: String::new() })
        .unwrap();
    assert_eq!(answer.ended.text, "It found gold.");
    let told = format!("{:?}", model.asked("")[0].request.messages);
    assert!(told.contains("Gold.") && told.contains("is over"), "{told}");
}
