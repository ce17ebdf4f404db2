//! Programs that run code of their own language: which code, and what it starts.

use super::Look;
use super::argument::{Argument, is_input};
use super::language::{CodeSource, Language, Ran};
use super::options::{Style, Takes, read};
use super::setting::is_assignment;
use super::table::Wrapper;
use super::touch::{Touch, elsewhere, worst};

impl Look<'_> {
    /// A program that runs code of its own language.
    pub(super) fn interpreter(self, wrapper: &Wrapper, language: &Language, rest: &[Argument]) -> Touch {
        let style = if language.source == CodeSource::Input { Style::Anywhere } else { Style::Partial };
        let read = read(wrapper.options, rest, usize::from(language.source != CodeSource::Input), style);
        let has_code = read.given.iter().any(|given| matches!(given.takes, Takes::Code | Takes::Script));
        let told = worst(read.given.iter().map(|given| match given.takes {
            Takes::Code => self.code(language, &given.value.text),
            Takes::Script if is_input(&given.value.text) => self.code_in_input(language),
            _ => Touch::No,
        }));
        let first = read.operands.first().and_then(|at| rest.get(*at));
        let settings = rest.iter().filter(|word| is_assignment(word)).map(|word| self.setting(&word.text));
        let operands = read.operands.iter().filter_map(|at| rest.get(*at));
        told.or_else(|| worst(settings)).or_else(|| match (language.source, first) {
            (CodeSource::FirstWord, Some(code)) if !has_code => self.code(language, &code.text),
            (CodeSource::File, Some(file)) if !has_code && is_input(&file.text) => {
                self.code_in_input(language)
            }
            (CodeSource::File, None) if !has_code && !read.ends && !has_module(rest) => {
                self.code_in_input(language)
            }
            (CodeSource::Input, _) => {
                let told = worst(operands.map(|word| self.code(language, word.text.trim_start_matches('+'))));
                told.or_else(|| match self.input {
                    Some(_) => self.code_in_input(language),
                    None => Touch::No,
                })
            }
            (CodeSource::InputOnly, _) if !read.ends => self.code_in_input(language),
            // `gdb --args PROGRAM`
            (CodeSource::Options, _) if rest.iter().any(|word| word.text.ends_with("-args")) => {
                self.anywhere(rest)
            }
            _ => Touch::No,
        })
    }

    fn code_in_input(self, language: &Language) -> Touch {
        self.input.map_or_else(elsewhere, |body| self.code(language, body))
    }

    /// Code that may start programs. Where it does and has the name that the rule denies, that counts as the command.
    fn code(self, language: &Language, code: &str) -> Touch {
        worst(language.runs(code).into_iter().map(|ran| match ran {
            Ran::Line(line) => self.text(line),
            Ran::Something if self.pattern.name().is_some_and(|name| has_word(code, name)) => Touch::Yes,
            Ran::Something => {
                Touch::Unsure("its code starts a program that the line does not show".to_owned())
            }
        }))
    }
}

/// Whether an interpreter runs a module that is installed: `python -m json.tool`.
fn has_module(rest: &[Argument]) -> bool {
    rest.iter().any(|word| word.text.starts_with("-m"))
}

fn has_word(text: &str, word: &str) -> bool {
    let is_letter = |c: char| c.is_alphanumeric() || c == '_';
    text.match_indices(word).any(|(at, _)| {
        let before = text.get(..at).and_then(|text| text.chars().next_back());
        let after = text.get(at + word.len()..).and_then(|text| text.chars().next());
        !before.is_some_and(is_letter) && !after.is_some_and(is_letter)
    })
}
