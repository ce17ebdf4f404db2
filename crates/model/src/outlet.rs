//! A stream that is written as a function: what it puts into its outlet comes out of the stream.

use std::collections::VecDeque;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};

use futures_core::Stream;

/// Where a function puts what its stream gives. It lives inside the stream and is used by one task at a time, so its lock
/// is never waited for.
pub(crate) struct Outlet<T> {
    queue: Arc<Mutex<VecDeque<T>>>,
}

impl<T> Outlet<T> {
    /// Puts an item out and waits until it was taken, so that nobody computes ahead of who reads.
    pub(crate) async fn put(&self, item: T) {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner).push_back(item);
        let mut was_pending = false;
        std::future::poll_fn(|_| {
            // No waker is needed: the stream hands the item over at once, and its reader polls again for the next.
            if std::mem::replace(&mut was_pending, true) { Poll::Ready(()) } else { Poll::Pending }
        })
        .await;
    }
}

/// A stream of what a function puts out, until the function ends.
pub(crate) fn stream<'a, T, F, Run>(run: Run) -> Pin<Box<dyn Stream<Item = T> + Send + 'a>>
where
    T: Send + 'a,
    F: Future<Output = ()> + Send + 'a,
    Run: FnOnce(Outlet<T>) -> F,
{
    let queue = Arc::new(Mutex::new(VecDeque::new()));
    let future = run(Outlet { queue: Arc::clone(&queue) });
    Box::pin(Produced { queue, future: Some(Box::pin(future)) })
}

struct Produced<'a, T> {
    queue: Arc<Mutex<VecDeque<T>>>,
    /// Dropped when it has ended: it holds the connection.
    future: Option<Pin<Box<dyn Future<Output = ()> + Send + 'a>>>,
}

impl<T> Produced<'_, T> {
    fn pop(&self) -> Option<T> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner).pop_front()
    }
}

impl<T> Stream for Produced<'_, T> {
    type Item = T;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<T>> {
        if let Some(item) = self.pop() {
            return Poll::Ready(Some(item));
        }
        let Some(future) = self.future.as_mut() else { return Poll::Ready(None) };
        let polled = future.as_mut().poll(context);
        if polled.is_ready() {
            self.future = None;
        }
        match (self.pop(), polled) {
            (Some(item), _) => Poll::Ready(Some(item)),
            (None, Poll::Ready(())) => Poll::Ready(None),
            (None, Poll::Pending) => Poll::Pending,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::future::poll_fn;
    use std::time::Duration;

    #[tokio::test(start_paused = true)]
    async fn items_come_in_order_and_the_end_stays() {
        let mut stream = stream(|outlet| async move {
            for number in 0..3 {
                tokio::time::sleep(Duration::from_secs(1)).await;
                outlet.put(number).await;
                outlet.put(number + 10).await;
            }
        });
        let mut items = Vec::new();
        while let Some(item) = poll_fn(|context| stream.as_mut().poll_next(context)).await {
            items.push(item);
        }
        assert_eq!(items, [0, 10, 1, 11, 2, 12]);
        assert_eq!(poll_fn(|context| stream.as_mut().poll_next(context)).await, None);
    }

    #[tokio::test]
    async fn nothing_is_computed_ahead_of_the_reader() {
        let made = Arc::new(Mutex::new(0));
        let count = Arc::clone(&made);
        let mut stream = stream(|outlet| async move {
            for number in 1..=3 {
                *count.lock().unwrap() = number;
                outlet.put(number).await;
            }
        });
        assert_eq!(*made.lock().unwrap(), 0);
        assert_eq!(poll_fn(|context| stream.as_mut().poll_next(context)).await, Some(1));
        assert_eq!(*made.lock().unwrap(), 1);
    }
}
