//! What the built-in commands answer. None of them asks a model.

use super::{Chat, is_startable};
use crate::event_line::count;
use crate::moment;
use crate::output::{clean, shortened, width};
use anyhow::Result;
use metier_catalog::{Entry, EntryId, State};
use metier_definition::{BuiltinCommand, SlashCommands, skills_page};
use metier_diagnostic::grouped;
use metier_model::Money;
use metier_runtime::Surface;
use metier_store::{Family, Outcome, SessionFilter, Timestamp};
use metier_tools::{GeneralTools, ServerReport, ServerStatus};

/// How many conversations `/resume` lists.
const LISTED: usize = 10;

impl Chat {
    /// Answers a command. Markdown, since whoever reads it may be a program that shows Markdown.
    pub(crate) fn tell(&mut self, built_in: BuiltinCommand, rest: &str) -> Result<String> {
        match built_in {
            BuiltinCommand::Help => Ok(self.help()),
            BuiltinCommand::Skills => Ok(self.skills()),
            BuiltinCommand::Tools => self.tools(),
            BuiltinCommand::Model => self.model(rest),
            BuiltinCommand::Cost => self.cost(),
            BuiltinCommand::Resume => self.resume(rest),
            BuiltinCommand::Compact => self.compact(),
            BuiltinCommand::Servers => Ok(self.servers()),
            // Whoever reads lines ends it.
            BuiltinCommand::Exit => Ok(String::new()),
        }
    }

    fn help(&self) -> String {
        let commands = SlashCommands { commands: self.commands(), is_skill: &|_| false };
        let mut text = commands.help();
        text.push_str(
            "\n`/NAME ARGUMENTS` starts a skill, `$NAME` in a message does, too; `/skills` lists them.\n",
        );
        text.push_str(
            "A backslash at the end of a line, or Alt-Enter, begins another line of the same message.\n",
        );
        text.push_str("Ctrl-C stops what the agent does; twice on an empty line leaves, and so does Ctrl-D.");
        text
    }

    /// The skills, and nothing but skills.
    fn skills(&self) -> String {
        let snapshot = self.outfit.skills.snapshot();
        let is_there = |(id, entry): &(EntryId, &Entry)| {
            (entry.is_offered() || is_startable(entry)) && self.sees(&snapshot, *id)
        };
        let mut entries: Vec<&Entry> = snapshot.entries().filter(is_there).map(|(_, entry)| entry).collect();
        entries.sort_by_key(|entry| entry.name().to_string());
        if entries.is_empty() {
            return "there are no skills here; `metier list` says where they are looked for".to_owned();
        }
        let rows: Vec<(String, String)> = entries.into_iter().map(row).collect();
        let rows = rows.iter().map(|(name, text)| (name.as_str(), text.as_str()));
        skills_page(rows).trim_end().to_owned()
    }

    fn tools(&self) -> Result<String> {
        let skills = self.outfit.skills.toolset(Surface::default());
        let general = GeneralTools::new(self.outfit.setting())?;
        let mut text = "# Tools of the model:".to_owned();
        for definition in skills.definitions().cloned().chain(general.definitions()) {
            let first = definition.description.split_inclusive(". ").next().unwrap_or_default();
            text.push_str(&format!("\n- **{}**: {}", definition.name, shortened(first.trim(), width())));
        }
        Ok(text)
    }

    /// The servers of this agent and their tools. They are started for it where they are not there yet.
    fn servers(&self) -> String {
        let Some(outside) = self.outfit.agent.outside.as_ref() else {
            return "no MCP server is asked in this conversation".to_owned();
        };
        let tools = outside.tools();
        let mut text = "# MCP servers:".to_owned();
        for ServerReport { server, footing } in outside.standings() {
            let own: Vec<&str> =
                tools.iter().filter(|tool| tool.server == server).map(|tool| tool.tool.as_str()).collect();
            let told = match footing {
                ServerStatus::Down(why) => format!("is not there: {why}"),
                ServerStatus::Idle | ServerStatus::Up if own.is_empty() => "has no tools".to_owned(),
                ServerStatus::Idle | ServerStatus::Up => own.join(", "),
            };
            text.push_str(&format!("\n- **{}**: {}", clean(&server), shortened(&told, width())));
        }
        text
    }

    fn model(&mut self, name: &str) -> Result<String> {
        if !name.is_empty() {
            self.change_model(name)?;
        }
        let asked = clean(&self.outfit.agent.model_name());
        Ok(match &self.outfit.offline {
            Some(why) if name.is_empty() => {
                format!("no language model is asked: {}; `/model PROVIDER/MODEL` asks one", clean(why))
            }
            Some(_) => "no language model is asked from now on".to_owned(),
            None if name.is_empty() => format!("{asked} is asked; `/model NAME` asks another one"),
            None => format!("{asked} is asked from now on"),
        })
    }

    fn cost(&self) -> Result<String> {
        let Some(id) = self.session() else {
            return Ok("nothing was said yet, so nothing was used".to_owned());
        };
        let summary = self.outfit.agent.store.session(id)?;
        let usage = &summary.usage;
        let cached =
            if usage.cached > 0 { format!(" and {} cached", grouped(usage.cached)) } else { String::new() };
        let cost = match summary.cost_micros {
            0 => "no price is known for it".to_owned(),
            micros => format!("cost {}", Money::from_micros(micros)),
        };
        let tokens = format!("{} tokens{cached} ({} out)", grouped(usage.uncached()), grouped(usage.output));
        Ok(format!(
            "session {}: {}, {}, {tokens}, {cost}",
            id.short(),
            count(summary.turns, "turn", "turns"),
            count(summary.calls, "call", "calls")
        ))
    }

    fn resume(&mut self, typed: &str) -> Result<String> {
        if typed.is_empty() {
            return self.others();
        }
        let id = self.find(typed)?;
        let left = self.take_up(id)?;
        let summary = self.outfit.agent.store.session(id)?;
        let mut text = format!("session {}: {}", id.short(), shortened(&summary.title, width()));
        for line in left {
            text.push_str(&format!("\n{line}"));
        }
        Ok(text)
    }

    /// The latest conversations but this one.
    fn others(&self) -> Result<String> {
        let filter =
            SessionFilter { family: Family::TopLevel, limit: Some(LISTED + 1), ..SessionFilter::default() };
        let found = self.outfit.agent.store.sessions(&filter)?;
        let now = Timestamp::now();
        let others = found.iter().filter(|summary| Some(summary.id) != self.session()).take(LISTED);
        let lines = others.map(|summary| {
            format!(
                "- {}  {:<10}  {:<9}  {}",
                summary.id.short(),
                moment::ago(summary.changed, now),
                summary.outcome.map_or("open", Outcome::word),
                shortened(&summary.title, width().saturating_sub(36))
            )
        });
        let lines: Vec<String> = lines.collect();
        if lines.is_empty() {
            return Ok("there is no other conversation".to_owned());
        }
        Ok(format!("# Conversations, `/resume ID` goes on with one:\n{}", lines.join("\n")))
    }
}

/// What may stand behind a command.
pub(super) fn hint(built_in: BuiltinCommand) -> &'static str {
    match built_in {
        BuiltinCommand::Model => "[NAME]",
        BuiltinCommand::Resume => "[ID]",
        _ => "",
    }
}

/// A skill by its name, and what is said of it.
fn row(entry: &Entry) -> (String, String) {
    let only = match entry.state() {
        State::UserOnly => " (you start it)",
        _ if !entry.is_user_invocable() => " (the model starts it)",
        _ => "",
    };
    let hint = entry.argument_hint().map(|hint| format!("[{}] ", clean(hint))).unwrap_or_default();
    let description = shortened(entry.description(), width());
    (clean(&entry.name().to_string()), format!("{hint}{description}{only}"))
}
