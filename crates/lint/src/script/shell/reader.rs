//! The way from tokens to commands.

use metier_shell::{Nesting, ShellToken, ShellTokenKind as Kind, ShellTokens, is_variable_name};

use super::{Shell, Simple, Word};

/// The longest placeholder, in characters.
const MAX_PLACEHOLDER: usize = 60;

/// Takes a script apart.
pub(super) struct Reader<'a> {
    text: &'a str,
    tokens: ShellTokens<'a>,
    /// The commands that are being read, each inside the one before it.
    open: Vec<OpenCommand>,
    out: Shell,
}

/// A command that is being read.
#[derive(Default)]
struct OpenCommand {
    /// How many nestings are open around it.
    depth: usize,
    command: Simple,
    word: Option<Word>,
    operand: Operand,
    /// Where an expansion began in the word, and how many nestings were open. The word gets it as it is written.
    expansion: Option<(usize, usize)>,
}

/// What the next word of a command is.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum Operand {
    #[default]
    Argument,
    /// A file that is written to.
    Target,
    /// Where `>&` leads: a file, or the number of another redirection.
    TargetOrNumber,
    /// What is read from is of no interest.
    Source,
}

impl<'a> Reader<'a> {
    /// Begins at the beginning.
    pub(super) fn new(text: &'a str) -> Self {
        let open = vec![OpenCommand::default()];
        Self { text, tokens: ShellTokens::new(text), open, out: Shell::default() }
    }

    /// Reads it to the end.
    pub(super) fn read(mut self) -> Shell {
        loop {
            if self.skip_placeholder() {
                continue;
            }
            let Some(token) = self.tokens.next() else { break };
            self.take(&token);
            self.close();
        }
        while let Some(inner) = self.open.pop() {
            self.finish(inner);
        }
        self.out
    }

    fn take(&mut self, token: &ShellToken) {
        let depth = self.tokens.nestings().len();
        let written = token.text(self.text);
        match token.kind {
            Kind::Parameter => self.note_name(token, 1),
            Kind::Open(Nesting::Braces) => self.note_name(token, 2),
            _ => {}
        }
        // A here-document may begin behind a newline.
        let is_in_word = token.kind == Kind::Newline || self.is_in_word();
        let Some(current) = self.open.last_mut() else { return };
        match token.kind {
            Kind::Open(nesting) if nesting != Nesting::Subshell => {
                if is_in_word {
                    // `((…))` is a command and no word.
                    if !written.starts_with('(') {
                        current.word(token);
                    }
                    if nesting != Nesting::Double {
                        current.expansion = Some((token.span.start, depth.saturating_sub(1)));
                    }
                }
                if nesting.has_commands() {
                    self.open.push(OpenCommand { depth, ..OpenCommand::default() });
                }
            }
            _ if !is_in_word => {}
            Kind::Continuation => {}
            Kind::Text | Kind::Escape | Kind::Single | Kind::Ansi => {
                current.word(token).text.push_str(token.literal(self.text).unwrap_or_default());
            }
            Kind::Parameter => current.word(token).text.push_str(written),
            Kind::Close(Nesting::Double) => drop(current.word(token)),
            // What a test compares is no redirection and ends no command.
            _ if current.ends_word(self.text) && token.kind != Kind::Newline => {}
            Kind::Redirection => current.operand = Operand::of(written),
            Kind::Newline | Kind::Separator | Kind::Open(_) => {
                let command = std::mem::take(&mut current.command);
                current.operand = Operand::Argument;
                self.out.add(command);
                if token.kind == Kind::Open(Nesting::Subshell) {
                    self.open.push(OpenCommand { depth, ..OpenCommand::default() });
                }
            }
            _ => {}
        }
    }

    /// Ends what the last token closed.
    fn close(&mut self) {
        let depth = self.tokens.nestings().len();
        while let Some(inner) = self.open.pop_if(|inner| inner.depth > depth) {
            self.finish(inner);
        }
        let at = self.tokens.offset();
        if let Some(outer) = self.open.last_mut()
            && outer.expansion.is_some_and(|(_, around)| around >= depth)
        {
            outer.end_expansion(self.text, at);
        }
    }

    fn finish(&mut self, mut inner: OpenCommand) {
        inner.end_expansion(self.text, self.tokens.offset());
        inner.ends_word(self.text);
        self.out.add(inner.command);
    }

    /// Whether a token here belongs to the command at hand, and not to an expansion or a here-document in it.
    fn is_in_word(&self) -> bool {
        self.open.last().is_some_and(|current| {
            let inside = self.tokens.nestings().get(current.depth..).unwrap_or_default();
            current.expansion.is_none() && !inside.contains(&Nesting::HereDocument)
        })
    }

    /// Notes the variable that a token reads, whose name begins behind its sign.
    fn note_name(&mut self, token: &ShellToken, sign: usize) {
        let span = token.span.start + sign..token.span.end;
        if is_variable_name(self.text.get(span.clone()).unwrap_or_default()) {
            self.out.expansions.push(span);
        }
    }

    /// Passes `<name>`, which in a line that somebody is to fill in stands for a word. Nobody writes redirections so close.
    fn skip_placeholder(&mut self) -> bool {
        let is_in_commands = self.tokens.nestings().last().is_none_or(|nesting| nesting.has_commands());
        let Some(rest) = self.tokens.ahead().strip_prefix('<').filter(|_| is_in_commands) else {
            return false;
        };
        let is_end = |c: char| {
            c.is_whitespace()
                || matches!(c, '<' | '>' | '$' | '&' | ';' | '(' | ')' | '"' | '\'' | '`' | '\\')
        };
        let end = rest.char_indices().take(MAX_PLACEHOLDER).find(|(_, c)| is_end(*c));
        let Some((end, '>')) = end.filter(|(end, _)| *end > 0) else { return false };
        if self.open.last_mut().is_some_and(|current| current.ends_word(self.text)) {
            return false;
        }
        self.tokens.pass(end + 2);
        true
    }
}

impl OpenCommand {
    /// The word that a token is a part of, begun if there is none.
    fn word(&mut self, token: &ShellToken) -> &mut Word {
        let word = self.word.get_or_insert_with(|| Word { span: token.span.clone(), text: String::new() });
        word.span.end = token.span.end;
        word
    }

    fn end_expansion(&mut self, text: &str, end: usize) {
        if let (Some((start, _)), Some(word)) = (self.expansion.take(), &mut self.word) {
            word.text.push_str(text.get(start..end).unwrap_or_default());
            word.span.end = end;
        }
    }

    /// Ends the word at hand. Gives whether what follows stands in `[[ … ]]`.
    fn ends_word(&mut self, text: &str) -> bool {
        if let Some(word) = self.word.take() {
            let written = text.get(word.span.clone()).unwrap_or_default();
            // The file that `<(…)` stands for has no name.
            let is_process = written.starts_with("<(") || written.starts_with(">(");
            let is_number = word.text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-');
            match std::mem::take(&mut self.operand) {
                _ if is_process => {}
                Operand::Source => {}
                Operand::TargetOrNumber if is_number => {}
                Operand::Target | Operand::TargetOrNumber => self.command.targets.push(word),
                Operand::Argument => self.command.words.push(word),
            }
        }
        let words = &self.command.words;
        words.first().is_some_and(|word| word.text == "[[")
            && words.last().is_some_and(|word| word.text != "]]")
    }
}

impl Operand {
    /// What follows an operator of redirection.
    fn of(operator: &str) -> Self {
        match operator.trim_start_matches(|c: char| c.is_ascii_digit()) {
            ">&" => Self::TargetOrNumber,
            operator if operator.starts_with('<') => Self::Source,
            _ => Self::Target,
        }
    }
}
