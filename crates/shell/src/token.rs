//! One token.

use std::ops::Range;

/// A piece of a shell text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShellToken {
    /// What it is.
    pub kind: ShellTokenKind,
    /// Its bytes, quotes included.
    pub span: Range<usize>,
}

/// What a token is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ShellTokenKind {
    /// Spaces and tabs between words.
    Blank,
    /// A backslash and the newline that it hides.
    Continuation,
    /// A newline that ends a command.
    Newline,
    /// `#` and the rest of the line.
    Comment,
    /// `;`, `&`, `|`, `&&` or `|&`, and a `)` that nothing opened, as in the patterns of `case`.
    Separator,
    /// The operator of a redirection with the number before it: `>`, `2>>`, `<&`, `<<-`, `<<<`.
    Redirection,
    /// Characters that stand for themselves. A bracket, a brace, `<` and `>` begin a token of their own, so that a consumer
    /// can look there for what it fills in.
    Text,
    /// A backslash and the character that it protects.
    Escape,
    /// `'…'`
    Single,
    /// `$'…'`
    Ansi,
    /// `$name`, `$1`, `$?`, and a `$` alone.
    Parameter,
    /// The beginning of what holds other tokens; with `${` comes the name behind it.
    Open(Nesting),
    /// The end of it.
    Close(Nesting),
    /// The line that ends a here-document, after its whole text where nothing is expanded in that.
    HereDocument,
}

/// What holds other tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Nesting {
    /// `(…)`
    Subshell,
    /// `$(…)`
    Substitution,
    /// `<(…)` and `>(…)`
    Process,
    /// `` `…` ``
    Backtick,
    /// `"…"`
    Double,
    /// `${…}`
    Braces,
    /// `$((…))` and `((…))`
    Arithmetic,
    /// The text of a here-document in which something is expanded. No token opens it.
    HereDocument,
}

impl Nesting {
    /// Whether commands are in it.
    pub fn has_commands(self) -> bool {
        matches!(self, Self::Subshell | Self::Substitution | Self::Process | Self::Backtick)
    }

    /// Whether its end is known when it begins. Quotes are characters in it.
    pub(crate) fn is_bounded(self) -> bool {
        matches!(self, Self::Arithmetic | Self::HereDocument)
    }
}

impl ShellToken {
    /// The token as it is written.
    pub fn text<'a>(&self, source: &'a str) -> &'a str {
        source.get(self.span.clone()).unwrap_or_default()
    }

    /// What it adds to its word where it stands for itself, without quotes and backslashes. `$'…'` is given as written.
    pub fn literal<'a>(&self, source: &'a str) -> Option<&'a str> {
        let text = self.text(source);
        let inside = |open: &str| {
            let inside = text.strip_prefix(open).unwrap_or(text);
            inside.strip_suffix('\'').unwrap_or(inside)
        };
        match self.kind {
            ShellTokenKind::Text => Some(text),
            ShellTokenKind::Escape => text.get(1..),
            ShellTokenKind::Single => Some(inside("'")),
            ShellTokenKind::Ansi => Some(inside("$'")),
            _ => None,
        }
    }
}
