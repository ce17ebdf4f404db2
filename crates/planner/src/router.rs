//! Which skill fits a request, and what the planner needs to know about it.

use std::sync::Arc;

use metier_catalog::{Entry, EntryId, Finder, Route, SHORTLIST_LENGTH, Snapshot};
use metier_files::{ListBounds, RelativePath};
use metier_search::{Abstain, Place};
use metier_skill::{Argument, Context};

use crate::lexicon::{is_glue, is_idle, is_same, looks_like_path};
use crate::token::{Token, tokens};

/// The candidates of a route: those that are shown, and more to tell whether the best leads.
const MAX_CANDIDATES: usize = 6;

/// A skill that has less than this share of the best one's score is not worth a line.
const WORTH_SHOWING: f32 = 0.5;

/// The part of the best score within which another skill is a rival: what [`Route::clear`] asks for as a lead.
const RIVAL: f32 = 0.88;

/// The most scripts of a skill that are looked at. One is what matters; a skill with more has no only one.
const MAX_SCRIPTS: usize = 200;

/// Which skill fits a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RouteOutcome {
    /// This one fits clearly.
    Clear(SkillCandidate),
    /// Several come near, the best first; at least one.
    Close(Vec<SkillCandidate>),
    /// No skill fits.
    Nothing,
}

/// A skill that may fit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SkillCandidate {
    /// Its name.
    pub name: String,
    /// What it is for.
    pub description: String,
}

/// What is known about one skill for one request.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SkillFacts {
    /// Its name.
    pub name: String,
    /// The words of the request that led to it.
    pub matched: Vec<String>,
    /// The text after its frontmatter.
    pub body: String,
    /// The arguments that it declares.
    pub arguments: Vec<Argument>,
    /// Its `argument-hint`.
    pub hint: Option<String>,
    /// The files in `scripts/`, relative to it.
    pub scripts: Vec<String>,
    /// How it runs.
    pub context: Context,
}

/// Answers the planner's questions about skills.
pub trait SkillRouter: Send + Sync {
    /// The skill that fits a request.
    fn route(&self, request: &str) -> RouteOutcome;

    /// The facts about a usable skill; `None` for an unknown name.
    fn facts(&self, name: &str, request: &str) -> Option<SkillFacts>;
}

/// A router over the search index of a snapshot.
#[derive(Clone, Debug)]
pub struct IndexRouter {
    finder: Arc<Finder>,
    /// The skills of the agent's own list; `None` means all.
    only: Option<Vec<EntryId>>,
}

impl IndexRouter {
    /// A router for the skills of a finder.
    pub fn new(finder: Arc<Finder>) -> Self {
        Self { finder, only: None }
    }

    /// Limits the router to an agent's own list of skills. References that do not resolve are reported elsewhere.
    #[must_use]
    pub fn among(mut self, references: Option<&[String]>) -> Self {
        let snapshot = self.finder.snapshot();
        let found = |name: &String| snapshot.resolve([name.as_str()]).ok();
        self.only = references.map(|list| list.iter().filter_map(found).flatten().collect());
        self
    }

    fn snapshot(&self) -> &Snapshot {
        self.finder.snapshot()
    }

    fn candidate(&self, id: EntryId) -> Option<SkillCandidate> {
        let entry = self.snapshot().entry(id)?;
        Some(SkillCandidate {
            name: entry.call_name().to_owned(),
            description: entry.description().to_owned(),
        })
    }

    /// A second look at skills that share the same words with the request. The index leaves out words such as "show" and
    /// "what", since they tell nothing among a thousand skills; among three that are about the same thing they tell all. One
    /// of them is clear when it alone has every word of the request, or among those that do is the only one called by name.
    fn second_look(&self, request: &str, route: &Route) -> Option<EntryId> {
        let best = route.skills.first().filter(|_| route.abstain.is_none())?.score;
        let rivals = route.skills.iter().filter(|routed| routed.score >= RIVAL * best);
        let rivals = rivals.filter_map(|routed| Some((routed.entry, self.snapshot().entry(routed.entry)?)));
        let whole: Vec<(EntryId, &Entry)> =
            rivals.filter(|(_, entry)| has_every_word(request, entry)).collect();
        let mut called = whole.iter().filter(|(_, entry)| whole.len() == 1 || is_called(request, entry));
        let (only, _) = called.next()?;
        called.next().is_none().then_some(*only)
    }
}

/// Whether a request has every word of a skill's name.
fn is_called(request: &str, entry: &Entry) -> bool {
    let asked: Vec<String> = tokens(request).iter().flat_map(|token| words(token.text)).collect();
    let mut parts = entry.name().as_str().split('-');
    parts.all(|part| asked.iter().any(|word| is_same(word, part)))
}

/// The words of a text. One with a hyphen is there in both writings: `to-do` is `to`, `do` and `todo`.
fn words(text: &str) -> Vec<String> {
    let is_word = |c: char| c.is_alphanumeric() || matches!(c, '\'' | '’');
    let mut words = Vec::new();
    for word in text.split(|c: char| !is_word(c) && c != '-').filter(|word| !word.is_empty()) {
        words.extend(word.split('-').filter(|part| !part.is_empty()).map(str::to_owned));
        if word.contains('-') {
            words.push(word.chars().filter(|c| *c != '-').collect());
        }
    }
    words
}

/// The words by which a skill says what it is for: its name and its description, without what it is not for.
fn head(entry: &Entry) -> Vec<String> {
    let sentences = entry.description().split_inclusive(['.', ';']);
    let positive: String = sentences.filter(|sentence| !is_against(sentence)).collect();
    let others =
        [entry.name().as_str(), entry.title().unwrap_or_default(), entry.when_to_use().unwrap_or_default()];
    others.into_iter().fold(words(&positive), |mut all, text| {
        all.extend(words(text));
        all
    })
}

/// Whether a skill says every word of a request but glue, and but what is a value for it: numbers, paths, quoted texts.
fn has_every_word(request: &str, entry: &Entry) -> bool {
    let known = head(entry);
    let is_value = |token: &Token<'_>| {
        token.is_quoted
            || looks_like_path(token.text)
            || token.text.trim_start_matches('#').bytes().all(|byte| byte.is_ascii_digit())
    };
    let asked: Vec<String> =
        tokens(request).iter().filter(|token| !is_value(token)).flat_map(|token| words(token.text)).collect();
    let mut asked = asked.iter().filter(|word| !is_glue(word)).peekable();
    asked.peek().is_some() && asked.all(|word| known.iter().any(|known| is_same(known, word)))
}

/// Whether a sentence says what a skill is not for.
fn is_against(sentence: &str) -> bool {
    let sentence = sentence.trim_start().to_lowercase();
    ["not ", "never ", "do not ", "don't ", "except "].iter().any(|cue| sentence.starts_with(cue))
}

impl SkillRouter for IndexRouter {
    fn route(&self, request: &str) -> RouteOutcome {
        // As long as the session's shortlist, so that the finder answers from what it has just found for that. The skills of an
        // own list may rank late among all.
        let limit = if self.only.is_some() {
            self.snapshot().loaded().max(SHORTLIST_LENGTH)
        } else {
            SHORTLIST_LENGTH
        };
        let mut route = self.finder.route(request, limit);
        if let Some(only) = &self.only {
            route.skills.retain(|routed| only.contains(&routed.entry));
        }
        route.skills.truncate(MAX_CANDIDATES);
        if matches!(route.abstain, Some(Abstain::Nothing | Abstain::Weak)) {
            return RouteOutcome::Nothing;
        }
        let clear = route.clear().map(|routed| routed.entry);
        let clear = clear.or_else(|| self.second_look(request, &route));
        if let Some(candidate) = clear.and_then(|id| self.candidate(id)) {
            return RouteOutcome::Clear(candidate);
        }
        let least = route.skills.first().map_or(0.0, |best| WORTH_SHOWING * best.score);
        let near = route.skills.iter().filter(|routed| routed.score >= least);
        let near: Vec<SkillCandidate> = near.filter_map(|routed| self.candidate(routed.entry)).collect();
        if near.is_empty() { RouteOutcome::Nothing } else { RouteOutcome::Close(near) }
    }

    fn facts(&self, name: &str, request: &str) -> Option<SkillFacts> {
        let snapshot = self.snapshot();
        let (id, entry) =
            snapshot.entries().find(|(_, entry)| entry.is_offered() && entry.call_name() == name)?;
        if self.only.as_ref().is_some_and(|only| !only.contains(&id)) {
            return None;
        }
        let file = snapshot.read(entry).ok()?;
        let manifest = file.manifest()?;
        let folder = snapshot.open(entry).ok();
        let scripts = folder.and_then(|folder| folder.folder(&RelativePath::parse("scripts").ok()?).ok());
        let bounds = ListBounds { entries: MAX_SCRIPTS, depth: 2 };
        let listing = scripts.and_then(|scripts| scripts.list(bounds).ok());
        let scripts = listing.map(|listing| listing.files.iter().map(|file| file.path.to_string()).collect());
        let reasons = self.finder.reasons(request, id).words.into_iter();
        let is_telling =
            |place: &Place| matches!(place, Place::Name | Place::Title | Place::Description | Place::Tags);
        let telling = reasons.filter(|reason| reason.places.iter().any(is_telling)).map(|reason| reason.word);
        // The index knows more forms of a word, and this look knows more writings of it.
        let head = head(entry);
        let asked = tokens(request).into_iter().flat_map(|token| words(token.text));
        let same = asked.filter(|word| !is_idle(word) && head.iter().any(|head| is_same(head, word)));
        let matched: Vec<String> = telling.chain(same).collect();
        Some(SkillFacts {
            name: name.to_owned(),
            matched,
            body: file.body().to_owned(),
            arguments: manifest.more.arguments.clone(),
            hint: manifest.more.argument_hint.as_ref().map(|hint| hint.value.clone()),
            scripts: scripts.unwrap_or_default(),
            context: manifest.more.context.clone(),
        })
    }
}
