//! A body as Markdown: where its code and links are. Parsed once per skill and read by many rules.

use metier_diagnostic::Span;
use pulldown_cmark::{CodeBlockKind, Event, Options, Parser, Tag, TagEnd};
use std::ops::Range;

/// The parts of a body that rules ask for. All spans are bytes of the whole file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Markdown {
    /// Code blocks, fenced or indented, in order.
    pub blocks: Vec<CodeBlock>,
    /// Code inside of lines.
    pub codes: Vec<Span>,
    /// Targets of links and images.
    pub links: Vec<Link>,
}

/// A block of code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CodeBlock {
    /// The whole block, fences included.
    pub span: Span,
    /// Its lines without the fences.
    pub content: Span,
    /// The first word of the opening fence, in lower case; empty when it has none.
    pub language: String,
}

/// A link or an image.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Link {
    /// The whole link.
    pub span: Span,
    /// Where it leads, as written.
    pub target: String,
}

impl Markdown {
    /// Parses a body that begins at byte `start` of its file.
    pub fn parse(body: &str, start: usize) -> Self {
        let mut found = Self::default();
        let span = |range: &Range<usize>| Span::new(start + range.start, start + range.end);
        let mut block: Option<CodeBlock> = None;
        let options = Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH | Options::ENABLE_TASKLISTS;
        for (event, range) in Parser::new_ext(body, options).into_offset_iter() {
            match event {
                Event::Start(Tag::CodeBlock(kind)) => {
                    let language = match kind {
                        CodeBlockKind::Fenced(info) => {
                            info.split_whitespace().next().unwrap_or_default().to_ascii_lowercase()
                        }
                        CodeBlockKind::Indented => String::new(),
                    };
                    let empty = Span::empty(start + range.end);
                    block = Some(CodeBlock { span: span(&range), content: empty, language });
                }
                Event::End(TagEnd::CodeBlock) => found.blocks.extend(block.take()),
                Event::Text(_) => {
                    let Some(block) = &mut block else { continue };
                    let piece = span(&range);
                    let is_first = block.content.start == block.content.end;
                    let from = if is_first { piece.start } else { block.content.start };
                    block.content = Span { start: from, end: piece.end };
                }
                Event::Code(_) => found.codes.push(span(&range)),
                Event::Start(Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. }) => {
                    found.links.push(Link { span: span(&range), target: dest_url.into_string() });
                }
                _ => {}
            }
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_and_links_are_told_apart_and_placed_in_the_file() {
        let file =
            "---\nname: x\n---\n# Title\n\nSee [it](a/b.md) and `run x`.\n\n```Bash title\nls -l\npwd\n```\n";
        let start = file.find("# Title").unwrap();
        let found = Markdown::parse(&file[start..], start);
        assert_eq!(found.links[0].target, "a/b.md");
        assert_eq!(found.links[0].span.of(file), "[it](a/b.md)");
        assert_eq!(found.codes[0].of(file), "`run x`");
        assert_eq!(found.blocks[0].content.of(file), "ls -l\npwd\n");
        assert_eq!(found.blocks[0].language, "bash");
    }
}
