//! Our own group: one leaf for the rooms, one for each call.

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;

use super::folder::{Finished, Folder, open_to_all, set};
use super::owner::Owner;
use super::site::{CONTROLLERS, How};

/// The leaf in which rooms are born, and this process goes where it has to make way.
const ROOMS: &str = "rooms";

/// Our own group.
#[derive(Debug)]
pub(crate) struct Base {
    above: Arc<Folder>,
    name: String,
    /// Where groups for calls are made.
    pub(super) calls: Arc<Folder>,
    /// The folder of the rooms' group.
    pub(super) rooms: OwnedFd,
    how: How,
}

impl Base {
    pub(crate) fn make(above: &Arc<Folder>, name: &str, how: How, by_root: bool) -> io::Result<Self> {
        let calls = Arc::new(above.make_folder(name)?);
        let rooms = match calls.make(ROOMS) {
            Ok(rooms) => rooms,
            Err(error) => {
                above.finish(name, Finished::Dying);
                return Err(error);
            }
        };
        // From here on dropping it takes back what was done.
        let base = Self { above: Arc::clone(above), name: name.to_owned(), calls, rooms, how };
        if how == How::Moving {
            set(&base.rooms, PROCESSES, &std::process::id().to_string())?;
            switch(&base.above, '+')?;
        }
        switch(&base.calls, '+')?;
        if by_root {
            // Each room is a user of its own by the time it makes calls, and puts them from one leaf into another. For that
            // it needs this right here and to the leaf. Nobody else gains by it: a process from outside would need it in a
            // group above as well, and a group with groups in it takes no process.
            open_to_all(&base.calls)?;
        }
        Ok(base)
    }
}

const PROCESSES: &str = "cgroup.procs";

/// Switches the controllers on (`+`) or off (`-`) for the groups in a folder.
fn switch(folder: &Folder, sign: char) -> rustix::io::Result<()> {
    let words: Vec<String> = CONTROLLERS.iter().map(|controller| format!("{sign}{controller}")).collect();
    set(folder, "cgroup.subtree_control", &words.join(" "))
}

impl Drop for Base {
    /// Everything as it was before, as far as that can be had: what another sandbox of this process still uses stays, and so
    /// does what a dying process is in; the next one to come removes it.
    fn drop(&mut self) {
        if self.how == How::Plain {
            // Nobody has a line to them any more, so they are on their way out.
            let _ = set(&self.rooms, "cgroup.kill", "1");
        }
        if !self.calls.clear() {
            return;
        }
        if self.how == How::Moving {
            if self.calls.names().iter().any(|name| Owner::is_named(name)) {
                // Another sandbox of this process has found its place in here meanwhile.
                return;
            }
            let _ = switch(&self.calls, '-');
            if switch(&self.above, '-').is_ok() {
                let _ = set(self.above.as_fd(), PROCESSES, &std::process::id().to_string());
            }
        }
        self.calls.finish(ROOMS, Finished::Dying);
        if self.calls.clear() {
            self.above.finish(&self.name, Finished::Dying);
        }
    }
}
