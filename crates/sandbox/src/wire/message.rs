//! The messages themselves.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::Garbled;
use crate::command::LayerMount;
use crate::profile::Profile;
use crate::report::{Denied, Ended as How, Meter, Overrun, Stop};
use crate::tier::Tier;

/// To the launcher, with the room's socket: make a room.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Opening {
    pub(crate) tier: Tier,
    pub(crate) profile: Profile,
    /// Where scratch folders are made by tiers that cannot mount one.
    #[serde(with = "super::path")]
    pub(crate) scratch: PathBuf,
    /// bubblewrap, for the tier that needs it.
    pub(crate) bubblewrap: Option<OsString>,
}

/// To a process that was made before its profile was known, with the places that it could not open itself: go in.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Entering {
    pub(crate) opening: Opening,
    /// Everything that cannot be opened inside, doors included.
    #[serde(with = "super::paths")]
    pub(crate) masks: Vec<PathBuf>,
    /// Which places of the view are among the descriptors, in the view's order; empty where it opens them itself.
    pub(crate) given: Vec<bool>,
    /// The layer of the project, where the profile shows it layered. Its descriptors come after those of places.
    pub(crate) layer: Option<LayerMount>,
}

/// To a room, with the socket of one call, instead of a message: make ready for that call.
pub(crate) const TO_PREPARE: &[u8] = b"prepare";

/// To the process that watches over one call, with its three streams: start.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Start {
    #[serde(with = "super::path")]
    pub(crate) program: PathBuf,
    pub(crate) arguments: Vec<OsString>,
    /// The layer of the project, where the profile shows it layered.
    pub(crate) layer: Option<LayerMount>,
    /// Whether an overlay on the same file systems has worked before.
    pub(crate) has_worked: bool,
}

/// To the process that watches over one call, instead of a message: end it now. Its socket's end means the same.
pub(crate) const TO_STOP: &[u8] = b"stop";

/// What a helper answers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Reply {
    /// A room is ready. Root's has the id of its calls, as the rest of the machine sees it.
    Ready { notes: Vec<String>, owner: Option<u32> },
    /// The supervisor is about to take the call: beside this are a handle to it and, where there is a gateway, what
    /// listens there.
    Supervised,
    /// It could not be done.
    Failed(Failure),
    /// The call is over, with the scratch folder beside it if anything is in it.
    Ended(Ended),
}

/// What could not be done.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[error("{what}: {}", std::io::Error::from_raw_os_error(*.errno))]
pub(crate) struct Failure {
    /// What was tried, in words.
    pub(crate) what: String,
    /// What the kernel said.
    pub(crate) errno: i32,
    pub(crate) of: FailureOf,
}

/// What a failure is one of.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum FailureOf {
    /// The containment.
    Containment,
    /// The program, which could not be started, all else being fine.
    Program,
    /// The layer of this folder.
    Layer(#[serde(with = "super::path")] PathBuf),
}

/// How a call ended, as seen from inside.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Ended {
    pub(crate) how: How,
    pub(crate) cpu: Duration,
    pub(crate) memory: u64,
    pub(crate) meter: Meter,
    pub(crate) denied: Vec<Denied>,
    pub(crate) overrun: Option<Overrun>,
    /// What went wrong in the supervisor's own work.
    pub(crate) fault: Option<String>,
    /// How many processes were running when the program had ended by itself, and were ended with it.
    pub(crate) left: u32,
}

impl Ended {
    /// The end of a call that was stopped, of which nothing else is known.
    pub(crate) fn stopped(why: Stop, meter: Meter) -> Self {
        Self {
            how: How::Stopped(why),
            cpu: Duration::ZERO,
            memory: 0,
            meter,
            denied: Vec::new(),
            overrun: None,
            fault: None,
            left: 0,
        }
    }
}

impl Failure {
    /// A failure of the containment.
    pub(crate) fn new(what: impl Into<String>, errno: i32) -> Self {
        Self { what: what.into(), errno, of: FailureOf::Containment }
    }
}

impl From<Garbled> for Failure {
    fn from(error: Garbled) -> Self {
        Self::new(error.to_string(), libc::EBADMSG)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::{DataFolder, Network, Project, ProjectAccess};
    use crate::report::OverrunOf;
    use crate::wire::{decode, encode};
    use proptest::prelude::*;
    use std::os::unix::ffi::OsStringExt;

    fn odd() -> OsString {
        OsString::from_vec(b"/odd/\xff name".to_vec())
    }

    fn opening() -> Opening {
        let mut profile = Profile::new("/skill".into());
        profile.project = Some(Project {
            folder: odd().into(),
            access: ProjectAccess::Layered,
            writable: vec!["/a".into()],
            masked: vec!["/b".into(), "/c".into()],
            protected: vec![odd().into()],
        });
        let own = DataFolder { path: "/data".into(), spared: 7 };
        profile.data = vec![own, DataFolder::new(odd().into())];
        profile.bounded = vec!["/a".into(), odd().into()];
        profile.network = Network::Gateway;
        profile.environment = vec![("A".into(), odd())];
        Opening {
            tier: Tier::Landlock,
            profile,
            scratch: "/x".into(),
            bubblewrap: Some("/usr/bin/bwrap".into()),
        }
    }

    #[test]
    fn every_message_arrives_as_it_was_sent() {
        assert_eq!(decode(&encode(&opening())), Ok(opening()));
        let entering =
            Entering { opening: opening(), masks: vec![odd().into()], given: vec![true, false], layer: None };
        assert_eq!(decode(&encode(&entering)), Ok(entering));
        let layer =
            LayerMount { at: "/p".into(), above: vec![odd().into()], upper: odd().into(), work: "/w".into() };
        let start = Start {
            program: odd().into(),
            arguments: vec![odd(), OsString::new()],
            layer: Some(layer),
            has_worked: true,
        };
        assert_eq!(decode(&encode(&start)), Ok(start));
        for how in [How::Stopped(Stop::Layer), How::Exited(-3), How::Signaled(9)] {
            let reply = Reply::Ended(Ended {
                how,
                cpu: Duration::from_micros(5),
                memory: 7,
                meter: Meter::Watcher,
                denied: vec![Denied { call: "socket".into(), what: "AF_INET".into(), times: 2 }],
                overrun: Some(Overrun { folder: odd().into(), of: OverrunOf::Files, held: 3, most: 2 }),
                fault: Some("measuring /d".into()),
                left: 3,
            });
            assert_eq!(decode(&encode(&reply)), Ok(reply));
        }
        for reply in [
            Reply::Ready { notes: vec!["n".into()], owner: Some(7) },
            Reply::Supervised,
            Reply::Failed(Failure { what: "mount".into(), errno: 1, of: FailureOf::Layer(odd().into()) }),
        ] {
            assert_eq!(decode(&encode(&reply)), Ok(reply));
        }
    }

    proptest! {
        #[test]
        fn garbled_bytes_are_an_error_and_take_no_more_memory_than_they_are(
            at in 0_usize..4096, byte: u8, cut in 0_usize..4096
        ) {
            let mut bytes = encode(&opening());
            let at = at % bytes.len();
            bytes[at] = byte;
            bytes.truncate(cut.max(1));
            let _ = decode::<Opening>(&bytes);
            let _ = decode::<Start>(&bytes);
            let _ = decode::<Reply>(&bytes);
        }
    }
}
