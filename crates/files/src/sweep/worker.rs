use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use super::folder::{Spot, to_path};
use super::frame::{Enter, Frame};
use super::merge::sort_run;
use super::order::Order;
use super::probe::Probe;
use super::queue::{CloseOnPanic, Queue};
use super::root::OpenRoot;
use super::{Bounds, Candidate, Found, Place, Problem};
use crate::OsError;

/// What all workers of a round share.
pub(super) struct Walk<'a, F> {
    pub(super) queue: Queue<Job<'a>>,
    pub(super) bounds: &'a Bounds,
    pub(super) order: Order,
    pub(super) visit: &'a F,
    /// Entries seen so far, over all rounds.
    pub(super) listed: &'a AtomicUsize,
    /// Set when there are more of them than the bound.
    pub(super) over: &'a AtomicBool,
}

impl<F> Walk<'_, F> {
    /// Whether the walk is lost and will be made again in order.
    fn is_lost(&self) -> bool {
        self.order == Order::Any && self.over.load(Ordering::Relaxed)
    }
}

/// What is handed from worker to worker.
pub(super) enum Job<'a> {
    Root(&'a OpenRoot<'a>),
    /// A folder below a root, by its path from there.
    Place(&'a OpenRoot<'a>, Vec<u8>),
    Link(GroupLink<'a>),
    Frame(Frame<'a>),
}

/// A link to a folder that is to be entered.
pub(super) struct GroupLink<'a> {
    pub(super) root: &'a OpenRoot<'a>,
    /// The link, relative to the root.
    pub(super) path: Vec<u8>,
    pub(super) depth: u16,
    /// The folder it leads to.
    pub(super) real: PathBuf,
    pub(super) enter: Enter,
}

/// A folder that was listed, so that a link to it need not be followed.
pub(super) struct Walked<'a> {
    pub(super) root: &'a OpenRoot<'a>,
    pub(super) path: Vec<u8>,
    pub(super) real: Option<PathBuf>,
}

impl Walked<'_> {
    pub(super) fn place(&self) -> Place {
        Place { root: self.root.index, folder: to_path(&self.path) }
    }
}

/// What one worker brings home.
pub(super) struct Haul<'a, T> {
    /// Sorted, once the worker is done.
    pub(super) found: Vec<Found<T>>,
    pub(super) problems: Vec<Problem>,
    pub(super) links: Vec<GroupLink<'a>>,
    pub(super) walked: Vec<Walked<'a>>,
}

pub(super) struct Worker<'w, 'a, T, F> {
    pub(super) walk: &'w Walk<'a, F>,
    pub(super) stack: Vec<Frame<'a>>,
    pub(super) haul: Haul<'a, T>,
    pub(super) entries: Vec<u8>,
    /// Calls for more workers; only the first worker has it, and only until it is used.
    pub(super) recruit: Option<&'w dyn Fn()>,
    /// The beginning of the document at hand.
    pub(super) head: Vec<u8>,
    /// A relative path with its NUL, for the system.
    pub(super) system_path: Vec<u8>,
}

impl<'w, 'a, T, F: Fn(Candidate<'_>) -> T> Worker<'w, 'a, T, F> {
    pub(super) fn new(walk: &'w Walk<'a, F>, recruit: Option<&'w dyn Fn()>) -> Self {
        let haul = Haul { found: Vec::new(), problems: Vec::new(), links: Vec::new(), walked: Vec::new() };
        Self {
            walk,
            stack: Vec::new(),
            haul,
            entries: Vec::new(),
            recruit,
            head: vec![0; walk.bounds.head.max(1)],
            system_path: Vec::new(),
        }
    }

    /// Works until nobody has anything left to do.
    pub(super) fn run(mut self) -> Haul<'a, T> {
        let _guard = CloseOnPanic(&self.walk.queue);
        while let Some(job) = self.walk.queue.take() {
            match job {
                Job::Root(root) => self.enter_root(root),
                Job::Place(root, path) => self.enter_place(root, &path),
                Job::Link(link) => self.enter_link(link),
                Job::Frame(frame) => self.stack.push(frame),
            }
            self.work_off();
            if self.walk.is_lost() {
                self.walk.queue.close();
            }
        }
        // Here and not after the walk, because here it is done by all workers at once.
        sort_run(&mut self.haul.found);
        self.haul
    }

    fn work_off(&mut self) {
        while let Some(mut frame) = self.stack.pop() {
            self.probe_all(&mut frame);
            if self.walk.is_lost() {
                self.stack.clear();
                return;
            }
            if let Some((index, enter)) = frame.next_group() {
                let below = self.stack.len();
                self.enter_group(&frame, index, enter);
                // Below what was found in it, so that the walk goes down first and few folders are open at a time.
                if !frame.is_empty() {
                    self.stack.insert(below, frame);
                }
            }
        }
    }

    /// Asks all folders of the frame for their document.
    fn probe_all(&mut self, frame: &mut Frame<'a>) {
        let folder = frame.folder.clone();
        let names = frame.names.clone();
        let mut path = Vec::with_capacity(256);
        folder.write_prefix(&mut path);
        let prefix = path.len();
        while let Some(index) = frame.next_entry() {
            if let Some((name, kind)) = names.get(index) {
                path.truncate(prefix);
                path.extend_from_slice(name);
                if let Some(enter) = self.probe_entry(&folder, &path, name, kind) {
                    frame.note(index, enter);
                }
            }
            if self.walk.queue.is_hungry() {
                self.share(frame);
            }
            if self.walk.is_lost() {
                return;
            }
        }
        if self.walk.queue.is_hungry() {
            self.share(frame);
        }
    }

    /// Hands a part of the work over: from the bottom of the stack, since the most is left there.
    fn share(&mut self, current: &mut Frame<'a>) {
        let split = self.stack.iter_mut().find_map(Frame::split).or_else(|| current.split());
        if let Some(part) = split {
            self.walk.queue.push(Job::Frame(part));
        } else if !self.stack.is_empty() {
            self.walk.queue.push(Job::Frame(self.stack.remove(0)));
        }
    }

    pub(super) fn report(&mut self, problem: Problem) -> Probe {
        self.haul.problems.push(problem);
        Probe::Refused
    }

    pub(super) fn report_unreadable(&mut self, spot: Spot<'_, 'a>, error: impl Into<OsError>) {
        let problem = Problem::Unreadable { root: spot.root.index, path: spot.shown(), error: error.into() };
        self.haul.problems.push(problem);
    }
}
