//! Following changes: a new snapshot is in force a moment after a file was written, and only that file was read.
//!
//! The watcher keeps what the sweep gave for each folder ([`holdings`]). An event names a folder ([`posts`]); what has to
//! be looked at again is gathered until it is quiet ([`dirt`]), that part is swept and exchanged, names are settled anew
//! over all of it and the snapshot is swapped in. Skills that did not change share their cards with the snapshot before.
//!
//! Where the system does not tell of changes, or not of all, everything is looked at when somebody asks ([`look`]).

mod change;
mod dirt;
mod holdings;
mod kept;
mod look;
mod posts;
mod surrounds;
mod task;

use crate::layout::Layout;
use crate::snapshot::{Include, Snapshot};
use crate::swap::Catalog;
use metier_diagnostic::counted;
use metier_files::{Waker, WatchError};
use std::collections::HashSet;
use std::fmt;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant, SystemTime};

pub use change::{Change, ChangeKind};
use dirt::{Dirt, Scope};
use holdings::Holdings;
use look::Look;

/// How a watcher goes about it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WatchOptions {
    /// How long it must be quiet before what happened is looked at. A file that is saved makes several events within a
    /// few milliseconds.
    pub quiet: Duration,
    /// How long after the first event it is looked at all the same, so that something that never rests hides nothing.
    pub at_most: Duration,
    /// How many folders are watched at most. The system has a limit for all programs of a user together, and whoever
    /// takes all of it leaves none to the user's editor.
    pub max_folders: usize,
}

impl Default for WatchOptions {
    /// A change is in force within 100 milliseconds even where events never cease, and within 30 as a rule.
    fn default() -> Self {
        Self { quiet: Duration::from_millis(20), at_most: Duration::from_millis(80), max_folders: 100_000 }
    }
}

/// How changes are noticed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Watching {
    /// The system tells of them.
    Events {
        /// How many folders are watched.
        folders: usize,
    },
    /// They are looked for when somebody asks for the snapshot.
    OnUse {
        /// Why the system does not tell.
        why: WatchError,
    },
}

impl fmt::Display for Watching {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Events { folders } => write!(f, "watching {}", counted(*folders, "folder", "folders")),
            Self::OnUse { why } => write!(f, "checking on use, since {why}"),
        }
    }
}

/// What a subscriber is told when a new snapshot is in force, or when the way of watching is another one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct News {
    /// What became of which skill. Empty where only diagnostics of the whole or the way of watching changed.
    pub changes: Arc<[Change]>,
    /// How changes are noticed from here on.
    pub watching: Watching,
}

/// A catalogue that follows its files. When this is dropped the watching ends, and the catalogue stays as it is.
///
/// ```
/// # let workspace = metier_testkit::Workspace::new().skill("skills/greet", "Greets people by name.");
/// # let places = metier_catalog::Places {
/// #     home: None, current: workspace.path().into(), temp: "/tmp".into(), config: workspace.join("config"),
/// #     data: workspace.join("data"), user_skills: workspace.join("user"), system_skills: workspace.join("system"),
/// #     bundled: None,
/// #     cache: None,
/// #     remote: None,
/// #     git_configs: Vec::new(),
/// # };
/// use metier_catalog::{Catalog, ChangeKind, Include, RootChoice, WatchOptions};
/// use std::sync::Arc;
///
/// let roots = RootChoice::Given(vec![workspace.join("skills")]);
/// let catalog = Arc::new(Catalog::load(places, roots, Include::Usual));
/// let watcher = catalog.watch(WatchOptions::default());
/// let news = watcher.subscribe();
/// let workspace = workspace.skill("skills/plan", "Plans the day.");
///
/// while !watcher.snapshot().entries().any(|(_, entry)| entry.name().as_str() == "plan") {}
/// let change = news.recv().unwrap().changes[0].clone();
/// assert_eq!((change.kind, change.name.as_str()), (ChangeKind::Added, "plan"));
/// ```
#[derive(Debug)]
pub struct Watcher {
    desk: Arc<Desk>,
    thread: Option<(Waker, JoinHandle<()>)>,
}

impl Watcher {
    pub(crate) fn start(catalog: Arc<Catalog>, options: WatchOptions) -> Self {
        let began = SystemTime::now();
        let read = Arc::new(AtomicU64::new(0));
        let holdings = Holdings::new(&catalog, Arc::clone(&read));
        Self::begin(catalog, holdings, began, read, options)
    }

    /// Looks once, for the first snapshot and for what is followed from there on.
    pub(crate) fn first(
        layout: Arc<Layout>,
        include: Include,
        options: WatchOptions,
    ) -> (Arc<Catalog>, Self) {
        let (places, choice) = (layout.places.clone(), layout.choice.clone());
        // The layout was read before the skills are, so a change of its files counts from then on.
        let began = layout.read_since();
        let read = Arc::new(AtomicU64::new(0));
        let holdings = Holdings::of(layout, include, Arc::clone(&read));
        let catalog = Arc::new(Catalog::holding(places, choice, include, holdings.snapshot()));
        let watcher = Self::begin(Arc::clone(&catalog), holdings, began, read, options);
        (catalog, watcher)
    }

    /// Follows what is held, which was looked at after `began`.
    fn begin(
        catalog: Arc<Catalog>,
        mut holdings: Holdings,
        began: SystemTime,
        read: Arc<AtomicU64>,
        options: WatchOptions,
    ) -> Self {
        let posted = task::post(&mut holdings, began, options);
        let watching = match &posted {
            Ok(posts) => Watching::Events { folders: posts.count() },
            Err(why) => Watching::OnUse { why: *why },
        };
        let desk = Desk {
            catalog,
            read,
            watching: Mutex::new(watching),
            subscribers: Mutex::default(),
            on_use: Mutex::default(),
        };
        let desk = Arc::new(desk);
        desk.publish(&holdings, &HashSet::new());
        let thread = match posted {
            Ok(posts) => task::spawn(&desk, posts, holdings, options),
            Err(why) => {
                desk.check_on_use(holdings, began, why);
                None
            }
        };
        Self { desk, thread }
    }

    /// The snapshot in force. Where changes are looked for on use they are looked for now, unless somebody did so a
    /// moment ago; [`Catalog::snapshot`] gives what is known without a look.
    pub fn snapshot(&self) -> Arc<Snapshot> {
        self.desk.check(LOOK_IS_GOOD_FOR);
        self.desk.catalog.snapshot()
    }

    /// The same for somebody who has just changed a file and asks for what is there now: where changes are looked for on
    /// use, a look that somebody took a moment ago does not count.
    pub fn look(&self) -> Arc<Snapshot> {
        self.desk.check(Duration::ZERO);
        self.desk.catalog.snapshot()
    }

    /// How changes are noticed.
    pub fn watching(&self) -> Watching {
        *lock(&self.desk.watching)
    }

    /// Tells of every change from here on, until the watcher is dropped.
    pub fn subscribe(&self) -> Receiver<News> {
        let (sender, receiver) = channel();
        lock(&self.desk.subscribers).push(sender);
        receiver
    }

    /// How many documents were read since the watching began.
    pub fn documents_read(&self) -> u64 {
        self.desk.read.load(Ordering::Relaxed)
    }
}

impl Drop for Watcher {
    fn drop(&mut self) {
        if let Some((waker, thread)) = self.thread.take() {
            waker.wake();
            // It panics nowhere; if it did, there is nobody left to tell.
            let _ = thread.join();
        }
        // Subscribers that wait see the end.
        lock(&self.desk.subscribers).clear();
    }
}

/// What the watcher and its thread share.
#[derive(Debug)]
struct Desk {
    catalog: Arc<Catalog>,
    read: Arc<AtomicU64>,
    watching: Mutex<Watching>,
    subscribers: Mutex<Vec<Sender<News>>>,
    /// What is held where changes are looked for on use; the thread holds it otherwise. Locked while somebody looks, so
    /// that many who ask at once look once.
    on_use: Mutex<Option<OnUse>>,
}

#[derive(Debug)]
struct OnUse {
    holdings: Holdings,
    look: Look,
    /// When the last look ended.
    at: Instant,
}

/// How long a look is good for. A look at 10,000 skills takes some 20 milliseconds, which a server must not spend on each
/// of its requests.
const LOOK_IS_GOOD_FOR: Duration = Duration::from_millis(100);

impl Desk {
    /// Puts a snapshot of what is held in force and tells what is other, if anything is.
    fn publish(&self, holdings: &Holdings, touched: &HashSet<PathBuf>) {
        let (before, now) = (self.catalog.snapshot(), Arc::new(holdings.snapshot()));
        let changes = change::changes(&before, &now, touched);
        let is_news = !changes.is_empty() || before.diagnostics() != now.diagnostics();
        self.catalog.store(now);
        if is_news {
            self.tell(changes);
        }
    }

    fn tell(&self, changes: Vec<Change>) {
        let news = News { changes: changes.into(), watching: *lock(&self.watching) };
        // Whoever has dropped its end is told no more.
        lock(&self.subscribers).retain(|subscriber| subscriber.send(news.clone()).is_ok());
    }

    /// Looks at changes on use from here on. What is held was read after `began`.
    fn check_on_use(&self, mut holdings: Holdings, began: SystemTime, why: WatchError) {
        let look = Look::take(&holdings);
        // What was changed while it was read would look the same from now on, so then it is read again; what changes
        // during that is seen at the next look, since this one came before.
        if !look.is_settled(began) {
            holdings.clean(&Dirt::everything());
        }
        self.publish(&holdings, &HashSet::new());
        *lock(&self.on_use) = Some(OnUse { holdings, look, at: Instant::now() });
        *lock(&self.watching) = Watching::OnUse { why };
        self.tell(Vec::new());
    }

    /// Looks at changes, unless a look was taken not longer ago than `good_for`.
    fn check(&self, good_for: Duration) {
        let mut on_use = lock(&self.on_use);
        let Some(OnUse { holdings, look, at }) = on_use.as_mut() else { return };
        if at.elapsed() < good_for {
            return;
        }
        let now = Look::take(holdings);
        let dirt = now.since(look);
        *look = now;
        if !dirt.is_clean() {
            holdings.clean(&dirt);
            self.publish(holdings, &touched(&dirt, holdings));
        }
        *at = Instant::now();
    }
}

/// The folders of skills whose documents were written.
fn touched(dirt: &Dirt, holdings: &Holdings) -> HashSet<PathBuf> {
    let places = dirt.places();
    let documents = places.iter().filter(|(_, scope)| *scope == Scope::Document);
    documents.map(|(place, _)| holdings.path(place.root, &place.folder)).collect()
}

/// Nothing that holds these locks can leave what they guard half done, so a panic elsewhere does not matter here.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
