//! Words that mean something to the shell's grammar.

/// The reserved words of bash.
const RESERVED: [&str; 22] = [
    "!", "[[", "]]", "case", "coproc", "do", "done", "elif", "else", "esac", "fi", "for", "function", "if",
    "in", "select", "then", "time", "until", "while", "{", "}",
];

/// Whether a word that is not quoted belongs to the grammar where a command's name is expected.
pub fn is_reserved(word: &str) -> bool {
    RESERVED.contains(&word)
}

/// Whether a command's name can follow this reserved word, as in `if ls`.
pub fn precedes_command(word: &str) -> bool {
    matches!(word, "!" | "{" | "coproc" | "do" | "elif" | "else" | "if" | "then" | "time" | "until" | "while")
}

/// Programs that start the program that one of their words names.
const STARTERS: [&str; 15] = [
    "builtin", "busybox", "chroot", "command", "doas", "env", "exec", "nice", "nohup", "setsid", "stdbuf",
    "sudo", "time", "timeout", "xargs",
];

/// Whether this program starts another one that its words name, as `sudo` does.
pub fn starts_program(program: &str) -> bool {
    STARTERS.contains(&program)
}

/// Whether a variable can have this name.
pub fn is_variable_name(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

/// The name and the value of `NAME=value` and `NAME+=value`.
pub fn assignment(word: &str) -> Option<(&str, &str)> {
    let (name, value) = word.split_once('=')?;
    let name = name.strip_suffix('+').unwrap_or(name);
    is_variable_name(name).then_some((name, value))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whatever_precedes_a_command_is_reserved() {
        let precedes: Vec<_> = RESERVED.into_iter().filter(|word| precedes_command(word)).collect();
        assert_eq!(precedes.len(), 11);
        assert!(!is_reserved("ls") && !precedes_command("fi"));
    }

    #[test]
    fn an_assignment_begins_with_a_name() {
        assert_eq!(assignment("A_1=b=c"), Some(("A_1", "b=c")));
        assert_eq!(assignment("A+=b"), Some(("A", "b")));
        for word in ["A", "=b", "1A=b", "A-B=c", "a[1]=b", "é=b"] {
            assert_eq!(assignment(word), None, "{word}");
        }
    }
}
