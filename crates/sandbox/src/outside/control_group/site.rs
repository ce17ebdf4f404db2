//! Where in the tree a group of ours may be made.

use std::path::{Path, PathBuf};

use super::folder::read;
use super::hierarchy::Hierarchy;

/// What has to be on for a group to bound what we want bounded.
pub(crate) const CONTROLLERS: [&str; 2] = ["memory", "pids"];

/// A place for our groups.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Site {
    /// The group below which ours are made.
    pub(crate) folder: PathBuf,
    pub(crate) how: How,
}

/// How that place is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum How {
    /// It passes the controllers on already.
    Plain,
    /// It is the group that this process is in, alone. A group that passes controllers on holds no processes itself, so this
    /// one has to go a step down first.
    Moving,
}

/// Why there is no place.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum NoSite {
    #[error("`memory` and `pids` are not both switched on for groups in {}", .0.display())]
    Controllers(PathBuf),
    #[error(
        "the group {} is not ours to divide; metier started by `systemd-run --user --scope`, or as a service with \
         `Delegate=yes`, has one that is", .0.display()
    )]
    NotOurs(PathBuf),
}

impl Site {
    /// Chooses the place: the own group where it can be divided, since whoever bounds that one then bounds our calls, too;
    /// else the one above it. `process` is this process; `may_write` says whether it may write to a file or make folders in
    /// a folder.
    pub(crate) fn choose(
        hierarchy: &Hierarchy,
        process: u32,
        may_write: impl Fn(&Path) -> bool,
    ) -> Result<Self, NoSite> {
        let own = &hierarchy.own;
        let found = |folder: &Path, how| Ok(Self { folder: folder.to_owned(), how });
        let ours = |folder: &Path| may_write(folder) && may_write(&folder.join("cgroup.procs"));
        // The machine's topmost group has no type; processes and groups may lie in it side by side. What it passes on is for
        // whoever runs the machine to say.
        let is_root = read(&own.join("cgroup.type")).is_err();
        if is_root {
            return match (passes_on(own), ours(own)) {
                (true, true) => found(own, How::Plain),
                (false, _) => Err(NoSite::Controllers(own.clone())),
                (true, false) => Err(NoSite::NotOurs(own.clone())),
            };
        }
        let is_alone = read(&own.join("cgroup.procs"))
            .is_ok_and(|text| text.split_whitespace().eq([process.to_string().as_str()]));
        let divisible = has(own, "cgroup.controllers") && may_write(&own.join("cgroup.subtree_control"));
        if is_alone && divisible && is_domain(own) && ours(own) {
            return found(own, How::Moving);
        }
        let above = own.parent().filter(|above| above.starts_with(&hierarchy.top));
        match above {
            Some(above) if ours(above) && is_domain(above) => {
                if passes_on(above) {
                    found(above, How::Plain)
                } else {
                    Err(NoSite::Controllers(above.to_owned()))
                }
            }
            _ => Err(NoSite::NotOurs(own.clone())),
        }
    }
}

/// Whether groups in this one have what we need.
fn passes_on(folder: &Path) -> bool {
    has(folder, "cgroup.subtree_control")
}

fn has(folder: &Path, file: &str) -> bool {
    let listed = read(&folder.join(file)).unwrap_or_default();
    CONTROLLERS.iter().all(|wanted| listed.split_whitespace().any(|controller| controller == *wanted))
}

/// Whether it holds processes as wholes: one that holds threads cannot bound memory.
fn is_domain(folder: &Path) -> bool {
    read(&folder.join("cgroup.type")).map_or(true, |kind| kind.trim() == "domain")
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "a test builds its own ground")]
mod tests {
    use super::*;

    /// One group of a made-up tree: its path, its files.
    type Made<'a> = (&'a str, &'a [(&'a str, &'a str)]);

    const ALL: &str = "cpu memory pids\n";

    /// Builds the tree and chooses for process 7 in `own`; what begins with one of `closed` cannot be written.
    fn check(tree: &[Made<'_>], own: &str, closed: &[&str], expect: Result<(&str, How), &str>) {
        let folder = tempfile::tempdir().unwrap();
        let top = folder.path().to_owned();
        for (path, files) in tree {
            std::fs::create_dir_all(top.join(path)).unwrap();
            for (name, text) in *files {
                std::fs::write(top.join(path).join(name), text).unwrap();
            }
        }
        let may_write =
            |path: &Path| path.exists() && !closed.iter().any(|closed| path.starts_with(top.join(closed)));
        let hierarchy = Hierarchy { own: top.join(own), top: top.clone() };
        let found = Site::choose(&hierarchy, 7, may_write);
        let expect = match expect {
            Ok((path, how)) => Ok(Site { folder: top.join(path), how }),
            Err(word) => Err(word),
        };
        match (found, expect) {
            (Ok(found), Ok(expect)) => assert_eq!(found, expect, "{own}"),
            (Err(why), Err(word)) => assert!(why.to_string().contains(word), "{own}: {why}"),
            (found, expect) => panic!("{own}: {found:?} instead of {expect:?}"),
        }
    }

    fn group<'a>(processes: &'a str, controllers: &'a str, passed: &'a str) -> [(&'a str, &'a str); 4] {
        [
            ("cgroup.type", "domain\n"),
            ("cgroup.procs", processes),
            ("cgroup.controllers", controllers),
            ("cgroup.subtree_control", passed),
        ]
    }

    #[test]
    fn a_terminal_of_a_user_uses_the_slice_above_its_scope() {
        let (slice, scope) = (group("", ALL, ALL), group("5\n7\n", ALL, ""));
        let tree: &[Made<'_>] = &[("app.slice", &slice), ("app.slice/term.scope", &scope)];
        check(tree, "app.slice/term.scope", &[], Ok(("app.slice", How::Plain)));
        check(tree, "app.slice/term.scope", &["app.slice"], Err("not ours"));
        // The folder is ours, its list of processes is not.
        check(tree, "app.slice/term.scope", &["app.slice/cgroup.procs"], Err("not ours"));
        let slice = group("", ALL, "cpu pids");
        let tree: &[Made<'_>] = &[("app.slice", &slice), ("app.slice/term.scope", &scope)];
        check(tree, "app.slice/term.scope", &[], Err("not both switched on"));
    }

    #[test]
    fn a_process_that_is_alone_in_a_group_of_its_own_divides_it() {
        let (slice, alone) = (group("", ALL, ALL), group("7\n", ALL, ""));
        let tree: &[Made<'_>] = &[("s", &slice), ("s/own.service", &alone)];
        check(tree, "s/own.service", &["s/cgroup.procs"], Ok(("s/own.service", How::Moving)));
        check(tree, "s/own.service", &[], Ok(("s/own.service", How::Moving)));
        // Not allowed to divide it, but to use the one above.
        check(tree, "s/own.service", &["s/own.service/cgroup.subtree_control"], Ok(("s", How::Plain)));
        // A container whose group holds the topmost folder that can be seen.
        check(&[("", &alone)], "", &[], Ok(("", How::Moving)));
        let two = group("7\n8\n", ALL, "");
        check(&[("", &two)], "", &[], Err("not ours"));
        let bare = group("7\n", "cpu", "");
        check(&[("", &bare)], "", &[], Err("not ours"));
    }

    #[test]
    fn the_machines_topmost_group_is_used_as_it_is() {
        let root = |passed| [("cgroup.procs", "1\n7\n"), ("cgroup.subtree_control", passed)];
        check(&[("", &root(ALL))], "", &[], Ok(("", How::Plain)));
        check(&[("", &root("cpu"))], "", &[], Err("not both switched on"));
        check(&[("", &root(ALL))], "", &[""], Err("not ours"));
        // Right below it.
        let scope = group("1\n7\n", ALL, "");
        check(&[("", &root(ALL)), ("a", &scope)], "a", &[], Ok(("", How::Plain)));
    }

    #[test]
    fn groups_of_threads_are_of_no_use() {
        let mut slice = group("", ALL, ALL);
        slice[0].1 = "threaded\n";
        let scope = group("5\n7\n", ALL, "");
        check(&[("s", &slice), ("s/a", &scope)], "s/a", &[], Err("not ours"));
    }
}
