//! A stream that is written as a function: what it puts into its outlet comes out of the stream.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use futures_core::Stream;
use tokio::sync::mpsc::{Receiver, Sender, channel};

/// Where a function puts what its stream gives.
pub struct Outlet<T>(Sender<T>);

impl<T> Outlet<T> {
    /// Puts an item out and waits until it was taken, so that nobody computes ahead of who reads.
    pub async fn put(&self, item: T) {
        // Neither fails: the stream that polls this holds the other end. There is room for one item, so there is room again
        // when it was taken.
        drop(self.0.send(item).await);
        drop(self.0.reserve().await);
    }
}

/// A stream of what a function puts out, until the function ends.
pub fn stream<'a, T, F, Run>(run: Run) -> Pin<Box<dyn Stream<Item = T> + Send + 'a>>
where
    T: Send + 'a,
    F: Future<Output = ()> + Send + 'a,
    Run: FnOnce(Outlet<T>) -> F,
{
    let (sender, items) = channel(1);
    Box::pin(Produced { items, future: Some(Box::pin(run(Outlet(sender)))) })
}

struct Produced<'a, T> {
    items: Receiver<T>,
    /// Dropped when it has ended: it holds the connection.
    future: Option<Pin<Box<dyn Future<Output = ()> + Send + 'a>>>,
}

impl<T> Stream for Produced<'_, T> {
    type Item = T;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<T>> {
        if self.future.as_mut().is_some_and(|future| future.as_mut().poll(context).is_ready()) {
            self.future = None;
        }
        self.items.poll_recv(context)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::future::poll_fn;
    use std::pin::pin;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::sync::{Arc, Mutex};
    use std::task::{Wake, Waker};
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

    struct Woken(AtomicUsize);

    impl Wake for Woken {
        fn wake(self: Arc<Self>) {
            self.0.fetch_add(1, Ordering::SeqCst);
        }
    }

    /// So a producer may wait in a `select!`, or in anything else that polls only what was woken.
    #[test]
    fn a_producer_is_woken_when_its_item_was_taken() {
        let (sender, mut items) = channel(1);
        let outlet = Outlet(sender);
        let woken = Arc::new(Woken(AtomicUsize::new(0)));
        let waker = Waker::from(Arc::clone(&woken));
        let mut context = Context::from_waker(&waker);
        let mut put = pin!(outlet.put(1));
        assert!(put.as_mut().poll(&mut context).is_pending());
        assert_eq!(items.try_recv(), Ok(1));
        assert_eq!(woken.0.load(Ordering::SeqCst), 1);
        assert!(put.as_mut().poll(&mut context).is_ready());
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
