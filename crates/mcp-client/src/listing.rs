//! The skills that a server lists, read page by page with limits.

use std::collections::HashSet;
use std::time::{Duration, Instant};

use metier_catalog::{RemoteRefusal, one_line};
use serde_json::{Value, json};

use super::connection::{Connection, RequestError};
use super::entry::SkillEntry;

/// The most pages that are requested.
pub const MAX_PAGES: usize = 200;

/// The most skills of one server.
pub const MAX_SKILLS: usize = 10_000;

/// The most bytes of all pages.
const MAX_BYTES: usize = 64 * 1024 * 1024;

/// How long all pages may take.
const LISTING_TIMEOUT: Duration = Duration::from_mins(1);

/// The longest cursor.
const MAX_CURSOR: usize = 4 * 1_024;

/// The skills that a server lists. The list may be incomplete: a missing skill is not a removed one.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Listing {
    /// The skills, sorted by URI.
    pub skills: Vec<SkillEntry>,
    /// Rejected entries with reasons.
    pub refused: Vec<RemoteRefusal>,
}

impl Listing {
    /// Requests the list from a server, and nothing else.
    pub(crate) async fn request(connection: &Connection) -> Result<Self, RequestError> {
        let mut listing = Self::default();
        if !connection.has_skills() {
            return Ok(listing);
        }
        let began = Instant::now();
        let (mut cursor, mut seen, mut bytes) = (None::<String>, HashSet::new(), 0_usize);
        for page in 1.. {
            let params = cursor.as_ref().map_or_else(|| json!({}), |cursor| json!({ "cursor": cursor }));
            let result = connection.custom_request("skills/list", params).await?;
            bytes += result.to_string().len();
            listing.add_page(result.get("skills"));
            let next = result.get("nextCursor").and_then(Value::as_str).map(str::to_owned);
            let Some(next) = next else { break };
            let why = if page >= MAX_PAGES {
                Some(format!("it has more than {MAX_PAGES} pages"))
            } else if listing.skills.len() + listing.refused.len() >= MAX_SKILLS {
                Some(format!("it has more than {MAX_SKILLS} skills"))
            } else if bytes > MAX_BYTES {
                Some(format!("it has more than {MAX_BYTES} bytes"))
            } else if began.elapsed() > LISTING_TIMEOUT {
                Some(format!("it took more than {} seconds", LISTING_TIMEOUT.as_secs()))
            } else if next.len() > MAX_CURSOR || !seen.insert(next.clone()) {
                Some("a cursor is repeated or too long".to_owned())
            } else {
                None
            };
            if let Some(why) = why {
                let why = format!("the list is cut here because {why}");
                listing.refused.push(RemoteRefusal { uri: "skills/list".to_owned(), why });
                break;
            }
            cursor = Some(next);
        }
        listing.finish();
        Ok(listing)
    }

    /// Adds the entries of a page. An invalid entry does not affect the others.
    pub(crate) fn add_page(&mut self, page: Option<&Value>) {
        for entry in page.and_then(Value::as_array).into_iter().flatten() {
            if self.skills.len() + self.refused.len() >= MAX_SKILLS {
                return;
            }
            match SkillEntry::read(entry) {
                Ok(skill) => self.skills.push(skill),
                Err(why) => {
                    let uri = entry.get("uri").and_then(Value::as_str).unwrap_or("an entry without a `uri`");
                    self.refused.push(RemoteRefusal { uri: one_line(uri, 200), why: why.to_string() });
                }
            }
        }
    }

    /// Sorts the skills. Two entries with one URI are both rejected, because either could be meant.
    pub(crate) fn finish(&mut self) {
        self.skills.sort_by(|a, b| a.uri.cmp(&b.uri));
        let mut twice: Vec<String> = self
            .skills
            .windows(2)
            .filter(|two| two[0].uri == two[1].uri)
            .map(|two| two[0].uri.clone())
            .collect();
        twice.dedup();
        self.skills.retain(|skill| !twice.contains(&skill.uri));
        let refused = |uri| RemoteRefusal { uri, why: "it is listed twice".to_owned() };
        self.refused.extend(twice.into_iter().map(refused));
    }

    /// The JSON for the cache, in the protocol's format.
    pub(crate) fn to_json(&self) -> Value {
        let skills = self.skills.iter().map(|skill| {
            let files = skill
                .files
                .iter()
                .map(|file| json!({ "uri": file.uri, "digest": file.digest.to_string(), "size": file.size }));
            json!({
                "uri": skill.uri,
                "frontmatter": skill.frontmatter,
                "resources": files.collect::<Vec<_>>(),
            })
        });
        let refused = self.refused.iter().map(|refused| json!({ "uri": refused.uri, "why": refused.why }));
        json!({ "skills": skills.collect::<Vec<_>>(), "refused": refused.collect::<Vec<_>>() })
    }

    /// Reads the cached JSON, as strictly as a server's response.
    pub(crate) fn from_json(stored: &Value) -> Self {
        let mut listing = Self::default();
        listing.add_page(stored.get("skills"));
        for refused in stored.get("refused").and_then(Value::as_array).into_iter().flatten() {
            let text =
                |key: &str| one_line(refused.get(key).and_then(Value::as_str).unwrap_or_default(), 400);
            listing.refused.push(RemoteRefusal { uri: text("uri"), why: text("why") });
        }
        listing.finish();
        listing
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use metier_files::FileDigest;

    fn entry(name: &str) -> Value {
        let uri = format!("skill://{name}/SKILL.md");
        let digest = FileDigest::of(name.as_bytes()).to_string();
        json!({
            "uri": uri,
            "frontmatter": { "name": name, "description": "d" },
            "resources": [{ "uri": uri, "digest": digest, "size": 3 }],
        })
    }

    #[test]
    fn the_cached_json_round_trips() {
        let mut listing = Listing::default();
        listing.add_page(Some(
            &json!([entry("b"), entry("a"), { "uri": "file:/x" }, 3, entry("c"), entry("c")]),
        ));
        listing.finish();
        let uris: Vec<&str> = listing.skills.iter().map(|skill| skill.uri.as_str()).collect();
        assert_eq!(uris, ["skill://a/SKILL.md", "skill://b/SKILL.md"]);
        let refused: Vec<String> =
            listing.refused.iter().map(|refused| format!("{}: {}", refused.uri, refused.why)).collect();
        assert_eq!(
            refused,
            [
                "file:/x: its URI names a local file",
                "an entry without a `uri`: it is not an object",
                "skill://c/SKILL.md: it is listed twice",
            ]
        );
        assert_eq!(Listing::from_json(&listing.to_json()), listing);
    }
}
