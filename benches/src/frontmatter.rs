//! Frontmatter in the shapes that real files have, in about their shares: two thirds of the descriptions are plain,
//! the rest folded or quoted; a third of the files has nested metadata; one in ten a list.

use crate::prose;
use crate::random::Random;

/// About how many bytes of frontmatter a file has.
const BYTES: usize = 300;

/// How a description is written down.
#[derive(Clone, Copy)]
enum Style {
    Plain,
    Folded,
    Quoted,
}

/// The frontmatter of one skill, with both of its lines of hyphens.
pub(crate) fn frontmatter(random: &mut Random, name: &str) -> String {
    let mut text = format!("---\nname: {name}\n");
    let style = match random.below(100) {
        0..60 => Style::Plain,
        60..80 => Style::Folded,
        _ => Style::Quoted,
    };
    let extra = extra(random, name);
    description(random, style, BYTES.saturating_sub(extra.len() + text.len() + 30), &mut text);
    text.push_str(&extra);
    text.push_str("---\n");
    text
}

fn description(random: &mut Random, style: Style, bytes: usize, text: &mut String) {
    let mut value = prose::sentence(random);
    value.push_str(" Use when you have to ");
    value.push_str(&prose::clause(random));
    while value.len() < bytes {
        value.push_str(&format!(", {}", prose::clause(random)));
    }
    value.push('.');
    match style {
        Style::Plain => text.push_str(&format!("description: {value}\n")),
        Style::Quoted => {
            // Writers quote because of a colon; of 190 quoted descriptions in the corpus 3 contain an escape.
            let first = prose::noun(random);
            let mark = if random.below(60) == 0 { "\\\"" } else { "" };
            text.push_str(&format!("description: \"For {mark}{first}{mark}: {value}\"\n"));
        }
        Style::Folded => {
            text.push_str("description: >\n");
            let mut width = 0;
            for word in value.split(' ') {
                if width + word.len() > 78 {
                    text.push('\n');
                    width = 0;
                }
                text.push_str(if width == 0 { "  " } else { " " });
                text.push_str(word);
                width += word.len() + 1;
            }
            text.push('\n');
        }
    }
}

/// The keys after the description.
fn extra(random: &mut Random, name: &str) -> String {
    let mut text = String::new();
    if random.percent(15) {
        text.push_str("license: MIT\n");
    }
    if random.percent(5) {
        text.push_str("allowed-tools: Bash(git:*) Read Write\n");
    }
    if random.percent(35) {
        let (major, minor) = (random.below(4), random.below(20));
        text.push_str(&format!("metadata:\n  author: {}-team\n", prose::noun(random)));
        text.push_str(&format!("  version: \"{major}.{minor}\"\n  category: {}\n", prose::noun(random)));
    }
    match random.below(100) {
        0..6 => {
            text.push_str("tags:\n");
            for _ in 0..random.between(2, 4) {
                text.push_str(&format!("  - {}\n", prose::noun(random)));
            }
        }
        6..10 => text.push_str(&format!("tags: [{}, {}]\n", prose::noun(random), prose::noun(random))),
        10..13 => text.push_str(&format!("argument-hint: {}\nversion: 1.{}\n", name, random.below(9))),
        _ => {}
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn many() -> Vec<String> {
        (0..2_000).map(|seed| frontmatter(&mut Random::new(seed), "monthly-ledger-00001")).collect()
    }

    fn share(texts: &[String], of: impl Fn(&str) -> bool) -> usize {
        texts.iter().filter(|text| of(text)).count() * 100 / texts.len()
    }

    #[test]
    fn a_frontmatter_has_about_its_bytes() {
        let texts = many();
        let mean = texts.iter().map(String::len).sum::<usize>() / texts.len();
        assert!((270..=340).contains(&mean), "{mean}");
        assert!(texts.iter().all(|text| text.len() < 700));
    }

    #[test]
    fn the_shapes_have_their_shares() {
        let texts = many();
        let folded = share(&texts, |text| text.contains("description: >\n"));
        let quoted = share(&texts, |text| text.contains("description: \""));
        let nested = share(&texts, |text| text.contains("\nmetadata:\n  "));
        let lists = share(&texts, |text| text.contains("\ntags:"));
        assert!((17..=23).contains(&folded), "{folded}");
        assert!((17..=23).contains(&quoted), "{quoted}");
        assert!((31..=39).contains(&nested), "{nested}");
        assert!((7..=13).contains(&lists), "{lists}");
    }

    #[test]
    fn every_text_is_frontmatter_that_a_peer_reads() {
        for text in many() {
            let (keys, _) = skills_ref::parse_frontmatter(&format!("{text}# Body\n")).expect(&text);
            assert!(keys["description"].as_str().is_some_and(|value| value.len() > 40), "{text}");
        }
    }
}
