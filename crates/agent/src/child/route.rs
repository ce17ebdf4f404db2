//! Skills as tools, for an agent that hands over: one route each, and the way back.

use std::collections::HashSet;
use std::sync::Arc;

use metier_model::{ToolCall, ToolDefinition};
use metier_runtime::Session;
use serde_json::json;

use super::Colleague;

/// How many routes an agent has at most: providers take about as many tools, and a model that has to choose among more needs a
/// catalogue and a search instead.
const MOST_ROUTES: usize = 64;

/// How long the name of a tool may be, which every provider takes.
const LONGEST_NAME: usize = 64;

/// The tool by which a child hands back.
pub(crate) const HAND_BACK: &str = "hand_back";

/// What a child is told behind its skill's text when work was handed over to it.
pub(crate) const HAND_BACK_RULES: &str = "# How to work\n\
     This work was handed over to you, and you speak to a router, not to the user.\n\
     1. Begin with a call: run the command that the instructions above are about.\n\
     2. Where something is not said, take the most likely value and run it; ask nothing.\n\
     3. Load a reference only when you cannot call without it.\n\
     4. As soon as the command has answered, call `hand_back` with the result. No words of your own besides.";

/// Where a route leads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Lead {
    /// To a skill, by its name.
    Skill(String),
    /// To somebody else of the crew, by their place among them.
    Colleague(usize),
}

/// A way to hand work over, as a tool.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Route {
    /// What the tool is called.
    pub(crate) tool: String,
    /// Where it leads.
    pub(crate) lead: Lead,
    description: String,
}

/// The routes of a session and to the others of its crew, and how many skills have none.
pub(crate) fn routes(session: &Session, colleagues: &[Colleague]) -> (Vec<Route>, usize) {
    let mut taken = HashSet::new();
    let mut routes = Vec::new();
    let mut left = 0;
    for (_, skill, description) in session.offered() {
        // Others of the crew are few, and nobody else leads to what they can do.
        if routes.len() + colleagues.len().min(MOST_ROUTES) >= MOST_ROUTES {
            left += 1;
            continue;
        }
        let tool = tool_name(&skill, &mut taken);
        let description = match description.as_str() {
            "" => format!("Hands over to the skill {skill}."),
            _ => description,
        };
        routes.push(Route { tool, lead: Lead::Skill(skill), description });
    }
    for (at, colleague) in colleagues.iter().enumerate() {
        if routes.len() == MOST_ROUTES {
            left += 1;
            continue;
        }
        let tool = tool_name(&colleague.name, &mut taken);
        routes.push(Route { tool, lead: Lead::Colleague(at), description: colleague.purpose() });
    }
    (routes, left)
}

/// `handoff_to_` and the skill's name, in the letters that every provider takes, and no other's.
fn tool_name(skill: &str, taken: &mut HashSet<String>) -> String {
    let letter = |letter: char| {
        if letter.is_ascii_alphanumeric() || letter == '-' { letter.to_ascii_lowercase() } else { '_' }
    };
    let name: String = skill.chars().map(letter).collect();
    let mut tool = format!("handoff_to_{name}");
    tool.truncate(LONGEST_NAME);
    let mut number = 2;
    while !taken.insert(tool.clone()) {
        let end = format!("_{number}");
        tool.truncate(LONGEST_NAME - end.len());
        tool.push_str(&end);
        number += 1;
    }
    tool
}

impl Route {
    /// The tool as a model is told of it. What the skill is for is what the tool is for.
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

/// The way back.
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

/// What a child hands back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum HandedBack {
    /// Its own words.
    Words(String),
    /// Whatever its last call gave.
    LastResult,
}

/// What a child hands back by one of these calls.
pub(crate) fn handed_back(calls: &[ToolCall]) -> Option<HandedBack> {
    let call = calls.iter().find(|call| &*call.name == HAND_BACK)?;
    let words = call.arguments.fields().and_then(|fields| fields.get("result")?.as_str());
    Some(match words.filter(|words| !words.trim().is_empty()) {
        Some(words) => HandedBack::Words(words.to_owned()),
        None => HandedBack::LastResult,
    })
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
