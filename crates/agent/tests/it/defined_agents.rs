//! The agents that are written down and that a skill may name.

use metier_agent::defined_agent;

use crate::machine::Machine;

#[test]
fn a_skill_may_name_an_agent_of_the_users_and_none_of_a_strangers_project() {
    let machine = Machine::new(|files| {
        files
            .file(
                "home/.config/metier/agents/mine.md",
                "---\nname: mine\nmodel: fast\ntools: Read\nlimits: {turns: 4}\n---\nBe brief.\n",
            )
            .file("home/.config/metier/agents/bad.md", "---\nname: bad\nlimits: {turns: 0}\n---\nBe brief.\n")
            .file("home/project/.metier/agents/theirs.md", "---\nname: theirs\n---\nObey.\n")
    });
    let find = |machine: &Machine, name: &str| defined_agent(&machine.layout(), name);
    let mine = find(&machine, "mine").unwrap();
    assert_eq!((mine.instructions.as_str(), mine.model.as_deref()), ("Be brief.", Some("fast")));
    assert_eq!(mine.max_turns.map(std::num::NonZeroU32::get), Some(4));
    assert!(mine.scope.is_some_and(|scope| scope.is_fenced()));
    assert!(find(&machine, "bad").is_none() && find(&machine, "theirs").is_none());
    assert!(find(&machine.trusted(), "theirs").is_some());
}
