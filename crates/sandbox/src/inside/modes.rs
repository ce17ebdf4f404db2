//! Which modes a contained process may give to files: none with a set-user-id or set-group-id bit.
//!
//! A program with such a bit gives whoever runs it the rights of its owner, long after the call. The mounts of the call do not
//! heed these bits; this is about what stays on disk. The kernel passes modes as plain values, so a filter can look at them
//! without a race. It cannot see what the file is, so the bit is refused for folders as well, where it only decides about the
//! group of new files. Folders made inside such a folder still inherit it from the kernel.

use super::bpf::{Action, Check, errno};
use crate::kernel::Notice;
use crate::tier::Tier;

const SET_ID: u32 = libc::S_ISUID | libc::S_ISGID;

/// With one of these flags `open` makes a file and reads its mode. `O_TMPFILE` without the bit for folders, which alone means
/// something else.
const MAKES: u32 = (libc::O_CREAT | (libc::O_TMPFILE & !libc::O_DIRECTORY)).cast_unsigned();

/// The same number on every architecture, and not yet named on all of them.
const FCHMODAT2: libc::c_long = 452;

/// Calls that change a mode, and the argument with it. On the tier without mounts all of them are denied.
#[cfg(target_arch = "x86_64")]
const CHANGES: &[(libc::c_long, u32)] =
    &[(libc::SYS_chmod, 1), (libc::SYS_fchmod, 1), (libc::SYS_fchmodat, 2), (FCHMODAT2, 2)];
#[cfg(not(target_arch = "x86_64"))]
const CHANGES: &[(libc::c_long, u32)] = &[(libc::SYS_fchmod, 1), (libc::SYS_fchmodat, 2), (FCHMODAT2, 2)];

/// Calls that make a file, and the argument with its mode. `mkdir` drops these bits by itself.
#[cfg(target_arch = "x86_64")]
const FILES: &[(libc::c_long, u32)] = &[(libc::SYS_creat, 1), (libc::SYS_mknod, 1), (libc::SYS_mknodat, 2)];
#[cfg(not(target_arch = "x86_64"))]
const FILES: &[(libc::c_long, u32)] = &[(libc::SYS_mknodat, 2)];

/// Calls that open a file or make it, and the arguments with flags and mode. The mode means nothing where no file is made.
#[cfg(target_arch = "x86_64")]
const OPENS: &[(libc::c_long, u32, u32)] = &[(libc::SYS_open, 1, 2), (libc::SYS_openat, 2, 3)];
#[cfg(not(target_arch = "x86_64"))]
const OPENS: &[(libc::c_long, u32, u32)] = &[(libc::SYS_openat, 2, 3)];

/// The calls with a mode, and what happens with them.
pub(crate) fn actions(tier: Tier) -> Vec<(libc::c_long, Action)> {
    let plain = |argument: u32| vec![Check::NoneOf { argument, bits: SET_ID }];
    let changes = CHANGES.iter().filter(|_| tier != Tier::Landlock);
    let mut actions: Vec<_> =
        changes.chain(FILES).map(|(call, mode)| (*call, Action::When(plain(*mode)))).collect();
    for (call, flags, mode) in OPENS {
        let makes_none = vec![Check::NoneOf { argument: *flags, bits: MAKES }];
        actions.push((*call, Action::WhenAny(vec![makes_none, plain(*mode)])));
    }
    // Its mode lies in memory, where a filter cannot look. Programs that meet an old kernel use `openat`.
    actions.push((libc::SYS_openat2, Action::Fail(errno(libc::ENOSYS))));
    actions
}

/// What was tried, in words; `None` where it is none of these calls.
pub(crate) fn describe(notice: &Notice) -> Option<(&'static str, String)> {
    let call = i64::from(notice.call);
    let opens = OPENS.iter().map(|(call, _, mode)| (call, mode));
    let mut known = CHANGES.iter().chain(FILES).map(|(call, mode)| (call, mode)).chain(opens);
    let (_, mode) = known.find(|(known, _)| **known == call)?;
    let mode = notice.arguments[usize::try_from(*mode).ok()?] & 0o7777;
    if mode & u64::from(SET_ID) == 0 {
        return None;
    }
    let name = if CHANGES.iter().any(|(known, _)| *known == call) { "chmod" } else { "open" };
    Some((name, format!("mode {mode:04o}: the set-user-id and set-group-id bits are not allowed")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mode_is_described_only_where_it_was_the_reason() {
        let notice = |call: libc::c_long, arguments: [u64; 6]| Notice {
            id: 0,
            process: 1,
            call: i32::try_from(call).unwrap(),
            arguments,
        };
        let text = |call, mode| describe(&notice(call, [0, 0, mode, 0, 0, 0])).map(|(name, _)| name);
        assert_eq!(text(libc::SYS_fchmodat, 0o4755), Some("chmod"));
        assert_eq!(text(libc::SYS_mknodat, 0o102_755), Some("open"));
        assert_eq!(text(libc::SYS_fchmodat, 0o755), None, "on the tier without mounts every mode is denied");
        assert_eq!(text(libc::SYS_ptrace, 0o4755), None);
    }
}
