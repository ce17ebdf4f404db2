//! Skills and crew members as tools, for an agent that hands over, and `hand_back`.

use std::collections::BTreeSet;

use metier_runtime::{Definition, Plan, SideEffect, SkillSession, Tool, ToolContext, ToolResult};
use metier_tools::offered_name;
use serde_json::{Value, json};

use super::CrewMember;

/// The most handoff tools of an agent: providers take about as many tools, and a model that has to choose among more needs a
/// catalogue and a search instead.
const MAX_HANDOFFS: usize = 64;

/// The tool by which a sub-agent hands its result back.
pub(crate) const HAND_BACK: &str = "hand_back";

/// What a sub-agent is told after its skill's text when work was handed to it.
pub(crate) const HAND_BACK_RULES: &str = "# How to work\n\
     This work was handed over to you, and you speak to a router, not to the user.\n\
     1. Begin with a call: run the command that the instructions above are about.\n\
     2. Where something is not said, take the most likely value and run it; ask nothing.\n\
     3. Load a reference only when you cannot call without it.\n\
     4. As soon as the command has answered, call `hand_back` with the result. No words of your own besides.";

/// Who gets the work.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum HandoffTarget {
    /// A skill, by its name.
    Skill(String),
    /// A crew member, by its place in the crew.
    CrewMember(usize),
}

/// A tool that hands work over.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct HandoffTool {
    pub(crate) definition: Definition,
    pub(crate) target: HandoffTarget,
}

/// The handoff tools of a session, and how many skills have none.
pub(crate) fn handoff_tools(session: &SkillSession, crew: &[CrewMember]) -> (Vec<HandoffTool>, usize) {
    let mut taken = BTreeSet::new();
    let mut tools = Vec::new();
    let mut left = 0;
    for (_, skill, description) in session.offered() {
        // Crew members are few, and nothing else leads to their skills.
        if tools.len() + crew.len().min(MAX_HANDOFFS) >= MAX_HANDOFFS {
            left += 1;
            continue;
        }
        let tool = tool_name(&skill, &mut taken);
        let description = match description.as_str() {
            "" => format!("Hands over to the skill {skill}."),
            _ => description,
        };
        tools.push(HandoffTool::new(tool, description, HandoffTarget::Skill(skill)));
    }
    for (at, member) in crew.iter().enumerate() {
        if tools.len() == MAX_HANDOFFS {
            left += 1;
            continue;
        }
        let tool = tool_name(&member.name, &mut taken);
        tools.push(HandoffTool::new(tool, member.purpose(), HandoffTarget::CrewMember(at)));
    }
    (tools, left)
}

/// The name of the tool that hands over to a skill or a crew member.
fn tool_name(name: &str, taken: &mut BTreeSet<String>) -> String {
    offered_name(&format!("handoff_to_{}", name.to_ascii_lowercase()), taken)
}

impl HandoffTool {
    fn new(name: String, description: String, target: HandoffTarget) -> Self {
        let about = "What is to be done, with everything that it takes: nothing else of this conversation is seen there. \
                     Without it the user's last words.";
        let schema = json!({
            "type": "object",
            "properties": { "request": { "type": "string", "description": about } },
            "additionalProperties": false,
        });
        let (name, description) = (name.into(), description.into());
        Self { definition: Definition { name, description, schema, effect: SideEffect::Runs }, target }
    }

    /// The request that a call hands over with its work, if it has one.
    pub(crate) fn request(input: &Value) -> Option<String> {
        let request = input.get("request").and_then(Value::as_str);
        request.filter(|text| !text.trim().is_empty()).map(str::to_owned)
    }
}

impl Tool for HandoffTool {
    fn definition(&self) -> &Definition {
        &self.definition
    }

    /// Only a call whose skill is gone comes here.
    fn plan<'a>(&'a self, _input: &'a Value, _context: ToolContext<'a>) -> Result<Plan<'a>, Box<ToolResult>> {
        let name = &self.definition.name;
        Err(Box::new(ToolResult::refused(format!("`{name}` cannot take this work: its skill is gone"))))
    }
}

/// `hand_back`: ends a sub-agent's work. The session reads the result from the call.
pub(crate) struct HandBackTool(Definition);

impl Default for HandBackTool {
    fn default() -> Self {
        let about = "The result, as the user should get it. Without it the result of your last call.";
        let schema = json!({
            "type": "object",
            "properties": { "result": { "type": "string", "description": about } },
            "additionalProperties": false,
        });
        let description = "Hands the result back and ends your work. Call it as soon as you have the result.";
        Self(Definition {
            name: HAND_BACK.into(),
            description: description.into(),
            schema,
            effect: SideEffect::ReadOnly,
        })
    }
}

impl Tool for HandBackTool {
    fn definition(&self) -> &Definition {
        &self.0
    }

    fn plan<'a>(&'a self, _input: &'a Value, _context: ToolContext<'a>) -> Result<Plan<'a>, Box<ToolResult>> {
        Ok(Plan::free(|_| ToolResult::done("It is handed back.".to_owned())))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_route_is_called_by_its_skill_in_letters_that_every_provider_takes_and_no_two_alike() {
        let mut taken = BTreeSet::new();
        let mut check = |skill: &str, expect: &str| assert_eq!(tool_name(skill, &mut taken), expect);
        check("create-task", "handoff_to_create-task");
        check("Größe_1", "handoff_to_gr__e_1");
        check("gröse_1", "handoff_to_gr_se_1");
        check("grïse_1", "handoff_to_gr_se_1_2");
        check("gräse_1", "handoff_to_gr_se_1_3");
        let long = "x".repeat(80);
        check(&long, &format!("handoff_to_{}", "x".repeat(53)));
        check(&long, &format!("handoff_to_{}_2", "x".repeat(51)));
    }
}
