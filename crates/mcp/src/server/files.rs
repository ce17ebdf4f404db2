//! The files of skills over MCP: the extension's methods, and resources.

use std::sync::Arc;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use metier_catalog::{EntryId, one_line};
use metier_files::{FileDigest, RelativePath};
use metier_policy::Action;
use metier_runtime::{Session, known_to_the_gate};
use rmcp::ErrorData;
use rmcp::model::{MetaObject, Resource, ResourceContents};
use serde_json::{Value, json};

use super::cursor::Cursor;
use super::manifest::{DOCUMENT, Manifest, ServedFile, Site};
use super::shelf::{Row, Shelf};
use super::uri::SkillUri;

/// How many skills a page has. An entry has every file of its skill, so a page is already some tens of kilobytes.
const SKILLS_A_PAGE: usize = 50;

/// How many files the entries of a page have together, the last entry aside: 50 skills of 500 files would be megabytes.
const FILES_A_PAGE: usize = 2_000;

/// How many skills are looked at for a page. Those whose files are not served would otherwise be looked at without end.
const LOOKS_A_PAGE: usize = 200;

/// How many files a page of resources has.
const RESOURCES_A_PAGE: usize = 200;

/// What a folder is called in the words of MIME.
const FOLDER: &str = "inode/directory";

/// Where a resource carries its digest, in the words of the extension.
const DIGEST: &str = "io.modelcontextprotocol.skills/digest";

/// A page of something, and where it ended if there is more.
pub(super) struct Page<T> {
    pub(super) items: Vec<T>,
    pub(super) next: Option<Cursor>,
}

/// The files of skills, with who may read them.
pub(super) struct Files<'a> {
    pub(super) shelf: &'a Shelf,
    pub(super) row: Arc<Row>,
    /// Whose rules hold.
    pub(super) session: &'a Session,
}

impl Files<'_> {
    /// `skills/list`.
    pub(super) fn skills(&self, cursor: Option<&Cursor>) -> Page<Value> {
        let mut page = Page { items: Vec::new(), next: None };
        let mut files = 0;
        let offered = &self.row.offered;
        let from =
            cursor.map_or(0, |cursor| offered.partition_point(|(name, _)| name.as_str() <= cursor.key()));
        for (looked, (name, id)) in offered.iter().skip(from).enumerate() {
            if page.items.len() >= SKILLS_A_PAGE || files >= FILES_A_PAGE || looked >= LOOKS_A_PAGE {
                break;
            }
            page.next = Some(Cursor::behind(name));
            if let Some((_, manifest)) = self.served(*id) {
                files += manifest.files.len();
                page.items.push(manifest.entry());
            }
        }
        page.ended_at(offered.last().map(|(name, _)| name.as_str()))
    }

    /// `skills/get`.
    pub(super) fn skill(&self, uri: &str) -> Result<Value, ErrorData> {
        let none = || ErrorData::invalid_params(format!("no skill is served at {}", shown(uri)), None);
        let asked = SkillUri::parse(uri).ok_or_else(none)?;
        let is_document = asked.path.as_ref().and_then(RelativePath::as_str) == Some(DOCUMENT);
        let id = self.row.offered(&asked.skill).filter(|_| is_document).ok_or_else(none)?;
        self.served(id).map(|(_, manifest)| manifest.entry()).ok_or_else(none)
    }

    /// `resources/list`.
    pub(super) fn resources(&self, cursor: Option<&Cursor>) -> Page<Resource> {
        let mut page = Page { items: Vec::new(), next: None };
        let (skill, path) = match cursor.map(|cursor| cursor.key().split_once('/')) {
            Some(Some((skill, path))) => (skill, Some(path)),
            Some(None) => (cursor.map_or("", Cursor::key), None),
            None => ("", None),
        };
        let offered = &self.row.offered;
        let from = offered.partition_point(|(name, _)| name.as_str() < skill);
        for (looked, (name, id)) in offered.iter().skip(from).enumerate() {
            if looked >= LOOKS_A_PAGE {
                return page;
            }
            if name == skill && path.is_none() {
                continue;
            }
            if let Some((_, manifest)) = self.served(*id) {
                for file in &manifest.files {
                    let Some(own) = file.path.as_str() else { continue };
                    if name == skill && path.is_some_and(|path| own <= path) {
                        continue;
                    }
                    if page.items.len() >= RESOURCES_A_PAGE {
                        return page;
                    }
                    page.items.push(resource(&manifest, file));
                    page.next = Some(Cursor::behind(&format!("{name}/{own}")));
                }
            }
            // Nothing of this one is left.
            page.next = Some(Cursor::behind(name));
        }
        Page { next: None, ..page }
    }

    /// `resources/read`.
    pub(super) fn read(&self, uri: &str) -> Result<ResourceContents, ErrorData> {
        let none = || {
            let uri = shown(uri);
            ErrorData::resource_not_found(format!("there is no resource {uri}"), Some(json!({ "uri": uri })))
        };
        let asked = SkillUri::parse(uri).ok_or_else(none)?;
        let (id, path) = (self.row.offered(&asked.skill).ok_or_else(none)?, asked.path.ok_or_else(none)?);
        // Once more where it is not there: it may have been about to be replaced.
        let found =
            (0..2).find_map(|_| self.served(id).filter(|(_, manifest)| manifest.file(&path).is_some()));
        let (site, manifest) = found.ok_or_else(none)?;
        let file = manifest.file(&path).ok_or_else(none)?;
        let entry = self.row.snapshot.entry(id).ok_or_else(none)?;
        let skill = known_to_the_gate(&self.row.snapshot, entry);
        let decision = self.session.judge(&Action::read(skill, path.as_str().unwrap_or_default()));
        if !decision.is_allowed() {
            return Err(ErrorData::invalid_params(format!("{uri} is not given: {decision}"), None));
        }
        let bytes = site.read(&path).map_err(|_| none())?;
        // What was listed may have been another version a moment ago. Whoever holds that list is told to fetch a new one, which
        // then has the digest of what is read here.
        if FileDigest::of(&bytes) != file.digest {
            self.shelf.news.resources();
        }
        let contents = match String::from_utf8(bytes) {
            Ok(text) => ResourceContents::text(text, uri),
            Err(error) => ResourceContents::blob(BASE64_STANDARD.encode(error.as_bytes()), uri),
        };
        Ok(contents.with_mime_type(file.media))
    }

    /// `resources/directory/read`.
    pub(super) fn folder(&self, uri: &str, cursor: Option<&Cursor>) -> Result<Page<Resource>, ErrorData> {
        let none = || ErrorData::invalid_params(format!("there is no directory {}", shown(uri)), None);
        let asked = SkillUri::parse(uri).ok_or_else(none)?;
        let id = self.row.offered(&asked.skill).ok_or_else(none)?;
        let (site, manifest) = self.served(id).ok_or_else(none)?;
        if asked.path.as_ref().is_some_and(|path| manifest.file(path).is_some()) {
            return Err(ErrorData::invalid_params(format!("{uri} is not a directory resource"), None));
        }
        let before = match asked.path.as_ref().map(RelativePath::as_str) {
            Some(Some(path)) => format!("{path}/"),
            Some(None) => return Err(none()),
            None => String::new(),
        };
        let mut children: Vec<Resource> = Vec::new();
        for file in &manifest.files {
            let Some(rest) = file.path.as_str().and_then(|path| path.strip_prefix(&before)) else { continue };
            match rest.split_once('/') {
                None => children.push(resource(&manifest, file)),
                Some((folder, _)) => {
                    let uri = SkillUri::below(&manifest.name, &format!("{before}{folder}"));
                    if !children.iter().any(|child| child.uri == uri) {
                        children.push(Resource::new(uri, folder).with_mime_type(FOLDER));
                    }
                }
            }
        }
        // A folder without files is there all the same.
        if children.is_empty() && asked.path.as_ref().is_some_and(|path| site.dir.folder(path).is_err()) {
            return Err(none());
        }
        children.sort_by(|a, b| a.uri.cmp(&b.uri));
        let from =
            cursor.map_or(0, |cursor| children.partition_point(|child| child.uri.as_str() <= cursor.key()));
        let rest = children.len().saturating_sub(from);
        let items: Vec<Resource> = children.into_iter().skip(from).take(RESOURCES_A_PAGE).collect();
        let next = items.last().filter(|_| rest > RESOURCES_A_PAGE).map(|last| Cursor::behind(&last.uri));
        Ok(Page { items, next })
    }

    /// The files of a skill, if they are served: the gate lets the skill be used, and every host would take it.
    fn served(&self, id: EntryId) -> Option<(Site, Arc<Manifest>)> {
        let entry = self.row.snapshot.entry(id)?;
        let skill = known_to_the_gate(&self.row.snapshot, entry);
        if !self.session.judge(&Action::activate(skill)).is_allowed() {
            return None;
        }
        // Why not has been told to whoever runs the server.
        self.shelf.manifest(&self.row, id).ok()
    }
}

impl<T> Page<T> {
    /// There is no next page behind the last one.
    fn ended_at(mut self, last: Option<&str>) -> Self {
        self.next = self.next.filter(|next| Some(next.key()) != last);
        self
    }
}

/// What a client asked for, as it is said back: whoever sends a megabyte does not get one.
fn shown(uri: &str) -> String {
    one_line(uri, 1_024)
}

/// A file as a resource.
fn resource(manifest: &Manifest, file: &ServedFile) -> Resource {
    let own = file.path.file_name().to_string_lossy().into_owned();
    let text = |key: &str| manifest.frontmatter.get(key).and_then(Value::as_str);
    let mut meta = MetaObject::default();
    meta.0.insert(DIGEST.to_owned(), json!(file.digest.to_string()));
    let resource = match (file.path.as_str(), text("description")) {
        (Some(DOCUMENT), Some(description)) => {
            Resource::new(&file.uri, &manifest.name).with_description(description)
        }
        _ => Resource::new(&file.uri, own),
    };
    resource.with_mime_type(file.media).with_size(file.size).with_meta(meta)
}
