//! The messages themselves.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;
use std::time::Duration;

use super::codec::{Decoder, Encoder, Garbled};
use crate::command::LayerMount;
use crate::profile::{DataFolder, Limits, Network, Profile, Project, ProjectAccess, StandIn};
use crate::report::{Denied, Ended as How, Meter, Overrun, OverrunOf, Stop};
use crate::tier::Tier;

/// To the launcher, with the room's socket: make a room.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Opening {
    pub(crate) tier: Tier,
    pub(crate) profile: Profile,
    /// Where scratch folders are made by tiers that cannot mount one.
    pub(crate) scratch: PathBuf,
    /// bubblewrap, for the tier that needs it.
    pub(crate) bubblewrap: Option<PathBuf>,
}

/// To a process that was made before its profile was known, with the places that it could not open itself: go in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Entering {
    pub(crate) opening: Opening,
    /// Everything that cannot be opened inside, doors included.
    pub(crate) masks: Vec<PathBuf>,
    /// Which places of the view are among the descriptors, in the view's order; empty where it opens them itself.
    pub(crate) given: Vec<bool>,
    /// The layer of the project, where the profile shows it layered. Its descriptors come after those of places.
    pub(crate) layer: Option<LayerMount>,
}

/// To a room, with the socket of one call, instead of a message: make ready for that call.
pub(crate) const TO_PREPARE: &[u8] = b"prepare";

/// To the process that watches over one call, with its three streams: start.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Start {
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
#[derive(Clone, Debug, PartialEq, Eq)]
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
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{what}: {}", std::io::Error::from_raw_os_error(*.errno))]
pub(crate) struct Failure {
    /// What was tried, in words.
    pub(crate) what: String,
    /// What the kernel said.
    pub(crate) errno: i32,
    pub(crate) of: FailureOf,
}

/// What a failure is one of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum FailureOf {
    /// The containment.
    Containment,
    /// The program, which could not be started, all else being fine.
    Program,
    /// The layer of this folder.
    Layer(PathBuf),
}

/// How a call ended, as seen from inside.
#[derive(Clone, Debug, PartialEq, Eq)]
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

impl Opening {
    pub(crate) fn encode(&self) -> Vec<u8> {
        let mut encoder = Encoder::default();
        encoder.byte(tier_byte(self.tier));
        profile(&mut encoder, &self.profile);
        encoder.text(self.scratch.as_os_str());
        encoder.list(self.bubblewrap.as_slice(), |encoder, path| {
            encoder.text(path.as_os_str());
        });
        encoder.finish()
    }

    pub(crate) fn decode(bytes: &[u8]) -> Result<Self, Garbled> {
        let mut decoder = Decoder::new(bytes);
        let tier = match decoder.byte()? {
            0 => Tier::Namespaces,
            1 => Tier::Bubblewrap,
            2 => Tier::Landlock,
            _ => return Err(Garbled),
        };
        let profile = read_profile(&mut decoder)?;
        let scratch = decoder.text()?.into();
        let bubblewrap = decoder.paths()?.pop();
        decoder.finish()?;
        Ok(Self { tier, profile, scratch, bubblewrap })
    }
}

fn tier_byte(tier: Tier) -> u8 {
    match tier {
        Tier::Namespaces => 0,
        Tier::Bubblewrap => 1,
        Tier::Landlock => 2,
    }
}

fn profile(encoder: &mut Encoder, profile: &Profile) {
    // Every field by name: a new one that is forgotten here does not compile.
    let Profile {
        readable,
        stand_ins,
        writable,
        project,
        data,
        bounded,
        programs,
        network,
        environment,
        working_directory,
        limits,
    } = profile;
    encoder.paths(readable);
    encoder.list(stand_ins, |encoder, StandIn { at, by }| {
        encoder.text(at.as_os_str()).text(by.as_os_str());
    });
    encoder.paths(writable);
    encoder.list(project.as_slice(), |encoder, project| {
        let Project { folder, access, writable, masked, protected } = project;
        encoder.text(folder.as_os_str());
        match access {
            ProjectAccess::ReadOnly => encoder.byte(0),
            ProjectAccess::Layered => encoder.byte(1),
        };
        encoder.paths(writable).paths(masked).paths(protected);
    });
    encoder.list(data, |encoder, data| {
        let DataFolder { path, spared } = data;
        encoder.text(path.as_os_str()).number(*spared);
    });
    encoder.paths(bounded).paths(programs);
    match network {
        Network::None => encoder.byte(0),
        Network::Gateway => encoder.byte(1),
    };
    encoder.list(environment, |encoder, (name, value)| {
        encoder.text(name).text(value);
    });
    encoder.text(working_directory.as_os_str());
    let Limits {
        time,
        cpu,
        memory,
        processes,
        file_size,
        scratch,
        data,
        layer,
        layer_files,
        output,
        chatter,
    } = limits;
    encoder.duration(*time).duration(*cpu).number(*memory).number(u64::from(*processes)).number(*file_size);
    encoder.number(*scratch).number(*data).number(*layer).number(*layer_files);
    encoder.number(*output as u64).number(*chatter);
}

fn layer(encoder: &mut Encoder, layer: Option<&LayerMount>) {
    encoder.list(layer.into_iter().collect::<Vec<_>>().as_slice(), |encoder, layer| {
        let LayerMount { at, above, upper, work } = layer;
        encoder.text(at.as_os_str()).paths(above).text(upper.as_os_str()).text(work.as_os_str());
    });
}

fn read_layer(decoder: &mut Decoder<'_>) -> Result<Option<LayerMount>, Garbled> {
    let layers = decoder.list(|decoder| {
        Ok(LayerMount {
            at: decoder.text()?.into(),
            above: decoder.paths()?,
            upper: decoder.text()?.into(),
            work: decoder.text()?.into(),
        })
    });
    Ok(layers?.pop())
}

fn read_profile(decoder: &mut Decoder<'_>) -> Result<Profile, Garbled> {
    Ok(Profile {
        readable: decoder.paths()?,
        stand_ins: decoder
            .list(|decoder| Ok(StandIn { at: decoder.text()?.into(), by: decoder.text()?.into() }))?,
        writable: decoder.paths()?,
        project: decoder
            .list(|decoder| {
                Ok(Project {
                    folder: decoder.text()?.into(),
                    access: match decoder.byte()? {
                        0 => ProjectAccess::ReadOnly,
                        1 => ProjectAccess::Layered,
                        _ => return Err(Garbled),
                    },
                    writable: decoder.paths()?,
                    masked: decoder.paths()?,
                    protected: decoder.paths()?,
                })
            })?
            .pop(),
        data: decoder
            .list(|decoder| Ok(DataFolder { path: decoder.text()?.into(), spared: decoder.number()? }))?,
        bounded: decoder.paths()?,
        programs: decoder.paths()?,
        network: match decoder.byte()? {
            0 => Network::None,
            1 => Network::Gateway,
            _ => return Err(Garbled),
        },
        environment: decoder.list(|decoder| Ok((decoder.text()?, decoder.text()?)))?,
        working_directory: decoder.text()?.into(),
        limits: Limits {
            time: decoder.duration()?,
            cpu: decoder.duration()?,
            memory: decoder.number()?,
            processes: u32::try_from(decoder.number()?).map_err(|_| Garbled)?,
            file_size: decoder.number()?,
            scratch: decoder.number()?,
            data: decoder.number()?,
            layer: decoder.number()?,
            layer_files: decoder.number()?,
            output: usize::try_from(decoder.number()?).map_err(|_| Garbled)?,
            chatter: decoder.number()?,
        },
    })
}

impl Entering {
    pub(crate) fn encode(&self) -> Vec<u8> {
        let mut encoder = Encoder::default();
        encoder.text(OsStr::from_bytes(&self.opening.encode())).paths(&self.masks);
        encoder.list(&self.given, |encoder, given| {
            encoder.byte(u8::from(*given));
        });
        layer(&mut encoder, self.layer.as_ref());
        encoder.finish()
    }

    pub(crate) fn decode(bytes: &[u8]) -> Result<Self, Garbled> {
        let mut decoder = Decoder::new(bytes);
        let opening = Opening::decode(decoder.text()?.as_bytes())?;
        let masks = decoder.paths()?;
        let given = decoder.list(|decoder| Ok(decoder.byte()? == 1))?;
        let layer = read_layer(&mut decoder)?;
        decoder.finish()?;
        Ok(Self { opening, masks, given, layer })
    }
}

impl Start {
    pub(crate) fn encode(&self) -> Vec<u8> {
        let mut encoder = Encoder::default();
        encoder.text(self.program.as_os_str());
        encoder.list(&self.arguments, |encoder, argument| {
            encoder.text(argument);
        });
        layer(&mut encoder, self.layer.as_ref());
        encoder.byte(u8::from(self.has_worked));
        encoder.finish()
    }

    pub(crate) fn decode(bytes: &[u8]) -> Result<Self, Garbled> {
        let mut decoder = Decoder::new(bytes);
        let program = decoder.text()?.into();
        let arguments = decoder.list(Decoder::text)?;
        let layer = read_layer(&mut decoder)?;
        let has_worked = decoder.byte()? == 1;
        decoder.finish()?;
        Ok(Self { program, arguments, layer, has_worked })
    }
}

impl Reply {
    pub(crate) fn encode(&self) -> Vec<u8> {
        let mut encoder = Encoder::default();
        match self {
            Self::Ready { notes, owner } => {
                encoder.byte(0).list(notes, |encoder, note| {
                    encoder.text(note.as_ref());
                });
                encoder.list(owner.as_slice(), |encoder, owner| {
                    encoder.number(u64::from(*owner));
                });
            }
            Self::Failed(Failure { what, errno, of }) => {
                encoder.byte(1).text(what.as_ref()).signed(*errno);
                match of {
                    FailureOf::Containment => encoder.byte(0),
                    FailureOf::Program => encoder.byte(1),
                    FailureOf::Layer(at) => encoder.byte(2).text(at.as_os_str()),
                };
            }
            Self::Supervised => {
                encoder.byte(3);
            }
            Self::Ended(Ended { how, cpu, memory, meter, denied, overrun, fault, left }) => {
                encoder.byte(2);
                match how {
                    How::Exited(status) => encoder.byte(0).signed(*status),
                    How::Signaled(signal) => encoder.byte(1).signed(*signal),
                    How::Stopped(stop) => encoder.byte(2).byte(stop_byte(*stop)),
                };
                encoder.duration(*cpu).number(*memory);
                encoder.byte(match meter {
                    Meter::ControlGroup => 0,
                    Meter::Watcher => 1,
                });
                encoder.list(denied, |encoder, Denied { call, what, times }| {
                    encoder.text(call.as_ref()).text(what.as_ref()).number(u64::from(*times));
                });
                encoder.list(overrun.as_slice(), |encoder, Overrun { folder, of, held, most }| {
                    encoder.text(folder.as_os_str()).number(*held).number(*most);
                    encoder.byte(match of {
                        OverrunOf::Bytes => 0,
                        OverrunOf::Files => 1,
                    });
                });
                encoder.list(fault.as_slice(), |encoder, fault| {
                    encoder.text(fault.as_ref());
                });
                encoder.number(u64::from(*left));
            }
        }
        encoder.finish()
    }

    pub(crate) fn decode(bytes: &[u8]) -> Result<Self, Garbled> {
        let mut decoder = Decoder::new(bytes);
        let reply = match decoder.byte()? {
            0 => Self::Ready {
                notes: decoder.list(words)?,
                owner: decoder.list(|decoder| u32::try_from(decoder.number()?).map_err(|_| Garbled))?.pop(),
            },
            1 => Self::Failed(Failure {
                what: words(&mut decoder)?,
                errno: decoder.signed()?,
                of: match decoder.byte()? {
                    0 => FailureOf::Containment,
                    1 => FailureOf::Program,
                    2 => FailureOf::Layer(decoder.text()?.into()),
                    _ => return Err(Garbled),
                },
            }),
            2 => Self::Ended(Ended {
                how: match decoder.byte()? {
                    0 => How::Exited(decoder.signed()?),
                    1 => How::Signaled(decoder.signed()?),
                    2 => How::Stopped(read_stop(decoder.byte()?)?),
                    _ => return Err(Garbled),
                },
                cpu: decoder.duration()?,
                memory: decoder.number()?,
                meter: match decoder.byte()? {
                    0 => Meter::ControlGroup,
                    1 => Meter::Watcher,
                    _ => return Err(Garbled),
                },
                denied: decoder.list(|decoder| {
                    Ok(Denied {
                        call: words(decoder)?,
                        what: words(decoder)?,
                        times: u32::try_from(decoder.number()?).map_err(|_| Garbled)?,
                    })
                })?,
                overrun: decoder.list(overrun)?.pop(),
                fault: decoder.list(words)?.pop(),
                left: u32::try_from(decoder.number()?).map_err(|_| Garbled)?,
            }),
            3 => Self::Supervised,
            _ => return Err(Garbled),
        };
        decoder.finish()?;
        Ok(reply)
    }
}

const STOPS: &[Stop] = &[
    Stop::Time,
    Stop::Cpu,
    Stop::Memory,
    Stop::Chatter,
    Stop::Data,
    Stop::Processes,
    Stop::Scratch,
    Stop::Cancelled,
    Stop::Unmeasured,
    Stop::Layer,
];

fn stop_byte(stop: Stop) -> u8 {
    STOPS.iter().position(|other| *other == stop).and_then(|at| u8::try_from(at).ok()).unwrap_or(u8::MAX)
}

fn read_stop(byte: u8) -> Result<Stop, Garbled> {
    STOPS.get(usize::from(byte)).copied().ok_or(Garbled)
}

fn overrun(decoder: &mut Decoder<'_>) -> Result<Overrun, Garbled> {
    Ok(Overrun {
        folder: decoder.text()?.into(),
        held: decoder.number()?,
        most: decoder.number()?,
        of: match decoder.byte()? {
            0 => OverrunOf::Bytes,
            1 => OverrunOf::Files,
            _ => return Err(Garbled),
        },
    })
}

fn words(decoder: &mut Decoder<'_>) -> Result<String, Garbled> {
    decoder.text()?.into_string().map_err(|_| Garbled)
}

#[cfg(test)]
mod tests {
    use super::*;
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
        assert_eq!(Opening::decode(&opening().encode()), Ok(opening()));
        let entering =
            Entering { opening: opening(), masks: vec![odd().into()], given: vec![true, false], layer: None };
        assert_eq!(Entering::decode(&entering.encode()), Ok(entering));
        let layer =
            LayerMount { at: "/p".into(), above: vec![odd().into()], upper: odd().into(), work: "/w".into() };
        let start = Start {
            program: odd().into(),
            arguments: vec![odd(), OsString::new()],
            layer: Some(layer),
            has_worked: true,
        };
        assert_eq!(Start::decode(&start.encode()), Ok(start));
        for how in STOPS.iter().map(|stop| How::Stopped(*stop)).chain([How::Exited(-3), How::Signaled(9)]) {
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
            assert_eq!(Reply::decode(&reply.encode()), Ok(reply));
        }
        for reply in [
            Reply::Ready { notes: vec!["n".into()], owner: Some(7) },
            Reply::Supervised,
            Reply::Failed(Failure { what: "mount".into(), errno: 1, of: FailureOf::Layer(odd().into()) }),
        ] {
            assert_eq!(Reply::decode(&reply.encode()), Ok(reply));
        }
    }

    proptest! {
        #[test]
        fn garbled_bytes_are_an_error_and_take_no_more_memory_than_they_are(
            at in 0_usize..4096, byte: u8, cut in 0_usize..4096
        ) {
            let mut bytes = opening().encode();
            let at = at % bytes.len();
            bytes[at] = byte;
            bytes.truncate(cut.max(1));
            let _ = Opening::decode(&bytes);
            let _ = Start::decode(&bytes);
            let _ = Reply::decode(&bytes);
        }
    }
}
