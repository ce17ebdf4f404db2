//! Devices. They are opened and closed, nothing else; those that act when they are opened are left out.

use std::fs::OpenOptions;
use std::os::unix::fs::OpenOptionsExt;

use crate::answer::{Answer, cannot_say, held};
use crate::arguments::Arguments;
use crate::probe::{Class, Probe, Who};

pub(crate) const PROBES: &[Probe] = &[
    Probe::plain(Class::Device, "device-memory", "opens the machine's memory and ports", memory)
        .by(Who::Root),
    Probe::plain(Class::Device, "device-log", "opens the log of the kernel", log).by(Who::Root),
    Probe::plain(Class::Device, "device-disk", "opens a disk", disk).by(Who::Root),
    Probe::plain(Class::Device, "device-fuse", "opens the device for file systems of its own", fuse)
        .by(Who::Root),
    Probe::plain(Class::Device, "device-kvm", "opens the device for virtual machines", kvm).by(Who::Root),
    Probe::plain(Class::Device, "device-loop", "opens the device that makes disks of files", loops)
        .by(Who::Root),
    Probe::plain(Class::Device, "device-tun", "opens the device for networks of its own", tun).by(Who::Root),
    Probe::plain(Class::Device, "device-console", "opens a console", console).by(Who::Root),
    Probe::plain(Class::Device, "device-host", "opens the device to the machine's host", host).by(Who::Root),
];

/// Opens one of these. Outside, a machine without them shows nothing; inside, their absence is the point.
fn any(arguments: &Arguments, paths: &[&str]) -> Answer {
    let mut refusal = None;
    for path in paths {
        let flags = libc::O_NONBLOCK | libc::O_NOCTTY;
        match OpenOptions::new().read(true).custom_flags(flags).open(path) {
            Ok(_) => return Ok(format!("{path} is open")),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
            Err(error) => refusal = Some(format!("{path}: {error}")),
        }
    }
    match refusal {
        Some(refusal) => held(refusal),
        None if arguments.has("contained") => held("there is none"),
        None => cannot_say("the machine has none"),
    }
}

fn memory(arguments: &Arguments) -> Answer {
    any(arguments, &["/dev/mem", "/dev/kmem", "/dev/port"])
}

fn log(arguments: &Arguments) -> Answer {
    any(arguments, &["/dev/kmsg"])
}

fn disk(arguments: &Arguments) -> Answer {
    any(arguments, &["/dev/vda", "/dev/sda", "/dev/nvme0n1", "/dev/xvda", "/dev/dm-0", "/dev/loop0"])
}

fn fuse(arguments: &Arguments) -> Answer {
    any(arguments, &["/dev/fuse"])
}

fn kvm(arguments: &Arguments) -> Answer {
    any(arguments, &["/dev/kvm"])
}

fn loops(arguments: &Arguments) -> Answer {
    any(arguments, &["/dev/loop-control"])
}

fn tun(arguments: &Arguments) -> Answer {
    any(arguments, &["/dev/net/tun"])
}

fn console(arguments: &Arguments) -> Answer {
    any(arguments, &["/dev/tty1", "/dev/console", "/dev/ttyS0"])
}

fn host(arguments: &Arguments) -> Answer {
    any(arguments, &["/dev/vsock", "/dev/vhost-vsock", "/dev/vport0p1"])
}
