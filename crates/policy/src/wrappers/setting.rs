//! Settings, in options, variables and files, whose value may be a command.

use super::Look;
use super::argument::Argument;
use super::touch::Touch;

impl Look<'_> {
    /// `NAME=VALUE` or `NAME VALUE`, whose value may be a line. Most are none, so one that cannot be read says nothing, unless
    /// its name says that it is run.
    pub(super) fn setting(self, text: &str) -> Touch {
        let split = text.split_once('=').or_else(|| text.split_once([' ', '\t']));
        let (name, value) = split.unwrap_or(("", text));
        let mut found = Touch::No;
        for line in [text, value] {
            let line = line.trim_start_matches(['!', '|', '-', '@', '"', '\'', ' ', '\t']);
            let line = line.strip_prefix("exec=").unwrap_or(line);
            match self.text(line.trim_end_matches(['"', '\''])) {
                Touch::Yes => return Touch::Yes,
                Touch::Unsure(why) if line.contains(' ') && is_run(name) => found = Touch::Unsure(why),
                _ => {}
            }
        }
        // `alias.x=!line` inside of a setting inside of a setting.
        if value.contains('=') && value != text && split.is_some() {
            found.or_else(|| self.setting(value))
        } else {
            found
        }
    }
}

/// Whether a word is `NAME=VALUE`.
pub(super) fn is_assignment(word: &Argument) -> bool {
    word.text.split_once('=').is_some_and(|(name, _)| {
        !name.is_empty()
            && name
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'+' | b':'))
    })
}

/// Whether a setting of this name is a command, by the words that tools use for those.
pub(super) fn is_run(name: &str) -> bool {
    const WORDS: &[&str] = &[
        "alias",
        "askpass",
        "cmd",
        "command",
        "driver",
        "editor",
        "exec",
        "external",
        "fsmonitor",
        "helper",
        "hook",
        "invoke",
        "opener",
        "pager",
        "process",
        "program",
        "proxy",
        "shell",
        "textconv",
        "wrapper",
    ];
    let name = name.to_ascii_lowercase();
    WORDS.iter().any(|word| name.contains(word))
}
