//! What holds for every pair of rules and every action, whatever was written. The property tests and the fuzz target hold it.

use metier_policy::{
    Action, FileGlob, Host, HostPattern, Layer, NameGlob, Owner, Place, Rule, Skill, Source,
    from_agents_json, from_claude_settings,
};
use std::collections::BTreeSet;

/// What holds of two rules and one action, by their texts.
pub(crate) fn holds(first: &str, second: &str, action: &str) {
    for text in [first, second] {
        reads_back(text);
        agrees_with_itself(text, action);
    }
    globs(first, second, action);
    hosts(first, second, action);
    names(first, action);
}

/// What holds of the rules in another client's file: nothing of it is lost in silence.
pub(crate) fn file_holds(text: &str) {
    for read in [from_agents_json, from_claude_settings] {
        let layer: Layer = read(text, Source::new(Owner::Project, "settings.json"));
        for problem in layer.problems() {
            assert!(!problem.message.is_empty(), "{text:?}: {problem:?}");
            assert!(!problem.to_string().contains(|c: char| c.is_control()), "{text:?}: {problem}");
        }
    }
}

/// A rule is shown as it can be written, and what is none says where it stops being one.
fn reads_back(text: &str) {
    match text.parse::<Rule>() {
        Ok(rule) => {
            let shown = rule.to_string();
            // What a glob is made of would fill pages, so it is not printed.
            let is_same = shown.parse::<Rule>().is_ok_and(|again| again == rule);
            assert!(is_same, "{text:?} is shown as {shown:?}");
        }
        Err(error) => {
            assert!((1..=text.chars().count() + 1).contains(&error.column), "{error:?}");
            assert!(!error.to_string().contains(|c: char| c.is_control()), "{error}");
        }
    }
}

/// Whatever a rule allows, the same words in `deny` stop.
fn agrees_with_itself(rule: &str, action: &str) {
    let mut who = |name: &str| Some(Skill::new(name, "user"));
    let (Ok(rule), Ok(action)) = (rule.parse::<Rule>(), Action::from_words(action, &mut who)) else { return };
    for exact in action.rules() {
        assert!(exact.concerns(&action), "{exact} is offered for {action:?}");
    }
    assert!(!rule.allows(&action) || rule.concerns(&action), "{rule} allows {action:?} and does not stop it");
}

fn globs(first: &str, second: &str, path: &str) {
    let (Ok(first), Ok(second)) = (first.parse::<FileGlob>(), second.parse::<FileGlob>()) else { return };
    let place = Place::new(path);
    for glob in [&first, &second] {
        assert!(glob.to_string().parse::<FileGlob>().is_ok_and(|again| again == *glob), "{glob}");
        assert!(!glob.means(&place) || glob.touches(&place), "{glob} {place}");
        assert!(!glob.covers(&place) || glob.means(&place), "{glob} {place}");
        let means: BTreeSet<_> =
            [path, place.as_str()].into_iter().filter(|name| glob.matches(name)).collect();
        assert!(!glob.is_exact() || means.len() <= 1, "{glob} means {means:?}");
    }
    let both = second.means(&place);
    assert!(!(both && first.covers_glob(&second)) || first.means(&place), "{first} covers {second}: {place}");
    assert!(!(both && first.touches(&place)) || first.meets(&second), "{first} meets {second}: {place}");
}

fn hosts(first: &str, second: &str, host: &str) {
    let (Ok(first), Ok(second)) = (first.parse::<HostPattern>(), second.parse::<HostPattern>()) else {
        return;
    };
    for pattern in [&first, &second] {
        assert_eq!(pattern.to_string().parse().as_ref(), Ok(pattern), "{pattern}");
    }
    let Ok(host) = Host::new(host) else { return };
    assert_eq!(Host::new(host.as_str()).as_ref(), Ok(&host));
    for port in [80, 443] {
        let both = second.matches(&host, port);
        assert!(!both || second.touches(&host, port), "{second} {host}");
        assert!(
            !(both && first.covers(&second)) || first.matches(&host, port),
            "{first} covers {second}: {host}"
        );
        assert!(
            !(both && first.touches(&host, port)) || first.meets(&second),
            "{first} meets {second}: {host}"
        );
    }
}

/// Stars are filled as a second reader fills them, who only has to be obvious.
fn names(glob: &str, name: &str) {
    let Ok(glob) = glob.parse::<NameGlob>() else { return };
    assert_eq!(glob.matches(name), obvious(glob.as_str(), name), "{glob} {name:?}");
    assert!(!glob.matches(name) || glob.touches(name), "{glob} {name:?}");
}

/// By rows, as any two texts are compared: which beginnings of the name the pattern so far can be.
fn obvious(pattern: &str, name: &str) -> bool {
    let name: Vec<char> = name.chars().collect();
    let mut reached = vec![false; name.len() + 1];
    reached[0] = true;
    for c in pattern.chars() {
        let mut next = vec![false; name.len() + 1];
        for at in 0..=name.len() {
            next[at] = match c {
                '*' => reached[at] || (at > 0 && next[at - 1]),
                c => at > 0 && reached[at - 1] && name[at - 1] == c,
            };
        }
        reached = next;
    }
    reached[name.len()]
}
