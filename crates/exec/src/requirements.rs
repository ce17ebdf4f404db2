//! What a skill says it requires, held against what its scripts would find.
//!
//! Programs are looked for where a contained script sees them: in the system's folders, and in what is shown of the user's
//! own. A variable counts when the script would really get it. What is missing is said with a way to get it; it never hides a
//! skill, for whoever reads it can still do the work by hand.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use metier_skill::{Requires, Tool};

use crate::search_path::{Program, SearchPath};

/// Programs that come in a package of Debian and its kin with the same name, as people may not know.
const SAME_NAME: &str = "\
    ansible aspell bat bc cargo chromium clang cmake curl ffmpeg fzf g++ gcc gh git git-lfs htop \
    hunspell inkscape jq libreoffice lsof make nmap npm pandoc perl pipx python3 qpdf rsync ruby \
    shellcheck sox sqlite3 tmux tree unzip wget yq yt-dlp zip";

/// The packages of programs that are called otherwise there.
const PACKAGES: &[(&str, &str)] = &[
    ("7z", "7zip"),
    ("ag", "silversearcher-ag"),
    ("convert", "imagemagick"),
    ("dig", "bind9-dnsutils"),
    ("docker", "docker.io"),
    ("dot", "graphviz"),
    ("exiftool", "libimage-exiftool-perl"),
    ("fd", "fd-find"),
    ("ffprobe", "ffmpeg"),
    ("go", "golang-go"),
    ("gpg", "gnupg"),
    ("gs", "ghostscript"),
    ("identify", "imagemagick"),
    ("java", "default-jre"),
    ("magick", "imagemagick"),
    ("mvn", "maven"),
    ("mysql", "default-mysql-client"),
    ("nc", "netcat-openbsd"),
    ("node", "nodejs"),
    ("npx", "npm"),
    ("pdflatex", "texlive-latex-base"),
    ("pdftoppm", "poppler-utils"),
    ("pdftotext", "poppler-utils"),
    ("php", "php-cli"),
    ("pip", "python3-pip"),
    ("pip3", "python3-pip"),
    ("psql", "postgresql-client"),
    ("python", "python-is-python3"),
    ("redis-cli", "redis-tools"),
    ("rg", "ripgrep"),
    ("soffice", "libreoffice"),
    ("ssh", "openssh-client"),
    ("tesseract", "tesseract-ocr"),
    ("xelatex", "texlive-xetex"),
    ("xmllint", "libxml2-utils"),
];

/// What a skill requires.
#[derive(Clone, Copy, Debug)]
pub struct Requirements<'a> {
    /// The skill, for what is said.
    pub skill: &'a str,
    /// What its frontmatter says.
    pub requires: &'a Requires,
}

/// What the machine offers to its scripts.
#[derive(Clone, Copy)]
pub struct RequirementContext<'a> {
    /// Where programs are found.
    pub path: &'a SearchPath,
    /// Whether a script would see a variable.
    pub variable: &'a dyn Fn(&str) -> VariableState,
    /// The operating system, such as `linux`.
    pub system: &'a str,
    /// The tools of the agent by their names, where there is an agent; without one they are not judged.
    pub tools: Option<&'a [&'a str]>,
}

/// Whether a script would see a variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VariableState {
    /// It would.
    Yes,
    /// It has a value that the skill does not ask for, so no script is given it.
    NotAsked,
    /// It has none.
    Unset,
}

/// Something that is required and not there.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum MissingRequirement {
    /// A program that is nowhere.
    Program(String),
    /// A program that cannot be shown to a script.
    Hidden {
        /// The program.
        program: String,
        /// Where it is.
        file: PathBuf,
    },
    /// What can be no program's name.
    NoProgram(String),
    /// None of several programs.
    AnyProgram(Vec<String>),
    /// A variable.
    Variable {
        /// The variable.
        name: String,
        /// Whether it has a value.
        given: VariableState,
        /// The skill.
        skill: String,
    },
    /// Another operating system.
    System {
        /// What it is for.
        wanted: Vec<String>,
        /// What this is.
        here: String,
    },
    /// A tool of the agent.
    Tool(String),
}

impl Requirements<'_> {
    /// What is required and not here, in the order of the frontmatter's keys.
    pub fn check(&self, here: &RequirementContext<'_>) -> Vec<MissingRequirement> {
        let requires = self.requires;
        let mut missing: Vec<_> =
            requires.bins.iter().filter_map(|program| absent_program(program, here.path)).collect();
        let is_there = |program: &String| absent_program(program, here.path).is_none();
        if !requires.any_bins.is_empty() && !requires.any_bins.iter().any(is_there) {
            missing.push(MissingRequirement::AnyProgram(requires.any_bins.clone()));
        }
        for name in &requires.env {
            match (here.variable)(name) {
                VariableState::Yes => {}
                given => {
                    let (name, skill) = (name.clone(), self.skill.to_owned());
                    missing.push(MissingRequirement::Variable { name, given, skill });
                }
            }
        }
        if !requires.os.is_empty() && !requires.os.iter().any(|name| system(name) == here.system) {
            missing.push(MissingRequirement::System {
                wanted: requires.os.clone(),
                here: here.system.to_owned(),
            });
        }
        for tool in here.tools.iter().flat_map(|tools| absent(&requires.tools, tools)) {
            missing.push(MissingRequirement::Tool(tool.clone()));
        }
        missing
    }

    /// The programs that its scripts have to be shown, where they lie outside of the system's folders.
    pub fn programs(requires: &Requires) -> Vec<&str> {
        requires.bins.iter().chain(&requires.any_bins).map(String::as_str).collect()
    }
}

/// Tools that none of these is, by any name.
fn absent<'a>(wanted: &'a [String], tools: &[&str]) -> impl Iterator<Item = &'a String> {
    wanted.iter().filter(move |wanted| {
        let same = Tool::named(wanted);
        !tools.iter().any(|tool| tool == wanted || (same.is_some() && Tool::named(tool) == same))
    })
}

/// A program that a contained script does not find, and why.
fn absent_program(program: &str, path: &SearchPath) -> Option<MissingRequirement> {
    // A path would be looked for in whatever folder a script starts in, and means nothing for the search path.
    if program.is_empty() || Path::new(program).components().count() != 1 || program.contains('/') {
        return Some(MissingRequirement::NoProgram(program.to_owned()));
    }
    let found = path.find(program);
    // What is shown for it decides on the search path inside, which has the system's folders in any case.
    let is_inside = SearchPath::new(&path.toolbox(&found).path).find(program).is_some();
    // What a link leads to is not there inside, or only by another name.
    let is_led_away =
        |found: &Program| !found.notes.is_empty() || found.file.file_name() != Some(OsStr::new(program));
    let program = program.to_owned();
    match found {
        Some(found) if !is_inside || is_led_away(&found) => {
            Some(MissingRequirement::Hidden { program, file: found.file })
        }
        None if !is_inside => Some(MissingRequirement::Program(program)),
        _ => None,
    }
}

/// An operating system by all the names that people write.
fn system(name: &str) -> String {
    let name = name.to_ascii_lowercase();
    match name.as_str() {
        "darwin" | "mac" | "osx" => "macos".to_owned(),
        "win32" | "win" => "windows".to_owned(),
        _ => name,
    }
}

fn package(program: &str) -> Option<&'static str> {
    let same = SAME_NAME.split(' ').find(|known| *known == program);
    same.or_else(|| PACKAGES.iter().find(|(known, _)| *known == program).map(|(_, package)| *package))
}

impl MissingRequirement {
    /// What is missing, in words.
    pub fn what(&self) -> String {
        match self {
            Self::Program(program) => format!("the program `{program}` is not on PATH"),
            Self::Hidden { program, file } => {
                format!("the program `{program}` at `{}` cannot be shown to scripts", file.display())
            }
            Self::NoProgram(program) => format!("`{program}` is no name of a program"),
            Self::AnyProgram(programs) => format!("none of `{}` is on PATH", programs.join("`, `")),
            Self::Variable { name, given: VariableState::NotAsked, .. } => {
                format!("the environment variable `{name}` is set, and scripts are not given it")
            }
            Self::Variable { name, .. } => format!("the environment variable `{name}` is not set"),
            Self::System { wanted, here } => format!("it is for {}, and this is {here}", wanted.join(", ")),
            Self::Tool(tool) => format!("there is no tool `{tool}`"),
        }
    }

    /// What to do about it.
    pub fn help(&self) -> String {
        match self {
            Self::Program(program) => match package(program) {
                Some(package) => format!("install it, on Debian with `apt install {package}`"),
                None => format!("install `{program}` so that it is on PATH"),
            },
            Self::Hidden { .. } => "put the folder that it really lies in on PATH".to_owned(),
            Self::NoProgram(_) => "name the program alone in `requires`, without a folder".to_owned(),
            Self::AnyProgram(programs) => match programs.iter().find_map(|program| package(program)) {
                Some(package) => format!("install one of them, on Debian with `apt install {package}`"),
                None => "install one of them".to_owned(),
            },
            Self::Variable { name, given: VariableState::NotAsked, skill } => format!(
                "give it with `metier exec {skill} … --env {name}`, or name it in the skill's `metadata.metier.needs.env`"
            ),
            Self::Variable { name, skill, .. } => {
                format!("keep it for this skill with `metier secret set {name} --skill {skill}`")
            }
            Self::System { .. } => "use it on one of those systems".to_owned(),
            Self::Tool(_) => "add an MCP server that has it".to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use metier_testkit::Workspace;

    use super::*;

    fn texts(all: &[&str]) -> Vec<String> {
        all.iter().map(|text| (*text).to_owned()).collect()
    }

    fn check(requires: &Requires, path: &SearchPath, tools: Option<&[&str]>) -> Vec<(String, String)> {
        let variable = |name: &str| match name {
            "GIVEN" => VariableState::Yes,
            "KEPT_BACK" => VariableState::NotAsked,
            _ => VariableState::Unset,
        };
        let here = RequirementContext { path, variable: &variable, system: "linux", tools };
        let missing = Requirements { skill: "x", requires }.check(&here);
        missing.iter().map(|missing| (missing.what(), missing.help())).collect()
    }

    #[test]
    fn what_is_missing_is_named_with_a_remedy() {
        let path = SearchPath::new("/usr/bin:/bin".as_ref());
        let requires = Requires {
            bins: texts(&["sh", "no-such-program-anywhere", "../sh", ""]),
            any_bins: texts(&["no-such-program-anywhere", "sh"]),
            env: texts(&["GIVEN", "KEPT_BACK", "TOKEN"]),
            os: texts(&["darwin", "Plan9"]),
            tools: texts(&["Read", "web_search"]),
        };
        let found = check(&requires, &path, Some(&["read_file"]));
        let what: Vec<&str> = found.iter().map(|(what, _)| what.as_str()).collect();
        assert_eq!(
            what,
            [
                "the program `no-such-program-anywhere` is not on PATH",
                "`../sh` is no name of a program",
                "`` is no name of a program",
                "the environment variable `KEPT_BACK` is set, and scripts are not given it",
                "the environment variable `TOKEN` is not set",
                "it is for darwin, Plan9, and this is linux",
                "there is no tool `web_search`",
            ]
        );
        assert_eq!(found[4].1, "keep it for this skill with `metier secret set TOKEN --skill x`");
        assert_eq!(
            check(&Requires { tools: texts(&["web_search"]), ..Requires::default() }, &path, None),
            []
        );
        assert_eq!(check(&Requires { os: texts(&["Linux"]), ..Requires::default() }, &path, None), []);
    }

    #[test]
    fn a_package_is_named_where_it_is_known() {
        assert_eq!(
            MissingRequirement::Program("rg".into()).help(),
            "install it, on Debian with `apt install ripgrep`"
        );
        assert_eq!(
            MissingRequirement::AnyProgram(texts(&["no-such", "pdftotext"])).help(),
            "install one of them, on Debian with `apt install poppler-utils`"
        );
        assert!(PACKAGES.is_sorted_by_key(|(program, _)| *program), "a table is read by people, too");
    }

    #[test]
    fn a_program_of_the_users_own_counts_where_it_can_be_shown() {
        let workspace = Workspace::new()
            .executable("home/.local/bin/own-tool", "#!/bin/sh\n")
            .executable("home/elsewhere/real-tool", "#!/bin/sh\n")
            .symlink("home/.local/bin/other-name", "../../elsewhere/real-tool")
            .file("home/.local/bin/no-program", "text");
        let bin = workspace.join("home/.local/bin");
        let path = SearchPath::new(bin.as_os_str()).home(&workspace.join("home"));
        let missing = |program: &str| {
            let requires = Requires { bins: texts(&[program]), ..Requires::default() };
            check(&requires, &path, None).len()
        };
        assert_eq!(missing("own-tool"), 0);
        assert_eq!(missing("no-program"), 1);
        // It is there inside, in the system's folders, though the user's search path does not lead there.
        assert_eq!(missing("sh"), 0);
    }
}
