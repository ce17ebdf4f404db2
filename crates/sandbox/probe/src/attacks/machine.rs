//! Changing the machine itself. Nothing here runs outside, and every call is made so that it fails where it is allowed.

use crate::answer::{Answer, Step, gated};
use crate::arguments::Arguments;
use crate::kernel::{at, c_text, call, into, of};
use crate::probe::{Class, Probe};

const MACHINE: &str = "it would change the machine";

pub(crate) const PROBES: &[Probe] = &[
    Probe::throwaway(Class::Kernel, "host-name", "changes the name of the machine", host_name),
    Probe::throwaway(Class::Kernel, "domain-name", "changes the domain of the machine", domain_name),
    Probe::uncontrolled(Class::Kernel, "clock-set", "sets the clock to what it is", MACHINE, clock),
    Probe::uncontrolled(Class::Kernel, "clock-adjust", "adjusts the clock", MACHINE, adjust),
    Probe::uncontrolled(
        Class::Kernel,
        "reboot",
        "restarts the machine with a wrong password",
        MACHINE,
        reboot,
    ),
    Probe::uncontrolled(Class::Kernel, "kexec", "loads another kernel of no parts", MACHINE, kexec),
    Probe::uncontrolled(
        Class::Kernel,
        "kexec-file",
        "loads another kernel from no file",
        MACHINE,
        kexec_file,
    ),
    Probe::uncontrolled(Class::Kernel, "module-load", "loads a module of no bytes", MACHINE, module),
    Probe::uncontrolled(Class::Kernel, "module-file", "loads a module from no file", MACHINE, module_file),
    Probe::uncontrolled(
        Class::Kernel,
        "module-remove",
        "removes a module that is not there",
        MACHINE,
        module_remove,
    ),
    Probe::uncontrolled(Class::Kernel, "swap-on", "swaps to a file that is not there", MACHINE, swap_on),
    Probe::uncontrolled(Class::Kernel, "swap-off", "stops swapping to it", MACHINE, swap_off),
    Probe::uncontrolled(
        Class::Kernel,
        "accounting",
        "keeps accounts in a file that is not there",
        MACHINE,
        accounting,
    ),
    Probe::uncontrolled(Class::Kernel, "hang-up", "hangs up the terminal", MACHINE, hang_up),
    Probe::uncontrolled(
        Class::Kernel,
        "ports",
        "takes the right to every port of the processor",
        MACHINE,
        ports,
    ),
];

fn host_name(_: &Arguments) -> Answer {
    let name = c_text("probed");
    call(libc::SYS_sethostname, &[at(&name), 6]).attempt("sethostname")?;
    Ok("changed".to_owned())
}

fn domain_name(_: &Arguments) -> Answer {
    let name = c_text("probed");
    call(libc::SYS_setdomainname, &[at(&name), 6]).attempt("setdomainname")?;
    Ok("changed".to_owned())
}

fn clock(_: &Arguments) -> Answer {
    let mut now = [0_i64; 2];
    let real = libc::CLOCK_REALTIME as usize;
    call(libc::SYS_clock_gettime, &[real, into(&mut now)]).prepare("clock_gettime")?;
    gated("clock_settime", call(libc::SYS_clock_settime, &[real, of(&now)]))
}

fn adjust(_: &Arguments) -> Answer {
    let mut state = [0_u64; 32];
    // A tick that no clock has: with the right to adjust, the kernel says so.
    state[0] = 0x4000;
    gated("adjtimex", call(libc::SYS_adjtimex, &[into(&mut state)]))
}

fn reboot(_: &Arguments) -> Answer {
    // The two words are wrong, so the kernel answers with an error even to who may.
    gated("reboot", call(libc::SYS_reboot, &[0, 0, 0, 0]))
}

fn kexec(_: &Arguments) -> Answer {
    gated("kexec_load", call(libc::SYS_kexec_load, &[0, 1, 0, usize::MAX]))
}

fn kexec_file(_: &Arguments) -> Answer {
    gated("kexec_file_load", call(libc::SYS_kexec_file_load, &[usize::MAX, usize::MAX, 0, 0, 0]))
}

fn module(_: &Arguments) -> Answer {
    let none = c_text("");
    gated("init_module", call(libc::SYS_init_module, &[0, 0, at(&none)]))
}

fn module_file(_: &Arguments) -> Answer {
    let none = c_text("");
    gated("finit_module", call(libc::SYS_finit_module, &[usize::MAX, at(&none), 0]))
}

fn module_remove(_: &Arguments) -> Answer {
    let name = c_text("metier_no_such_module");
    gated("delete_module", call(libc::SYS_delete_module, &[at(&name), libc::O_NONBLOCK as usize]))
}

fn swap_on(_: &Arguments) -> Answer {
    gated("swapon", call(libc::SYS_swapon, &[at(&c_text("/no/such/file")), 0]))
}

fn swap_off(_: &Arguments) -> Answer {
    gated("swapoff", call(libc::SYS_swapoff, &[at(&c_text("/no/such/file"))]))
}

fn accounting(_: &Arguments) -> Answer {
    gated("acct", call(libc::SYS_acct, &[at(&c_text("/no/such/file"))]))
}

fn hang_up(_: &Arguments) -> Answer {
    gated("vhangup", call(libc::SYS_vhangup, &[]))
}

#[cfg(target_arch = "x86_64")]
fn ports(_: &Arguments) -> Answer {
    gated("ioperm", call(libc::SYS_ioperm, &[0x80, 1, 1]))
        .or_else(|_| gated("iopl", call(libc::SYS_iopl, &[3])))
}

#[cfg(not(target_arch = "x86_64"))]
fn ports(_: &Arguments) -> Answer {
    crate::answer::cannot_say("this processor has no ports")
}
