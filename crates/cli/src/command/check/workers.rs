//! The same work for many items, on all processors.

use std::panic::resume_unwind;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

/// Items below which no second thread is started: they are done in the time that takes.
const FEW: usize = 8;

/// Works on every item and gives the results in the order of the items.
pub(crate) fn in_parallel<'a, T: Sync, R: Send>(items: &'a [T], work: impl Fn(&'a T) -> R + Sync) -> Vec<R> {
    let workers = thread::available_parallelism().map_or(1, std::num::NonZero::get);
    if items.len() < FEW || workers == 1 {
        return items.iter().map(work).collect();
    }
    // Taken one by one, since one skill may have a thousand times the text of another.
    let next = AtomicUsize::new(0);
    let take = || {
        let mut done = Vec::new();
        while let Some((at, item)) = {
            let at = next.fetch_add(1, Ordering::Relaxed);
            items.get(at).map(|item| (at, item))
        } {
            done.push((at, work(item)));
        }
        done
    };
    let mut done: Vec<(usize, R)> = thread::scope(|scope| {
        let workers: Vec<_> = (0..workers).map(|_| scope.spawn(take)).collect();
        workers
            .into_iter()
            .flat_map(|worker| worker.join().unwrap_or_else(|why| resume_unwind(why)))
            .collect()
    });
    done.sort_by_key(|(at, _)| *at);
    done.into_iter().map(|(_, result)| result).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_are_in_the_order_of_the_items() {
        let items: Vec<usize> = (0..1_000).collect();
        let doubled: Vec<usize> = items.iter().map(|item| item * 2).collect();
        assert_eq!(in_parallel(&items, |item| item * 2), doubled);
        assert_eq!(in_parallel(&[3], |item| item + 1), [4]);
    }
}
