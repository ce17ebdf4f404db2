//! Every code this crate can report, with the sentence for the reference page.

use metier_diagnostic::codes;

codes! {
    // Substitution.
    Warning {
        ARGUMENTS_UNBALANCED "arguments-unbalanced" "The arguments have a quote or a backslash that is left open, so they were split at white space. Close it, or put a `\\` before it."
        ENVIRONMENT_UNDECLARED "environment-undeclared" "`${env:NAME}` names a variable that the configuration does not declare. It stays as it is: a skill must not read the environment of whoever runs it."
        ENVIRONMENT_SENSITIVE "environment-sensitive" "`${env:NAME}` names a variable that is declared as sensitive. It is never put into text, which goes to a model; only the skill's processes see it."
        FOLDER_MISSING "folder-missing" "A token names a folder that there is none of here: a plugin, a project, a data folder. It stays as it is."
        VALUE_IN_SINGLE_QUOTES "value-in-single-quotes" "A token stands in single quotes inside an injected command, where nothing is replaced. Use double quotes if the value is meant."
    }
    Info {
        UNKNOWN_VARIABLE "unknown-variable" "`${X}` is none of the tokens that are replaced in a body, so the model reads it as it stands. In shell code that is most likely meant."
    }
    // Injected commands.
    Warning {
        COMMAND_UNTRUSTED "command-untrusted" "An injected command was left as text, since the skill is not trusted."
        COMMAND_NOT_ALLOWED "command-not-allowed" "An injected command was left as text, since the gate did not allow it."
        COMMAND_UNSAFE "command-unsafe" "An injected command was left as text, since a value in it would be read as a program: in `eval`, in a nested `sh -c`, in arithmetic, as the name of a program, or where the shell's own text cannot be followed."
        COMMAND_FAILED "command-failed" "An injected command ended with an exit code other than 0, or was stopped. What it wrote is in the text."
        COMMANDS_TOO_MANY "commands-too-many" "A body has more injected commands than are run; the rest was left as text."
    }
    Error {
        COMMAND_NOT_RUN "command-not-run" "An injected command could not be started, and was left as text."
    }
    // Activation.
    Warning {
        SKILL_UNTRUSTED "skill-untrusted" "The skill is shown to you and to nobody else, since it is not trusted: no model gets it, nothing in it runs."
        TOOL_NEVER_MATCHES "tool-never-matches" "An entry of a tool list names a tool that metier does not have, so it neither allows nor fences anything."
    }
    Info {
        LISTING_CUT "listing-cut" "The skill has more files than are listed on activation. All of them can still be read by their path."
    }
}
