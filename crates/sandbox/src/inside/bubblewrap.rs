//! The same view by bubblewrap, for systems that let only that program make namespaces.

use std::ffi::{CString, OsStr, OsString};
use std::fmt::Write as _;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use rustix::fs::{
    AtFlags, CWD, FileType, MemfdFlags, Mode, OFlags, ResolveFlags, memfd_create, openat, openat2,
    readlinkat, statat,
};
use rustix::io::{FdFlags, fcntl_setfd};

use super::failure::During;
use super::identity::Identity;
use super::launcher::{HELPER, IN_GROUP, INSIDE};
use super::root::convenient_links;
use super::sources::system_folders;
use super::view::{DEVICES, HOME, Rights, SCRATCH, SHARED_MEMORY, View};
use crate::kernel::replace_keeping;
use crate::report::Meter;
use crate::wire::{Failure, Opening, encode};

/// What bubblewrap is told.
pub(crate) struct Bubblewrap<'a> {
    opening: &'a Opening,
    view: &'a View,
    identity: Identity,
    arguments: Vec<OsString>,
    /// What it reads the contents of files from; open while it starts.
    handed: Vec<OwnedFd>,
}

impl<'a> Bubblewrap<'a> {
    pub(crate) fn new(opening: &'a Opening, view: &'a View, identity: Identity) -> Self {
        Self { opening, view, identity, arguments: Vec::new(), handed: Vec::new() }
    }

    fn add(&mut self, words: &[&OsStr]) {
        self.arguments.extend(words.iter().map(|word| (*word).to_owned()));
    }

    fn say(&mut self, words: &[&str]) {
        self.arguments.extend(words.iter().map(OsString::from));
    }

    /// Puts bubblewrap in the place of this process, and the helper into it.
    pub(crate) fn replace(mut self, socket: &OwnedFd, meter: Meter) -> Result<(), Failure> {
        let program = self
            .opening
            .bubblewrap
            .clone()
            .ok_or_else(|| Failure::new("finding bubblewrap", libc::ENOENT))?;
        let text = |bytes: &[u8]| {
            CString::new(bytes).map_err(|_| Failure::new("a path with a zero byte", libc::EINVAL))
        };
        let knowledge = memfd_create("opening", MemfdFlags::empty())
            .and_then(|file| rustix::io::write(&file, &encode(&self.opening)).map(|_| file))
            .during(|| "handing over the profile".into())?;
        self.describe()?;
        let number = knowledge.as_raw_fd().to_string();
        self.say(&["--", &format!("/run/{HELPER}"), INSIDE, &number]);
        if meter == Meter::ControlGroup {
            self.say(&[IN_GROUP]);
        }
        let mut arguments = vec![text(program.as_bytes())?];
        for argument in &self.arguments {
            arguments.push(text(argument.as_bytes())?);
        }
        let nothing = openat(CWD, "/dev/null", OFlags::RDWR | OFlags::CLOEXEC, Mode::empty())
            .during(|| "opening /dev/null".into())?;
        // These have to outlive the change of program; everything else is closed by then, as every other descriptor of
        // ours is.
        for kept in self.handed.iter().chain([&knowledge]) {
            fcntl_setfd(kept, FdFlags::empty()).during(|| "handing over descriptors".into())?;
        }
        let streams = [socket.as_fd(), nothing.as_fd(), nothing.as_fd()];
        let error = replace_keeping(&arguments[0], &arguments, &[], streams);
        Err::<(), _>(error).during(|| format!("starting {}", program.display()))
    }

    fn describe(&mut self) -> Result<(), Failure> {
        self.say(&[
            "--unshare-user",
            "--unshare-pid",
            "--unshare-net",
            "--unshare-ipc",
            "--unshare-uts",
            "--unshare-cgroup-try",
            "--die-with-parent",
            "--new-session",
            "--as-pid-1",
            "--cap-drop",
            "ALL",
            "--clearenv",
            "--chdir",
            "/",
        ]);
        let [user, group] = [self.identity.inside.user, self.identity.inside.group].map(|id| id.to_string());
        self.say(&["--uid", &user, "--gid", &group]);
        for (folder, target) in system_folders()? {
            match target {
                Some(target) => self.add(&["--symlink".as_ref(), target.as_os_str(), folder.as_ref()]),
                None => self.say(&["--ro-bind", folder, folder]),
            }
        }
        self.say(&["--proc", "/proc", "--dir", "/dev"]);
        for device in DEVICES {
            self.say(&["--dev-bind", device, device]);
        }
        for (link, target) in convenient_links(self.view) {
            self.say(&["--symlink", &target, link]);
        }
        let mut size = String::new();
        let _ = write!(size, "{}", self.opening.profile.limits.scratch);
        self.say(&["--size", &size, "--perms", "0700", "--tmpfs", SCRATCH]);
        for folder in [HOME, SHARED_MEMORY] {
            self.say(&["--perms", "0700", "--dir", &format!("{SCRATCH}/{folder}")]);
        }
        for place in &self.view.places {
            match look_up(place.source()) {
                Ok(_) => {}
                // bubblewrap would end without a word to us. Run by root, this is another user by now, who does not get below a
                // folder such as `/root`.
                Err(error) if place.required => {
                    return Err(error).during(|| format!("showing {} by bubblewrap", place.path.display()));
                }
                // bubblewrap leaves out what is missing, but not what a file or a link on the way keeps from being there.
                Err(_) => continue,
            }
            let word = match (place.rights, place.required) {
                (Rights::Read, true) => "--ro-bind",
                (Rights::Read, false) => "--ro-bind-try",
                (Rights::Write, true) => "--bind",
                (Rights::Write, false) => "--bind-try",
            };
            self.add(&[word.as_ref(), place.source().as_os_str(), place.path.as_os_str()]);
        }
        for mask in &self.view.masks {
            self.mask(mask)?;
        }
        self.helper()?;
        // Some of what lies below /proc changes how processes run, the supervisor among them.
        self.say(&["--remount-ro", "/proc", "--remount-ro", "/"]);
        Ok(())
    }

    /// Shows the helper, which goes on inside.
    fn helper(&mut self) -> Result<(), Failure> {
        let inside = format!("/run/{HELPER}");
        let program = readlinkat(CWD, "/proc/self/exe", Vec::new()).during(|| "finding the helper".into())?;
        let path = OsStr::from_bytes(program.to_bytes());
        if look_up(path.as_ref()).is_ok() {
            self.add(&["--ro-bind".as_ref(), path, inside.as_ref()]);
            return Ok(());
        }
        // Run by root, this is another user by now, who cannot get to a program below a folder such as `/root`. The file that is
        // being run can be opened all the same; bubblewrap copies it, which takes some milliseconds.
        let file = openat(CWD, "/proc/self/exe", OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty())
            .during(|| "opening the helper".into())?;
        self.say(&["--perms", "0555", "--ro-bind-data", &file.as_raw_fd().to_string(), &inside]);
        self.handed.push(file);
        Ok(())
    }

    fn mask(&mut self, path: &Path) -> Result<(), Failure> {
        let Ok(stat) = statat(CWD, path, AtFlags::SYMLINK_NOFOLLOW) else { return Ok(()) };
        match FileType::from_raw_mode(stat.st_mode) {
            FileType::Symlink => {}
            FileType::Directory => {
                self.say(&["--perms", "0000", "--tmpfs"]);
                self.add(&[path.as_os_str()]);
            }
            _ => {
                let empty = openat(CWD, "/dev/null", OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty())
                    .during(|| "opening /dev/null".into())?;
                let number = empty.as_raw_fd().to_string();
                self.say(&["--perms", "0000", "--ro-bind-data", &number]);
                self.add(&[path.as_os_str()]);
                self.handed.push(empty);
            }
        }
        Ok(())
    }
}

/// What is at a path, with no link on the way.
fn look_up(path: &Path) -> rustix::io::Result<OwnedFd> {
    let flags = ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
    openat2(CWD, path, OFlags::PATH | OFlags::CLOEXEC, Mode::empty(), flags)
}
