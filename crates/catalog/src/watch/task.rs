//! The thread that waits for events, gathers them until it is quiet, and looks at what they are about.

use super::dirt::Dirt;
use super::holdings::Holdings;
use super::look::Look;
use super::posts::Posts;
use super::{Desk, WatchOptions, Watching, lock, touched};
use metier_files::{Place, Wait, Waker, WatchError};
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::{Instant, SystemTime, UNIX_EPOCH};

/// How often something is looked at again because folders in it were not watched when it was read. Twice is enough unless
/// somebody makes folder after folder at this moment; what comes later is an event like any other.
const MAX_ROUNDS: usize = 4;

/// Watches everything that is held and was read after `began`. Nobody saw what happened until it was watched, so what was touched
/// since then is read again; where nothing was, the roots are gone through once and not twice.
pub(super) fn post(
    holdings: &mut Holdings,
    began: SystemTime,
    options: WatchOptions,
) -> Result<Posts, WatchError> {
    let mut posts = Posts::new(options.max_folders)?;
    if posts.set_all(holdings)? && !Look::take(holdings).is_settled(began) {
        holdings.clean(&Dirt::everything());
        cover_all(&mut posts, holdings)?;
    }
    Ok(posts)
}

/// Starts the thread; without threads, changes are looked for on use.
pub(super) fn spawn(
    desk: &Arc<Desk>,
    posts: Posts,
    holdings: Holdings,
    options: WatchOptions,
) -> Option<(Waker, JoinHandle<()>)> {
    let waker = posts.waker();
    let theirs = Arc::clone(desk);
    let read = Arc::clone(&desk.read);
    let started =
        thread::Builder::new().name("watch".to_owned()).spawn(move || run(&theirs, posts, holdings, options));
    match started {
        Ok(thread) => Some((waker, thread)),
        Err(error) => {
            // What was held went with the thread.
            let why = WatchError::System((&error).into());
            desk.check_on_use(Holdings::new(&desk.catalog, read), UNIX_EPOCH, why);
            None
        }
    }
}

fn run(desk: &Desk, mut posts: Posts, mut holdings: Holdings, options: WatchOptions) {
    match follow(desk, &mut posts, &mut holdings, options) {
        Ok(()) => {}
        Err(why) => {
            // The folders that are watched are given back before anything else: others may be waiting for them.
            drop(posts);
            desk.check_on_use(holdings, UNIX_EPOCH, why);
        }
    }
}

/// Follows events until somebody wakes the wait, or until they can be followed no longer.
fn follow(
    desk: &Desk,
    posts: &mut Posts,
    holdings: &mut Holdings,
    options: WatchOptions,
) -> Result<(), WatchError> {
    let mut dirt = Dirt::default();
    let mut first = None;
    loop {
        // Nothing to look at: wait for as long as it takes. Else until it is quiet, or long enough.
        let timeout =
            first.map(|first: Instant| options.quiet.min(options.at_most.saturating_sub(first.elapsed())));
        match posts.wait(timeout, holdings, &mut dirt)? {
            Wait::Woken => return Ok(()),
            Wait::Events if dirt.is_clean() => continue,
            Wait::Events => {
                if first.get_or_insert_with(Instant::now).elapsed() < options.at_most {
                    continue;
                }
            }
            Wait::Timeout if first.is_none() => continue,
            Wait::Timeout => {}
        }
        first = None;
        look_again(desk, posts, holdings, &std::mem::take(&mut dirt))?;
    }
}

fn look_again(
    desk: &Desk,
    posts: &mut Posts,
    holdings: &mut Holdings,
    dirt: &Dirt,
) -> Result<(), WatchError> {
    let touched = touched(dirt, holdings);
    if holdings.clean(dirt) {
        cover_all(posts, holdings)?;
    } else {
        cover_some(posts, holdings, dirt)?;
    }
    *lock(&desk.watching) = Watching::Events { folders: posts.count() };
    desk.publish(holdings, &touched);
    Ok(())
}

fn cover_all(posts: &mut Posts, holdings: &mut Holdings) -> Result<(), WatchError> {
    for _ in 0..MAX_ROUNDS {
        if !posts.set_all(holdings)? {
            break;
        }
        holdings.clean(&Dirt::everything());
    }
    Ok(())
}

fn cover_some(posts: &mut Posts, holdings: &mut Holdings, dirt: &Dirt) -> Result<(), WatchError> {
    let places: Vec<Place> = dirt.places().into_iter().map(|(place, _)| place).collect();
    for _ in 0..MAX_ROUNDS {
        if places.is_empty() || !posts.set_some(holdings, &places)? {
            break;
        }
        if holdings.clean(dirt) {
            return cover_all(posts, holdings);
        }
    }
    Ok(())
}
