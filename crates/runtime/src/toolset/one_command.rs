//! One command at a time: what skilled-crew takes for a line, and what it says to anything else.

use metier_policy::shell::{self, Refusal, RefusalKind};

/// Why a line is more than one command, in the words of the system that takes one at a time; nothing where it is one. It is
/// documented for that system and no wall: what a line does is contained, and a fence takes nothing that it does not
/// understand to the byte.
pub(super) fn refusal(line: &str) -> Option<String> {
    let chained = |label: &str| format!("Command chaining is not allowed (found {label}): {line}");
    let refusal = match shell::parse(line) {
        Ok(parsed) => {
            let [first, second, ..] = parsed.commands.as_slice() else { return None };
            let between = line.get(first.span.end..second.span.start).unwrap_or_default();
            return Some(chained(between.trim()));
        }
        Err(refusal) => refusal,
    };
    Some(match refusal.kind {
        RefusalKind::NewLine => chained("newline"),
        RefusalKind::CommandSubstitution if refusal.piece.starts_with('`') => chained("backtick"),
        RefusalKind::CommandSubstitution => chained("$()"),
        RefusalKind::Background | RefusalKind::PipeBoth | RefusalKind::ProcessSubstitution => {
            chained(&refusal.piece)
        }
        RefusalKind::HereDocumentUnquoted => {
            let end = delimiter(&refusal);
            format!(
                "Heredoc delimiter must be quoted (use <<'{end}', not <<{end}) so the body is not shell-expanded"
            )
        }
        RefusalKind::HereDocumentUnterminated => {
            format!("Unterminated heredoc: missing closing delimiter \"{}\"", delimiter(&refusal))
        }
        RefusalKind::HereDocumentTrailing => {
            format!("Commands after a heredoc body are not allowed: {}", refusal.piece.trim())
        }
        _ => return None,
    })
}

/// The delimiter of a here-document, without the operator before it and the quotes around it.
fn delimiter(refusal: &Refusal) -> String {
    let word = refusal.piece.trim_start_matches('<').trim_start_matches('-').trim();
    word.replace(['\'', '"', '\\'], "")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_that_is_not_one_command_is_answered_as_that_system_does() {
        let check = |line: &str, expect: Option<&str>| assert_eq!(refusal(line).as_deref(), expect, "{line}");
        let chained = |line: &str, label: &str| {
            check(line, Some(&format!("Command chaining is not allowed (found {label}): {line}")));
        };
        chained("a && b", "&&");
        chained("a || b", "||");
        chained("a | b", "|");
        chained("a; b", ";");
        chained("a & b", "&");
        chained("echo $(id)", "$()");
        chained("echo \"`id`\"", "backtick");
        chained("a\nb", "newline");
        check("echo 'a && b; c'", None);
        check("npx tsx ../../_src/x.ts write - <<'JSON_END'\n{\"a\": \"b; $(c)\"}\nJSON_END", None);
        check(
            "cat <<EOF\na\nEOF",
            Some(
                "Heredoc delimiter must be quoted (use <<'EOF', not <<EOF) so the body is not shell-expanded",
            ),
        );
        check("cat <<- \"EOF\"\na", Some("Unterminated heredoc: missing closing delimiter \"EOF\""));
        check("cat <<'E'\na\nE\nid", Some("Commands after a heredoc body are not allowed: id"));
        // What else cannot be read is the fence's to say.
        check("echo a > f", None);
    }
}
