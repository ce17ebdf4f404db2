//! The word that names the command, found without putting the whole command line together.

use super::{COMMANDS, Cli, Global};
use clap::{Args, Command, CommandFactory, FromArgMatches};
use std::ffi::{OsStr, OsString};

/// Flags that may stand before the command and take the word behind them.
const TAKE_A_WORD: &[&str] = &["--root", "--allow", "--deny", "--mode", "--color"];

/// The word among these arguments (without the program's own name) that would name the command. They are only looked at:
/// whatever is wrong with them is said by whoever reads them.
pub(crate) fn command_word(mut arguments: impl Iterator<Item = OsString>) -> Option<OsString> {
    while let Some(argument) = arguments.next() {
        match argument.to_str() {
            Some(flag) if TAKE_A_WORD.contains(&flag) => drop(arguments.next()),
            Some(flag) if flag.starts_with('-') => {}
            _ => return Some(argument),
        }
    }
    None
}

impl Cli {
    /// What was said, if it can be understood.
    pub(crate) fn read() -> Result<Self, clap::Error> {
        let word = command_word(std::env::args_os().skip(1));
        let mut program = word.and_then(|word| only(&word)).unwrap_or_else(Self::command);
        let matches = program.try_get_matches_from_mut(std::env::args_os())?;
        Self::from_arg_matches(&matches).map_err(|error| error.format(&mut program))
    }
}

/// The program with no command but the one that was named: putting all of them together, each with the flags that every
/// command takes, would be a tenth of a short command. Help for the whole program, and whoever mistypes, needs them all.
fn only(word: &OsStr) -> Option<Command> {
    let (_, named) = COMMANDS.iter().find(|(name, _)| word == *name)?;
    let about_all = Command::new("metier").version(env!("CARGO_PKG_VERSION")).subcommand_required(true);
    Some(Global::augment_args(about_all).subcommand(named()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(line: &str, expect: Option<&str>) {
        let words = line.split_whitespace().map(OsString::from);
        assert_eq!(command_word(words), expect.map(OsString::from), "{line}");
    }

    #[test]
    fn the_command_is_seen_behind_flags() {
        check("exec count-lines count.sh", Some("exec"));
        check("--root skills --json exec count-lines count.sh", Some("exec"));
        check("--root=skills -q exec x y", Some("exec"));
        check("--root exec list", Some("list"));
        check("explain exec", Some("explain"));
        check("--json", None);
        check("", None);
    }

    #[test]
    fn a_command_by_itself_is_the_one_of_the_whole_program() {
        let mut program = Cli::command();
        program.build();
        let names: Vec<_> = program.get_subcommands().map(Command::get_name).collect();
        let known = COMMANDS.iter().map(|(name, _)| *name);
        assert_eq!(names, known.chain(["help"]).collect::<Vec<_>>());
        for (name, _) in COMMANDS {
            let mut alone = only(OsStr::new(name)).unwrap();
            alone.build();
            let help = |program: &mut Command| {
                program.find_subcommand_mut(name).unwrap().render_long_help().to_string()
            };
            assert_eq!(help(&mut alone), help(&mut program), "{name}");
        }
    }

    #[test]
    fn every_flag_that_takes_a_word_is_known() {
        let program = Cli::command();
        let takes_a_word = program
            .get_arguments()
            .filter(|argument| argument.get_action().takes_values())
            .filter_map(|argument| argument.get_long());
        let mut found: Vec<String> = takes_a_word.map(|name| format!("--{name}")).collect();
        found.sort();
        let mut known = TAKE_A_WORD.to_vec();
        known.sort_unstable();
        assert_eq!(found, known);
    }
}
