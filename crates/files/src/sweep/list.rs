use std::mem;
use std::ops::ControlFlow;
use std::os::fd::AsFd;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use rustix::fs::{AtFlags, FileType, statat};
use rustix::io::Errno;

use super::folder::{Folder, Spot, as_path};
use super::frame::{Enter, EntryKind, Frame, Names};
use super::order::Order;
use super::probe::{Probe, is_searched, what_next};
use super::queue::Queue;
use super::root::{OpenRoot, open_folder};
use super::worker::{GroupLink, Job, Walked, Worker};
use super::{Candidate, Problem};
use crate::Extent;
use crate::document_name::DocumentName;
use crate::entries::each_entry;
use crate::open::{FOLDER, open_unlinked};

/// Folders that are handed on while the rest of a large folder is still being listed. Listing 10,000 names takes as long
/// as opening 1,000 documents, and nobody has to wait for it.
///
/// Like the other numbers of this kind it is small in this crate's unit tests, so that small trees take the ways of
/// large ones.
const CHUNK: usize = if cfg!(test) { 3 } else { 512 };

/// Below this many entries more workers cost more than they save: starting one takes as long as a dozen documents, and
/// on a busy machine it has to be waited for at the end though it never had anything to do.
const WORTH_RECRUITING: usize = if cfg!(test) { 2 } else { 128 };

impl<'a, T, F: Fn(Candidate<'_>) -> T> Worker<'_, 'a, T, F> {
    pub(super) fn enter_root(&mut self, root: &'a OpenRoot<'a>) {
        let spot = Spot { root, path: b"", real: None };
        let probe = self.probe(spot, root.fd.as_fd(), b"", DocumentName::canonical());
        let Some(enter) = what_next(spot, probe) else { return };
        // A descriptor of its own: reading moves the place where the next reader would go on.
        match open_unlinked(root.fd.as_fd(), c".", FOLDER) {
            Ok(fd) => self.list(Folder { root, fd, path: Vec::new(), depth: 0, real: None }, enter),
            Err(error) => self.report_unreadable(spot, error),
        }
    }

    /// Begins with one folder of a root, as if its folder had just been listed and held nothing else.
    pub(super) fn enter_place(&mut self, root: &'a OpenRoot<'a>, path: &[u8]) {
        let (above, name) = match path.iter().rposition(|&byte| byte == b'/') {
            Some(at) => (&path[..at], &path[at + 1..]),
            None => (&b""[..], path),
        };
        let parts = above.split(|&byte| byte == b'/').filter(|part| !part.is_empty()).count();
        let depth = u16::try_from(parts).unwrap_or(u16::MAX);
        if depth >= root.given.depth {
            return;
        }
        let way = if above.is_empty() { &b"."[..] } else { above };
        let Ok(way) = std::ffi::CString::new(way) else { return };
        // What is on the way may have gone since, or be a link by now: then nothing is found here.
        let Ok(fd) = open_unlinked(root.fd.as_fd(), &way, FOLDER) else { return };
        let kind = match statat(&fd, name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(stat) => FileType::from_raw_mode(stat.st_mode),
            Err(_) => return,
        };
        let mut names = Names::default();
        match kind {
            FileType::Directory => names.push(name, EntryKind::Folder),
            FileType::Symlink => names.push(name, EntryKind::Link),
            _ => return,
        }
        let folder = Folder { root, fd, path: above.to_vec(), depth, real: None };
        self.stack.push(Frame::new(Arc::new(folder), names));
    }

    pub(super) fn enter_link(&mut self, link: GroupLink<'a>) {
        let GroupLink { root, path, depth, real, enter } = link;
        match open_folder(&real) {
            Ok(fd) => self.list(Folder { root, fd, path, depth, real: Some(real) }, enter),
            Err(error) => self.report_unreadable(Spot { root, path: &path, real: Some(&real) }, error),
        }
    }

    pub(super) fn enter_group(&mut self, frame: &Frame<'a>, index: usize, enter: Enter) {
        let above = &*frame.folder;
        let Some((name, _)) = frame.names.get(index) else { return };
        let mut path = Vec::new();
        above.write_prefix(&mut path);
        path.extend_from_slice(name);
        let real = above.real.as_ref().map(|real| real.join(as_path(name)));
        let root = above.root;
        let Ok(name) = std::ffi::CString::new(name) else { return };
        match open_unlinked(above.fd.as_fd(), &name, FOLDER) {
            Ok(fd) => self.list(Folder { root, fd, path, depth: above.depth + 1, real }, enter),
            // It was there a moment ago, and now it is not: the same as if we had come later.
            Err(Errno::NOENT) => {}
            Err(error) => self.report_unreadable(Spot { root, path: &path, real: real.as_deref() }, error),
        }
    }

    /// Lists a folder and puts the folders in it on the stack, unless the folder turns out to be a skill.
    fn list(&mut self, folder: Folder<'a>, enter: Enter) {
        let root = folder.root;
        let is_deepest = folder.depth >= root.given.depth;
        let folder = Arc::new(folder);
        let mut reading = Reading {
            folder: &folder,
            queue: &self.walk.queue,
            names: Names::default(),
            document: None,
            chunks: if self.walk.order == Order::Sorted || is_deepest {
                Chunks::Never
            } else {
                Chunks::Undecided
            },
            count: 0,
        };
        let seen = self.walk.listed.load(Ordering::Relaxed);
        let allowed = self.walk.bounds.entries.saturating_sub(seen);
        let mut extent = Extent::Whole;
        let ended = each_entry(folder.fd.as_fd(), &mut self.entries, |name, kind| {
            if reading.count >= allowed {
                extent = Extent::Truncated;
                return ControlFlow::Break(());
            }
            reading.take(name.to_bytes(), kind, enter);
            if reading.names.len() >= CHUNK
                && reading.hand_on()
                && let Some(recruit) = self.recruit.take()
            {
                recruit();
            }
            ControlFlow::Continue(())
        });
        let Reading { mut names, document, chunks, count, .. } = reading;
        self.count(count, extent);

        let spot = Spot { root, path: &folder.path, real: folder.real.as_deref() };
        if let Err(error) = ended {
            self.report_unreadable(spot, error);
        }
        if let Some(document) = document.filter(|_| enter == Enter::Group) {
            let probe = self.probe(spot, folder.fd.as_fd(), b"", document);
            // A folder of which parts were handed on is a group as well; nobody can take them back.
            if probe != Probe::Absent && chunks != Chunks::HandedOn && what_next(spot, probe).is_none() {
                return;
            }
        }
        let (path, real) = (folder.path.clone(), folder.real.clone());
        self.haul.walked.push(Walked { root, path, real });
        if is_deepest {
            self.report_depth(&folder, &names);
        } else if names.len() > 0 {
            // For the one worker that goes in order, and for all others for the same reason as in `hand_on`.
            names.sort();
            self.stack.push(Frame::new(folder, names));
        }
    }

    /// Adds to the entries seen by all workers, and notes whether there are more than allowed.
    fn count(&mut self, count: usize, extent: Extent) {
        let total = self.walk.listed.fetch_add(count, Ordering::Relaxed) + count;
        if !extent.is_whole() || total > self.walk.bounds.entries {
            self.walk.over.store(true, Ordering::Relaxed);
        }
        if total >= WORTH_RECRUITING
            && let Some(recruit) = self.recruit.take()
        {
            recruit();
        }
    }

    /// Says that there is more below the deepest folder, once for each root and worker: the first by path.
    fn report_depth(&mut self, folder: &Folder<'a>, names: &Names) {
        let root = folder.root;
        let mut path = Vec::new();
        folder.write_prefix(&mut path);
        let prefix = path.len();
        let is_left_out = (0..names.len()).filter_map(|index| names.get(index)).any(|(name, _)| {
            path.truncate(prefix);
            path.extend_from_slice(name);
            is_searched(name)
                && !root.given.ignore.as_ref().is_some_and(|ignore| ignore.matches(as_path(&path)))
        });
        if !is_left_out {
            return;
        }
        let path = Spot { root, path: &folder.path, real: None }.shown();
        let problem = Problem::DepthBound { root: root.index, path, limit: root.given.depth };
        let before = self.haul.problems.iter_mut().find(
            |problem| matches!(problem, Problem::DepthBound { root: other, .. } if *other == root.index),
        );
        match before {
            Some(before) if problem.compare(before).is_lt() => *before = problem,
            Some(_) => {}
            None => self.haul.problems.push(problem),
        }
    }
}

/// Whether a folder's names are handed on before all of them are known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Chunks {
    Undecided,
    Never,
    HandedOn,
}

/// A folder while it is being listed.
struct Reading<'r, 'a> {
    folder: &'r Arc<Folder<'a>>,
    queue: &'r Queue<Job<'a>>,
    names: Names,
    /// A document that is spelled otherwise than it should be.
    document: Option<DocumentName>,
    chunks: Chunks,
    count: usize,
}

impl Reading<'_, '_> {
    fn take(&mut self, name: &[u8], kind: FileType, enter: Enter) {
        self.count += 1;
        match kind {
            FileType::Directory => self.names.push(name, EntryKind::Folder),
            FileType::Symlink => self.names.push(name, EntryKind::Link),
            _ => {}
        }
        if enter == Enter::Group {
            DocumentName::keep_better(&mut self.document, name);
        }
    }

    /// Hands the names on, if that is already safe: a folder with a `skill.md` is a skill, and what is in it is its
    /// own. (Rarer spellings are not looked for at this point. A folder with hundreds of folders and a `Skill.md` is
    /// therefore taken for a skill and a group at once.)
    fn hand_on(&mut self) -> bool {
        if self.chunks == Chunks::Undecided {
            let is_skill = self.document.is_some()
                || statat(&self.folder.fd, DocumentName::lower_case().as_str(), AtFlags::SYMLINK_NOFOLLOW)
                    .is_ok();
            self.chunks = if is_skill { Chunks::Never } else { Chunks::HandedOn };
        }
        if self.chunks == Chunks::HandedOn {
            let mut names = mem::take(&mut self.names);
            // What is made of them lies in memory in the order in which it is made. Whoever goes through the results does
            // so by path, and finds neighbours beside each other.
            names.sort();
            self.queue.push(Job::Frame(Frame::new(Arc::clone(self.folder), names)));
        }
        self.chunks == Chunks::HandedOn
    }
}
