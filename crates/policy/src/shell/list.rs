//! The line as a whole: simple commands and what joins them.

use metier_shell::is_reserved;

use super::here_document::{self, Opening};
use super::reader::Reader;
use super::redirection::{self, Found, RedirectionKind};
use super::refusal::{Refusal, RefusalKind};
use super::word::{self, Quoting, RawWord};
use super::{Command, Joint, Line, MAX_COMMANDS, MAX_LINE_BYTES, extent};

/// Reads a line without judging what its commands would do.
pub(super) fn read(source: &str) -> Result<Line, Refusal> {
    if source.len() > MAX_LINE_BYTES {
        let start = source.floor_char_boundary(MAX_LINE_BYTES);
        let end = source.ceil_char_boundary(start + 1);
        return Err(Refusal::new(RefusalKind::TooLong, source, start..end));
    }
    Lister {
        reader: Reader::new(source),
        commands: Vec::new(),
        joints: Vec::new(),
        current: None,
        opening: None,
    }
    .read()
}

struct Lister<'a> {
    reader: Reader<'a>,
    commands: Vec<Command>,
    /// With the byte at which each stands.
    joints: Vec<(Joint, usize)>,
    current: Option<Command>,
    /// A here-document whose body is still to come, and the command it feeds.
    opening: Option<(usize, Opening)>,
}

impl Lister<'_> {
    fn read(mut self) -> Result<Line, Refusal> {
        let rest = self.reader.rest();
        self.reader.at += rest.len() - rest.trim_start_matches([' ', '\t', '\n']).len();
        loop {
            self.reader.skip_blanks();
            let start = self.reader.at;
            let Some(c) = self.reader.peek() else { break };
            match c {
                '\n' => {
                    self.new_line()?;
                    break;
                }
                ';' | '|' | '&' if !self.reader.rest().starts_with("&>") => self.joint(start)?,
                '<' | '>' | '&' => self.redirection(start)?,
                '(' | ')' => return Err(self.parenthesis()),
                '#' => {
                    let end = self.reader.rest().find('\n').unwrap_or(self.reader.rest().len());
                    return Err(self.reader.refuse(RefusalKind::Comment, start..start + end));
                }
                _ => self.word(start)?,
            }
        }
        if let Some((_, opening)) = self.opening.take() {
            return Err(here_document::unterminated(&self.reader, opening));
        }
        self.finish()
    }

    /// A new line may end the line, or open the body of a here-document; nothing else may follow.
    fn new_line(&mut self) -> Result<(), Refusal> {
        let start = self.reader.at;
        self.reader.next();
        let kind = match self.opening.take() {
            Some((command, opening)) => {
                self.close_command()?;
                let document = here_document::body(&mut self.reader, opening)?;
                if let Some(command) = self.commands.get_mut(command) {
                    command.stdin = Some(document);
                }
                RefusalKind::HereDocumentTrailing
            }
            None => RefusalKind::NewLine,
        };
        let rest = self.reader.rest();
        let trailing = rest.trim_start_matches([' ', '\t', '\n']);
        if trailing.is_empty() {
            self.reader.at += rest.len();
            return Ok(());
        }
        if kind == RefusalKind::NewLine {
            return Err(self.reader.refuse_from(kind, start));
        }
        let from = self.reader.at + rest.len() - trailing.len();
        let length = trailing.find('\n').unwrap_or(trailing.len());
        Err(self.reader.refuse(kind, from..from + length))
    }

    /// `&&`, `||`, `;`, `|`, and what looks alike.
    fn joint(&mut self, start: usize) -> Result<(), Refusal> {
        let reader = &mut self.reader;
        let joint = if reader.take("&&") {
            Joint::And
        } else if reader.take("||") {
            Joint::Or
        } else if reader.take("|&") {
            return Err(reader.refuse_from(RefusalKind::PipeBoth, start));
        } else if reader.take("|") {
            Joint::Pipe
        } else if reader.take(";;") || reader.take(";&") {
            // Both end a branch of `case`. Bash takes the longest operator, so `;&>` is no `;` before `&>`.
            return Err(reader.refuse_from(RefusalKind::MissingCommand, start));
        } else if reader.take(";") {
            Joint::Then
        } else {
            reader.next();
            return Err(reader.refuse_from(RefusalKind::Background, start));
        };
        if self.current.is_none() {
            return Err(self.reader.refuse_from(RefusalKind::MissingCommand, start));
        }
        self.close_command()?;
        self.joints.push((joint, start));
        Ok(())
    }

    fn redirection(&mut self, start: usize) -> Result<(), Refusal> {
        let found = redirection::read(&mut self.reader, start)?;
        let end = self.reader.at;
        let feeds = matches!(
            found,
            Found::HereDocument(_)
                | Found::Redirection(redirection::Redirection { kind: RedirectionKind::NoInput, .. })
        );
        let index = self.commands.len();
        let fed_here = self.opening.as_ref().is_some_and(|(command, _)| *command == index);
        let command = self.current.get_or_insert_with(|| empty(start));
        // The last one would win; who writes two is unlikely to know that.
        let fed =
            || command.redirections.iter().any(|redirection| redirection.kind == RedirectionKind::NoInput);
        if feeds && (fed_here || fed()) {
            return Err(self.reader.refuse_from(RefusalKind::SecondInput, start));
        }
        command.span.end = end;
        match found {
            Found::Redirection(redirection) => command.redirections.push(redirection),
            // A second body would have to be told from the first; one is enough for what they are used for.
            Found::HereDocument(_) if self.opening.is_some() => {
                return Err(self.reader.refuse_from(RefusalKind::SecondInput, start));
            }
            Found::HereDocument(opening) => self.opening = Some((index, opening)),
        }
        Ok(())
    }

    fn word(&mut self, start: usize) -> Result<(), Refusal> {
        let raw = word::read(&mut self.reader)?;
        let end = self.reader.at;
        let text = self.reader.source.get(start..end).unwrap_or_default();
        if matches!(self.reader.peek(), Some('<' | '>')) && raw.quoting == Quoting::Bare {
            if text.bytes().all(|b| b.is_ascii_digit()) {
                return self.redirection(start);
            }
            // `{name}>` opens a file and keeps its number in a variable.
            if text.starts_with('{') && text.ends_with('}') {
                self.reader.at += extent::run_of_redirection(self.reader.rest());
                return Err(self.reader.refuse_from(RefusalKind::Redirection, start));
            }
        }
        // Bash reads on to find the body below such a word, and who reads the line would look for it elsewhere.
        if self.opening.is_some()
            && let Some(at) = text.find('\n')
        {
            return Err(self.reader.refuse(RefusalKind::NewLine, start + at..start + at + 1));
        }
        let first = self.current.as_ref().is_none_or(|command| command.words.is_empty());
        if first {
            self.check_name(&raw, text)?;
        }
        let word = if first { raw.word } else { raw.argument(&self.reader)? };
        let command = self.current.get_or_insert_with(|| empty(start));
        command.words.push(word);
        command.span.end = end;
        Ok(())
    }

    /// What can stand in place of a command's name. `text` is the word as it is written.
    fn check_name(&self, raw: &RawWord, text: &str) -> Result<(), Refusal> {
        let refuse = |kind| Err(self.reader.refuse(kind, raw.word.span.clone()));
        if is_reserved(text) {
            return refuse(RefusalKind::ReservedWord);
        }
        let name = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let behind = text.trim_start_matches(name);
        if behind.len() < text.len() && !text.starts_with(|c: char| c.is_ascii_digit()) {
            let subscript = behind.starts_with('[') && (behind.contains("]=") || behind.contains("]+="));
            if behind.starts_with('=') || behind.starts_with("+=") || subscript {
                return refuse(RefusalKind::Assignment);
            }
        }
        if raw.word.glob {
            return refuse(RefusalKind::GlobCommand);
        }
        // Bash hands such a command to `fg`, quoted or not.
        if raw.word.text.starts_with('%') {
            return refuse(RefusalKind::Job);
        }
        Ok(())
    }

    fn parenthesis(&self) -> Refusal {
        let start = self.reader.at;
        let end = match self.reader.peek() {
            Some('(') => extent::closed(self.reader.source, start, '(', ')'),
            _ => start + 1,
        };
        self.reader.refuse(RefusalKind::Parenthesis, start..end)
    }

    /// Puts the current command, if there is one, to the others.
    fn close_command(&mut self) -> Result<(), Refusal> {
        let Some(command) = self.current.take() else { return Ok(()) };
        if command.words.is_empty() {
            return Err(self.reader.refuse(RefusalKind::MissingCommand, command.span));
        }
        if self.commands.len() == MAX_COMMANDS {
            return Err(self.reader.refuse(RefusalKind::TooManyCommands, command.span));
        }
        self.commands.push(command);
        Ok(())
    }

    fn finish(mut self) -> Result<Line, Refusal> {
        self.close_command()?;
        if self.joints.len() == self.commands.len()
            && let Some((joint, at)) = self.joints.pop()
            // Bash allows a `;` at the end and nothing else.
            && joint != Joint::Then
        {
            return Err(self.reader.refuse(RefusalKind::MissingCommand, at..at + joint.as_str().len()));
        }
        if self.commands.is_empty() {
            return Err(self.reader.refuse(RefusalKind::Empty, 0..0));
        }
        let joints = self.joints.into_iter().map(|(joint, _)| joint).collect();
        Ok(Line { commands: self.commands, joints, source: self.reader.source.to_owned() })
    }
}

fn empty(start: usize) -> Command {
    Command { words: Vec::new(), span: start..start, stdin: None, redirections: Vec::new() }
}
