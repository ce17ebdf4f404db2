//! Who runs a script.

use std::fmt;
use std::path::{Path, PathBuf};

use crate::script::{Script, ScriptForm};
use crate::search_path::{Program, SearchPath};

/// Who runs a script, by its extension.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Interpreter {
    /// `.py`.
    Python,
    /// `.sh`: bash, and where there is none, the system's `sh`.
    Shell,
    /// `.bash`.
    Bash,
    /// `.js`, `.mjs`, `.cjs`.
    Node,
    /// `.ts`, `.mts`, `.cts`, where node can.
    NodeTypes,
    /// Itself, or who its `#!` line names.
    Direct,
}

/// The extensions with an interpreter of their own, and the programs that are tried in this order.
pub const INTERPRETERS: &[(&[&str], Interpreter, &[&str])] = &[
    // `python` alone may still be version 2 somewhere, so it comes second.
    (&["py"], Interpreter::Python, &["python3", "python"]),
    // Many scripts that end in `.sh` use what only bash knows, so it comes first; small systems have no bash, and there the
    // plain ones still run.
    (&["sh"], Interpreter::Shell, &["bash", "sh"]),
    (&["bash"], Interpreter::Bash, &["bash"]),
    (&["js", "mjs", "cjs"], Interpreter::Node, &["node"]),
    (&["ts", "mts", "cts"], Interpreter::NodeTypes, &["node"]),
];

/// How a script is started.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Launch {
    /// The program that is executed.
    pub program: PathBuf,
    /// What comes before the caller's arguments: options of the interpreter, and the script.
    pub arguments: Vec<String>,
    /// Programs that have to be shown for it.
    pub programs: Vec<Program>,
}

/// Why a script cannot be started.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LaunchError {
    /// No such program is on the search path.
    #[error("Cannot execute '{script}': interpreter not found or file not executable; {} is not on the search path, install it or add its folder to PATH", tried(.programs))]
    NoInterpreter {
        /// The script.
        script: String,
        /// What was looked for.
        programs: Vec<String>,
    },
    /// Neither may it be executed nor does it say who runs it.
    #[error(
        "Cannot execute '{script}': interpreter not found or file not executable; give it an extension such as `.py`, a `#!` line, or make it executable with `chmod +x`"
    )]
    NotExecutable {
        /// The script.
        script: String,
    },
    /// This node does not run TypeScript.
    #[error("Cannot execute '{script}': node {} does not run TypeScript; install node 22.6 or later, or compile the script to `.js`", version(.node.as_ref()))]
    NoTypes {
        /// The script.
        script: String,
        /// The version, if it is known.
        node: Option<NodeVersion>,
    },
}

fn tried(programs: &[String]) -> String {
    programs.iter().map(|program| format!("`{program}`")).collect::<Vec<_>>().join(" or ")
}

fn version(node: Option<&NodeVersion>) -> String {
    node.map_or_else(|| "of an unknown version".to_owned(), ToString::to_string)
}

impl Interpreter {
    /// Who runs a file of this name.
    pub fn of(path: &Path) -> Self {
        let extension = path.extension().and_then(|extension| extension.to_str()).unwrap_or_default();
        let extension = extension.to_ascii_lowercase();
        INTERPRETERS
            .iter()
            .find(|(extensions, ..)| extensions.contains(&extension.as_str()))
            .map_or(Self::Direct, |(_, interpreter, _)| *interpreter)
    }

    fn programs(self) -> &'static [&'static str] {
        INTERPRETERS
            .iter()
            .find(|(_, interpreter, _)| *interpreter == self)
            .map_or(&[], |(.., programs)| programs)
    }
}

/// How `script` of the skill in `folder` is started.
///
/// `node_version` is asked for scripts in TypeScript only; it gets node's file and says which version that is. To find
/// out a process has to be started, which is the caller's to do, once.
pub fn launch(
    script: &Script,
    folder: &Path,
    path: &SearchPath,
    node_version: &mut dyn FnMut(&Program) -> Option<NodeVersion>,
) -> Result<Launch, LaunchError> {
    let file = folder.join(&script.path);
    let name = script.path.to_string();
    let interpreter = Interpreter::of(script.path.as_path());
    if interpreter == Interpreter::Direct {
        return direct(script, &file, path);
    }
    let Some(program) = path.find_any(interpreter.programs()) else {
        let programs = interpreter.programs().iter().map(ToString::to_string).collect();
        return Err(LaunchError::NoInterpreter { script: name, programs });
    };
    let mut arguments = Vec::new();
    if interpreter == Interpreter::NodeTypes {
        let node = node_version(&program);
        match node.map(NodeVersion::types) {
            Some(Types::Plain) => {}
            Some(Types::Flag) => arguments.push("--experimental-strip-types".to_owned()),
            Some(Types::None) | None => return Err(LaunchError::NoTypes { script: name, node }),
        }
    }
    arguments.push(file.to_string_lossy().into_owned());
    Ok(Launch { program: program.file.clone(), arguments, programs: vec![program] })
}

/// A file without a known extension. Who its `#!` line names is looked up, too: the kernel starts it inside, where it has
/// to be shown. A file that lost its permission to be executed, as archives and other systems make it, is run by who the
/// line names, and so is one whose line the kernel would take otherwise. Text that may be executed and has no such line is
/// run by `sh`, as every shell does it.
fn direct(script: &Script, file: &Path, path: &SearchPath) -> Result<Launch, LaunchError> {
    let name = || script.path.to_string();
    let is_native = script.executable && script.form == ScriptForm::Native;
    let named = script.shebang.as_deref().and_then(Shebang::parse).or_else(|| {
        let is_plain = script.executable && script.form == ScriptForm::Text;
        is_plain.then(|| Shebang { program: PLAIN.to_owned(), arguments: Vec::new() })
    });
    let program = match &named {
        Some(shebang) => match shebang.program.strip_prefix('/') {
            Some(_) => path.at(Path::new(&shebang.program)),
            None => path.find(&shebang.program),
        },
        None => None,
    };
    match (is_native, named, program) {
        (true, None, _) => {
            Ok(Launch { program: file.to_owned(), arguments: Vec::new(), programs: Vec::new() })
        }
        (true, Some(_), Some(program)) => {
            Ok(Launch { program: file.to_owned(), arguments: Vec::new(), programs: vec![program] })
        }
        (false, Some(shebang), Some(program)) => {
            let mut arguments = shebang.arguments;
            arguments.push(file.to_string_lossy().into_owned());
            Ok(Launch { program: program.file.clone(), arguments, programs: vec![program] })
        }
        (_, Some(shebang), None) => {
            Err(LaunchError::NoInterpreter { script: name(), programs: vec![shebang.program] })
        }
        (false, None, _) => Err(LaunchError::NotExecutable { script: name() }),
    }
}

/// Who runs text that does not say who runs it.
const PLAIN: &str = "sh";

/// What a `#!` line says.
#[derive(Debug, PartialEq, Eq)]
struct Shebang {
    /// A path, or behind `env` a name.
    program: String,
    arguments: Vec<String>,
}

impl Shebang {
    fn parse(line: &str) -> Option<Self> {
        let mut words = line.split_ascii_whitespace().map(str::to_owned);
        let first = words.next()?;
        if !first.ends_with("/env") {
            // The kernel gives the rest as one argument.
            let rest = line.trim_start().get(first.len()..).unwrap_or_default().trim();
            let arguments = if rest.is_empty() { Vec::new() } else { vec![rest.to_owned()] };
            return Some(Self { program: first, arguments });
        }
        // `env -S node --flag`: options of env come first, and what it sets, then the program.
        while let Some(word) = words.next() {
            let split = word.strip_prefix("--split-string=").or_else(|| word.strip_prefix("-S"));
            let word = match split {
                Some("") => continue,
                Some(first) => first,
                None if matches!(word.as_str(), "-u" | "--unset" | "-C" | "--chdir") => {
                    words.next();
                    continue;
                }
                None => &word,
            };
            if !word.starts_with('-') && !word.contains('=') {
                return Some(Self { program: word.to_owned(), arguments: words.collect() });
            }
        }
        None
    }
}

/// A version of node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NodeVersion {
    /// The first number.
    pub major: u32,
    /// The second.
    pub minor: u32,
}

/// Whether node runs TypeScript.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Types {
    /// It does not.
    None,
    /// With `--experimental-strip-types`.
    Flag,
    /// As it is.
    Plain,
}

impl NodeVersion {
    /// Reads what `node --version` prints, such as `v22.6.0`.
    pub fn parse(text: &str) -> Option<Self> {
        let mut numbers = text.trim().strip_prefix('v')?.split('.');
        Some(Self { major: numbers.next()?.parse().ok()?, minor: numbers.next()?.parse().ok()? })
    }

    /// Whether this version runs TypeScript: with a flag since 22.6, without one since 22.18 and 23.6.
    pub fn types(self) -> Types {
        match (self.major, self.minor) {
            (24.., _) | (23, 6..) | (22, 18..) => Types::Plain,
            (23, _) | (22, 6..) => Types::Flag,
            _ => Types::None,
        }
    }
}

impl fmt::Display for NodeVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.major, self.minor)
    }
}

#[cfg(test)]
mod tests {
    use metier_testkit::Workspace;

    use super::*;

    fn script(path: &str, executable: bool, shebang: Option<&str>) -> Script {
        let shebang = shebang.map(str::to_owned);
        Script { path: path.parse().unwrap(), executable, shebang, form: ScriptForm::Native }
    }

    /// A machine with the given programs on its search path.
    fn machine(programs: &[&str]) -> (Workspace, SearchPath) {
        let mut workspace = Workspace::new().dir("tools/x/bin");
        for program in programs {
            workspace = workspace.executable(format!("tools/x/bin/{program}"), "");
        }
        let path = SearchPath::new(workspace.join("tools/x/bin").as_os_str());
        (workspace, path)
    }

    #[test]
    fn extensions_choose_the_interpreter_and_its_fallback() {
        let (workspace, path) = machine(&["python", "bash", "node"]);
        let folder = Path::new("/skill");
        let check = |name: &str, expect: &str| {
            let launch = launch(&script(name, false, None), folder, &path, &mut |_| None).unwrap();
            assert_eq!(launch.program, workspace.join("tools/x/bin").join(expect), "{name}");
            assert_eq!(launch.arguments, [format!("/skill/{name}")]);
        };
        check("scripts/a.py", "python");
        check("scripts/A.PY", "python");
        check("scripts/a.sh", "bash");
        check("scripts/a.bash", "bash");
        check("scripts/a.mjs", "node");
        check("scripts/a.cjs", "node");
        let (workspace, path) = machine(&["python", "python3"]);
        let launch = launch(&script("scripts/a.py", false, None), folder, &path, &mut |_| None).unwrap();
        assert_eq!(launch.program, workspace.join("tools/x/bin/python3"));
    }

    #[test]
    fn without_bash_a_plain_shell_script_is_run_by_sh_and_one_for_bash_is_not() {
        let (workspace, path) = machine(&["sh"]);
        let start = |name: &str| launch(&script(name, false, None), Path::new("/s"), &path, &mut |_| None);
        assert_eq!(start("scripts/a.sh").unwrap().program, workspace.join("tools/x/bin/sh"));
        let error = start("scripts/a.bash").unwrap_err().to_string();
        assert!(error.contains("`bash` is not on the search path"), "{error}");
    }

    #[test]
    fn a_missing_interpreter_says_what_to_do() {
        let (_workspace, path) = machine(&[]);
        let error = |name: &str, executable, shebang| {
            launch(&script(name, executable, shebang), Path::new("/skill"), &path, &mut |_| None)
                .unwrap_err()
                .to_string()
        };
        assert_eq!(
            error("scripts/a.py", false, None),
            "Cannot execute 'scripts/a.py': interpreter not found or file not executable; `python3` or `python` is not \
             on the search path, install it or add its folder to PATH"
        );
        assert!(error("scripts/a", false, None).ends_with("make it executable with `chmod +x`"));
        assert!(
            error("scripts/a", true, Some("/usr/bin/env ruby")).contains("`ruby` is not on the search path")
        );
    }

    #[test]
    fn typescript_depends_on_the_version_of_node() {
        let (_workspace, path) = machine(&["node"]);
        let check = |version: Option<&str>, expect: Option<&[&str]>| {
            let mut asked = 0;
            let launch = launch(&script("scripts/a.ts", true, None), Path::new("/s"), &path, &mut |_| {
                asked += 1;
                version.and_then(NodeVersion::parse)
            });
            assert_eq!(
                launch.ok().map(|launch| launch.arguments),
                expect.map(|list| list.iter().map(ToString::to_string).collect()),
                "{version:?}"
            );
            assert_eq!(asked, 1);
        };
        let flag: &[&str] = &["--experimental-strip-types", "/s/scripts/a.ts"];
        let plain: &[&str] = &["/s/scripts/a.ts"];
        check(Some("v20.20.2\n"), None);
        check(Some("v22.5.1"), None);
        check(Some("v22.6.0"), Some(flag));
        check(Some("v22.18.0"), Some(plain));
        check(Some("v23.5.0"), Some(flag));
        check(Some("v23.6.0"), Some(plain));
        check(Some("v24.0.0"), Some(plain));
        check(Some("rubbish"), None);
        check(None, None);
    }

    #[test]
    fn other_files_run_by_themselves_or_by_their_first_line() {
        let (workspace, path) = machine(&["ruby"]);
        let start = |executable, shebang| {
            let launch =
                launch(&script("scripts/run", executable, shebang), Path::new("/s"), &path, &mut |_| None)
                    .unwrap();
            (launch.program, launch.arguments, launch.programs.len())
        };
        let ruby = workspace.join("tools/x/bin/ruby");
        let file = "/s/scripts/run".to_owned();
        assert_eq!(start(true, None), (file.clone().into(), vec![], 0));
        assert_eq!(start(true, Some("/usr/bin/env ruby")), (file.clone().into(), vec![], 1));
        assert_eq!(
            start(false, Some("/usr/bin/env ruby -w")),
            (ruby.clone(), vec!["-w".into(), file.clone()], 1)
        );
        let absolute = format!("{} -w x", ruby.display());
        assert_eq!(start(false, Some(&absolute)), (ruby, vec!["-w x".into(), file], 1));
    }

    #[test]
    fn what_the_kernel_would_not_start_as_meant_is_run_by_who_reads_text() {
        let (workspace, path) = machine(&["ruby", "sh"]);
        let start = |shebang: Option<&str>| {
            let script = Script { form: ScriptForm::Text, ..script("scripts/run", true, shebang) };
            launch(&script, Path::new("/s"), &path, &mut |_| None).unwrap()
        };
        let program = |name: &str| workspace.join("tools/x/bin").join(name);
        assert_eq!(start(None).program, program("sh"));
        assert_eq!(start(None).arguments, ["/s/scripts/run"]);
        assert_eq!(start(Some("/usr/bin/env ruby -w")).program, program("ruby"));
        assert_eq!(start(Some("/usr/bin/env ruby -w")).arguments, ["-w", "/s/scripts/run"]);
    }

    #[test]
    fn options_of_env_are_not_taken_for_the_program() {
        let check = |line: &str, expect: Option<&[&str]>| {
            let words = Shebang::parse(line).map(|found| [vec![found.program], found.arguments].concat());
            let expect = expect.map(|words| words.iter().map(ToString::to_string).collect::<Vec<_>>());
            assert_eq!(words, expect, "{line}");
        };
        check("/usr/bin/env python3", Some(&["python3"]));
        check("/usr/bin/env -S python3 -u", Some(&["python3", "-u"]));
        check("/usr/bin/env -Spython3 -u", Some(&["python3", "-u"]));
        check("/usr/bin/env --split-string=python3 -u", Some(&["python3", "-u"]));
        check("/usr/bin/env -S A=1 B=2 python3", Some(&["python3"]));
        check("/usr/bin/env -SA=1 python3", Some(&["python3"]));
        check("/usr/bin/env -i -u HOME -C /x python3", Some(&["python3"]));
        check("/usr/bin/env", None);
        check("/usr/bin/env -S", None);
        check("/bin/sh -e x", Some(&["/bin/sh", "-e x"]));
        check("", None);
    }
}
