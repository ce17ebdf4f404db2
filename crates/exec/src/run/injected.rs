//! An injected command, run as a skill's command lines are: after a policy decision, in the sandbox, without its secrets.

use std::ffi::OsString;

use metier_policy::{Action, Decision};
use metier_sandbox::{Cancel, Command, Profile};

use super::permission::permit;
use super::{ExecEnv, Job, RunError, RunOutput, SkillContext, run, show, with_visible_copy};
use crate::interpreter::LaunchError;
use crate::output::Shape;

/// An injected command as a shell gets it.
#[derive(Clone, Copy, Debug)]
pub struct InjectedLine<'a> {
    /// The command as it is written in the skill's text.
    pub command: &'a str,
    /// What the shell runs: a variable in the place of each value.
    pub text: &'a str,
    /// What the policy decides about: each value quoted, in its place.
    pub judged: &'a str,
    /// The variables.
    pub variables: &'a [(String, OsString)],
}

/// The shells that a skill may name for its commands, and how each is kept from reading anybody's settings. Their quotes and
/// variables are alike, which is what makes values safe.
const SHELLS: &[InjectionShell] = &[
    InjectionShell::BASH,
    InjectionShell { name: "sh", options: &["-c"] },
    InjectionShell { name: "dash", options: &["-c"] },
    InjectionShell { name: "ksh", options: &["-c"] },
    InjectionShell { name: "zsh", options: &["-f", "-c"] },
];

/// A shell for commands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InjectionShell {
    name: &'static str,
    options: &'static [&'static str],
}

impl InjectionShell {
    pub(super) const BASH: Self = Self { name: "bash", options: &["--noprofile", "--norc", "-c"] };

    /// The shell that a manifest names; bash where it names none, nothing where it is one that is not known.
    pub fn named(name: Option<&str>) -> Option<Self> {
        let name = name.map_or(Self::BASH.name, str::trim);
        SHELLS.iter().find(|known| known.name == name).copied()
    }

    /// A text as it runs; the profile shows the shell. Where it is not there, the error names `script`.
    pub(super) fn command(
        self,
        env: &ExecEnv<'_>,
        profile: &mut Profile,
        script: &str,
        text: &str,
    ) -> Result<Command, RunError> {
        let missing = || {
            let programs = vec![self.name.to_owned()];
            LaunchError::NoInterpreter { script: script.to_owned(), programs }
        };
        let program = env.path.find(self.name).ok_or_else(missing)?;
        show(profile, &program);
        Ok(Command::new(program.file).arguments(self.options.iter().copied().chain([text])))
    }
}

/// What the gate is asked about a command: the line with its values in their places.
fn action(context: &SkillContext<'_>, line: &InjectedLine<'_>) -> Action {
    Action::inject(context.skill.clone(), line.judged).needing_all(context.containment.grants.needs())
}

/// The decision about a command that may not run as it is; `None` where it may.
pub fn injection_objection(
    env: &ExecEnv<'_>,
    context: &SkillContext<'_>,
    line: &InjectedLine<'_>,
) -> Option<(Action, Decision)> {
    match permit(&env.gate, &action(context, line)) {
        Err(RunError::Gate { action, decision }) => Some((*action, *decision)),
        Ok(_) | Err(_) => None,
    }
}

/// Runs a command. The shell gets its text, and every value as a variable.
pub fn run_injected(
    env: &ExecEnv<'_>,
    context: &SkillContext<'_>,
    shell: InjectionShell,
    line: &InjectedLine<'_>,
    cancel: Option<&Cancel>,
) -> Result<RunOutput, RunError> {
    with_visible_copy(context, |context| run_once(env, context, shell, line, cancel))
}

fn run_once(
    env: &ExecEnv<'_>,
    context: &SkillContext<'_>,
    shell: InjectionShell,
    line: &InjectedLine<'_>,
    cancel: Option<&Cancel>,
) -> Result<RunOutput, RunError> {
    let allowed = permit(&env.gate, &action(context, line))?;
    let mut profile = context.containment.profile();
    let command = shell.command(env, &mut profile, line.command, line.text)?;
    let variables = line.variables.iter().map(|(name, value)| (name.into(), value.clone()));
    profile.environment.extend(variables);
    let shape = Shape::Injected(line.command.to_owned());
    run(env, &context.principal(), Job { allowed, profile, command, shape }, cancel, &mut |_, _| {})
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shell_is_one_whose_quotes_are_known() {
        assert_eq!(InjectionShell::named(None).map(|shell| shell.name), Some("bash"));
        assert_eq!(InjectionShell::named(Some(" zsh ")).map(|shell| shell.name), Some("zsh"));
        for name in ["powershell", "fish", "/bin/bash", "", "bash -x"] {
            assert_eq!(InjectionShell::named(Some(name)), None, "{name}");
        }
    }
}
