//! Skills and crew members as tools, for an agent that hands over, and `hand_back`.

use std::collections::HashSet;
use std::sync::Arc;

use metier_model::ToolDefinition;
use metier_runtime::Session as SkillSession;
use serde_json::json;

use super::CrewMember;

/// The most handoff tools of an agent: providers take about as many tools, and a model that has to choose among more needs a
/// catalogue and a search instead.
const MAX_HANDOFFS: usize = 64;

/// The longest name of a tool that every provider takes.
const MAX_NAME: usize = 64;

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
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct HandoffTool {
    /// The tool's name.
    pub(crate) tool: String,
    pub(crate) target: HandoffTarget,
    description: String,
}

/// The handoff tools of a session, and how many skills have none.
pub(crate) fn handoff_tools(session: &SkillSession, crew: &[CrewMember]) -> (Vec<HandoffTool>, usize) {
    let mut taken = HashSet::new();
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
        tools.push(HandoffTool { tool, target: HandoffTarget::Skill(skill), description });
    }
    for (at, member) in crew.iter().enumerate() {
        if tools.len() == MAX_HANDOFFS {
            left += 1;
            continue;
        }
        let tool = tool_name(&member.name, &mut taken);
        tools.push(HandoffTool {
            tool,
            target: HandoffTarget::CrewMember(at),
            description: member.purpose(),
        });
    }
    (tools, left)
}

/// `handoff_to_` and the skill's name, in the letters that every provider takes, and no other's.
fn tool_name(skill: &str, taken: &mut HashSet<String>) -> String {
    let letter = |letter: char| {
        if letter.is_ascii_alphanumeric() || letter == '-' { letter.to_ascii_lowercase() } else { '_' }
    };
    let name: String = skill.chars().map(letter).collect();
    let mut tool = format!("handoff_to_{name}");
    tool.truncate(MAX_NAME);
    let mut number = 2;
    while !taken.insert(tool.clone()) {
        let end = format!("_{number}");
        tool.truncate(MAX_NAME - end.len());
        tool.push_str(&end);
        number += 1;
    }
    tool
}

impl HandoffTool {
    /// The tool as a model sees it.
    pub(crate) fn definition(&self) -> ToolDefinition {
        let about = "What is to be done, with everything that it takes: nothing else of this conversation is seen there. \
                     Without it the user's last words.";
        ToolDefinition {
            name: self.tool.as_str().into(),
            description: self.description.as_str().into(),
            parameters: Arc::new(json!({
                "type": "object",
                "properties": { "request": { "type": "string", "description": about } },
                "additionalProperties": false,
            })),
        }
    }
}

/// `hand_back`.
pub(crate) fn hand_back() -> ToolDefinition {
    let about = "The result, as the user should get it. Without it the result of your last call.";
    ToolDefinition {
        name: HAND_BACK.into(),
        description: "Hands the result back and ends your work. Call it as soon as you have the result."
            .into(),
        parameters: Arc::new(json!({
            "type": "object",
            "properties": { "result": { "type": "string", "description": about } },
            "additionalProperties": false,
        })),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_route_is_called_by_its_skill_in_letters_that_every_provider_takes_and_no_two_alike() {
        let mut taken = HashSet::new();
        let mut check = |skill: &str, expect: &str| assert_eq!(tool_name(skill, &mut taken), expect);
        check("create-task", "handoff_to_create-task");
        check("Größe_1", "handoff_to_gr__e_1");
        check("gröse_1", "handoff_to_gr_se_1");
        check("grïse_1", "handoff_to_gr_se_1_2");
        let long = "x".repeat(80);
        check(&long, &format!("handoff_to_{}", "x".repeat(53)));
        check(&long, &format!("handoff_to_{}_2", "x".repeat(51)));
    }
}
