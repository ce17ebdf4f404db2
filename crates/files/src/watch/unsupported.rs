use std::convert::Infallible;
use std::path::Path;
use std::time::Duration;

use super::{Interest, Wait, WatchError, WatchEvent, WatchToken};

/// There is none on this system.
#[derive(Debug)]
pub struct Watch(Infallible);

/// There is none on this system.
#[derive(Clone, Debug)]
pub struct Waker(Infallible);

impl Watch {
    /// Fails with [`WatchError::Unsupported`].
    pub fn new(_limit: usize) -> Result<Self, WatchError> {
        Err(WatchError::Unsupported)
    }

    /// Never called, since there is no watch.
    pub fn add(&mut self, _folder: &Path, _interest: Interest) -> Result<WatchToken, WatchError> {
        match self.0 {}
    }

    /// Never called, since there is no watch.
    pub fn remove(&mut self, _token: WatchToken) {
        match self.0 {}
    }

    /// Never called, since there is no watch.
    pub fn count(&self) -> usize {
        match self.0 {}
    }

    /// Never called, since there is no watch.
    pub fn wait(
        &mut self,
        _timeout: Option<Duration>,
        _take: impl FnMut(WatchEvent<'_>),
    ) -> Result<Wait, WatchError> {
        match self.0 {}
    }

    /// Never called, since there is no watch.
    pub fn waker(&self) -> Waker {
        match self.0 {}
    }
}

impl Waker {
    /// Never called, since there is no watch.
    pub fn wake(&self) {
        match self.0 {}
    }
}
