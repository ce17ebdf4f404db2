//! What several topics need.

use std::fmt::Write;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use metier_files::{Bounds, LinkPolicy, Sweep, SweepRoot, sweep};
use metier_testkit::Workspace;
use rustix::process::getuid;
use rustix::thread::set_thread_res_uid;

/// No test takes a tenth of this; it only tells a hang from a slow machine.
const HANG: Duration = Duration::from_mins(2);

/// Sweeps the workspace's `root` folder, with links that may lead anywhere in the workspace's `allowed` folder.
pub(crate) fn confined(workspace: &Workspace) -> SweepRoot {
    SweepRoot::new(workspace.join("root"), LinkPolicy::Inside(vec![workspace.join("allowed")]))
}

/// Sweeps the workspace's `root` folder, with links that may lead anywhere.
pub(crate) fn trusted(workspace: &Workspace) -> SweepRoot {
    SweepRoot::new(workspace.join("root"), LinkPolicy::Anywhere)
}

/// Sweeps and tells what came of it, one line for each thing, in the order it was given.
pub(crate) fn told(workspace: &Workspace, roots: &[SweepRoot]) -> String {
    tell(workspace, &sweep_documents(roots, &Bounds::default()))
}

/// Sweeps and keeps each document's name and head.
pub(crate) fn sweep_documents(roots: &[SweepRoot], bounds: &Bounds) -> Sweep<(String, Vec<u8>)> {
    sweep(roots, bounds, |candidate| (candidate.document_name.to_string(), candidate.head.to_vec()))
}

pub(crate) fn tell(workspace: &Workspace, sweep: &Sweep<(String, Vec<u8>)>) -> String {
    let mut text = String::new();
    let several =
        sweep.found.iter().any(|found| found.root > 0) || sweep.repeats.iter().any(|r| r.place.root > 0);
    let place = |root: usize, folder: &Path| {
        let folder = folder.as_os_str().as_bytes().escape_ascii().to_string();
        let folder = if folder.is_empty() { ".".to_owned() } else { folder };
        if several { format!("{root}:{folder}") } else { folder }
    };
    for found in &sweep.found {
        write!(text, "found {}", place(found.root, &found.folder)).unwrap();
        if found.value.0 != "SKILL.md" {
            write!(text, " by {}", found.value.0).unwrap();
        }
        if let Some(real) = &found.real {
            write!(text, " at {}", real.strip_prefix(workspace.path()).unwrap().display()).unwrap();
        }
        text.push('\n');
    }
    for repeat in &sweep.repeats {
        let (here, there) = (&repeat.place, &repeat.same_as);
        writeln!(text, "{} is {}", place(here.root, &here.folder), place(there.root, &there.folder)).unwrap();
    }
    for problem in &sweep.problems {
        writeln!(text, "{problem}").unwrap();
    }
    text.replace(&format!("{}/", workspace.path().display()), "")
}

/// Ends what runs beside a test with the test, also when the test fails: a thread that goes on for ever would hide the
/// failure.
pub(crate) struct StopOnDrop<'a>(pub(crate) &'a AtomicBool);

impl Drop for StopOnDrop<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Runs `work` on a thread of its own and fails loudly if it never comes back.
pub(crate) fn never_hangs<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> T {
    let (sender, receiver) = mpsc::channel();
    let worker = thread::spawn(move || sender.send(work()));
    match receiver.recv_timeout(HANG) {
        Ok(value) => value,
        Err(mpsc::RecvTimeoutError::Disconnected) => {
            std::panic::resume_unwind(worker.join().expect_err("it ended without a value"))
        }
        Err(mpsc::RecvTimeoutError::Timeout) => panic!("it hangs"),
    }
}

/// Runs `work` as somebody who is not root, since root may read everything. On Linux the user is a matter of each
/// thread, and threads it starts inherit it; this one ends with the work.
pub(crate) fn as_somebody<T: Send>(work: impl FnOnce() -> T + Send) -> T {
    thread::scope(|scope| {
        let worker = scope.spawn(|| {
            if getuid().is_root() {
                let nobody = rustix::process::Uid::from_raw(65534);
                set_thread_res_uid(Some(nobody), Some(nobody), Some(nobody)).expect("root may become nobody");
            }
            work()
        });
        worker.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    })
}
