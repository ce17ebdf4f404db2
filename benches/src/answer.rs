//! What a contestant found. A wrong answer is never a fast one, so every contestant is heard once before it is timed.

use std::fmt;
use std::io::Read;

use anyhow::{Context, Result, bail};
use serde::de::{IgnoredAny, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};

/// How many skills a contestant loaded, and how many it refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub(crate) struct Answer {
    pub(crate) loaded: usize,
    pub(crate) failed: usize,
}

/// The part of `metier list --json` that is checked; the contestants inside this program print the counts alone.
#[derive(Deserialize)]
struct Printed {
    loaded: usize,
    failed: usize,
    #[serde(default)]
    skills: Option<Count>,
}

/// The length of a list whose elements are not kept: the peak memory of this program is counted as its children's
/// (see [`crate::measurement`]), so it must not hold their output.
struct Count(usize);

impl<'de> Deserialize<'de> for Count {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Counter;
        impl<'de> Visitor<'de> for Counter {
            type Value = Count;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("a list")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Count, A::Error> {
                let mut count = 0;
                while list.next_element::<IgnoredAny>()?.is_some() {
                    count += 1;
                }
                Ok(Count(count))
            }
        }
        deserializer.deserialize_seq(Counter)
    }
}

impl Answer {
    /// Reads an answer as it is printed.
    pub(crate) fn read(from: impl Read) -> Result<Self> {
        let Printed { loaded, failed, skills } =
            serde_json::from_reader(from).context("it printed something else than an answer in JSON")?;
        // What is shadowed is loaded and not listed; real texts have a few names twice.
        if let Some(Count(listed)) = skills
            && (listed > loaded || listed * 20 < loaded * 19)
        {
            bail!("it says that it loaded {loaded} skills but lists {listed}");
        }
        Ok(Self { loaded, failed })
    }

    /// Fails unless every folder was accounted for and at least this share of them loaded.
    pub(crate) fn check(self, folders: usize, least_percent: usize) -> Result<()> {
        let Self { loaded, failed } = self;
        if loaded + failed != folders {
            bail!("it loaded {loaded} and refused {failed} of {folders} skills, which does not add up");
        }
        if loaded * 100 < folders * least_percent {
            bail!("it loaded only {loaded} of {folders} skills, less than {least_percent} %");
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Answer> {
        Answer::read(text.as_bytes())
    }

    #[test]
    fn counts_and_a_list_are_read() {
        let answer = read(r#"{"loaded":2,"failed":1,"skills":[{"name":"a"},{"name":"b"}],"failures":[{}]}"#);
        assert_eq!(answer.unwrap(), Answer { loaded: 2, failed: 1 });
        assert_eq!(read(r#"{"loaded":2,"failed":0}"#).unwrap(), Answer { loaded: 2, failed: 0 });
    }

    #[test]
    fn no_answer_and_an_answer_that_disagrees_with_itself_are_errors() {
        assert!(read("").is_err());
        assert!(read("loaded 2, failed 1").is_err());
        assert!(read(r#"{"loaded":2,"failed":0,"skills":[{"name":"a"}]}"#).is_err());
    }

    #[test]
    fn every_folder_has_to_be_accounted_for() {
        assert!(Answer { loaded: 98, failed: 2 }.check(100, 95).is_ok());
        assert!(Answer { loaded: 98, failed: 1 }.check(100, 95).is_err());
        assert!(Answer { loaded: 101, failed: 0 }.check(100, 95).is_err());
        assert!(Answer { loaded: 94, failed: 6 }.check(100, 95).is_err());
    }
}
