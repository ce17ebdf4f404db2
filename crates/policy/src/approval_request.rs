//! What a person is asked to approve: a value with every part of it, which each surface renders whole.

mod change_list;

use crate::action::{Action, Deed, Need};
use change_list::change_lines;
use metier_diagnostic::visible;

/// What a person is asked to approve.
///
/// A yes grants all of it, so nothing of it is ever left out: a surface that cannot show every part refuses instead of asking.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ApprovalRequest {
    /// Who does what, such as "the skill `pdf` (user) runs its script".
    pub subject: String,
    /// What a yes gives beyond the default containment, one text each. Wildcards come first, then secrets, then single hosts and
    /// files.
    pub grants: Vec<String>,
    /// What would be changed in the project: protected places first, then what is lost, a line each. Of a long list folders are
    /// folded to counts and sizes.
    pub changes: Vec<String>,
    /// Whether every part is shown. What is folded is approved once and not for longer.
    pub is_whole: bool,
    /// The command line, or the script and its arguments, as it would run.
    pub command: Option<String>,
}

/// Wide grants come first, so that a long list of narrow ones cannot hide them.
fn rank(need: &Need) -> u8 {
    match need {
        Need::WriteBelow(glob) if has_wildcard(&glob.to_string()) => 0,
        Need::Hosts(hosts) if has_wildcard(&hosts.to_string()) => 0,
        Need::Secret(_) => 1,
        Need::WriteBelow(_) | Need::Hosts(_) | Need::Write(_) | Need::Host { .. } => 2,
    }
}

/// A folder, written with a slash at its end, means everything below it.
fn has_wildcard(pattern: &str) -> bool {
    pattern.contains(['*', '?']) || pattern.ends_with('/')
}

impl ApprovalRequest {
    /// All of it as lines: the subject, a line for each grant, and the command. Every character can be seen, and no part can
    /// pass for another: grants and the lines of a command have marks of their own in front.
    pub fn lines(&self) -> Vec<String> {
        let mut lines = vec![visible(&self.subject).into_owned()];
        lines.extend(self.grants.iter().map(|grant| format!("  - {grant}")));
        lines.extend(self.changes.iter().cloned());
        let command = self.command.iter().flat_map(|command| command.split('\n'));
        lines.extend(command.map(|line| format!("  $ {}", visible(line))));
        lines
    }
}

impl Action {
    /// What a yes to this action would approve.
    pub fn approval_request(&self) -> ApprovalRequest {
        let subject = match &self.deed {
            Deed::Read { place } => format!("{} `{place}`", self.subject()),
            Deed::Tool { place: Some(place), .. } => format!("{} for `{place}`", self.subject()),
            _ => self.subject(),
        };
        if let Deed::Changes(changes) = &self.deed {
            let (changes, is_whole) = change_lines(changes);
            return ApprovalRequest { subject, grants: Vec::new(), changes, is_whole, command: None };
        }
        let more = match &self.deed {
            Deed::More(need) => Some(need),
            _ => None,
        };
        let mut grants: Vec<&Need> = self.needs.iter().chain(more).collect();
        grants.sort_by_key(|need| rank(need));
        let grants = grants.into_iter().map(|need| visible(&need.words()).into_owned()).collect();
        ApprovalRequest { subject, grants, changes: Vec::new(), is_whole: true, command: self.command_text() }
    }

    /// The command line, or the script and its arguments, whole.
    pub(crate) fn command_text(&self) -> Option<String> {
        match &self.deed {
            Deed::Script { file, argv, .. } => {
                let arguments = argv.iter().position(|word| word.ends_with(file.as_str()));
                let words = argv.get(arguments.map_or(0, |at| at + 1)..).unwrap_or_default();
                let words = words.iter().map(|word| crate::shell::quote(word));
                let all: Vec<_> = std::iter::once(file.as_str().into()).chain(words).collect();
                Some(all.join(" "))
            }
            Deed::Command(line) | Deed::Inject(line) | Deed::Hook { line, .. } => {
                Some(line.text().to_owned())
            }
            Deed::Activate
            | Deed::Read { .. }
            | Deed::More(_)
            | Deed::Tool { .. }
            | Deed::Mcp { .. }
            | Deed::Changes(_) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::action::{Actor, Skill};
    use crate::host::HostPattern;

    #[test]
    fn every_grant_has_a_line_and_wide_ones_come_first() {
        let host = |text: &str| Need::Hosts(text.parse::<HostPattern>().unwrap());
        let action = Action::script(
            Skill::new("docs", "user"),
            "scripts/a.sh",
            &["bash", "/s/scripts/a.sh", "x y"],
            None,
        )
        .needing(host("raw.example.org"))
        .needing(host("*.exfil.example"))
        .needing(Need::Secret("TOKEN".into()))
        .needing(Need::WriteBelow("**".parse().unwrap()));
        assert_eq!(
            action.approval_request().lines(),
            [
                "the skill `docs` (user) runs its script",
                "  - reach `*.exfil.example`",
                "  - write `**`",
                "  - see the secret `TOKEN`",
                "  - reach `raw.example.org`",
                "  $ scripts/a.sh 'x y'",
            ]
        );
    }

    #[test]
    fn a_command_is_whole_and_its_lines_are_marked_as_its_own() {
        let long = format!("echo {}\n  - reach `api.example.org`\u{1b}[2J", "x".repeat(12_000));
        let lines = Action::command(Actor::Agent, &long).approval_request().lines();
        assert_eq!(lines[1].len(), "  $ echo ".len() + 12_000);
        assert_eq!(lines[2], "  $   - reach `api.example.org`\\u{1b}[2J");
    }
}
