//! One entry of a tool list, and what it lets through.

use super::{Folders, McpTools};
use crate::CommandPattern;
use crate::aspect::{Aspect, Part, Run};
use crate::rule::Rule;
use metier_diagnostic::visible;
use metier_skill::{Tool, ToolPattern};

/// One entry as it is written, and the rule it is: [`Rule::Absent`] where it can never match.
#[derive(Clone, Debug)]
pub(super) struct Entry {
    pub(super) text: String,
    pub(super) rule: Rule,
}

impl Entry {
    pub(super) fn read(
        pattern: &ToolPattern,
        folders: &Folders,
        servers: &McpTools,
        notes: &mut Vec<String>,
    ) -> Self {
        let text = pattern.to_string();
        let argument = pattern.argument.as_ref().map(|argument| folders.expand(&pattern.tool, argument));
        let filled = ToolPattern { tool: pattern.tool.clone(), argument };
        // The table goes first: a server that calls a tool `Bash` does not get what was meant for the real one.
        let is_built_in = Tool::named(&pattern.tool).is_some_and(Tool::is_built_in);
        let bare =
            if is_built_in || pattern.argument.is_some() { None } else { servers.resolve(&pattern.tool) };
        if let Some((server, tool)) = bare
            && let (Ok(server), Ok(tool)) = (server.parse(), tool.parse())
        {
            return Self { text, rule: Rule::Mcp { server, tool } };
        }
        let rule = Rule::of_pattern(&filled);
        match &rule {
            Ok(Rule::Absent(_)) => {
                notes.push(format!("metier has no tool `{}`, so this entry never matches", visible(&text)));
            }
            Ok(_) => {}
            Err(error) => notes.push(format!("{error}; the entry never matches")),
        }
        let rule = rule.unwrap_or_else(|_| Rule::Absent(text.clone()));
        Self { text, rule }
    }

    /// `*`, where it takes away.
    pub(super) fn every() -> Self {
        Self { text: "*".to_owned(), rule: Rule::Any }
    }

    /// Whether a part of an action is inside a fence because of this entry.
    pub(super) fn admits(&self, aspect: &Aspect<'_>) -> bool {
        match (&aspect.part, &self.rule) {
            (Part::Script { .. }, _) => self.admits_program(aspect),
            // A list is about tools. `Skill(pdf)` names the tool that activates, not what pdf does afterwards.
            (_, Rule::Skill { .. } | Rule::Any) => false,
            (Part::Read(_), Rule::Tool { tool: Tool::Read, glob }) => glob.is_none(),
            (Part::Need { tool: Some(Tool::WebFetch), .. }, Rule::Tool { tool, .. }) => {
                *tool == Tool::WebFetch
            }
            (_, rule) => rule.covers(aspect),
        }
    }

    /// Whether a skill's own program is inside: a script named by the tool that runs scripts, by `Bash`, or by a pattern
    /// of what would be started; an injected command by a pattern of it.
    pub(super) fn admits_program(&self, aspect: &Aspect<'_>) -> bool {
        match (&aspect.part, &self.rule) {
            (Part::Script { .. }, Rule::Script | Rule::Bash)
            | (Part::Run { kind: Run::Inject, .. }, Rule::Bash) => true,
            (Part::Script { file, argv }, Rule::Command(pattern)) => starts(pattern, file, argv),
            (Part::Run { kind: Run::Inject, command: Some(command), .. }, Rule::Command(pattern)) => {
                pattern.matches(command)
            }
            _ => false,
        }
    }
}

/// Names of one interpreter. Authors write either, and which of them a machine has is not theirs to know.
const SAME: &[&[&str]] = &[&["python3", "python"], &["bash", "sh"]];

/// Whether a pattern means the start of a script, in any of the ways in which it can be written: with the interpreter by
/// each of its names or without one, and with the script's path absolute, relative, or with `./`.
fn starts(pattern: &CommandPattern, file: &str, argv: &[String]) -> bool {
    let file = file.strip_prefix("./").unwrap_or(file);
    let ends_with_it = |word: &String| {
        word.strip_suffix(file)
            .is_some_and(|before| before.is_empty() || before == "./" || before.ends_with('/'))
    };
    // Only the words before the script's own arguments can be the script.
    let Some(at) = argv.iter().take(3).position(ends_with_it) else { return pattern.matches_argv(argv) };
    let (before, from) = argv.split_at(at);
    let Some((script, arguments)) = from.split_first() else { return false };
    let mut starts: Vec<Vec<&str>> = vec![before.iter().map(String::as_str).collect()];
    if let [interpreter] = before {
        let name = interpreter.rsplit('/').next().unwrap_or(interpreter);
        starts.push(Vec::new());
        starts.push(vec![name]);
        let others = SAME.iter().find(|names| names.contains(&name));
        starts.extend(others.into_iter().flat_map(|names| names.iter()).map(|name| vec![*name]));
    }
    let dotted = format!("./{file}");
    let paths = [script.as_str(), file, dotted.as_str()];
    starts.iter().any(|start| {
        paths.iter().any(|path| {
            let words: Vec<&str> =
                start.iter().copied().chain([*path]).chain(arguments.iter().map(String::as_str)).collect();
            pattern.matches_argv(&words)
        })
    })
}
