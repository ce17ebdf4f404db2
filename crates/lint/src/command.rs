//! The commands of a body: what its shell blocks start.

use crate::markdown::CodeBlock;
use crate::skill::Skill;

/// Fences whose content a shell runs. `console` shows output, too, so only its lines with a prompt count.
const SHELLS: &[&str] = &["bash", "sh", "shell", "zsh"];

/// Words that begin a line and start no program.
const BUILTINS: &[&str] = &[
    "case", "cd", "do", "done", "echo", "elif", "else", "esac", "exit", "export", "fi", "for", "function",
    "if", "local", "printf", "read", "return", "set", "shift", "source", "then", "trap", "unset", "until",
    "while",
];

/// The blocks that are meant for a shell.
pub(crate) fn shell_blocks<'s>(skill: &'s Skill<'_>) -> impl Iterator<Item = &'s CodeBlock> {
    skill.markdown.blocks.iter().filter(|block| SHELLS.contains(&block.language.as_str()))
}

/// The programs that shell blocks start, each once, in order. Lines that are not simply a program and its arguments
/// are passed over: this is for naming examples, not for judging safety.
pub(crate) fn programs<'a>(skill: &Skill<'a>) -> Vec<&'a str> {
    let mut found: Vec<&str> = Vec::new();
    let is_name = |word: &str| {
        word.starts_with(|c: char| c.is_ascii_lowercase())
            && word.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.'))
    };
    for block in shell_blocks(skill) {
        let mut continues = false;
        for line in block.content.of(skill.source).lines() {
            let was_continued = std::mem::replace(&mut continues, line.ends_with('\\'));
            // What is indented belongs to a line before it, and here-documents are seldom programs.
            if was_continued || line.starts_with([' ', '\t', '#']) || line.contains("<<") {
                continue;
            }
            let line = line.strip_prefix("$ ").unwrap_or(line);
            let word = line.split_whitespace().next().unwrap_or_default();
            if is_name(word) && !BUILTINS.contains(&word) && !found.contains(&word) {
                found.push(word);
            }
        }
    }
    found
}
