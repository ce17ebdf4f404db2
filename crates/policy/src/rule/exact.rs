//! The rule that would allow exactly this, for "add this to your configuration".

use super::{Reach, Rule, SkillPart, script_name};
use crate::CommandPattern;
use crate::action::{Action, Need, Skill};
use crate::aspect::{Aspect, Part, Run};
use crate::file_glob::FileGlob;
use crate::host::HostPattern;
use crate::name_glob::{NameGlob, SkillPattern};
use crate::shell::{self, quoted};
use metier_diagnostic::visible;
use metier_skill::Tool;
use std::collections::HashSet;

impl Action {
    /// The rules that would allow this action and as little else as the language can say: one for each simple command
    /// and each need. Empty where no rule can, such as for a command line that cannot be read.
    pub fn rules(&self) -> Vec<Rule> {
        rules_for(&self.aspects().iter().collect::<Vec<_>>())
    }

    /// The rule that lets whoever acts write what a glob means.
    pub(crate) fn write_rule(&self, glob: &FileGlob) -> Option<Rule> {
        let need = Need::WriteBelow(glob.clone());
        Aspect { actor: &self.actor, part: Part::Need { need: &need, tool: None } }.rule()
    }
}

/// The rules that would allow these parts; none where one part has no rule.
pub(crate) fn rules_for(aspects: &[&Aspect<'_>]) -> Vec<Rule> {
    // A set, since a build may have changed ten thousand paths.
    let (mut rules, mut known) = (Vec::new(), HashSet::new());
    for aspect in aspects {
        let Some(rule) = aspect.rule() else { return Vec::new() };
        if known.insert(rule.clone()) {
            rules.push(rule);
        }
    }
    rules
}

impl Aspect<'_> {
    /// The rule for one part. It is held against the part before it is offered: a rule that does not do what it promises
    /// is worse than none.
    pub(crate) fn rule(&self) -> Option<Rule> {
        let own = |part: Option<SkillPart>| {
            let skill = pattern(self.actor.skill()?)?;
            Some(Rule::Skill { skill, part })
        };
        let rule = match self.part {
            Part::Activate => own(None)?,
            Part::Read(place) => own(Some(SkillPart::Read(FileGlob::of_place(place).ok()?)))?,
            Part::Script { file, .. } => {
                own(Some(SkillPart::Script(FileGlob::exact(script_name(file)).ok()?)))?
            }
            Part::Run { kind: Run::Inject, .. } => own(Some(SkillPart::Inject))?,
            Part::Run { kind: Run::Hook, .. } => own(Some(SkillPart::Hook))?,
            Part::Run { kind: Run::Command, command, .. } => {
                let pattern = of_command(command?)?;
                match self.actor.skill() {
                    Some(_) => own(Some(SkillPart::Command(pattern)))?,
                    None => Rule::Command(pattern),
                }
            }
            Part::Tool {
                tool: tool @ (Tool::Write | Tool::Edit | Tool::Read | Tool::Grep | Tool::Glob),
                place: Some(place),
                ..
            } => Rule::Tool { tool, glob: Some(FileGlob::of_place(place).ok()?) },
            Part::Tool { tool, .. } => Rule::Tool { tool, glob: None },
            Part::Mcp { server, tool } => Rule::Mcp { server: name(server)?, tool: name(tool)? },
            Part::Need { need, tool } => self.rule_of_need(need, tool)?,
        };
        self.settled_by(&rule).then_some(rule)
    }

    fn rule_of_need(&self, need: &Need, tool: Option<Tool>) -> Option<Rule> {
        let reach = match (need, tool) {
            (Need::Write(place), Some(tool)) => {
                return Some(Rule::Tool { tool, glob: Some(FileGlob::of_place(place).ok()?) });
            }
            (Need::Host { host, port }, Some(Tool::WebFetch)) => {
                return Some(Rule::Fetch(HostPattern::exact(host, *port)));
            }
            (Need::Write(place), None) => Reach::Write(FileGlob::of_place(place).ok()?),
            (Need::WriteBelow(glob), _) => Reach::Write(glob.clone()),
            (Need::Host { host, port }, _) => Reach::Host(HostPattern::exact(host, *port)),
            (Need::Hosts(hosts), Some(Tool::WebFetch)) => return Some(Rule::Fetch(hosts.clone())),
            (Need::Hosts(hosts), _) => Reach::Host(hosts.clone()),
            (Need::Secret(secret), _) => Reach::Secret(name(secret)?),
        };
        Some(match self.actor.skill() {
            Some(skill) => Rule::Skill { skill: pattern(skill)?, part: Some(SkillPart::Reach(reach)) },
            None => Rule::Reach(reach),
        })
    }

    fn settled_by(&self, rule: &Rule) -> bool {
        let text = rule.to_string();
        // People copy it from a terminal, so a character that a terminal shows as an escape would be another one.
        let is_shown_whole = visible(&text) == text;
        // Written out and read back, since that is what becomes of it.
        is_shown_whole && text.parse::<Rule>().is_ok_and(|read| read == *rule && read.covers(self))
    }
}

/// A skill with its origin: the name alone would mean a stranger's skill of that name, too.
fn pattern(skill: &Skill) -> Option<SkillPattern> {
    Some(SkillPattern { origin: Some(name(&skill.origin)?), name: name(&skill.name)? })
}

/// The pattern of one name. A server may call its tool `*`, and a rule that says so would mean all of them.
fn name(text: &str) -> Option<NameGlob> {
    text.parse().ok().filter(NameGlob::is_exact)
}

/// The words of a command. With a glob among them there is no rule: what it becomes is not known before the command runs, and
/// a pattern that ends before it would allow far more.
fn of_command(command: &shell::Command) -> Option<CommandPattern> {
    CommandPattern::parse(&quoted(command.argv())).ok().filter(|pattern| pattern.matches(command))
}
