//! What could follow on what was typed.

/// One name that can be completed: a command, or a skill that the user may start.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Completion {
    /// The name, without the sign before it.
    pub(crate) name: String,
    /// What may stand behind it.
    pub(crate) hint: String,
    /// Whether it is a skill, which `$` calls as well as `/`.
    pub(crate) is_skill: bool,
}

/// The place where the word under the cursor begins, and what it could become.
pub(crate) fn complete<'a>(
    known: &'a [Completion],
    line: &str,
    cursor: usize,
) -> (usize, Vec<&'a Completion>) {
    let before = line.get(..cursor).unwrap_or(line);
    let word = before.rsplit(char::is_whitespace).next().unwrap_or_default();
    let start = before.len() - word.len();
    let is_first = before[..start].trim().is_empty();
    let fits = |completion: &&Completion| {
        let typed = match (word.strip_prefix('/'), word.strip_prefix('$')) {
            (Some(typed), _) if is_first => typed,
            (_, Some(typed)) if completion.is_skill => typed,
            _ => return false,
        };
        completion.name.starts_with(typed)
    };
    (start, known.iter().filter(fits).collect())
}

/// What may stand behind the command that is on the line, as long as nothing does.
pub(crate) fn hint<'a>(known: &'a [Completion], line: &str) -> Option<&'a str> {
    let name = line.strip_prefix('/')?;
    let behind = name.strip_suffix(' ').filter(|name| !name.contains(char::is_whitespace))?;
    let found = known.iter().find(|completion| completion.name == behind)?;
    Some(found.hint.as_str()).filter(|hint| !hint.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn known() -> Vec<Completion> {
        let one = |name: &str, hint: &str, is_skill| Completion {
            name: name.to_owned(),
            hint: hint.to_owned(),
            is_skill,
        };
        vec![one("model", "[NAME]", false), one("migrate", "<from> <to>", true), one("mail", "", true)]
    }

    fn check(line: &str, expect: (usize, &[&str])) {
        let known = known();
        let (start, found) = complete(&known, line, line.len());
        let names: Vec<&str> = found.iter().map(|completion| completion.name.as_str()).collect();
        assert_eq!((start, names.as_slice()), expect, "{line:?}");
    }

    #[test]
    fn commands_begin_a_line_and_dollars_stand_anywhere() {
        check("/m", (0, &["model", "migrate", "mail"]));
        check("  /mi", (2, &["migrate"]));
        check("/", (0, &["model", "migrate", "mail"]));
        check("/x", (0, &[]));
        check("say /m", (4, &[]));
        check("use\u{a0}$m", (5, &["migrate", "mail"]));
        check("$mo", (0, &[]));
        check("mail", (0, &[]));
        check("", (0, &[]));
    }

    #[test]
    fn a_hint_stands_where_the_arguments_would() {
        let known = known();
        for (line, expect) in [
            ("/migrate ", Some("<from> <to>")),
            ("/migrate", None),
            ("/migrate a", None),
            ("/mail ", None),
            ("/nothing ", None),
        ] {
            assert_eq!(hint(&known, line), expect, "{line:?}");
        }
    }
}
