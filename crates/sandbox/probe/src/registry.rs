//! All attacks, and the way to one of them.

use std::io::Write;

use crate::answer::Stop;
use crate::arguments::Arguments;
use crate::attacks;
use crate::probe::Probe;
use crate::victim;

const THROUGH: i32 = 0;
const HELD: i32 = 10;
const CANNOT_SAY: i32 = 20;
const USAGE: i32 = 2;

fn all() -> impl Iterator<Item = &'static Probe> {
    attacks::FAMILIES.iter().copied().flatten()
}

/// Does what the words ask for and gives the exit status.
pub(crate) fn run(mut words: Vec<String>) -> i32 {
    if words.is_empty() {
        println!("usage: metier-probe NAME [--contained] [--key value …], or --list");
        return USAGE;
    }
    let name = words.remove(0);
    let arguments = Arguments::new(words);
    match name.as_str() {
        "--list" => {
            for probe in all() {
                println!("{}", probe.row());
            }
            THROUGH
        }
        "victim" => victim::run(&arguments),
        "nap" => victim::nap(),
        // What a program that was given away is asked: as whom does it run?
        "identity" => {
            println!("{}", crate::kernel::call(libc::SYS_geteuid, &[]).unwrap_or_default());
            THROUGH
        }
        _ => all().find(|probe| probe.name == name).map_or_else(
            || {
                println!("no probe is called `{name}`; `--list` has them all");
                USAGE
            },
            |probe| attack(probe, &arguments),
        ),
    }
}

fn attack(probe: &Probe, arguments: &Arguments) -> i32 {
    if probe.is_dangerous() && !arguments.has("contained") {
        println!("cannot say: it could change the machine and runs with `--contained` only");
        return CANNOT_SAY;
    }
    let (status, line) = match (probe.run)(arguments) {
        Ok(how) => (THROUGH, format!("through: {how}")),
        Err(Stop::Held(reason)) => (HELD, format!("held: {reason}")),
        Err(Stop::CannotSay(reason)) => (CANNOT_SAY, format!("cannot say: {reason}")),
    };
    // Standard output may be what was attacked; the status says it all.
    let _ = writeln!(std::io::stdout(), "{line}");
    status
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique_and_plain() {
        let mut names: Vec<_> = all().map(|probe| probe.name).collect();
        let count = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), count);
        for name in names {
            assert!(
                name.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-')
            );
        }
    }

    #[test]
    fn there_are_more_than_the_demand() {
        assert!(all().count() >= 100, "{}", all().count());
    }

    #[test]
    fn a_dangerous_probe_refuses_to_run_outside() {
        for probe in all().filter(|probe| probe.is_dangerous()) {
            assert_eq!(attack(probe, &Arguments::default()), CANNOT_SAY, "{}", probe.name);
        }
    }

    #[test]
    fn an_unknown_name_is_a_usage_error() {
        assert_eq!(run(vec!["no-such-probe".to_owned()]), USAGE);
    }
}
