//! One command at a time: what skilled-crew takes for a line, and what it says to anything else.

use metier_policy::shell::{self, Refusal, RefusalKind};
use metier_shell::{Nesting, ShellTokenKind, ShellTokens};

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
        // There is nothing to chain.
        RefusalKind::Empty => return None,
        // One command may have these. The parser stops at the first of them, and operators may follow.
        RefusalKind::Variable
        | RefusalKind::Arithmetic
        | RefusalKind::EscapeQuote
        | RefusalKind::LocaleQuote
        | RefusalKind::Redirection
        | RefusalKind::HereString
        | RefusalKind::Assignment
        | RefusalKind::Brace
        | RefusalKind::Tilde
        | RefusalKind::GlobCommand
        | RefusalKind::GlobOption
        | RefusalKind::ExtendedGlob => return first_operator(line).map(|label| chained(&label)),
        RefusalKind::NewLine => chained("newline"),
        RefusalKind::CarriageReturn => chained("carriage return"),
        RefusalKind::Comment => chained("comment"),
        RefusalKind::UnclosedQuote => chained("unclosed quote"),
        RefusalKind::CommandSubstitution if refusal.piece.starts_with('`') => chained("backtick"),
        RefusalKind::CommandSubstitution => chained("$()"),
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
        // Operators, the shell's own grammar, and whatever else the parser does not take for a part of one command.
        _ => chained(refusal.piece.trim()),
    })
}

/// What joins or hides another command in a line with expansions, which the strict parser does not follow.
fn first_operator(line: &str) -> Option<String> {
    let mut tokens = ShellTokens::new(line);
    let (mut after_document, mut newline) = (false, false);
    for token in tokens.by_ref() {
        if newline && token.kind != ShellTokenKind::HereDocument {
            return Some("newline".to_owned());
        }
        newline = false;
        let label = match token.kind {
            ShellTokenKind::Blank => continue,
            ShellTokenKind::Newline if after_document => continue,
            ShellTokenKind::Newline => {
                newline = true;
                continue;
            }
            ShellTokenKind::HereDocument => {
                after_document = true;
                continue;
            }
            ShellTokenKind::Comment => "comment",
            ShellTokenKind::Continuation => "newline",
            ShellTokenKind::Open(Nesting::Backtick) => "backtick",
            ShellTokenKind::Open(Nesting::Substitution) => "$()",
            ShellTokenKind::Separator | ShellTokenKind::Open(Nesting::Subshell | Nesting::Process) => {
                token.text(line).trim()
            }
            _ if after_document => "a command after a heredoc",
            ShellTokenKind::Text if token.text(line).contains('\r') => "carriage return",
            _ => continue,
        };
        return Some(label.to_owned());
    }
    (newline || !tokens.is_whole()).then(|| if newline { "newline" } else { "unclosed quote" }.to_owned())
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
        chained("echo a # comment", "comment");
        chained("{ echo a; }", "{");
        chained("(echo a)", "(echo a)");
        chained("for x in a b; do echo $x; done", "for");
        chained("while true; do id; done", "while");
        chained("! echo a", "!");
        chained("time id", "time");
        chained("echo a\r", "carriage return");
        chained("echo \"a", "unclosed quote");
        chained("eval 'echo a; echo b'", "eval");
        check("", None);
    }

    /// The parser stops at the first expansion; what follows it counts all the same.
    #[test]
    fn operators_behind_an_expansion_are_found() {
        let check = |line: &str, label: &str| {
            let expect = format!("Command chaining is not allowed (found {label}): {line}");
            assert_eq!(refusal(line), Some(expect), "{line}");
        };
        check("echo $HOME && id", "&&");
        check("echo \"$HOME\" && id", "&&");
        check("echo ~ | id", "|");
        check("A=1 echo a; id", ";");
        check("echo a > f; id", ";");
        check("echo a > f & id", "&");
        check("echo {a,b}; id", ";");
        check("echo $HOME\nid", "newline");
        check("echo $HOME\n", "newline");
        check("echo $HOME # id", "comment");
        check("echo $HOME `id`", "backtick");
        check("echo \"$HOME $(id)\"", "$()");
        check("echo $((1+$(id)))", "$()");
        check("echo ${HOME:-$(id)}", "$()");
        check("cat $HOME <(id)", "<(");
        check("echo $HOME \"a", "unclosed quote");
        check("echo $HOME\r", "carriage return");
        check("echo \"$X <<'E'\n\" ; id #\nE", ";");
        check("cat $X <<E\n$Y\nE", "newline");
        check("cat $X <<'E'\na\nE\nid", "a command after a heredoc");
        for line in [
            "echo $HOME",
            "echo a > f",
            "echo a >> f 2>&1",
            "A=1 npx tsx x.ts",
            "echo ~/a {a,b} $((1+1)) $'a;b' \"$X; id\" 'a && b'",
            "cat <<< 'a; b'",
            "npx tsx \"$SKILL_DIR/x.ts\" write - <<'JSON_END'\n{\"a\": \"b; $(c)\"}\nJSON_END",
            "npx tsx $SKILL_DIR/x.ts write - <<'JSON_END'\na & b\nJSON_END\n",
        ] {
            assert_eq!(refusal(line), None, "{line}");
        }
    }
}
