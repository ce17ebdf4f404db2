use metier_store as store;
use metier_store::{Activated, Answered, By, EventKind, Finished};
use proptest::prelude::*;

use super::*;

/// One thing that happens in a conversation.
#[derive(Clone, Debug)]
enum Doing {
    /// The user says something.
    Says(usize),
    /// The model speaks.
    Speaks(usize),
    /// The model calls tools, whose results have so many bytes; the first one may activate a skill with so long a text.
    Calls(Vec<usize>, Option<(u8, usize)>),
}

fn doing() -> impl Strategy<Value = Doing> {
    prop_oneof![
        2 => (1_usize..400).prop_map(Doing::Says),
        2 => (1_usize..600).prop_map(Doing::Speaks),
        6 => (prop::collection::vec(0_usize..3000, 1..4), prop::option::of((0_u8..5, 200_usize..1500)))
            .prop_map(|(results, skill)| Doing::Calls(results, skill)),
    ]
}

fn asked() -> EventKind {
    EventKind::Asked { turn: 1, model: "m".into(), messages: 1, tools: 0, bytes: 0 }
}

/// The events of it.
fn events(doings: &[Doing]) -> Vec<EventKind> {
    let mut events = vec![EventKind::Said { text: "first".into(), by: By::User }];
    for (at, doing) in doings.iter().enumerate() {
        match doing {
            Doing::Says(long) => {
                events.push(EventKind::Said { text: format!("{at} {}", "u".repeat(*long)), by: By::User });
            }
            Doing::Speaks(long) => {
                let text = format!("{at} {}", "a".repeat(*long));
                let parts = vec![store::Part::Text { text }];
                events.extend([asked(), EventKind::Answered(Answered { parts, ..Answered::default() })]);
            }
            Doing::Calls(results, skill) => {
                let id = |number: usize| format!("call-{at}-{number}");
                let call = |number: usize| {
                    store::Part::Call(store::ToolCall {
                        id: id(number),
                        name: "t".into(),
                        ..Default::default()
                    })
                };
                let parts = (0..results.len()).map(call).collect();
                events.extend([asked(), EventKind::Answered(Answered { parts, ..Answered::default() })]);
                if let Some((name, long)) = skill {
                    events.push(EventKind::Activated(Activated {
                        skill: format!("skill-{name}"),
                        call: Some(id(0)),
                        arguments: at.to_string(),
                        message: format!("<skill-context {at}>{}</skill-context>", "s".repeat(*long)),
                        ..Activated::default()
                    }));
                }
                for (number, long) in results.iter().enumerate() {
                    let text = format!("{at}/{number} {}", "r".repeat(*long));
                    events.push(EventKind::Finished(Finished {
                        id: id(number),
                        text,
                        ..Finished::default()
                    }));
                }
            }
        }
    }
    events
}

fn folded(events: &[EventKind]) -> History {
    let mut history = History::default();
    for event in events {
        history.take(event);
    }
    history
}

fn compacted(messages: Value) -> EventKind {
    EventKind::Compacted {
        through: 0,
        messages,
        why: String::new(),
        usage: store::Usage::default(),
        cost_micros: 0,
    }
}

/// Every result stands behind the answer that called for it, and every call has its result.
fn assert_pairs(messages: &[Arc<Message>]) {
    let mut waiting: Vec<Arc<str>> = Vec::new();
    for message in messages {
        match &**message {
            Message::Results(outcomes) => {
                let ids: Vec<Arc<str>> =
                    outcomes.iter().map(|outcome| Arc::clone(&outcome.call_id)).collect();
                assert_eq!(ids, waiting);
                waiting.clear();
            }
            Message::Assistant(parts) => {
                assert!(waiting.is_empty(), "{waiting:?}");
                waiting = parts
                    .iter()
                    .filter_map(|part| match part {
                        Part::Call(call) => Some(Arc::clone(&call.id)),
                        _ => None,
                    })
                    .collect();
            }
            _ => assert!(waiting.is_empty(), "{waiting:?}"),
        }
    }
    assert!(waiting.is_empty(), "{waiting:?}");
}

fn texts(history: &History) -> Vec<String> {
    let mut texts = Vec::new();
    for message in &history.messages {
        match &**message {
            Message::User(parts) | Message::Assistant(parts) => {
                texts.extend(parts.iter().filter_map(|part| match part {
                    Part::Text(text) => Some(text.to_string()),
                    _ => None,
                }));
            }
            Message::Results(outcomes) => {
                texts.extend(outcomes.iter().map(|outcome| outcome.text.to_string()));
            }
            _ => {}
        }
    }
    texts.extend(history.open.iter().filter_map(|part| match part {
        Part::Text(text) => Some(text.to_string()),
        _ => None,
    }));
    texts
}

/// The number that the text of a message begins with: what is older has a smaller one.
fn number(text: &str) -> Option<usize> {
    text.split([' ', '/']).next()?.parse().ok()
}

/// Pairs, order and skills stay, and what is left fits.
fn fits(doings: &[Doing], room: usize, is_wanted: bool) -> Result<(), TestCaseError> {
    let mut events = events(doings);
    let mut history = folded(&events);
    let before = history.clone();
    let reserve = room / 6;
    let depth = if is_wanted { Depth::Summary } else { Depth::AsNeeded };
    let Some(plan) = Plan::new(&history, Target { room, reserve, depth }) else { return Ok(()) };
    let cut = plan.cut;
    let summary = (cut > 0).then(|| "s".repeat(reserve));
    let stored = plan.stored(&history, summary);
    prop_assert_eq!(cuts(&stored), cut > 0);
    history.shorten(&stored);
    assert_pairs(history.messages());

    // The same events make the same messages again, also when they come from a file.
    events.push(compacted(serde_json::from_str(&stored.to_string()).unwrap()));
    let again = folded(&events);
    prop_assert_eq!(history.messages(), again.messages());

    let (was, is) = (texts(&before), texts(&history));
    let kept: Vec<usize> = is.iter().skip(usize::from(cut > 0)).filter_map(|text| number(text)).collect();
    // What the user said last may stand at the beginning; all else keeps its order.
    let words = before.words.as_deref().and_then(number);
    let in_order: Vec<usize> = kept.iter().copied().filter(|one| Some(*one) != words).collect();
    prop_assert!(in_order.is_sorted(), "{:?}", kept);

    for skill in &before.skills {
        let times = is.iter().filter(|text| **text == *skill.text).count();
        prop_assert_eq!(times, usize::from(skill.state == SkillState::Active));
        if skill.state == SkillState::Finished
            && !before
                .skills
                .iter()
                .any(|other| other.name == skill.name && other.state == SkillState::Active)
        {
            let crumb = breadcrumb(&skill.name);
            prop_assert!(is.iter().any(|text| text.contains(&crumb)), "{}", skill.name);
        }
    }
    prop_assert!(is.iter().any(|text| Some(text.as_str()) == before.words.as_deref()));

    // What is never touched can be more than there is room for; everything else fits.
    let last = tail(&before.messages, &before.messages.iter().map(|one| bytes(one)).collect::<Vec<_>>(), 0);
    let fixed: usize = before.messages[last..].iter().map(|message| bytes(message)).sum::<usize>()
        + before
            .skills
            .iter()
            .filter(|skill| skill.state == SkillState::Active)
            .map(|skill| skill.text.len())
            .sum::<usize>()
        + before.words.as_ref().map_or(0, |words| words.len())
        + before.open.len() * 500
        + reserve
        + 64 * 100
        + MIN_OUTPUT * KEPT * 3;
    let after = usize::try_from(history.extent().bytes).unwrap();
    prop_assert!(after <= room.max(fixed), "{} bytes, room for {}, fixed {}", after, room, fixed);
    prop_assert!(after <= was.iter().map(String::len).sum::<usize>() + reserve + 8192);
    Ok(())
}

#[test]
fn the_breadcrumbs_at_the_beginning_count() {
    use Doing::{Calls, Says, Speaks};
    let activation = |results: &[usize], skill: u8, text: usize| Calls(results.to_vec(), Some((skill, text)));
    let doings = [
        Says(160),
        Speaks(547),
        Speaks(187),
        Speaks(357),
        activation(&[996, 996, 85], 3, 200),
        Says(182),
        activation(&[108], 0, 200),
        Says(186),
        Says(248),
        Speaks(322),
        Speaks(325),
        Speaks(417),
        Speaks(82),
        activation(&[995, 995], 0, 1057),
        Speaks(180),
        activation(&[995, 995], 0, 1154),
        activation(&[995, 995], 0, 724),
        activation(&[995], 0, 1435),
        Speaks(89),
        activation(&[84, 995, 995], 0, 457),
        Calls(vec![2594], None),
        Calls(vec![459, 2638, 2766], None),
        Calls(vec![2150, 2354], None),
        Calls(vec![2470, 2093], None),
    ];
    fits(&doings, 27_392, false).unwrap();
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, ..ProptestConfig::default() })]

    #[test]
    fn whatever_was_said_pairs_stay_order_stays_skills_stay_and_it_fits(
        doings in prop::collection::vec(doing(), 1..60),
        room in 500_usize..40_000,
        is_wanted in any::<bool>(),
    ) {
        fits(&doings, room, is_wanted)?;
    }

    #[test]
    fn whatever_stands_in_a_stored_one_nothing_breaks(
        exchanged in prop::collection::vec((0_usize..9, 0_usize..4), 0..6),
        kept in prop::option::of(0_usize..9),
    ) {
        let mut history = folded(&events(&[Doing::Calls(vec![10, 10], Some((0, 300))), Doing::Speaks(3)]));
        let exchanged: Vec<Value> = exchanged
            .iter()
            .map(|(message, piece)| serde_json::json!({"message": message, "piece": piece, "text": "x"}))
            .collect();
        history.shorten(&serde_json::json!({"exchanged": exchanged, "head": ["h"], "kept": kept}));
        history.shorten(&serde_json::json!({"exchanged": 5}));
        prop_assert!(!history.messages().is_empty());
    }
}

#[test]
fn outputs_go_first_the_oldest_first_and_the_last_ones_stay() {
    let doings: Vec<Doing> = (0..12).map(|_| Doing::Calls(vec![2000], None)).collect();
    let mut history = folded(&events(&doings));
    let extent = usize::try_from(history.extent().bytes).unwrap();
    let target = Target { room: extent - 3000, reserve: 100, depth: Depth::AsNeeded };
    let plan = Plan::new(&history, target).unwrap();
    assert_eq!((plan.cleared, plan.cut), (2, 0));
    let stored = plan.stored(&history, None);
    history.shorten(&stored);
    let is_cleared = |text: &String| text.starts_with("[output cleared to make room: it had 200");
    let results: Vec<bool> = texts(&history).iter().skip(1).map(is_cleared).collect();
    assert_eq!(results, [true, true, false, false, false, false, false, false, false, false, false, false]);
}

#[test]
fn a_skill_whose_text_is_a_result_is_not_cleared_while_it_is_active() {
    let activated = EventKind::Activated(Activated {
        skill: "adk".into(),
        call: Some("call-0-0".into()),
        ..Activated::default()
    });
    let mut all = events(&[Doing::Calls(vec![2000], None)]);
    all.insert(3, activated);
    all.extend(
        events(&(0..12).map(|_| Doing::Calls(vec![10], None)).collect::<Vec<_>>()).into_iter().skip(1),
    );
    let mut history = folded(&all);
    let target = Target { room: 10, reserve: 10, depth: Depth::AsNeeded };
    let plan = Plan::new(&history, target).unwrap();
    assert!(plan.cut > 0);
    let stored = plan.stored(&history, Some("s".into()));
    let text = history.skills[0].text.clone();
    history.shorten(&stored);
    assert!(text.len() > 2000 && texts(&history).iter().any(|own| **own == *text));
    // Once the user speaks it is over, and the next time it is a breadcrumb.
    history.take(&EventKind::Said { text: "next".into(), by: By::User });
    history.take(&asked());
    let stored = Plan::new(&history, target).unwrap().stored(&history, Some("s".into()));
    history.shorten(&stored);
    let is = texts(&history);
    assert!(
        !is.iter().any(|own| **own == *text)
            && is.iter().any(|own| own.contains("<skill-breadcrumb name=\"adk\"")),
        "{is:?}"
    );
}

#[test]
fn what_a_provider_counted_is_believed_within_reason() {
    for (counted, bytes, expect) in [
        (None, 4_000, 1_000),
        (Some(Measured { bytes: 3_000, tokens: 1_000 }), 3_000, 1_000),
        (Some(Measured { bytes: 3_000, tokens: 1 }), 8_000, 1_000),
        (Some(Measured { bytes: 3_000, tokens: 90_000 }), 2_000, 1_000),
    ] {
        let measure = Measure::new(0, counted);
        assert_eq!(measure.tokens(bytes), expect, "{counted:?}");
        assert_eq!(measure.room(expect), usize::try_from(bytes).unwrap(), "{counted:?}");
    }
}
