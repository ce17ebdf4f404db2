//! Actions as people write them, to ask about: the same words as rules, with the thing itself in place of a pattern.

use crate::action::{Action, Actor, Need, Skill};
use crate::host::Host;
use crate::place::Place;
use metier_diagnostic::visible;
use metier_skill::Tool;

/// The port of a host that is named without one.
const HTTPS: u16 = 443;

/// Why a text names no action.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{}` names no action: {problem}; {FORMS}", visible(.text))]
pub struct NoAction {
    /// The text.
    pub text: String,
    /// What is wrong with it.
    pub problem: String,
}

const FORMS: &str = "write it like a rule: `skill:NAME`, `skill:NAME/script:FILE`, `skill:NAME/command:LINE`, \
                     `skill:NAME/read:FILE`, `skill:NAME/write:FILE`, `skill:NAME/host:NAME`, `skill:NAME/secret:NAME`, \
                     `skill:NAME/inject:LINE`, `skill:NAME/hook:LINE`, `command:LINE`, `host:NAME`, `Bash(LINE)`, `Write(FILE)`, \
                     `WebFetch(domain:NAME)`, `mcp:SERVER/TOOL`";

impl Action {
    /// Reads an action. `who` gives the skill of a name.
    pub fn from_words(text: &str, who: &mut dyn FnMut(&str) -> Option<Skill>) -> Result<Self, NoAction> {
        let problem = |problem: String| NoAction { text: text.to_owned(), problem };
        let trimmed = text.trim();
        if let Some(rest) = trimmed.strip_prefix("skill:") {
            let (name, part) = match rest.split_once('/') {
                Some((name, part)) => (name, Some(part)),
                None => (rest, None),
            };
            let skill = who(name).ok_or_else(|| problem(format!("there is no skill `{}`", visible(name))))?;
            return match part {
                None => Ok(Self::activate(skill)),
                Some(part) => of_skill(skill, part).map_err(problem),
            };
        }
        if let Some(line) = trimmed.strip_prefix("command:") {
            return Ok(Self::command(Actor::Agent, line));
        }
        if let Some((word @ ("write" | "host" | "secret"), what)) = trimmed.split_once(':') {
            let need = need(word, what).map_err(problem)?;
            return Ok(Self::more(Actor::Agent, need));
        }
        if let Some(rest) = trimmed.strip_prefix("mcp:") {
            let (server, tool) =
                rest.split_once('/').ok_or_else(|| problem("after `mcp:` comes SERVER/TOOL".into()))?;
            return Ok(Self::mcp(Actor::Agent, server, tool));
        }
        if let Some((server, tool)) = trimmed.strip_prefix("mcp__").and_then(|rest| rest.split_once("__")) {
            return Ok(Self::mcp(Actor::Agent, server, tool));
        }
        of_tool(trimmed, who).map_err(problem)
    }
}

fn of_skill(skill: Skill, part: &str) -> Result<Action, String> {
    let (word, what) = part.split_once(':').unwrap_or((part, ""));
    let given = || match what {
        "" => Err(format!("after `/{}` comes `:` and what it is about", visible(word))),
        what => Ok(what),
    };
    let more = |skill: Skill, need: Need| Action::more(Actor::Skill(skill), need);
    Ok(match word {
        "read" => Action::read(skill, given()?),
        // How it would be started is not known here; rules about scripts name the file.
        "script" => {
            let file = given()?;
            let file = if file.contains('/') { file.to_owned() } else { format!("scripts/{file}") };
            Action::script(skill, &file, &[&file], None)
        }
        "command" => Action::command(Actor::Skill(skill), given()?),
        "inject" => Action::inject(skill, what),
        "hook" => Action::hook(skill, "any", what),
        "write" | "host" | "secret" => more(skill, need(word, given()?)?),
        _ => return Err(format!("`/{}` is nothing a skill does", visible(word))),
    })
}

fn of_tool(text: &str, who: &mut dyn FnMut(&str) -> Option<Skill>) -> Result<Action, String> {
    let (name, argument) = match text.split_once('(') {
        Some((name, rest)) => match rest.strip_suffix(')') {
            Some(argument) => (name, Some(argument)),
            None => return Err("its parenthesis is not closed".into()),
        },
        None => (text, None),
    };
    let tool = Tool::named(name).ok_or_else(|| format!("there is no tool `{}`", visible(name)))?;
    Ok(match (tool, argument) {
        (Tool::Bash, Some(line)) => Action::command(Actor::Agent, line),
        (Tool::Bash, None) => return Err("say which command: `Bash(git status)`".into()),
        (Tool::Skill, Some(name)) => Action::activate(
            who(name.trim()).ok_or_else(|| format!("there is no skill `{}`", visible(name)))?,
        ),
        (Tool::Write | Tool::Edit, Some(path)) => Action::write(Actor::Agent, tool, Place::new(path)),
        (Tool::Write | Tool::Edit, None) => return Err(format!("say which file: `{name}(docs/a.md)`")),
        (Tool::WebFetch, Some(argument)) => {
            let (host, port) = host(argument.strip_prefix("domain:").unwrap_or(argument))?;
            Action::fetch(Actor::Agent, host, port)
        }
        (Tool::WebFetch, None) => return Err("say which host: `WebFetch(domain:example.org)`".into()),
        (tool, path) => Action::tool(Actor::Agent, tool, path.map(Place::new)),
    })
}

/// Something beyond the default containment.
fn need(word: &str, what: &str) -> Result<Need, String> {
    let what = what.trim();
    if what.is_empty() {
        return Err(format!("after `{}:` comes what it is about", visible(word)));
    }
    Ok(match word {
        "write" => Need::Write(Place::new(what)),
        "secret" => Need::Secret(what.to_owned()),
        _ => {
            let (host, port) = host(what)?;
            Need::Host { host, port }
        }
    })
}

fn host(text: &str) -> Result<(Host, u16), String> {
    let (name, port) = match text.rsplit_once(':') {
        Some((name, port)) if !name.contains(':') && port.bytes().all(|byte| byte.is_ascii_digit()) => {
            (name, port.parse().map_err(|_| format!("`{port}` is no port"))?)
        }
        _ => (text, HTTPS),
    };
    Host::new(name).map(|host| (host, port)).map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Action, NoAction> {
        Action::from_words(text, &mut |name| (name == "deploy").then(|| Skill::new("deploy", "user")))
    }

    fn check(text: &str, expect: &str) {
        assert_eq!(read(text).unwrap().sentence(), expect, "{text}");
    }

    #[test]
    fn actions_are_written_like_rules() {
        check("skill:deploy", "the skill `deploy` (user) is activated");
        check("Skill(deploy)", "the skill `deploy` (user) is activated");
        check("skill:deploy/script:run.sh", "the skill `deploy` (user) runs its script: `scripts/run.sh`");
        check("skill:deploy/command:git push", "the skill `deploy` (user) runs a command: `git push`");
        check("command:rm -rf /", "the agent runs a command: `rm -rf /`");
        check("Bash(git status)", "the agent runs a command: `git status`");
        check("host:example.org", "the agent wants to reach `example.org:443`");
        check("write:docs/a", "the agent wants to write `docs/a`");
        check("secret: TOKEN", "the agent wants to see the secret `TOKEN`");
        check("mcp__github__create_issue", "the agent calls the MCP tool `github/create_issue`");
        assert_eq!(read("mcp:github/create_issue").unwrap(), read("mcp__github__create_issue").unwrap());
    }

    #[test]
    fn what_is_no_action_says_how_to_write_one() {
        for (text, problem) in [
            ("", "there is no tool ``"),
            ("skill:nobody", "there is no skill `nobody`"),
            ("skill:deploy/dance:x", "`/dance` is nothing a skill does"),
            ("skill:deploy/script", "after `/script` comes `:` and what it is about"),
            ("host:", "after `host:` comes what it is about"),
            ("skill:deploy/host:", "after `/host` comes `:` and what it is about"),
            ("Bash", "say which command: `Bash(git status)`"),
            ("Bash(git", "its parenthesis is not closed"),
            ("Write", "say which file: `Write(docs/a.md)`"),
        ] {
            let error = read(text).unwrap_err();
            assert_eq!(error.problem, problem, "{text}");
            assert!(error.to_string().contains("write it like a rule"));
        }
    }
}
