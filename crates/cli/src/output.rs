//! Everything that is written to the terminal goes through here: text or JSON, with colours or without.

use crate::args::{Color, Global};
use crate::environment;
use anstyle::{AnsiColor, Style};
use metier_diagnostic::{Diagnostic, Paint, render_text};
use serde::Serialize;
use std::fmt::Display;
use std::fs::File;
use std::io::{self, BufWriter, IsTerminal, Write};
use std::os::fd::AsFd;

/// What a piece of text means; each meaning has one colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tone {
    /// Headings and names.
    Strong,
    /// Can be skipped when reading.
    Dim,
    /// Ready, done.
    Good,
    /// Works, with a caveat.
    Caution,
    /// Wrong.
    Bad,
}

impl Tone {
    fn style(self) -> Style {
        let colour = |colour: AnsiColor| Style::new().fg_color(Some(colour.into()));
        match self {
            Self::Strong => Style::new().bold(),
            Self::Dim => Style::new().dimmed(),
            Self::Good => colour(AnsiColor::Green),
            Self::Caution => colour(AnsiColor::Yellow),
            Self::Bad => colour(AnsiColor::Red),
        }
    }
}

/// Text for people or JSON for programs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    Text,
    Json,
}

/// How much is written at once. A listing of 10,000 skills is a few megabytes, so writes should be few; a pipe takes no more
/// than this, and memory that is used again is memory that the kernel need not find.
pub(crate) const WRITTEN_AT_ONCE: usize = 1 << 16;

/// Standard output without the buffer of the standard library, which looks for the end of a line in everything it is
/// given: in a listing of many skills that is seen.
fn standard_output() -> Box<dyn Write> {
    match io::stdout().as_fd().try_clone_to_owned() {
        Ok(descriptor) => Box::new(File::from(descriptor)),
        Err(_) => Box::new(io::stdout()),
    }
}

/// The way out.
pub(crate) struct Output {
    out: BufWriter<Box<dyn Write>>,
    form: Form,
    paint: Paint,
    is_quiet: bool,
}

impl Output {
    pub(crate) fn new(global: &Global) -> Self {
        let colour = match global.color {
            Color::Always => true,
            Color::Never => false,
            Color::Auto => io::stdout().is_terminal() && environment::allows_colour(),
        };
        Self {
            out: BufWriter::with_capacity(WRITTEN_AT_ONCE, standard_output()),
            form: if global.json { Form::Json } else { Form::Text },
            paint: if colour { Paint::Colour } else { Paint::Plain },
            is_quiet: global.quiet,
        }
    }

    pub(crate) fn form(&self) -> Form {
        self.form
    }

    /// Whether a person reads along.
    pub(crate) fn is_terminal() -> bool {
        io::stdout().is_terminal()
    }

    /// Whether there are colours.
    pub(crate) fn paint(&self) -> Paint {
        self.paint
    }

    /// A line of the answer.
    pub(crate) fn line(&mut self, text: impl Display) -> io::Result<()> {
        writeln!(self.out, "{text}")
    }

    /// A line that explains or comments; left out with `--quiet`.
    pub(crate) fn comment(&mut self, text: impl Display) -> io::Result<()> {
        if self.is_quiet {
            return Ok(());
        }
        // Blank lines before it are ours; everything else may be a stranger's.
        let text = text.to_string();
        let (blank, text) = text.split_at(text.len() - text.trim_start_matches('\n').len());
        let text = self.tinted(Tone::Dim, text);
        writeln!(self.out, "{blank}{text}")
    }

    /// Something said beside the answer, on standard error; left out with `--quiet`.
    pub(crate) fn aside(&mut self, text: &str) -> io::Result<()> {
        if self.is_quiet {
            return Ok(());
        }
        writeln!(io::stderr().lock(), "{text}")
    }

    /// Bytes of the answer as they are.
    pub(crate) fn raw(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.out.write_all(bytes)
    }

    /// One JSON document.
    pub(crate) fn json(&mut self, value: &impl Serialize) -> io::Result<()> {
        serde_json::to_writer(&mut self.out, value)?;
        self.out.write_all(b"\n")
    }

    /// A diagnostic with its source line where the source is at hand.
    pub(crate) fn diagnostic(&mut self, diagnostic: &Diagnostic, source: Option<&str>) -> io::Result<()> {
        let text = render_text(diagnostic, source, self.paint);
        writeln!(self.out, "{text}")
    }

    /// Text in the colour of its meaning, without what could move a terminal's cursor.
    pub(crate) fn tinted(&self, tone: Tone, text: &str) -> String {
        tinted(self.paint, tone, text)
    }

    pub(crate) fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

/// See [`Output::tinted`].
pub(crate) fn tinted(paint: Paint, tone: Tone, text: &str) -> String {
    let text = clean(text);
    match paint {
        Paint::Plain => text,
        Paint::Colour => format!("{style}{text}{style:#}", style = tone.style()),
    }
}

/// A stranger's text as one harmless line: what could move a cursor or hide is shown as an escape.
pub(crate) fn clean(text: &str) -> String {
    metier_diagnostic::visible(text).into_owned()
}

/// Text cut to a number of characters, with a mark where something is missing.
pub(crate) fn shortened(text: &str, most: usize) -> String {
    if text.char_indices().nth(most).is_none() {
        return clean(text);
    }
    let end = text.char_indices().nth(most.saturating_sub(1)).map_or(0, |(at, _)| at);
    format!("{}…", clean(text[..end].trim_end()))
}

/// The width that text for people may take.
pub(crate) fn width() -> usize {
    const NARROWEST: usize = 60;
    const DEFAULT: usize = 110;
    environment::columns()
        .and_then(|columns| columns.parse().ok())
        .map_or(DEFAULT, |columns: usize| columns.max(NARROWEST))
}

/// Says on standard error why a command failed, the cause behind it last.
pub(crate) fn complain(error: &anyhow::Error) {
    let mut text = String::from("error");
    for cause in error.chain() {
        text.push_str(": ");
        text.push_str(&cause.to_string());
    }
    text.push('\n');
    let _ = io::stderr().write_all(text.as_bytes());
}
