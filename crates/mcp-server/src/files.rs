//! The files of skills over MCP: the extension's methods, and resources.

use std::sync::Arc;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use metier_catalog::{EntryId, one_line};
use metier_exec::policy_skill;
use metier_files::{FileDigest, RelativePath};
use metier_policy::Action;
use metier_runtime::SkillSession;
use rmcp::ErrorData;
use rmcp::model::{MetaObject, Resource, ResourceContents};
use serde_json::{Value, json};

use super::cursor::Cursor;
use super::manifest::{DOCUMENT, Manifest, ServedFile, SkillFolder};
use super::served_catalog::{CatalogView, ServedCatalog};
use super::uri::SkillUri;

/// How many skills are on a page. An entry names every file of its skill, so a page already has tens of kilobytes.
const MAX_SKILLS_PER_PAGE: usize = 50;

/// After how many files a page ends: 50 skills of 500 files would be megabytes.
const MAX_FILES_PER_PAGE: usize = 2_000;

/// How many skills are scanned for a page. This bounds the work if most of them are not served.
const MAX_SCANS_PER_PAGE: usize = 200;

/// How many resources are on a page.
const MAX_RESOURCES_PER_PAGE: usize = 200;

/// The MIME type of a directory.
const DIRECTORY_MIME_TYPE: &str = "inode/directory";

/// The metadata key of a resource's digest, as the extension defines it.
const DIGEST_KEY: &str = "io.modelcontextprotocol.skills/digest";

/// A page, and its cursor if there are more.
pub(crate) struct Page<T> {
    pub(crate) items: Vec<T>,
    pub(crate) next: Option<Cursor>,
}

/// The files of the served skills, under the rules of a session.
pub(crate) struct SkillFiles<'a> {
    pub(crate) catalog: &'a ServedCatalog,
    pub(crate) view: Arc<CatalogView>,
    /// Decides which skills and files may be read.
    pub(crate) session: &'a SkillSession,
}

impl SkillFiles<'_> {
    /// `skills/list`.
    pub(crate) fn skills(&self, cursor: Option<&Cursor>) -> Page<Value> {
        let mut page = Page { items: Vec::new(), next: None };
        let mut files = 0;
        let offered = &self.view.offered;
        let from =
            cursor.map_or(0, |cursor| offered.partition_point(|(name, _)| name.as_str() <= cursor.key()));
        for (scanned, (name, id)) in offered.iter().skip(from).enumerate() {
            if page.items.len() >= MAX_SKILLS_PER_PAGE
                || files >= MAX_FILES_PER_PAGE
                || scanned >= MAX_SCANS_PER_PAGE
            {
                break;
            }
            page.next = Some(Cursor::after(name));
            if let Some((_, manifest)) = self.served(*id) {
                files += manifest.files.len();
                page.items.push(manifest.entry());
            }
        }
        page.ended_at(offered.last().map(|(name, _)| name.as_str()))
    }

    /// `skills/get`.
    pub(crate) fn skill(&self, uri: &str) -> Result<Value, ErrorData> {
        let none = || ErrorData::invalid_params(format!("no skill at {}", shown(uri)), None);
        let asked = SkillUri::parse(uri).ok_or_else(none)?;
        let is_document = asked.path.as_ref().and_then(RelativePath::as_str) == Some(DOCUMENT);
        let id = self.view.offered(&asked.skill).filter(|_| is_document).ok_or_else(none)?;
        self.served(id).map(|(_, manifest)| manifest.entry()).ok_or_else(none)
    }

    /// `resources/list`.
    pub(crate) fn resources(&self, cursor: Option<&Cursor>) -> Page<Resource> {
        let mut page = Page { items: Vec::new(), next: None };
        let (skill, path) = match cursor.map(|cursor| cursor.key().split_once('/')) {
            Some(Some((skill, path))) => (skill, Some(path)),
            Some(None) => (cursor.map_or("", Cursor::key), None),
            None => ("", None),
        };
        let offered = &self.view.offered;
        let from = offered.partition_point(|(name, _)| name.as_str() < skill);
        for (scanned, (name, id)) in offered.iter().skip(from).enumerate() {
            if scanned >= MAX_SCANS_PER_PAGE {
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
                    if page.items.len() >= MAX_RESOURCES_PER_PAGE {
                        return page;
                    }
                    page.items.push(resource(&manifest, file));
                    page.next = Some(Cursor::after(&format!("{name}/{own}")));
                }
            }
            // All files of this skill are listed.
            page.next = Some(Cursor::after(name));
        }
        Page { next: None, ..page }
    }

    /// `resources/read`.
    pub(crate) fn read(&self, uri: &str) -> Result<ResourceContents, ErrorData> {
        let none = || {
            let uri = shown(uri);
            ErrorData::resource_not_found(format!("no resource at {uri}"), Some(json!({ "uri": uri })))
        };
        let asked = SkillUri::parse(uri).ok_or_else(none)?;
        let (id, path) = (self.view.offered(&asked.skill).ok_or_else(none)?, asked.path.ok_or_else(none)?);
        // A second attempt: an editor may be replacing the file.
        let found =
            (0..2).find_map(|_| self.served(id).filter(|(_, manifest)| manifest.file(&path).is_some()));
        let (directory, manifest) = found.ok_or_else(none)?;
        let file = manifest.file(&path).ok_or_else(none)?;
        let entry = self.view.snapshot.entry(id).ok_or_else(none)?;
        let skill = policy_skill(&self.view.snapshot, entry);
        let decision = self.session.judge(&Action::read(skill, path.as_str().unwrap_or_default()));
        if !decision.is_allowed() {
            return Err(ErrorData::invalid_params(format!("{uri} is refused: {decision}"), None));
        }
        let bytes = directory.read(&path).map_err(|_| none())?;
        // The file changed since the manifest was made. The client is notified so that it fetches a new entry, which has the
        // digest of the bytes read here.
        if FileDigest::of(&bytes) != file.digest {
            self.catalog.notifier.resources();
        }
        let contents = match String::from_utf8(bytes) {
            Ok(text) => ResourceContents::text(text, uri),
            Err(error) => ResourceContents::blob(BASE64_STANDARD.encode(error.as_bytes()), uri),
        };
        Ok(contents.with_mime_type(file.media))
    }

    /// `resources/directory/read`.
    pub(crate) fn directory(&self, uri: &str, cursor: Option<&Cursor>) -> Result<Page<Resource>, ErrorData> {
        let none = || ErrorData::invalid_params(format!("no directory at {}", shown(uri)), None);
        let asked = SkillUri::parse(uri).ok_or_else(none)?;
        let id = self.view.offered(&asked.skill).ok_or_else(none)?;
        let (directory, manifest) = self.served(id).ok_or_else(none)?;
        if asked.path.as_ref().is_some_and(|path| manifest.file(path).is_some()) {
            return Err(ErrorData::invalid_params(format!("{} is not a directory", shown(uri)), None));
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
                        children.push(Resource::new(uri, folder).with_mime_type(DIRECTORY_MIME_TYPE));
                    }
                }
            }
        }
        // A directory without files exists, too.
        if children.is_empty() && asked.path.as_ref().is_some_and(|path| directory.dir.folder(path).is_err())
        {
            return Err(none());
        }
        children.sort_by(|a, b| a.uri.cmp(&b.uri));
        let from =
            cursor.map_or(0, |cursor| children.partition_point(|child| child.uri.as_str() <= cursor.key()));
        let rest = children.len().saturating_sub(from);
        let items: Vec<Resource> = children.into_iter().skip(from).take(MAX_RESOURCES_PER_PAGE).collect();
        let next =
            items.last().filter(|_| rest > MAX_RESOURCES_PER_PAGE).map(|last| Cursor::after(&last.uri));
        Ok(Page { items, next })
    }

    /// The folder and manifest of a skill, if policy allows its use and hosts would accept its files.
    fn served(&self, id: EntryId) -> Option<(SkillFolder, Arc<Manifest>)> {
        let entry = self.view.snapshot.entry(id)?;
        let skill = policy_skill(&self.view.snapshot, entry);
        if !self.session.judge(&Action::activate(skill)).is_allowed() {
            return None;
        }
        // The reason was reported as a diagnostic.
        self.catalog.manifest(&self.view, id).ok()
    }
}

impl<T> Page<T> {
    /// The last page has no cursor.
    fn ended_at(mut self, last: Option<&str>) -> Self {
        self.next = self.next.filter(|next| Some(next.key()) != last);
        self
    }
}

/// The client's URI for a message, shortened: a megabyte is not echoed.
fn shown(uri: &str) -> String {
    one_line(uri, 1_024)
}

/// A file as an MCP resource.
fn resource(manifest: &Manifest, file: &ServedFile) -> Resource {
    let own = file.path.file_name().to_string_lossy().into_owned();
    let text = |key: &str| manifest.frontmatter.get(key).and_then(Value::as_str);
    let mut meta = MetaObject::default();
    meta.0.insert(DIGEST_KEY.to_owned(), json!(file.digest.to_string()));
    let resource = match (file.path.as_str(), text("description")) {
        (Some(DOCUMENT), Some(description)) => {
            Resource::new(&file.uri, &manifest.name).with_description(description)
        }
        _ => Resource::new(&file.uri, own),
    };
    resource.with_mime_type(file.media).with_size(file.size).with_meta(meta)
}
