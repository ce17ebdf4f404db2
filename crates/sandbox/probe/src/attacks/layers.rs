//! The layer that takes what a call writes to the project: reaching it by another way than the project's path, and telling the
//! overlay what only the kernel may tell it.

use std::path::{Path, PathBuf};

use crate::answer::{Answer, Step, held};
use crate::arguments::Arguments;
use crate::kernel::{HERE, at, c_path, c_text, call, of};
use crate::probe::{Class, Probe};

const NO_LAYER: &str = "without a sandbox there is no layer";

pub(crate) const PROBES: &[Probe] = &[
    Probe::uncontrolled(Class::Layer, "layer-path", "opens the layer by its own path", NO_LAYER, path),
    Probe::uncontrolled(
        Class::Layer,
        "layer-mounts",
        "looks for the mounts that the overlay is made of",
        NO_LAYER,
        mounts,
    ),
    Probe::uncontrolled(
        Class::Layer,
        "layer-supervisor",
        "looks for the layer among the supervisor's descriptors",
        NO_LAYER,
        supervisor,
    ),
    Probe::uncontrolled(
        Class::Layer,
        "layer-trusted",
        "sets the attributes by which root's overlay knows its files",
        NO_LAYER,
        trusted,
    ),
    Probe::uncontrolled(Class::Layer, "layer-whiteout", "makes a whiteout itself", NO_LAYER, whiteout),
    Probe::uncontrolled(Class::Layer, "layer-device", "makes a device in the project", NO_LAYER, device),
    Probe::uncontrolled(
        Class::Layer,
        "layer-link-out",
        "links a file of the project out of it and in again",
        NO_LAYER,
        link_out,
    ),
    Probe::uncontrolled(Class::Layer, "layer-unmount", "takes the overlay away", NO_LAYER, unmount),
    Probe::uncontrolled(Class::Layer, "layer-remount", "remounts the overlay", NO_LAYER, remount),
    Probe::uncontrolled(
        Class::Layer,
        "layer-handle",
        "opens a file of the lower layer by its handle",
        NO_LAYER,
        handle,
    ),
];

/// Opens any of these.
fn open_any(paths: impl IntoIterator<Item = PathBuf>) -> Answer {
    let mut tried = 0;
    for path in paths {
        tried += 1;
        if std::fs::read_dir(&path).is_ok() || std::fs::File::open(&path).is_ok() {
            return Ok(format!("{} can be opened", path.display()));
        }
    }
    held(format!("none of {tried} paths can be opened"))
}

fn path(arguments: &Arguments) -> Answer {
    let layer = arguments.path("layer")?;
    open_any(["", "upper", "work", "work/work", "upper/README.md"].map(|name| layer.join(name)))
}

fn mounts(_: &Arguments) -> Answer {
    let below = (0..16).flat_map(|number| {
        ["", "upper", "work", "README.md"]
            .map(|name| Path::new("/.layers").join(number.to_string()).join(name))
    });
    let ways =
        ["/.layers", "/proc/self/root/.layers", "/proc/1/root/.layers", "/proc/self/cwd/../../.layers"];
    open_any(ways.map(PathBuf::from).into_iter().chain(below))
}

fn supervisor(_: &Arguments) -> Answer {
    open_any((0..64).map(|number| Path::new("/proc/1/fd").join(number.to_string())))
}

fn trusted(arguments: &Arguments) -> Answer {
    let file = c_path(&arguments.path("project")?.join("README.md"));
    let mut reason = String::new();
    for name in ["opaque", "redirect", "metacopy", "origin", "whiteout"] {
        let (name, value) = (c_text(format!("trusted.overlay.{name}")), [b'y']);
        match call(libc::SYS_setxattr, &[at(&file), at(&name), of(&value), 1, 0]) {
            Ok(_) => return Ok(format!("{name:?} was set")),
            Err(error) => reason = error.to_string(),
        }
    }
    held(reason)
}

fn make_node(arguments: &Arguments, device: usize) -> Answer {
    let file = c_path(&arguments.path("project")?.join("probe-node"));
    let mode = (libc::S_IFCHR | 0o600) as usize;
    call(libc::SYS_mknodat, &[HERE, at(&file), mode, device]).attempt("mknod")?;
    Ok("the node is there".to_owned())
}

fn whiteout(arguments: &Arguments) -> Answer {
    make_node(arguments, 0)
}

fn device(arguments: &Arguments) -> Answer {
    // `/dev/null`: the harmless one.
    make_node(arguments, libc::makedev(1, 3) as usize)
}

fn link_out(arguments: &Arguments) -> Answer {
    let (project, data) = (arguments.path("project")?, arguments.path("data")?);
    std::fs::write(data.join("probe-in"), "x").prepare("make a file in the data folder")?;
    if std::fs::hard_link(data.join("probe-in"), project.join("probe-in")).is_ok() {
        return Ok("a file of the data folder has a name in the project".to_owned());
    }
    std::fs::hard_link(project.join("README.md"), data.join("probe-out")).attempt("link")?;
    Ok("a file of the project has a name outside of it".to_owned())
}

fn unmount(arguments: &Arguments) -> Answer {
    for place in [arguments.path("project")?, "/.layers".into(), "/".into()] {
        let place = c_path(&place);
        if call(libc::SYS_umount2, &[at(&place), libc::MNT_DETACH as usize]).is_ok() {
            return Ok(format!("{place:?} was unmounted"));
        }
    }
    held("nothing was unmounted")
}

fn remount(arguments: &Arguments) -> Answer {
    let (none, place) = (c_text("none"), c_path(&arguments.path("project")?));
    let options = c_text("redirect_dir=on,metacopy=on");
    for flags in [libc::MS_REMOUNT, libc::MS_REMOUNT | libc::MS_BIND] {
        let words = [at(&none), at(&place), at(&none), flags as usize, at(&options)];
        if call(libc::SYS_mount, &words).is_ok() {
            return Ok("the overlay was remounted".to_owned());
        }
    }
    held("the overlay stayed as it is")
}

fn handle(arguments: &Arguments) -> Answer {
    let file = c_path(&arguments.path("project")?.join("README.md"));
    // `struct file_handle` with room for the largest one.
    let (mut handle, mut mount) = ([0_u32; 34], 0_i32);
    handle[0] = 128;
    let words = [HERE, at(&file), handle.as_mut_ptr() as usize, std::ptr::from_mut(&mut mount) as usize, 0];
    call(libc::SYS_name_to_handle_at, &words).attempt("name_to_handle_at")?;
    let data = c_path(&arguments.path("data")?);
    let folder =
        call(libc::SYS_openat, &[HERE, at(&data), libc::O_RDONLY as usize]).prepare("open a folder")?;
    call(libc::SYS_open_by_handle_at, &[folder, handle.as_ptr() as usize, libc::O_RDWR as usize])
        .attempt("open_by_handle_at")?;
    Ok("the file of the lower layer is open for writing".to_owned())
}
