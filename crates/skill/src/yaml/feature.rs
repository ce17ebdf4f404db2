//! The features of YAML that its simple subset leaves out. Some readers refuse them, so somebody has to find them; the
//! tree does not tell, since `[a]` and `- a` are the same list.

use granit_parser::{Event, Parser, StructureStyle};
use metier_diagnostic::Span;

/// A feature beyond plain blocks and scalars.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Feature {
    /// `[a, b]` or `{a: b}`.
    Flow,
    /// `&name`.
    Anchor,
    /// `!tag`.
    Tag,
}

/// The first such feature of a text and where it stands. A text that is no YAML has those before its error.
pub(crate) fn first_feature(text: &str, base: usize) -> Option<(Feature, Span)> {
    let mut parser = Parser::new_from_str(text);
    while let Some(Ok((event, span))) = parser.next_event() {
        let start = span.byte_range().map_or(0, |range| range.start);
        let feature = if event.tag().is_some() {
            Some(Feature::Tag)
        } else if event.anchor_id().is_some() {
            Some(Feature::Anchor)
        } else {
            match event {
                Event::SequenceStart(StructureStyle::Flow, ..)
                | Event::MappingStart(StructureStyle::Flow, ..) => Some(Feature::Flow),
                Event::StreamEnd => return None,
                _ => None,
            }
        };
        if let Some(feature) = feature {
            let start = start.min(text.len());
            // Behind an anchor or a tag stands a value, which may begin with any character or not at all.
            let first = text.get(start..).and_then(|rest| rest.chars().next());
            let end = start + first.map_or(0, char::len_utf8);
            return Some((feature, Span::new(base + start, base + end)));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expect: Option<(Feature, u32)>) {
        assert_eq!(first_feature(text, 10).map(|(feature, span)| (feature, span.start)), expect, "{text:?}");
    }

    #[test]
    fn flow_anchors_and_tags_are_found_where_they_stand() {
        check("a: b\nc:\n  - d\n", None);
        check("a: '[b]'\nc: |\n  {d}\n", None);
        check("a: [b]\n", Some((Feature::Flow, 13)));
        check("a: {b: c}\n", Some((Feature::Flow, 13)));
        check("a:\n  b: []\n", Some((Feature::Flow, 18)));
        assert!(matches!(first_feature("a: &x b\n", 0), Some((Feature::Anchor, _))));
        assert!(matches!(first_feature("a: !!str b\n", 0), Some((Feature::Tag, _))));
        for (text, expect) in [("a: &x 🎯b\n", "🎯"), ("&x 🎯: b\n", "🎯"), ("a: &x", "")] {
            let (_, span) = first_feature(text, 0).unwrap();
            assert_eq!(text.get(span.range()), Some(expect), "{text:?}");
        }
    }
}
