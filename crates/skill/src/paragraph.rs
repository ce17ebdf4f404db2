//! The first paragraph of a body, which stands in for a missing description.

use crate::line::lines;

/// The longest description derived from a body, in characters: what every client takes.
const MAX_DERIVED: usize = 1_024;

/// The first paragraph as one line. Headings, rules, comments, code, lists, tables and images are no paragraphs.
pub(crate) fn first_paragraph(body: &str) -> Option<String> {
    let mut paragraph = String::new();
    let mut fence: Option<&str> = None;
    let mut in_comment = false;
    for line in lines(body.trim_start_matches('\u{feff}'), 0) {
        let text = line.text.trim();
        if in_comment {
            in_comment = !text.contains("-->");
            continue;
        }
        if let Some(mark) = fence {
            if text.starts_with(mark) {
                fence = None;
            }
            continue;
        }
        if is_other_block(text) {
            if !paragraph.is_empty() {
                break;
            }
            if line.is_fence() {
                fence = text.get(..3);
            }
            in_comment = text.starts_with("<!--") && !text.contains("-->");
            continue;
        }
        let text = text.trim_start_matches(['>', ' ']);
        if !paragraph.is_empty() {
            paragraph.push(' ');
        }
        paragraph.extend(text.chars().filter(|c| !c.is_control()));
        if paragraph.len() > 4 * MAX_DERIVED {
            break;
        }
    }
    // Files without frontmatter often write the key as the beginning of their text.
    let paragraph = paragraph.strip_prefix("description:").unwrap_or(&paragraph).trim_start();
    let cut: String = paragraph.chars().take(MAX_DERIVED).collect();
    let cut = cut.trim();
    (!cut.is_empty()).then(|| cut.to_owned())
}

/// Blank lines and whatever is not running text.
fn is_other_block(text: &str) -> bool {
    let is_rule = text.len() >= 3 && text.chars().all(|c| matches!(c, '-' | '*' | '_' | '=' | ' '));
    let is_list = ["- ", "* ", "+ "].iter().any(|mark| text.starts_with(mark))
        || text.split_once(['.', ')']).is_some_and(|(number, rest)| {
            !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit()) && rest.starts_with(' ')
        });
    text.is_empty()
        || is_rule
        || is_list
        || text.starts_with(['#', '|', '<'])
        || ["```", "~~~", "![", "[![", "\\#"].iter().any(|mark| text.starts_with(mark))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(body: &str, expect: Option<&str>) {
        assert_eq!(first_paragraph(body).as_deref(), expect, "{body:?}");
    }

    #[test]
    fn the_first_running_text_is_found() {
        check("# Title\n\nDoes this\nand that.\n\nMore.\n", Some("Does this and that."));
        check("<!-- a\nb -->\n\n---\n\n> quoted text\n", Some("quoted text"));
        check("```sh\ncode\n```\nText after code.\n# Next\n", Some("Text after code."));
        check("\u{feff}# Title\n\\## Escaped\n\ndescription: Draft letters.\n", Some("Draft letters."));
        check("- item\n1. item\n| a | b |\n![x](y)\nThe text.\r\n", Some("The text."));
    }

    #[test]
    fn a_body_without_text_has_none() {
        check("", None);
        check("# Title\n\n- only\n- lists\n\n```\ncode\n", None);
    }

    #[test]
    fn a_long_paragraph_is_cut_between_characters() {
        let text = first_paragraph(&"ä".repeat(5_000)).unwrap();
        assert_eq!(text.chars().count(), MAX_DERIVED);
    }
}
