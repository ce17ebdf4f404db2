//! Which script of a skill is meant.

use metier_files::{BinaryKind, Error, ListBounds, RelativePath, SkillDir};

/// The only folder whose files are run.
pub const SCRIPTS: &str = "scripts";

/// How many names an error lists: enough to choose from, few enough to read.
const MAX_NAMES: usize = 8;

/// How many characters of two names are compared.
const MAX_COMPARED: usize = 64;

/// How much of a script is read to find out who runs it. The kernel reads 256 bytes of a `#!` line.
const HEAD: u64 = 256;

/// A script of a skill.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SkillScript {
    /// Where it is, seen from the skill's folder: `scripts/convert.py`.
    pub path: RelativePath,
    /// Whether it may be executed by itself.
    pub executable: bool,
    /// What its `#!` line says, without the `#!`.
    pub shebang: Option<String>,
    /// Who can start it.
    pub form: ScriptForm,
}

/// Who can start a script that may be executed by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ScriptForm {
    /// The kernel: it is a program, or it has a `#!` line as the kernel reads it.
    Native,
    /// Only somebody who reads text. It has no `#!` line, or one that the kernel takes otherwise than it was meant: editors on
    /// other systems end it with a carriage return, which becomes a part of the interpreter's name, or put a mark before it.
    Text,
}

impl ScriptForm {
    fn of(head: &[u8]) -> Self {
        match head.strip_prefix(b"#!") {
            Some(rest) => {
                let line = rest.split(|&byte| byte == b'\n').next().unwrap_or_default();
                let is_read = !line.trim_ascii().is_empty() && !line.ends_with(b"\r");
                if is_read { Self::Native } else { Self::Text }
            }
            None if BinaryKind::of(head).is_none() => Self::Text,
            None => Self::Native,
        }
    }
}

/// Why there is no such script. The texts are those of the system whose tool this is, so that models that know it do.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ScriptError {
    /// The skill has no scripts.
    #[error("Skill '{skill}' has no scripts/ directory")]
    NoScripts {
        /// The skill.
        skill: String,
    },
    /// The name leads out of `scripts/`.
    #[error("Access denied: '{name}' is outside scripts/ directory")]
    Outside {
        /// What was asked for.
        name: String,
    },
    /// There is no such script.
    #[error("Script not found: '{name}'. Available: {}", available(.nearest, *.more))]
    NotFound {
        /// What was asked for.
        name: String,
        /// Scripts that are there; of many the nearest.
        nearest: Vec<String>,
        /// How many more there are.
        more: usize,
    },
    /// It is a folder, a pipe, a device.
    #[error("Not a file: '{name}'")]
    NotAFile {
        /// What was asked for.
        name: String,
    },
    /// The system refused.
    #[error("Error running script: {0}")]
    Unreadable(Error),
}

fn available(names: &[String], more: usize) -> String {
    match (names, more) {
        ([], _) => "none".to_owned(),
        (names, 0) => names.join(", "),
        (names, more) => format!("{} and {more} more", names.join(", ")),
    }
}

impl SkillScript {
    /// Finds a script by its name, with or without `scripts/` before it.
    ///
    /// Everything is looked for beneath the opened `scripts` folder, so neither `..` nor a link leads out of it, not
    /// even back into the skill.
    pub fn find(skill: &SkillDir, skill_name: &str, name: &str) -> Result<Self, ScriptError> {
        let outside = || ScriptError::Outside { name: name.to_owned() };
        let asked = RelativePath::parse(name.trim()).map_err(|_| outside())?;
        let none = |_| ScriptError::NoScripts { skill: skill_name.to_owned() };
        let folder = match RelativePath::parse(SCRIPTS).map_err(none).map(|scripts| skill.folder(&scripts))? {
            Ok(folder) => folder,
            Err(Error::NotFound { .. } | Error::NotAFolder { .. }) => {
                return Err(ScriptError::NoScripts { skill: skill_name.to_owned() });
            }
            Err(Error::Outside { .. }) => return Err(outside()),
            Err(error) => return Err(ScriptError::Unreadable(error)),
        };
        // `scripts/a.py` is what bodies write and `a.py` what the list of scripts says; a script in `scripts/scripts`
        // has to be asked for by its whole path only when the short one means another.
        let short = asked.as_path().strip_prefix(SCRIPTS).ok();
        let short = short.and_then(|path| RelativePath::parse_os(path.as_os_str()).ok());
        for path in short.into_iter().chain([asked]) {
            match Self::look(&folder, &path) {
                Err(Error::NotFound { .. }) => {}
                Ok(script) => return Ok(script),
                Err(Error::Outside { .. }) => return Err(outside()),
                Err(Error::NotAFile { .. } | Error::IsAFolder { .. }) => {
                    return Err(ScriptError::NotAFile { name: name.to_owned() });
                }
                Err(error) => return Err(ScriptError::Unreadable(error)),
            }
        }
        let (nearest, more) = nearest(&folder, name);
        Err(ScriptError::NotFound { name: name.to_owned(), nearest, more })
    }

    fn look(folder: &SkillDir, path: &RelativePath) -> Result<Self, Error> {
        let executable = folder.look_at(path)?.executable;
        let head = folder.read_page(path, 0, HEAD)?.bytes;
        let text = head.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&head);
        let line = text.strip_prefix(b"#!").and_then(|rest| rest.split(|&byte| byte == b'\n').next());
        let shebang = line.map(|line| String::from_utf8_lossy(line).trim().to_owned());
        let whole = std::path::Path::new(SCRIPTS).join(path);
        let path = RelativePath::parse_os(whole.as_os_str())
            .map_err(|_| Error::Outside { path: path.as_path().to_owned() })?;
        Ok(Self { path, executable, shebang, form: ScriptForm::of(&head) })
    }
}

/// The scripts that are there, of many those with a similar name, and how many are not named.
fn nearest(folder: &SkillDir, name: &str) -> (Vec<String>, usize) {
    let Ok(listing) = folder.list(ListBounds::default()) else {
        return (Vec::new(), 0);
    };
    let wanted = name.trim().trim_start_matches("scripts/").to_lowercase();
    let mut names: Vec<String> = listing.files.iter().map(|file| file.path.to_string()).collect();
    // A stable sort: names that are equally far stay in their order.
    names.sort_by_cached_key(|name| distance(&wanted, &name.to_lowercase()));
    let more = names.len().saturating_sub(MAX_NAMES);
    names.truncate(MAX_NAMES);
    // Those that are named stand in the order in which an activation lists them.
    names.sort();
    (names, more)
}

/// How many characters must be changed, added or removed to make one name of the other.
fn distance(a: &str, b: &str) -> usize {
    // The work grows with the product of both lengths, and what is longer was not mistyped.
    let start = |text: &str| text.chars().take(MAX_COMPARED).collect::<String>();
    strsim::levenshtein(&start(a), &start(b))
}

#[cfg(test)]
mod tests {
    use metier_testkit::Workspace;

    use super::*;

    fn find(workspace: &Workspace, name: &str) -> Result<SkillScript, ScriptError> {
        SkillScript::find(&SkillDir::open(&workspace.join("skill")).unwrap(), "demo", name)
    }

    #[test]
    fn a_script_is_meant_by_its_short_and_by_its_long_name() {
        let workspace = Workspace::new()
            .file("skill/scripts/a.py", "print()")
            .executable("skill/scripts/tools/run", "#! /usr/bin/env  node \nx")
            .file("skill/scripts/scripts/deep.py", "print()");
        let check = |name: &str, expect: &str| {
            assert_eq!(find(&workspace, name).unwrap().path.to_string(), expect, "{name}");
        };
        check("a.py", "scripts/a.py");
        check("scripts/a.py", "scripts/a.py");
        check("./scripts//a.py ", "scripts/a.py");
        check("tools/run", "scripts/tools/run");
        check("scripts/deep.py", "scripts/scripts/deep.py");
        let script = find(&workspace, "tools/run").unwrap();
        assert_eq!((script.executable, script.shebang.as_deref()), (true, Some("/usr/bin/env  node")));
        assert_eq!(find(&workspace, "a.py").unwrap().shebang, None);
    }

    #[test]
    fn the_first_bytes_say_whether_the_kernel_can_start_it() {
        let check = |text: &[u8], form: ScriptForm, shebang: Option<&str>| {
            let workspace = Workspace::new().file("skill/scripts/run", text);
            let script = find(&workspace, "run").unwrap();
            let shown = String::from_utf8_lossy(text);
            assert_eq!((script.form, script.shebang.as_deref()), (form, shebang), "{shown:?}");
        };
        check(b"#!/bin/sh\necho\n", ScriptForm::Native, Some("/bin/sh"));
        check(b"#! /bin/sh", ScriptForm::Native, Some("/bin/sh"));
        check(b"\x7fELF\x02\x01\x01\0\0\0", ScriptForm::Native, None);
        check(b"#!/bin/sh\r\necho\r\n", ScriptForm::Text, Some("/bin/sh"));
        check(b"\xef\xbb\xbf#!/bin/sh\n", ScriptForm::Text, Some("/bin/sh"));
        check(b"echo\n", ScriptForm::Text, None);
        check(b"#!\necho\n", ScriptForm::Text, Some(""));
        check(b"", ScriptForm::Text, None);
    }

    #[test]
    fn nothing_outside_of_scripts_is_a_script() {
        let workspace = Workspace::new()
            .file("skill/SKILL.md", "x")
            .file("skill/helper.py", "x")
            .file("outside.py", "x")
            .dir("skill/scripts/folder")
            .fifo("skill/scripts/pipe")
            .symlink("skill/scripts/up.py", "../helper.py")
            .symlink("skill/scripts/out.py", "../../outside.py")
            .symlink("skill/scripts/inside.py", "real.py")
            .file("skill/scripts/real.py", "x");
        let error = |name| find(&workspace, name).unwrap_err().to_string();
        for name in
            ["../helper.py", "/etc/passwd", "scripts/../helper.py", "up.py", "out.py", "", "a\0b", "..\\x"]
        {
            assert_eq!(error(name), format!("Access denied: '{name}' is outside scripts/ directory"));
        }
        assert_eq!(error("folder"), "Not a file: 'folder'");
        assert_eq!(error("pipe"), "Not a file: 'pipe'");
        assert!(find(&workspace, "inside.py").is_ok());
    }

    #[test]
    fn an_unknown_script_lists_the_nearest_and_no_scripts_is_said() {
        let workspace = Workspace::new().file("skill/scripts/convert.py", "").file("skill/scripts/a.sh", "");
        assert_eq!(
            find(&workspace, "covert.py").unwrap_err().to_string(),
            "Script not found: 'covert.py'. Available: a.sh, convert.py"
        );
        let workspace = Workspace::new().dir("skill/scripts");
        assert_eq!(find(&workspace, "a").unwrap_err().to_string(), "Script not found: 'a'. Available: none");
        let workspace = Workspace::new().dir("skill");
        assert_eq!(find(&workspace, "a").unwrap_err().to_string(), "Skill 'demo' has no scripts/ directory");
        let mut workspace = Workspace::new();
        for number in 0..20 {
            workspace = workspace.file(format!("skill/scripts/{number:02}.py"), "");
        }
        assert!(find(&workspace, "x").unwrap_err().to_string().ends_with("07.py and 12 more"));
    }
}
