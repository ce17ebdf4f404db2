//! The tools that activate, list and find skills.

use metier_catalog::{EntryId, State, one_line};
use metier_diagnostic::counted;
use metier_policy::Action;
use serde_json::json;

use super::hands::{InUse, Use};
use super::input::{InputProblem, Told};
use super::result::{MetaMessage, ToolResult, error_json};
use super::visible::Purpose;
use super::{Call, Toolset};

/// The most that `list_skills` returns: as much as a page of a file. A model that needs more has `skill_search`.
const MAX_LISTING: usize = 64 * 1024;

/// Characters of a description in a listing: what the open standard allows.
const MAX_DESCRIPTION: usize = 1_024;

/// The most skills one search names; more would push out the work itself.
const MOST_HITS: u64 = 20;

/// Characters of a query. What is longer is no query but a text, and its beginning says what it is about.
const MAX_QUERY: usize = 1_000;

impl Toolset {
    /// `skill_use` and `Skill`: a short confirmation, and the text as a message behind it.
    pub(super) fn use_skill(
        &self,
        call: &Call<'_>,
        fields: (&'static str, &'static str),
    ) -> Result<ToolResult, InputProblem> {
        let input = call.input;
        let (name, arguments) = (input.text(fields.0)?, input.words(fields.1)?);
        Ok(match self.activated(name, &arguments, call) {
            Ok((id, activated, result)) => self.confirmed(id, activated, result),
            Err(refused) => *refused,
        })
    }

    fn confirmed(&self, id: EntryId, activated: InUse, result: ToolResult) -> ToolResult {
        let skill =
            self.visible.snapshot().entry(id).map(|entry| entry.call_name().to_owned()).unwrap_or_default();
        let (text, message) = match activated.instead {
            Some(instead) => (instead, None),
            None => (
                format!("Skill '{skill}' activated successfully. Instructions will follow."),
                Some(MetaMessage { skill, text: activated.message }),
            ),
        };
        ToolResult { text, message, notes: activated.notes, activated: Some(id), ..result }
    }

    /// `load_skill`: the text is in the result itself.
    pub(super) fn load(&self, call: &Call<'_>) -> Result<ToolResult, InputProblem> {
        let name = call.input.text("name")?;
        Ok(match self.activated(name, &Told::Text(String::new()), call) {
            Ok((id, activated, result)) => {
                let InUse { content, frontmatter, instead, notes, .. } = activated;
                let instructions = instead.unwrap_or(content);
                let text = json!({
                    "skill_name": name, "instructions": instructions, "frontmatter": frontmatter,
                });
                ToolResult { text: text.to_string(), notes, activated: Some(id), ..result }
            }
            Err(refused) => {
                let text = error_json(&format!("load frontmatter for skill \"{name}\": {}", refused.text));
                ToolResult { text, ..*refused }
            }
        })
    }

    /// Finds a skill, asks the gate and activates it; the error is the answer in plain words.
    fn activated(
        &self,
        name: &str,
        arguments: &Told,
        call: &Call<'_>,
    ) -> Result<(EntryId, InUse, ToolResult), Box<ToolResult>> {
        let Call { surface, desk, .. } = *call;
        let id = self
            .visible
            .find(name, Purpose::Activate, desk.active)
            .map_err(|refusal| Box::new(ToolResult::refused(refusal.text(surface))))?;
        let decision = desk.hands.decide(&Action::activate(desk.hands.skill(id)));
        if !decision.is_allowed() {
            return Err(Box::new(ToolResult::refused(decision.to_string()).by(decision)));
        }
        match desk.activate.activate(&Use { id, name, arguments }) {
            Ok(activated) => Ok((id, activated, ToolResult::default().by(decision))),
            Err(why) => Err(Box::new(ToolResult::refused(why).by(decision))),
        }
    }

    /// `list_skills`: the ADK's list, each tag on a line of its own. Whatever a skill says stays between its tags.
    pub(super) fn list(&self) -> ToolResult {
        let mut xml = String::from("<available_skills>\n");
        let mut left = 0_usize;
        for (_, entry) in self.visible.offered() {
            let description = if entry.state() == State::NameOnly { "" } else { entry.description() };
            let mut description = one_line(description, MAX_DESCRIPTION);
            if let Some(when) = entry.when_to_use().filter(|_| entry.state() != State::NameOnly) {
                if !description.is_empty() {
                    description.push(' ');
                }
                description.push_str(&one_line(when, MAX_DESCRIPTION));
            }
            let (name, description) = (escaped(entry.call_name()), escaped(&description));
            if left > 0 || xml.len() + name.len() + description.len() > MAX_LISTING {
                left += 1;
                continue;
            }
            xml.push_str(&format!(
                "<skill>\n<name>\n{name}\n</name>\n<description>\n{description}\n</description>\n</skill>\n"
            ));
        }
        xml.push_str("</available_skills>");
        if left > 0 {
            xml.push_str(&format!("\n{left} more skills do not fit here; call skill_search to find one"));
        }
        ToolResult::done(json!({ "skills": xml }).to_string())
    }

    /// `skill_search`.
    pub(super) fn search(&self, call: &Call<'_>) -> Result<ToolResult, InputProblem> {
        let Call { input, desk, .. } = *call;
        let query = one_line(input.text("query")?, MAX_QUERY);
        let limit = usize::try_from(input.number("limit")?.min(MOST_HITS)).unwrap_or_default();
        let Some(search) = desk.search else {
            let text =
                "there is no search here; call a skill by its name, or ask the user which one is meant";
            return Ok(ToolResult::refused(text.to_owned()));
        };
        // An index may know of skills that this model may not.
        let hits = search.search(&query, limit).into_iter().filter(|hit| self.visible.offers(&hit.name));
        let mut data = Vec::new();
        let lines: Vec<String> = hits
            .take(limit)
            .map(|hit| {
                let description = one_line(&hit.description, MAX_DESCRIPTION);
                let why = one_line(&hit.why, 200);
                let line = format!("- **{}**: {description} ({why})", hit.name);
                data.push(json!({ "name": hit.name, "description": description, "why": why }));
                line
            })
            .collect();
        let count = counted(self.visible.count(), "skill", "skills");
        let text = match lines.len() {
            0 => format!("none of {count} fits; try other words, or do the work without one"),
            found => format!("{found} of {count}, best first:\n{}", lines.join("\n")),
        };
        let data = json!({ "skills": data, "searched": self.visible.count() });
        Ok(ToolResult { data: Some(Box::new(data)), ..ToolResult::done(text) })
    }
}

/// Text between two tags.
fn escaped(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '"' => safe.push_str("&#34;"),
            '\'' => safe.push_str("&#39;"),
            other => safe.push(other),
        }
    }
    safe
}
