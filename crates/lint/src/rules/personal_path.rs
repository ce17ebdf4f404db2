use crate::{Check, Findings, Rule, Skill};
use metier_diagnostic::{Severity, Span};

pub(super) static RULE: Rule =
    Rule::new("personal-path", Severity::Warning, include_str!("personal_path.md"), Check::Skill(check));

/// The folders in which systems keep the homes of people, behind the separator that begins them.
const HOMES: &[&str] = &["Users/", "home/", "Users\\", "\\Users\\\\"];

/// Names that are nobody's: accounts of containers and services, and those that examples are written with.
const NOBODY: &[&str] = &[
    "admin",
    "administrator",
    "agent",
    "airflow",
    "alice",
    "all",
    "analyst",
    "app",
    "appuser",
    "bar",
    "bob",
    "builder",
    "ci",
    "circleci",
    "claude",
    "coder",
    "codespace",
    "computeruse",
    "container",
    "default",
    "deploy",
    "deployer",
    "dev",
    "developer",
    "devuser",
    "docker",
    "ec2-user",
    "example",
    "foo",
    "frappe",
    "git",
    "gitpod",
    "guest",
    "hermes",
    "jane",
    "jdoe",
    "john",
    "johndoe",
    "jovyan",
    "jsmith",
    "kali",
    "linuxbrew",
    "me",
    "model",
    "my",
    "myuser",
    "name",
    "nobody",
    "node",
    "nonroot",
    "oai",
    "openclaw",
    "pi",
    "postgres",
    "project",
    "public",
    "root",
    "runner",
    "sandbox",
    "shared",
    "site",
    "someone",
    "student",
    "suspect",
    "test",
    "tester",
    "testuser",
    "ubuntu",
    "user",
    "user1",
    "username",
    "users",
    "vagrant",
    "vercel-sandbox",
    "victim",
    "vscode",
    "web",
    "whoever",
    "work",
    "workspace",
    "www-data",
    "x",
    "xxx",
    "xyz",
    "you",
    "yourname",
    "yourusername",
];

fn check(skill: &Skill<'_>, findings: &mut Findings<'_>) {
    let message = |name| format!("this path is in the home of `{name}`, which others do not have");
    for (start, end, name) in personal_paths(skill.source) {
        let help = "write it from the skill's folder, from the project or from `~`";
        findings.report(skill, Span::new(start, end), message(name), help);
    }
    for file in skill.files.all() {
        let Some(text) = file.text.as_deref() else { continue };
        // The interpreter is the matter of `interpreter-path`.
        let body = file.interpreter_line().map_or(0, str::len);
        let Some((start, end, name)) = personal_paths(text).find(|(start, ..)| *start > body) else {
            continue;
        };
        let found = findings.in_file(skill, &file.path, Some((Span::new(start, end), text)), message(name));
        findings.add(found.help("find the path when the script runs, for example from `HOME`"));
    }
}

/// The paths of a text that lead into somebody's home: where the home begins and ends, and whose it is.
fn personal_paths(text: &str) -> impl Iterator<Item = (usize, usize, &str)> {
    let slashes = text.match_indices('/');
    // Backslashes are rare but in code, and there a home has its drive before it.
    let backslashes =
        text.match_indices('\\').filter(|(at, _)| text.as_bytes().get(at.wrapping_sub(1)) == Some(&b':'));
    slashes.chain(backslashes).filter_map(|(at, _)| {
        let rest = text.get(at + 1..)?;
        let home = HOMES.iter().find(|home| rest.starts_with(**home))?;
        let name = begins_path(text, at).then(|| person(rest.get(home.len()..)?)).flatten()?;
        Some((at, at + 1 + home.len() + name.len(), name))
    })
}

/// Whether a path begins here: behind a blank, a quote, a bracket, `=`, `file://` or a drive, and not inside of another
/// path or an address (`/api/Users/7`, `fashion/home/decor`).
fn begins_path(text: &str, at: usize) -> bool {
    let before = text.get(..at).unwrap_or_default();
    if let Some(drive) = before.strip_suffix(':') {
        let mut letters = drive.bytes().rev();
        let is_drive = letters.next().is_some_and(|byte| byte.is_ascii_alphabetic());
        return is_drive && !letters.next().is_some_and(|byte| byte.is_ascii_alphanumeric());
    }
    before.ends_with("file://")
        || before.chars().next_back().is_none_or(|c| {
            c.is_whitespace() || matches!(c, '"' | '\'' | '`' | '(' | '[' | '=' | ',' | '<' | '>' | '|' | '@')
        })
}

/// The name of a home, where it is a person's and something follows it.
fn person(rest: &str) -> Option<&str> {
    let length = rest.find(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-')))?;
    let (name, behind) = rest.split_at(length);
    let is_name = name.len() > 1
        && name.starts_with(|c: char| c.is_ascii_alphabetic())
        && !name.contains("..")
        && behind.starts_with(['/', '\\'])
        // A path of a person goes on with a file or a folder; `/home/x/` alone is an example of a home.
        && behind.trim_start_matches(['/', '\\']).starts_with(|c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_'));
    let lower = name.to_ascii_lowercase();
    let is_nobody = NOBODY.binary_search(&lower.as_str()).is_ok()
        || ["your", "my-", "my_", "user_", "user-", "some", "example"]
            .iter()
            .any(|start| lower.starts_with(start))
        || lower.ends_with("user")
        || lower.ends_with("name")
        || !name.bytes().any(|byte| byte.is_ascii_lowercase());
    (is_name && !is_nobody).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expect: &[&str]) {
        let found: Vec<_> = personal_paths(text).map(|(start, end, _)| &text[start..end]).collect();
        assert_eq!(found, expect, "{text:?}");
    }

    #[test]
    fn names_of_nobody_are_sorted_so_that_they_can_be_looked_up() {
        assert!(NOBODY.is_sorted());
    }

    #[test]
    fn homes_of_people_are_found() {
        check("SW=/Users/zhuxianliu/.codex", &["/Users/zhuxianliu"]);
        check("[x](file:///Users/abhi/code) /home/mk/a", &["/Users/abhi", "/home/mk"]);
        check("C:/Users/petra/z", &["/Users/petra"]);
        check("`C:\\Users\\Petra.K\\x`", &["\\Users\\Petra.K"]);
        check("\"D:\\\\Users\\\\petra\\\\y\"", &["\\\\Users\\\\petra"]);
    }

    #[test]
    fn examples_containers_and_addresses_are_not() {
        for text in [
            "/home/user/x /home/claude/x /Users/USERNAME/x /Users/<name>/x /home/$USER/x /home/runner/work",
            "fashion/home/jewelry/sports https://x.io/home/about/us /api/Users/seven/x",
            "/Volumes/Old/Users/petra/x",
            "/Users/ /home/ /home/petra",
            "/Users/petra/",
            "/Users/.../x /Users/your-name/x /home/testuser/x",
            "C:\\Users\\%USERNAME%\\x",
        ] {
            check(text, &[]);
        }
    }
}
