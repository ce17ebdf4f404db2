//! The commands of a body: what its shell blocks start.

use metier_shell::is_reserved;

use crate::markdown::CodeBlock;
use crate::skill::Skill;

/// Fences whose content a shell runs. `console` is none of them: it shows output, too.
const SHELLS: &[&str] = &["bash", "sh", "shell", "zsh"];

/// Commands of the shell itself, which start no program.
const BUILTINS: &[&str] = &[
    "cd", "echo", "exit", "export", "local", "printf", "read", "return", "set", "shift", "source", "trap",
    "unset",
];

/// The blocks that are meant for a shell.
pub(crate) fn shell_blocks<'s>(skill: &'s Skill<'_>) -> impl Iterator<Item = &'s CodeBlock> {
    skill.markdown().blocks.iter().filter(|block| SHELLS.contains(&block.language.as_str()))
}

/// The programs that shell blocks start, each once, in order.
pub(crate) fn programs<'a>(skill: &Skill<'a>) -> Vec<&'a str> {
    let mut found: Vec<&str> = Vec::new();
    for program in shell_blocks(skill).flat_map(|block| programs_of(block, skill.source)) {
        if !found.contains(&program) {
            found.push(program);
        }
    }
    found
}

/// The programs that one block starts. Lines that are not simply a program and its arguments are passed over: this is
/// for naming examples, not for judging safety.
pub(crate) fn programs_of<'a>(block: &CodeBlock, source: &'a str) -> Vec<&'a str> {
    let mut found: Vec<&str> = Vec::new();
    let is_name = |word: &str| {
        word.starts_with(|c: char| c.is_ascii_lowercase())
            && word.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.'))
    };
    let mut continues = false;
    for line in block.content.of(source).lines() {
        let was_continued = std::mem::replace(&mut continues, line.ends_with('\\'));
        // What is indented belongs to a line before it, and here-documents are seldom programs.
        if was_continued || line.starts_with([' ', '\t', '#']) || line.contains("<<") {
            continue;
        }
        let line = line.strip_prefix("$ ").unwrap_or(line);
        let word = line.split_whitespace().next().unwrap_or_default();
        let is_program = is_name(word) && !is_reserved(word) && !BUILTINS.contains(&word);
        if is_program && !found.contains(&word) {
            found.push(word);
        }
    }
    found
}
