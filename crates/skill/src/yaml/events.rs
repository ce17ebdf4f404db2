//! The full parser: events of a YAML library turned into our tree, within our limits.

use super::{Entry, Kind, MAX_ALIASES, MAX_BYTES, MAX_DEPTH, MAX_NODES, Node, Style};
use granit_parser::{ErrorKind, Event, Parser, ScalarStyle, Span as EventSpan, StructureStyle};
use metier_diagnostic::Span;
use std::borrow::Cow;
use std::collections::HashMap;

/// Why a text is not a tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct YamlError {
    /// What kind of trouble.
    pub kind: YamlErrorKind,
    /// The byte of the file where it was noticed.
    pub at: usize,
    /// What is wrong, in words.
    pub message: String,
}

/// What kind of trouble stopped the parser. Only syntax may be repaired.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum YamlErrorKind {
    /// Not YAML.
    Syntax,
    /// A tag that is not of the core schema. It asks for code to be chosen by data, so it is never repaired.
    Tag,
    /// A bound of this module.
    Limit,
}

type Events<'a> = Parser<'a, granit_parser::StrInput<'a>>;

/// Parses, and says how many nodes it met on the way, which is what a failed attempt has cost.
pub(super) fn parse(text: &str, base: usize) -> (Result<Option<Node<'_>>, YamlError>, usize) {
    // Directives belong to whole YAML streams; in frontmatter a `%` is a stray character.
    let options = granit_parser::options! { disallow_directives: true };
    let parser = Parser::new_from_str_with_options(text, options);
    let mut builder =
        Builder { parser, text, base, nodes: 0, aliases: 0, copied: 0, anchors: HashMap::new() };
    let result = builder.document();
    (result, builder.nodes)
}

struct Builder<'a> {
    parser: Events<'a>,
    text: &'a str,
    base: usize,
    nodes: usize,
    aliases: usize,
    /// Bytes of text that aliases have repeated.
    copied: usize,
    anchors: HashMap<usize, Node<'a>>,
}

impl<'a> Builder<'a> {
    fn next(&mut self) -> Result<(Event<'a>, EventSpan), YamlError> {
        match self.parser.next_event() {
            Some(Ok(event)) => Ok(event),
            Some(Err(error)) => {
                let offset = error.marker().byte_offset().unwrap_or(self.text.len());
                Err(match error.kind() {
                    ErrorKind::RecursionLimitExceeded => self.too_deep(offset),
                    _ => self.error(YamlErrorKind::Syntax, offset, error.info()),
                })
            }
            None => Err(self.error(YamlErrorKind::Syntax, self.text.len(), "the text ends too early")),
        }
    }

    fn error(&self, kind: YamlErrorKind, offset: usize, message: impl Into<String>) -> YamlError {
        YamlError { kind, at: self.base + offset.min(self.text.len()), message: message.into() }
    }

    fn document(&mut self) -> Result<Option<Node<'a>>, YamlError> {
        let mut root = None;
        loop {
            let (event, span) = self.next()?;
            match event {
                Event::StreamEnd => return Ok(root),
                Event::StreamStart | Event::DocumentEnd => {}
                Event::DocumentStart(..) if root.is_none() => {}
                Event::DocumentStart(..) => {
                    return Err(self.error(
                        YamlErrorKind::Syntax,
                        start(&span),
                        "a second document begins here",
                    ));
                }
                event => root = Some(self.node(event, span, 0)?),
            }
        }
    }

    fn node(&mut self, event: Event<'a>, span: EventSpan, depth: usize) -> Result<Node<'a>, YamlError> {
        self.count(1, &span)?;
        if event.tag().is_some_and(|tag| !tag.is_yaml_core_schema()) {
            let at = span.tag_start().and_then(|mark| mark.byte_offset()).unwrap_or(start(&span));
            return Err(self.error(YamlErrorKind::Tag, at, "a custom tag is not allowed"));
        }
        let anchor = event.anchor_id();
        let is_tagged_text = event.tag().is_some_and(|tag| tag.is_yaml_core_schema_tag("str"));
        let node = match event {
            // `!!str 5` is a text, as if it were in quotes.
            Event::Scalar(text, ScalarStyle::Plain, ..) if is_tagged_text => {
                self.scalar(text, ScalarStyle::DoubleQuoted, &span)
            }
            Event::Scalar(text, style, ..) => self.scalar(text, style, &span),
            Event::SequenceStart(structure, ..) => {
                self.sequence(structure, &span, self.deeper(depth, &span)?)?
            }
            Event::MappingStart(structure, ..) => {
                self.mapping(structure, &span, self.deeper(depth, &span)?)?
            }
            Event::Alias(id) => self.alias(id, &span, depth)?,
            _ => return Err(self.error(YamlErrorKind::Syntax, start(&span), "a value is missing here")),
        };
        if let Some(id) = anchor {
            self.anchors.insert(id, node.clone());
        }
        Ok(node)
    }

    fn count(&mut self, nodes: usize, span: &EventSpan) -> Result<(), YamlError> {
        self.nodes += nodes;
        if self.nodes > MAX_NODES {
            let message = format!("the frontmatter has more than {MAX_NODES} values");
            return Err(self.error(YamlErrorKind::Limit, start(span), message));
        }
        Ok(())
    }

    fn deeper(&self, depth: usize, span: &EventSpan) -> Result<usize, YamlError> {
        if depth >= MAX_DEPTH { Err(self.too_deep(start(span))) } else { Ok(depth + 1) }
    }

    fn too_deep(&self, offset: usize) -> YamlError {
        let message = format!("the frontmatter nests deeper than {MAX_DEPTH} levels");
        self.error(YamlErrorKind::Limit, offset, message)
    }

    fn span(&self, start: usize, end: usize) -> Span {
        Span::new(self.base + start, self.base + end)
    }

    fn scalar(&self, text: Cow<'a, str>, style: ScalarStyle, span: &EventSpan) -> Node<'a> {
        let (mut from, mut to) = (start(span), end(span));
        let style = match style {
            ScalarStyle::Plain => Style::Plain,
            ScalarStyle::SingleQuoted => Style::SingleQuoted,
            ScalarStyle::DoubleQuoted => Style::DoubleQuoted,
            ScalarStyle::Literal => Style::Literal,
            ScalarStyle::Folded => Style::Folded,
        };
        // The library writes an absent value as `~`; we keep what is there, which is nothing.
        let text = if from == to && style == Style::Plain { Cow::Borrowed("") } else { text };
        if matches!(style, Style::Literal | Style::Folded) {
            // A block's span reaches into the blank lines after it, which belong to nobody.
            let blanks = [' ', '\t', '\n', '\r'];
            let written =
                |range| self.text.get(range).map_or(0, |text: &str| text.trim_end_matches(blanks).len());
            to = from + written(from..to);
            if from == to {
                // Of an empty one only the marker is written.
                from = written(0..from);
                to = from;
            }
        }
        Node { span: self.span(from, to), kind: Kind::Scalar { text, style } }
    }

    fn sequence(
        &mut self,
        style: StructureStyle,
        span: &EventSpan,
        depth: usize,
    ) -> Result<Node<'a>, YamlError> {
        let mut items: Vec<Node<'a>> = Vec::new();
        loop {
            let (event, event_span) = self.next()?;
            if matches!(event, Event::SequenceEnd) {
                let span = match (style, items.first(), items.last()) {
                    (StructureStyle::Block, Some(first), Some(last)) => {
                        Span { start: first.span.start, end: last.span.end }
                    }
                    _ => self.span(start(span), end(&event_span)),
                };
                return Ok(Node { span, kind: Kind::Sequence(items) });
            }
            items.push(self.node(event, event_span, depth)?);
        }
    }

    fn mapping(
        &mut self,
        style: StructureStyle,
        span: &EventSpan,
        depth: usize,
    ) -> Result<Node<'a>, YamlError> {
        let mut entries: Vec<Entry<'a>> = Vec::new();
        loop {
            let (event, event_span) = self.next()?;
            if matches!(event, Event::MappingEnd) {
                let span = match (style, entries.first(), entries.last()) {
                    (StructureStyle::Block, Some(first), Some(last)) => {
                        Span { start: first.key_span.start, end: last.value.span.end }
                    }
                    _ => self.span(start(span), end(&event_span)),
                };
                return Ok(Node { span, kind: Kind::Mapping(entries) });
            }
            let key_at = start(&event_span);
            let Node { span: key_span, kind: Kind::Scalar { text: key, .. } } =
                self.node(event, event_span, depth)?
            else {
                return Err(self.error(YamlErrorKind::Syntax, key_at, "a key must be text"));
            };
            let (event, event_span) = self.next()?;
            let mut value = self.node(event, event_span, depth)?;
            if value.span.start == value.span.end && value.is_null() {
                // Where nothing is written, the key's end is the place people look at.
                value.span = Span { start: key_span.end, end: key_span.end };
            }
            entries.push(Entry { key, key_span, value });
        }
    }

    fn alias(&mut self, id: usize, span: &EventSpan, depth: usize) -> Result<Node<'a>, YamlError> {
        self.aliases += 1;
        if self.aliases > MAX_ALIASES {
            let message = format!("the frontmatter uses more than {MAX_ALIASES} aliases");
            return Err(self.error(YamlErrorKind::Limit, start(span), message));
        }
        let Some(mut node) = self.anchors.get(&id).cloned() else {
            return Err(self.error(
                YamlErrorKind::Syntax,
                start(span),
                "an alias to a value that is not finished",
            ));
        };
        let size = Size::of(&node);
        self.count(size.nodes - 1, span)?;
        self.copied += size.bytes;
        if self.copied > MAX_BYTES {
            let message = format!("the aliases of the frontmatter repeat more than {MAX_BYTES} bytes");
            return Err(self.error(YamlErrorKind::Limit, start(span), message));
        }
        if depth + size.depth > MAX_DEPTH {
            return Err(self.too_deep(start(span)));
        }
        node.span = self.span(start(span), end(span));
        Ok(node)
    }
}

/// What a copy of a node adds to the tree.
struct Size {
    nodes: usize,
    bytes: usize,
    depth: usize,
}

impl Size {
    fn of(node: &Node<'_>) -> Self {
        let mut size = Self { nodes: 1, bytes: 0, depth: 1 };
        match &node.kind {
            Kind::Scalar { text, .. } => return Self { nodes: 1, bytes: text.len(), depth: 0 },
            Kind::Sequence(items) => items.iter().for_each(|item| size.add(&Self::of(item))),
            Kind::Mapping(entries) => {
                for entry in entries {
                    size.add(&Self { nodes: 1, bytes: entry.key.len(), depth: 0 });
                    size.add(&Self::of(&entry.value));
                }
            }
        }
        size
    }

    fn add(&mut self, child: &Self) {
        self.nodes += child.nodes;
        self.bytes += child.bytes;
        self.depth = self.depth.max(child.depth + 1);
    }
}

fn start(span: &EventSpan) -> usize {
    span.byte_range().map_or(0, |range| range.start)
}

fn end(span: &EventSpan) -> usize {
    span.byte_range().map_or(0, |range| range.end)
}
