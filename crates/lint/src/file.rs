//! What is known of the files beside a SKILL.md.

/// How a file may be used by the system.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RunBit {
    /// It can be started by its path.
    Set,
    /// It cannot.
    Clear,
}

/// A file of the skill's folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct File {
    /// Its path below the folder, with forward slashes.
    pub path: String,
    /// How many bytes it has.
    pub size: u64,
    /// Whether it may be started.
    pub run_bit: RunBit,
    /// Its text, where it is a script that was read whole. Everything else is judged by its name.
    pub text: Option<String>,
}

/// What the extensions of scripts are started with. A file with another extension is data unless its first line says
/// otherwise.
const SCRIPT_EXTENSIONS: &[&str] = &[
    "bash", "cjs", "fish", "js", "lua", "mjs", "php", "pl", "ps1", "py", "r", "rb", "sh", "ts", "tsx", "zsh",
];

impl File {
    /// The last part of the path.
    pub fn name(&self) -> &str {
        self.path.rsplit('/').next().unwrap_or(&self.path)
    }

    /// What stands behind the last dot of the name.
    pub fn extension(&self) -> Option<&str> {
        self.name().rsplit_once('.').filter(|(stem, _)| !stem.is_empty()).map(|(_, extension)| extension)
    }

    /// Whether it is a program by its extension, so that its text is worth reading.
    pub fn is_script(&self) -> bool {
        self.extension()
            .is_some_and(|found| SCRIPT_EXTENSIONS.iter().any(|known| found.eq_ignore_ascii_case(known)))
    }

    /// The first line, where it names an interpreter.
    pub fn interpreter_line(&self) -> Option<&str> {
        let first = self.text.as_deref()?.lines().next()?;
        first.starts_with("#!").then_some(first)
    }
}

/// The files of a skill's folder, as far as somebody looked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Files<'a> {
    /// Nobody looked: the text came from standard input. Rules about files have nothing to say.
    Unknown,
    /// All of them, the SKILL.md included, sorted by path.
    Known(&'a [File]),
}

impl<'a> Files<'a> {
    /// The files; none where nobody looked.
    pub fn all(self) -> &'a [File] {
        match self {
            Self::Unknown => &[],
            Self::Known(files) => files,
        }
    }

    /// The file at a path.
    pub fn get(self, path: &str) -> Option<&'a File> {
        self.all().iter().find(|file| file.path == path)
    }

    /// Whether there is a file or a folder at a path.
    pub fn has(self, path: &str) -> bool {
        let path = path.trim_end_matches('/');
        self.all().iter().any(|file| {
            file.path == path
                || file.path.strip_prefix(path).is_some_and(|rest| rest.starts_with('/'))
                || path.is_empty()
        })
    }
}
