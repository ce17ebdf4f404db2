//! `<available_skills>`, with where each skill is, everything escaped.

use super::budget::{Rendering, Rest};
use super::text::{MAX_DESCRIPTION, comma_list, description, hint, xml};
use super::{CatalogueOptions, Offer};
use crate::shown::one_line;

/// Characters of a path. The system's own limit is 4,096 bytes, so nothing real is ever cut.
const MAX_LOCATION: usize = 4_096;

pub(super) struct Xml;

impl Rendering for Xml {
    const FOOT: &'static str = "</available_skills>\n";

    fn head(&self, _: &CatalogueOptions<'_>) -> String {
        "<available_skills>\n".to_owned()
    }

    fn full(&mut self, _: usize, offer: &Offer<'_>, room: usize) -> Result<Option<String>, String> {
        let mut text = String::from("<skill>\n");
        let mut element = |name: &str, content: &str| {
            if !content.is_empty() {
                text.push_str(&format!("<{name}>{}</{name}>\n", xml(content)));
            }
        };
        element("name", offer.name);
        element("argument_hint", &hint(offer.argument_hint).unwrap_or_default());
        element("description", &description(offer.description, offer.when_to_use, MAX_DESCRIPTION));
        element("location", &one_line(&offer.location.to_string_lossy(), MAX_LOCATION));
        text.push_str("</skill>\n");
        Ok(Some(text).filter(|text| text.len() <= room))
    }

    fn name_only(&self, offer: &Offer<'_>) -> String {
        format!("<skill>\n<name>{}</name>\n</skill>\n", xml(offer.name))
    }

    fn rest(&self, rest: &Rest<'_>) -> String {
        let mut text = format!("<more_skills total=\"{}\" unnamed=\"{}\">\n", rest.total, rest.unnamed);
        if !rest.named.is_empty() {
            text.push_str(&format!("<names>{}</names>\n", xml(&comma_list(rest.named.iter().copied()))));
        }
        let search = xml(rest.search);
        text.push_str(&format!("Use the {search} tool to find a skill by what it does.\n</more_skills>\n"));
        text
    }
}
