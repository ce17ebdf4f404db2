//! From a snapshot to the catalogue a model sees, and to what each skill costs.

use crate::catalogue::{self, Catalogue, CatalogueOptions, EagerSection, Offer};
use crate::entry::{Entry, EntryId, State};
use crate::root::{AllowedTools, Root};
use crate::snapshot::Snapshot;
use crate::tokens::Tokens;
use metier_skill::Manifest;
use serde::Serialize;
use std::borrow::Cow;

/// The most names that are listed in a tool's schema. They are there in addition to the catalogue, so a long list would
/// cost every request its tokens twice.
pub const MAX_NAME_ENUM: usize = 64;

/// What a skill costs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Cost {
    /// Its line in the catalogue, if it has one.
    pub catalogue: Option<Tokens>,
    /// Its file on activation, if it can be read.
    pub activation: Option<Tokens>,
}

impl Snapshot {
    /// The skills that the model may use: by precedence, then by name. Those that are for certain files are
    /// [waiting](Snapshot::waiting).
    pub fn offered(&self) -> Vec<(EntryId, &Entry)> {
        self.usable(|entry| entry.paths().is_empty())
    }

    /// The skills that the model may use and that are offered once the work touches one of their files; in the same order.
    pub fn waiting(&self) -> Vec<(EntryId, &Entry)> {
        self.usable(|entry| !entry.paths().is_empty())
    }

    fn usable(&self, is_among: impl Fn(&Entry) -> bool) -> Vec<(EntryId, &Entry)> {
        let is_among = |entry: &Entry| entry.is_offered() && is_among(entry);
        let mut usable: Vec<_> = self.entries().filter(|(_, entry)| is_among(entry)).collect();
        usable.sort_by(|(_, a), (_, b)| (a.root, a.name()).cmp(&(b.root, b.name())));
        usable
    }

    /// A skill's line in the catalogue, its description whole: for a note that tells of a skill later.
    pub fn catalogue_line(&self, entry: &Entry) -> String {
        catalogue::whole_line(&self.offer(entry))
    }

    /// The names that a tool's schema lists as the only ones, while there are at most [`MAX_NAME_ENUM`] of them; above
    /// that the schema takes any text and an unknown name is answered with the nearest ones.
    pub fn name_enum(&self) -> Option<Vec<&str>> {
        let offered = self.offered();
        (offered.len() <= MAX_NAME_ENUM)
            .then(|| offered.into_iter().map(|(_, entry)| entry.call_name()).collect())
    }

    /// The options that the settings in force give; the window is the model's, where it is known.
    pub fn catalogue_options(&self, window: Option<usize>) -> CatalogueOptions<'static> {
        let settings = &self.layout().settings.catalog;
        CatalogueOptions {
            disclosure: settings.disclosure.unwrap_or_default(),
            budget: catalogue::budget(settings.budget, window.or(settings.window)),
            ..CatalogueOptions::default()
        }
    }

    /// What the model sees first.
    pub fn catalogue(&self, options: &CatalogueOptions<'_>) -> Catalogue {
        self.catalogue_among(options, |_| true)
    }

    /// The same of some skills alone, such as those that an agent's own list names.
    pub fn catalogue_among(
        &self,
        options: &CatalogueOptions<'_>,
        is_among: impl Fn(EntryId) -> bool,
    ) -> Catalogue {
        let mut offered = self.offered();
        offered.retain(|(id, _)| is_among(*id));
        let offers: Vec<_> = offered.iter().map(|(_, entry)| self.offer(entry)).collect();
        catalogue::render(&offers, options, |at| match offered.get(at) {
            Some((_, entry)) => self.section(entry),
            None => Ok(EagerSection::default()),
        })
    }

    /// What a skill costs in the catalogue, and on activation.
    pub fn cost(&self, entry: &Entry) -> Cost {
        let catalogue = entry.is_offered().then(|| catalogue::cost(&self.offer(entry)));
        Cost { catalogue, activation: self.size(entry).map(Tokens::of_bytes) }
    }

    /// What a skill's tool list means, for its manifest: the root decides, unless the skill itself says `tools`, or is
    /// found in a `.claude` folder too, whose authors mean pre-approval. What the configuration says of a root goes before
    /// what is usual. A list that cannot be read is a fence that lets nothing through.
    pub fn allowed_tools(&self, id: EntryId, manifest: &Manifest) -> AllowedTools {
        let Some(entry) = self.entry(id) else { return AllowedTools::Grant };
        let root = self.root(entry);
        let own = root.allowed_tools;
        if own == AllowedTools::Advisory {
            return own;
        }
        if manifest.more.has_unread_tools {
            return AllowedTools::Fence;
        }
        if manifest.more.tools.is_some() {
            return if own == AllowedTools::Fence { own } else { AllowedTools::Both };
        }
        let is_usual = !root.is_meaning_said;
        if is_usual && own == AllowedTools::Both && self.is_in_claude(id) { AllowedTools::Grant } else { own }
    }

    /// The same where the tools are those of a system that fences command lines by `allowed-tools`: what is usual is then
    /// what that system documents, but for skills whose authors mean pre-approval.
    pub fn allowed_tools_as_fence(&self, id: EntryId, manifest: &Manifest) -> AllowedTools {
        let own = self.allowed_tools(id, manifest);
        let is_said = self.entry(id).is_some_and(|entry| self.root(entry).is_meaning_said);
        let is_usual = !is_said && own == AllowedTools::Grant;
        if is_usual && !self.is_in_claude(id) { AllowedTools::Both } else { own }
    }

    /// Whether a skill is found in a `.claude` folder, too. A copy, or a link, that is not trusted does not count: it must
    /// not take a fence away.
    fn is_in_claude(&self, id: EntryId) -> bool {
        let counts = |entry: &Entry| self.root(entry).is_claude() && entry.state() != State::Untrusted;
        let Some(entry) = self.entry(id) else { return false };
        counts(entry) || self.copies(id).any(counts) || self.trusted_links(entry).any(Root::is_claude)
    }

    pub(crate) fn offer<'a>(&self, entry: &'a Entry) -> Offer<'a> {
        Offer {
            name: entry.call_name(),
            argument_hint: entry.argument_hint(),
            description: entry.description(),
            when_to_use: entry.when_to_use(),
            location: Cow::Owned(self.document_path(entry)),
            is_name_only: entry.state() == State::NameOnly,
        }
    }

    fn section(&self, entry: &Entry) -> Result<EagerSection, String> {
        let file = self.read(entry).map_err(|error| error.to_string())?.for_use();
        let Some(manifest) = file.manifest() else { return Err("the file is no skill any more".to_owned()) };
        let tools = manifest.tool_list().map(|tools| {
            let tools: Vec<_> = tools.iter().map(ToString::to_string).collect();
            if tools.is_empty() { "none".to_owned() } else { tools.join(", ") }
        });
        Ok(EagerSection { tools, body: file.body().to_owned() })
    }

    /// The size of a skill's file. An empty page asks the system for it and reads nothing.
    fn size(&self, entry: &Entry) -> Option<usize> {
        if let Some(skill) = entry.remote() {
            let file = skill.files.iter().find(|file| file.uri == skill.uri)?;
            return usize::try_from(file.size).ok();
        }
        if let Some(target) = entry.card.document_target() {
            let parent = metier_files::SkillDir::open(target.parent()?).ok()?;
            let name = metier_files::RelativePath::parse_os(target.file_name()?).ok()?;
            return parent.read_page(&name, 0, 0).ok().and_then(|page| usize::try_from(page.size).ok());
        }
        let name = metier_files::RelativePath::parse(entry.card.document_name.as_str()).ok()?;
        let page = self.open(entry).ok()?.read_page(&name, 0, 0).ok()?;
        usize::try_from(page.size).ok()
    }
}
