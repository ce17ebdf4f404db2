//! The commands of a chat that metier answers itself. None of them asks a model.

/// A command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BuiltIn {
    Help,
    Skills,
    Tools,
    Model,
    Cost,
    Resume,
    Exit,
}

/// What is said of a command.
pub(crate) struct Word {
    pub(crate) which: BuiltIn,
    /// Its name, without the slash.
    pub(crate) name: &'static str,
    /// What may stand behind it.
    pub(crate) hint: &'static str,
    /// What it does.
    pub(crate) does: &'static str,
}

/// All of them, in the order in which `/help` lists them.
pub(crate) const BUILT_IN: [Word; 7] = [
    word(BuiltIn::Help, "help", "", "lists commands and skills; `?` does it, too"),
    word(BuiltIn::Skills, "skills", "", "lists the skills that can be used here"),
    word(BuiltIn::Tools, "tools", "", "lists the tools that the model has"),
    word(BuiltIn::Model, "model", "[NAME]", "says which model is asked, or asks another one from now on"),
    word(BuiltIn::Cost, "cost", "", "says what this conversation has used"),
    word(BuiltIn::Resume, "resume", "[ID]", "goes on with another conversation; without an ID, lists them"),
    word(BuiltIn::Exit, "exit", "", "leaves; so does Ctrl-D"),
];

const fn word(which: BuiltIn, name: &'static str, hint: &'static str, does: &'static str) -> Word {
    Word { which, name, hint, does }
}

impl BuiltIn {
    /// The command of a name.
    pub(crate) fn named(name: &str) -> Option<Self> {
        // `quit` is what fingers type who come from elsewhere.
        let name = if name == "quit" { "exit" } else { name };
        BUILT_IN.iter().find(|word| word.name == name).map(|word| word.which)
    }
}
