//! The answer of a command: text or JSON, with colours or without.
//!
//! What is written as a line is harmless whatever foreign text is in it: control characters, line breaks, bidirectional and
//! invisible characters are shown as escapes, here and not by whoever writes. JSON has them as `\uXXXX`.

use crate::args::{Color, Global};
use crate::environment;
use crate::json_text;
use crate::screen;
use anstyle::{AnsiColor, Style};
use anyhow::Result;
use metier_diagnostic::{Diagnostic, JsonDiagnostic, Paint, render_text};
use serde::{Serialize, Serializer};
use std::fmt::Display;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::sync::LazyLock;

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

/// How much is written at once. A listing of 10,000 skills is a few megabytes, so writes should be few; a pipe takes no more
/// than this, and memory that is used again is memory that the kernel need not find.
const WRITTEN_AT_ONCE: usize = 1 << 16;

/// Standard output without the buffer of the standard library, which looks for the end of a line in everything it is
/// given: in a listing of many skills that is seen.
struct StandardOutput(Option<File>);

impl StandardOutput {
    fn open() -> Self {
        Self(rustix::stdio::stdout().try_clone_to_owned().ok().map(File::from))
    }
}

impl Write for StandardOutput {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        // Nothing is written beside a question.
        let mut screen = screen::lock();
        match &mut self.0 {
            Some(file) => file.write(bytes),
            None => screen.out(bytes).map(|()| bytes.len()),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// The way out.
pub(crate) struct Output {
    out: BufWriter<StandardOutput>,
    is_json: bool,
    paint: Paint,
    is_quiet: bool,
}

impl Output {
    pub(crate) fn new(global: &Global) -> Self {
        let colour = match global.color {
            Color::Always => true,
            Color::Never => false,
            Color::Auto => screen::out_is_terminal() && environment::allows_colour(),
        };
        Self {
            out: BufWriter::with_capacity(WRITTEN_AT_ONCE, StandardOutput::open()),
            is_json: global.json,
            paint: if colour { Paint::Colour } else { Paint::Plain },
            is_quiet: global.quiet,
        }
    }

    /// Whether the answer is JSON for programs instead of text for people.
    pub(crate) fn is_json(&self) -> bool {
        self.is_json
    }

    /// Whether nothing but the answer is wanted.
    pub(crate) fn is_quiet(&self) -> bool {
        self.is_quiet
    }

    /// Whether there are colours.
    pub(crate) fn paint(&self) -> Paint {
        self.paint
    }

    /// A line of the answer. Whatever is in the text, it stays one line.
    pub(crate) fn line(&mut self, text: impl Display) -> Result<()> {
        Ok(writeln!(self.out, "{}", own_line(&text.to_string(), self.paint))?)
    }

    /// A line of the answer with an empty one above it.
    pub(crate) fn section(&mut self, text: impl Display) -> Result<()> {
        self.raw(b"\n")?;
        self.line(text)
    }

    /// Foreign text of several lines. A file or a pipe gets every byte; a terminal is not to be moved about by it.
    pub(crate) fn block(&mut self, text: &str) -> Result<()> {
        self.text(text)?;
        self.raw(b"\n")
    }

    /// The same without a line break at the end.
    pub(crate) fn text(&mut self, text: &str) -> Result<()> {
        if screen::out_is_terminal() {
            self.raw(screen::harmless_lines(text).as_bytes())
        } else {
            self.raw(text.as_bytes())
        }
    }

    /// A line that explains or comments; left out with `--quiet`.
    pub(crate) fn comment(&mut self, text: impl Display) -> Result<()> {
        if self.is_quiet {
            return Ok(());
        }
        // Blank lines before it are ours; everything else may be a stranger's.
        let text = text.to_string();
        let (blank, text) = text.split_at(text.len() - text.trim_start_matches('\n').len());
        let text = self.tinted(Tone::Dim, text);
        Ok(writeln!(self.out, "{blank}{text}")?)
    }

    /// Something said beside the answer, on standard error; left out with `--quiet`.
    pub(crate) fn aside(&mut self, text: &str) -> Result<()> {
        self.beside(&own_line(text, self.paint))
    }

    fn beside(&self, shown: &str) -> Result<()> {
        if self.is_quiet {
            return Ok(());
        }
        let mut screen = screen::lock();
        let written = screen.begin_line().and_then(|()| writeln!(screen, "{shown}"));
        // The command goes on and has its own exit code, whether somebody reads these lines or not.
        if written.as_ref().is_err_and(|error| error.kind() == io::ErrorKind::BrokenPipe) {
            return Ok(());
        }
        Ok(written?)
    }

    /// A diagnostic said beside the answer.
    pub(crate) fn aside_diagnostic(&mut self, diagnostic: &Diagnostic, source: Option<&str>) -> Result<()> {
        self.aside_rendered(&render_text(diagnostic, source, Paint::Plain))
    }

    /// Text of several lines said beside the answer, as `metier_diagnostic` renders it: harmless, perhaps with colours.
    pub(crate) fn aside_rendered(&mut self, text: &str) -> Result<()> {
        self.beside(&screen::without_mark(text.trim_end()))
    }

    /// Bytes of the answer as they are: metier's own pages.
    pub(crate) fn raw(&mut self, bytes: &[u8]) -> Result<()> {
        Ok(self.out.write_all(bytes)?)
    }

    /// Text of several lines as `metier_diagnostic` renders it: harmless, perhaps with colours.
    pub(crate) fn rendered(&mut self, text: &str) -> Result<()> {
        self.raw(screen::without_mark(text).as_bytes())
    }

    /// One JSON document.
    pub(crate) fn json(&mut self, value: &impl Serialize) -> Result<()> {
        json_text::write(&mut self.out, value).map_err(io::Error::from)?;
        self.raw(b"\n")
    }

    /// A diagnostic with its source line where the source is at hand.
    pub(crate) fn diagnostic(&mut self, diagnostic: &Diagnostic, source: Option<&str>) -> Result<()> {
        let text = render_text(diagnostic, source, self.paint);
        self.rendered(&format!("{text}\n"))
    }

    /// Text in the colour of its meaning, without what could move a terminal's cursor.
    pub(crate) fn tinted(&self, tone: Tone, text: &str) -> String {
        tinted(self.paint, tone, text)
    }

    pub(crate) fn flush(&mut self) -> Result<()> {
        Ok(self.out.flush()?)
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

/// A line of metier's own with foreign text in it: only the colours of [`Tone`] pass.
fn own_line(text: &str, paint: Paint) -> String {
    static COLOURS: LazyLock<Vec<String>> = LazyLock::new(|| {
        let tones = [Tone::Strong, Tone::Dim, Tone::Good, Tone::Caution, Tone::Bad];
        let begin = tones.iter().map(|tone| tone.style().render().to_string());
        begin.chain([Tone::Bad.style().render_reset().to_string()]).collect()
    });
    screen::own_line(text, paint, &COLOURS)
}

/// Foreign text as one harmless line: what could move a cursor or hide is shown as an escape.
pub(crate) fn clean(text: &str) -> String {
    screen::harmless(text).into_owned()
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

/// Diagnostics of a document for programs.
pub(crate) fn as_json<S: Serializer>(diagnostics: &[Diagnostic], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(diagnostics.iter().map(JsonDiagnostic::from))
}

/// Says on standard error why a command failed, the cause behind it last.
pub(crate) fn complain(error: &anyhow::Error) {
    let mut text = String::from("error");
    for cause in error.chain() {
        text.push_str(": ");
        text.push_str(&cause.to_string());
    }
    let mut screen = screen::lock();
    // A cause may be a list with a line for each item; none of them can pass for a line of metier's own.
    let shown: Vec<String> = text.split('\n').map(clean).collect();
    let _ = screen.begin_line().and_then(|()| writeln!(screen, "{}", shown.join("\n  ")));
}
