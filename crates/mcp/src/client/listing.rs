//! What a server lists as its skills, page by page and never without end.

use std::collections::HashSet;
use std::time::{Duration, Instant};

use metier_catalog::{RemoteRefusal, one_line};
use serde_json::{Value, json};

use super::connection::{Connection, Fault};
use super::entry::SkillEntry;

/// The most pages that are asked for.
pub const MAX_PAGES: usize = 200;

/// The most skills of one server.
pub const MAX_SKILLS: usize = 10_000;

/// The most that all pages together have, in bytes.
const MAX_BYTES: usize = 64 * 1024 * 1024;

/// How long all pages together may take.
const MAX_TIME: Duration = Duration::from_mins(1);

/// The longest word by which a page names the next one.
const MAX_CURSOR: usize = 4 * 1_024;

/// What a server lists. A list need not be whole: that a skill is not in it means nothing.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Listing {
    /// The skills, by address.
    pub skills: Vec<SkillEntry>,
    /// What was refused, and why.
    pub refused: Vec<RemoteRefusal>,
}

impl Listing {
    /// Asks a server. Nothing but the list is asked for.
    pub(super) async fn ask(connection: &Connection) -> Result<Self, Fault> {
        let mut listing = Self::default();
        if !connection.has_skills() {
            return Ok(listing);
        }
        let began = Instant::now();
        let (mut cursor, mut seen, mut bytes) = (None::<String>, HashSet::new(), 0_usize);
        for page in 1.. {
            let params = cursor.as_ref().map_or_else(|| json!({}), |cursor| json!({ "cursor": cursor }));
            let result = connection.custom("skills/list", params).await?;
            bytes += result.to_string().len();
            listing.take(result.get("skills"));
            let next = result.get("nextCursor").and_then(Value::as_str).map(str::to_owned);
            let Some(next) = next else { break };
            let why = if page >= MAX_PAGES {
                Some(format!("it does not end after {MAX_PAGES} pages"))
            } else if listing.skills.len() + listing.refused.len() >= MAX_SKILLS {
                Some(format!("it has more than {MAX_SKILLS} skills"))
            } else if bytes > MAX_BYTES {
                Some(format!("it has more than {MAX_BYTES} bytes"))
            } else if began.elapsed() > MAX_TIME {
                Some(format!("it takes more than {} seconds", MAX_TIME.as_secs()))
            } else if next.len() > MAX_CURSOR || !seen.insert(next.clone()) {
                Some("it goes in a circle".to_owned())
            } else {
                None
            };
            if let Some(why) = why {
                let why = format!("the list is cut here, since {why}");
                listing.refused.push(RemoteRefusal { uri: "skills/list".to_owned(), why });
                break;
            }
            cursor = Some(next);
        }
        listing.settle();
        Ok(listing)
    }

    /// Takes what is on a page. One bad entry costs itself.
    pub(super) fn take(&mut self, page: Option<&Value>) {
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

    /// Puts the skills in order. Of two entries of one address nobody knows which one is meant, so neither is.
    pub(super) fn settle(&mut self) {
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

    /// As it is kept, in the words of the protocol.
    pub(super) fn kept(&self) -> Value {
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

    /// From what was kept. It is read as strictly as if it came from the server.
    pub(super) fn from_kept(kept: &Value) -> Self {
        let mut listing = Self::default();
        listing.take(kept.get("skills"));
        for refused in kept.get("refused").and_then(Value::as_array).into_iter().flatten() {
            let text =
                |key: &str| one_line(refused.get(key).and_then(Value::as_str).unwrap_or_default(), 400);
            listing.refused.push(RemoteRefusal { uri: text("uri"), why: text("why") });
        }
        listing.settle();
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
    fn what_is_kept_comes_back_as_it_was() {
        let mut listing = Listing::default();
        listing.take(Some(&json!([entry("b"), entry("a"), { "uri": "file:/x" }, 3, entry("c"), entry("c")])));
        listing.settle();
        let uris: Vec<&str> = listing.skills.iter().map(|skill| skill.uri.as_str()).collect();
        assert_eq!(uris, ["skill://a/SKILL.md", "skill://b/SKILL.md"]);
        let refused: Vec<String> =
            listing.refused.iter().map(|refused| format!("{}: {}", refused.uri, refused.why)).collect();
        assert_eq!(
            refused,
            [
                "file:/x: its address means a file of this machine",
                "an entry without a `uri`: it is not an object",
                "skill://c/SKILL.md: it is listed twice",
            ]
        );
        assert_eq!(Listing::from_kept(&listing.kept()), listing);
    }
}
