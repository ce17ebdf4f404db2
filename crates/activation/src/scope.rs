//! What is in force while a skill is active, and exactly how long.

use std::num::NonZeroU32;

use metier_policy::{Scope, Skill, Trust};
use metier_skill::yaml::Value;
use metier_skill::{Context, Manifest, Tool, ToolPattern};

/// Which scope, for those who hold several. Never used again in the same conversation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ScopeId(u64);

/// When a scope ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ScopeEnd {
    /// With the next message of the user: the skill runs in the conversation.
    NextUserMessage,
    /// With the child in which the skill runs.
    Child,
}

/// What a skill changes while it is active.
#[derive(Clone, Debug)]
pub struct SkillScope {
    /// The skill.
    pub skill: Skill,
    /// Its fence, its grants and what it takes away.
    pub rules: Scope,
    /// The model it asks for; none where the conversation's own counts.
    pub model: Option<String>,
    /// The effort it asks for.
    pub effort: Option<String>,
    /// How many turns it may take.
    pub max_turns: Option<NonZeroU32>,
    /// Its list of tools as it is written; `None` says nothing, an empty one names none.
    pub tools: Option<Vec<ToolPattern>>,
    /// Its hooks as they are written; none where it is not trusted, or has changed since it was.
    pub hooks: Option<Value>,
    /// When it ends.
    pub end: ScopeEnd,
}

impl SkillScope {
    /// The scope that a manifest describes.
    pub fn new(skill: &Skill, rules: Scope, manifest: &Manifest) -> Self {
        let more = &manifest.more;
        let text = |value: &Option<metier_skill::Spanned<String>>| {
            value.as_ref().map(|text| text.value.trim().to_owned()).filter(|text| !text.is_empty())
        };
        Self {
            skill: skill.clone(),
            rules,
            // A model is one of the things that trust covers, and not to be chosen by an edit.
            model: text(&more.model).filter(|model| model != "inherit" && skill.trust == Trust::Trusted),
            effort: text(&more.effort),
            max_turns: more.max_turns.as_ref().map(|turns| turns.value),
            tools: manifest.tool_list(),
            // A hook runs when nobody called the skill, so it takes the user's whole trust.
            hooks: more.hooks.clone().filter(|_| skill.trust == Trust::Trusted),
            end: if more.context == Context::Fork { ScopeEnd::Child } else { ScopeEnd::NextUserMessage },
        }
    }
}

impl SkillScope {
    /// Whether the skill's own list names a tool, by whichever spelling.
    pub fn names(&self, tool: Tool) -> bool {
        let is_it = |pattern: &ToolPattern| Tool::named(&pattern.tool) == Some(tool);
        self.tools.as_ref().is_some_and(|tools| tools.iter().any(is_it))
    }
}

/// The scopes of one conversation, or of one child: which are open.
#[derive(Clone, Debug, Default)]
pub struct Scopes {
    made: u64,
    open: Vec<(ScopeId, SkillScope)>,
    /// The fences and grants in force, outermost first: of the parent, then of `open` in its order.
    rules: Vec<Scope>,
    /// How many of `rules` are the parent's.
    inherited: usize,
}

impl Scopes {
    /// The scopes of a child: what holds here holds there, and does not end with anything that happens there.
    #[must_use]
    pub fn child(&self) -> Self {
        Self { rules: self.rules.clone(), inherited: self.rules.len(), ..Self::default() }
    }

    /// Adds rules that hold as long as the conversation does, such as those of the agent that runs a child.
    pub fn hold(&mut self, rules: Scope) {
        self.rules.insert(self.inherited, rules);
        self.inherited += 1;
    }

    /// Opens a scope.
    pub fn open(&mut self, scope: SkillScope) -> ScopeId {
        self.made += 1;
        let id = ScopeId(self.made);
        self.rules.push(scope.rules.clone());
        self.open.push((id, scope));
        id
    }

    /// A message of the user: every scope that lasts until then is over. Gives the ones that were.
    pub fn user_message(&mut self) -> Vec<ScopeId> {
        self.end(|_, scope| scope.end == ScopeEnd::NextUserMessage)
    }

    /// Ends one scope, such as a child's. Whether it was open.
    pub fn close(&mut self, id: ScopeId) -> bool {
        !self.end(|open, _| open == id).is_empty()
    }

    fn end(&mut self, is_over: impl Fn(ScopeId, &SkillScope) -> bool) -> Vec<ScopeId> {
        let (over, open): (Vec<_>, Vec<_>) =
            std::mem::take(&mut self.open).into_iter().partition(|(id, scope)| is_over(*id, scope));
        self.open = open;
        self.rules.truncate(self.inherited);
        self.rules.extend(self.open.iter().map(|(_, scope)| scope.rules.clone()));
        over.into_iter().map(|(id, _)| id).collect()
    }

    /// The open scopes, oldest first.
    pub fn iter(&self) -> impl Iterator<Item = (ScopeId, &SkillScope)> {
        self.open.iter().map(|(id, scope)| (*id, scope))
    }

    /// One scope, while it is open.
    pub fn get(&self, id: ScopeId) -> Option<&SkillScope> {
        self.open.iter().find(|(open, _)| *open == id).map(|(_, scope)| scope)
    }

    /// The fences and grants in force, for the gate.
    pub fn rules(&self) -> &[Scope] {
        &self.rules
    }

    /// What the last opened scope that has it asks for.
    pub fn asked<T>(&self, what: impl Fn(&SkillScope) -> Option<T>) -> Option<T> {
        self.open.iter().rev().find_map(|(_, scope)| what(scope))
    }
}

#[cfg(test)]
mod tests {
    use metier_policy::{Dialect, Folders, McpTools, Meaning, Terms};

    use super::*;

    fn scope(name: &str, frontmatter: &str) -> SkillScope {
        let file = format!("---\nname: {name}\ndescription: d\n{frontmatter}---\nDo.\n");
        let manifest = metier_skill::parse(file.as_bytes(), Some(name)).document.unwrap().manifest;
        let tools = manifest.tool_list();
        let terms = Terms {
            skill: Skill::new(name, "user"),
            tools: tools.as_deref(),
            disallowed: &[],
            meaning: Meaning::Both,
            dialect: Dialect::Usual,
            folders: Folders::default(),
        };
        SkillScope::new(&Skill::new(name, "user"), Scope::open(terms, &McpTools::default()), &manifest)
    }

    #[test]
    fn an_inline_scope_lasts_until_the_next_user_message_and_a_forks_until_its_child_ends() {
        let mut scopes = Scopes::default();
        let inline = scopes.open(scope("a", "tools: Read\nmodel: fast\nmaxTurns: 4\n"));
        let fork = scopes.open(scope("b", "context: fork\nmodel: inherit\n"));
        assert_eq!(scopes.rules().len(), 2);
        assert_eq!(scopes.asked(|scope| scope.model.clone()).as_deref(), Some("fast"));
        assert_eq!(scopes.get(inline).unwrap().max_turns, NonZeroU32::new(4));
        assert_eq!(scopes.user_message(), [inline]);
        assert_eq!(scopes.rules().len(), 1);
        assert!(scopes.get(inline).is_none() && scopes.get(fork).is_some());
        assert!(scopes.close(fork) && !scopes.close(fork));
        assert_eq!(scopes.rules().len(), 0);
        let again = scopes.open(scope("a", ""));
        assert_ne!(again, inline);
    }

    #[test]
    fn what_holds_for_the_parent_holds_for_the_child_until_the_child_ends() {
        let mut parent = Scopes::default();
        parent.open(scope("outer", "tools: Read\n"));
        let mut child = parent.child();
        child.open(scope("inner", "tools: Bash\n"));
        let names = |scopes: &Scopes| -> Vec<String> {
            scopes.rules().iter().map(|scope| scope.skill().name.clone()).collect()
        };
        assert_eq!(names(&child), ["outer", "inner"]);
        child.hold(scope("agent", "tools: Read\n").rules);
        assert_eq!(names(&child), ["outer", "agent", "inner"]);
        child.user_message();
        assert_eq!(names(&child), ["outer", "agent"]);
        assert_eq!(names(&parent), ["outer"]);
    }

    #[test]
    fn what_holds_an_agent_holds_before_and_after_its_skills() {
        let mut scopes = Scopes::default();
        scopes.hold(scope("agent", "tools: Read\n").rules);
        assert_eq!(scopes.rules().len(), 1);
        scopes.open(scope("a", "tools: Bash\n"));
        assert_eq!(scopes.rules().len(), 2);
        scopes.user_message();
        assert_eq!(scopes.rules().len(), 1);
        assert_eq!(scopes.child().rules().len(), 1);
    }

    #[test]
    fn hooks_take_the_whole_trust_of_the_user() {
        let hooks = "hooks:\n  Stop:\n    - command: ls\n";
        assert!(scope("a", hooks).hooks.is_some());
        let file = format!("---\nname: a\ndescription: d\n{hooks}---\n");
        let manifest = metier_skill::parse(file.as_bytes(), None).document.unwrap().manifest;
        for trust in [Trust::Changed, Trust::Untrusted] {
            let skill = Skill { trust, ..Skill::new("a", "user") };
            let rules = scope("a", "").rules;
            assert!(SkillScope::new(&skill, rules, &manifest).hooks.is_none());
        }
    }
}
