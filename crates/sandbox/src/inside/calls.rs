//! Lists of system calls, by what they have in common.

/// Calls by their numbers on this architecture, with their names.
macro_rules! calls {
    ($($name:ident)*) => { &[$((libc::$name, stringify!($name))),*] };
}

pub(crate) type Calls = &'static [(libc::c_long, &'static str)];

/// Denied and told: nothing that a script does in good faith.
pub(crate) const DENIED: &[Calls] = &[
    // Other processes.
    calls![
        SYS_ptrace SYS_process_vm_readv SYS_process_vm_writev SYS_pidfd_getfd SYS_kcmp SYS_process_madvise
        SYS_process_mrelease
    ],
    // Parts of the kernel that are large and reachable without rights.
    calls![SYS_io_uring_setup SYS_io_uring_enter SYS_io_uring_register SYS_bpf SYS_perf_event_open SYS_userfaultfd],
    // Keys belong to the user's session, not to a process.
    calls![SYS_keyctl SYS_add_key SYS_request_key],
    // The view of the file system is made before, and stays.
    calls![
        SYS_mount SYS_umount2 SYS_pivot_root SYS_chroot SYS_fsopen SYS_fsconfig SYS_fsmount SYS_fspick SYS_open_tree
        SYS_move_mount SYS_mount_setattr SYS_setns SYS_open_by_handle_at SYS_name_to_handle_at SYS_quotactl
        SYS_quotactl_fd SYS_fanotify_init SYS_fanotify_mark
    ],
    // The machine.
    calls![
        SYS_swapon SYS_swapoff SYS_reboot SYS_kexec_load SYS_init_module SYS_finit_module SYS_delete_module SYS_acct
        SYS_settimeofday SYS_clock_settime SYS_clock_adjtime SYS_adjtimex SYS_sethostname SYS_setdomainname SYS_syslog
        SYS_vhangup SYS_nfsservctl SYS_lookup_dcookie
    ],
    DENIED_HERE,
];

#[cfg(target_arch = "x86_64")]
const DENIED_HERE: Calls = calls![
    SYS_iopl SYS_ioperm SYS_modify_ldt SYS_uselib SYS_sysfs SYS_ustat SYS__sysctl SYS_kexec_file_load
];
#[cfg(not(target_arch = "x86_64"))]
const DENIED_HERE: Calls = calls![SYS_kexec_file_load];

/// Memory that no process maps is seen by no watcher: System V segments and queues stay behind, and a file in memory
/// can be written without being mapped. `vmsplice` puts four kilobytes of a huge page into a pipe, which then keeps all
/// two megabytes of it. Programs that meet an old kernel do without.
pub(crate) const UNSEEN_MEMORY: Calls = calls![
    SYS_shmget SYS_shmat SYS_shmctl SYS_shmdt SYS_msgget SYS_msgsnd SYS_msgrcv SYS_msgctl SYS_semget SYS_semop
    SYS_semtimedop SYS_semctl SYS_memfd_create SYS_memfd_secret SYS_vmsplice
];

/// Queues have names that all processes of a user share where there is no namespace.
pub(crate) const QUEUES: Calls = calls![SYS_mq_open SYS_mq_unlink];

/// A filter cannot see what these are about: the flags of `clone3` are behind a pointer, the target of
/// `pidfd_send_signal` behind a descriptor (a folder such as `/proc/1` will do). Programs fall back to `clone` and `kill`.
/// A ruleset of Landlock holds megabytes that no descriptor shows, and stays with the process that obeys it.
pub(crate) const UNREADABLE: Calls = calls![SYS_clone3 SYS_pidfd_send_signal SYS_landlock_create_ruleset];

/// What belongs to a file and is not in it: mode, owner, times, attributes. Landlock does not look at these calls, so
/// where it is alone they would reach every file of the user's that has a known name. They are denied for all files,
/// since a filter cannot see which one is meant. That costs something: a script cannot `chmod +x` or `touch -d` in its own
/// scratch folder on that tier, and a copy does not keep mode and times.
const ABOUT_FILES: Calls = calls![
    SYS_fchmod SYS_fchmodat SYS_fchown SYS_fchownat SYS_utimensat SYS_setxattr SYS_lsetxattr SYS_fsetxattr
    SYS_removexattr SYS_lremovexattr SYS_fremovexattr
];

/// The same number on every architecture, and not yet named on all of them.
const FCHMODAT2: Calls = &[(452, "SYS_fchmodat2")];

#[cfg(target_arch = "x86_64")]
const ABOUT_FILES_HERE: Calls = calls![SYS_chmod SYS_chown SYS_lchown SYS_utime SYS_utimes SYS_futimesat];
#[cfg(not(target_arch = "x86_64"))]
const ABOUT_FILES_HERE: Calls = &[];

/// A watch tells when others open, change and remove files; Landlock does not look at it either.
const WATCHES: Calls = calls![SYS_inotify_add_watch];

/// Denied and told where nothing but Landlock and the filter holds.
pub(crate) const DENIED_ALONE: &[Calls] = &[ABOUT_FILES, FCHMODAT2, ABOUT_FILES_HERE, WATCHES];

/// Calls that change how a process runs; the first argument is its number. Without a namespace every process of the
/// user's has a number here, so they are allowed for the caller itself only, whose number is 0. In a namespace every
/// process may be meant but the supervisor.
pub(crate) const ABOUT_PROCESSES: Calls = calls![
    SYS_prlimit64 SYS_sched_setaffinity SYS_sched_setscheduler SYS_sched_setparam SYS_sched_setattr SYS_migrate_pages
    SYS_move_pages
];

/// Calls that signal or open a process; the first argument is its number. The supervisor is not to be reached by them.
pub(crate) const TO_PROCESSES: Calls = calls![
    SYS_kill SYS_tkill SYS_tgkill SYS_rt_sigqueueinfo SYS_rt_tgsigqueueinfo SYS_pidfd_open
];
