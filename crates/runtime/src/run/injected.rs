//! An injected command, run as a skill's command lines are: through the gate, in the sandbox, without its secrets.

use metier_policy::{Action, Decision, Skill};
use metier_sandbox::{Cancel, Command};

use super::{Job, NotRun, Ran, Using, Workbench, decide, run, show, where_it_can_be_seen};
use crate::injection::ShellLine;
use crate::interpreter::LaunchError;
use crate::output::Shape;
use crate::search_path::Program;

/// The shells that a skill may name for its commands, and how each is kept from reading anybody's settings. Their quotes and
/// variables are alike, which is what makes values safe.
const SHELLS: &[(&str, &[&str])] = &[
    ("bash", &["--noprofile", "--norc", "-c"]),
    ("sh", &["-c"]),
    ("dash", &["-c"]),
    ("ksh", &["-c"]),
    ("zsh", &["-f", "-c"]),
];

/// A shell for commands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Shell {
    name: &'static str,
    options: &'static [&'static str],
}

impl Shell {
    /// The shell that a manifest names; bash where it names none, nothing where it is one that is not known.
    pub(crate) fn named(name: Option<&str>) -> Option<Self> {
        let name = name.map_or("bash", str::trim);
        SHELLS.iter().find(|(known, _)| *known == name).map(|(name, options)| Self { name, options })
    }

    fn find(self, bench: &Workbench<'_>, command: &str) -> Result<Program, NotRun> {
        let missing = || LaunchError::NoInterpreter {
            script: command.to_owned(),
            programs: vec![self.name.to_owned()],
        };
        Ok(bench.path.find(self.name).ok_or_else(missing)?)
    }
}

/// What the gate is asked about a command: the line with its values in their places.
pub(crate) fn action(skill: &Skill, line: &ShellLine) -> Action {
    Action::inject(skill.clone(), &line.judged)
}

/// What the gate has against a command, if anything.
pub(crate) fn objection(
    bench: &Workbench<'_>,
    using: &Using<'_>,
    line: &ShellLine,
) -> Option<(Action, Decision)> {
    match decide(&bench.gate, action(using.skill, line), &using.party()) {
        Err(NotRun::Gate { action, decision }) => Some((*action, *decision)),
        Ok(_) | Err(_) => None,
    }
}

/// Runs a command. The shell gets its text, and every value as a variable.
pub(crate) fn run_injected(
    bench: &Workbench<'_>,
    using: &Using<'_>,
    shell: Shell,
    command: &str,
    line: &ShellLine,
    cancel: Option<&Cancel>,
) -> Result<Ran, NotRun> {
    where_it_can_be_seen(using, |using| run_once(bench, using, shell, command, line, cancel))
}

fn run_once(
    bench: &Workbench<'_>,
    using: &Using<'_>,
    shell: Shell,
    command: &str,
    line: &ShellLine,
    cancel: Option<&Cancel>,
) -> Result<Ran, NotRun> {
    let allowed = decide(&bench.gate, action(using.skill, line), &using.party())?;
    let program = shell.find(bench, command)?;
    let mut profile = using.containment.profile();
    show(&mut profile, &program);
    let variables = line.variables.iter().map(|(name, value)| (name.into(), value.clone()));
    profile.environment.extend(variables);
    let process =
        Command::new(program.file).arguments(shell.options.iter().copied().chain([line.text.as_str()]));
    let shape = Shape::Injected(command.to_owned());
    run(bench, &using.party(), Job { allowed, profile, command: process, shape }, cancel, &mut |_, _| {})
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shell_is_one_whose_quotes_are_known() {
        assert_eq!(Shell::named(None).map(|shell| shell.name), Some("bash"));
        assert_eq!(Shell::named(Some(" zsh ")).map(|shell| shell.name), Some("zsh"));
        for name in ["powershell", "fish", "/bin/bash", "", "bash -x"] {
            assert_eq!(Shell::named(Some(name)), None, "{name}");
        }
    }
}
