//! Who runs a script.

mod node_version;

use std::path::{Path, PathBuf};

pub use self::node_version::NodeVersion;
use self::node_version::TypeScriptSupport;
use crate::script::{ScriptForm, SkillScript};
use crate::search_path::{Program, SearchPath};

/// Who runs a script, by its extension.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Interpreter {
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
const INTERPRETERS: &[(&[&str], Interpreter, &[&str])] = &[
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
        "Cannot execute '{0}': interpreter not found or file not executable; give it an extension such as `.py`, a `#!` line, or make it executable with `chmod +x`"
    )]
    NotExecutable(String),
    /// Its `#!` line names a program that is not shown to scripts.
    #[error(
        "Cannot execute '{script}': bad interpreter `{interpreter}`: it is neither in the system's folders nor what the search path finds by this name; write `#!/usr/bin/env NAME`, and add the program's folder to PATH"
    )]
    BadInterpreter {
        /// The script.
        script: String,
        /// What the line names.
        interpreter: String,
    },
    /// Its `#!` line has options of `env` that metier does not read.
    #[error(
        "Cannot execute '{0}': its `#!` line cannot be read; write `#!/usr/bin/env NAME` or `#!/usr/bin/env -S NAME OPTIONS`"
    )]
    UnknownLine(String),
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
    pub(crate) fn of(path: &Path) -> Self {
        let extension = path.extension().and_then(|extension| extension.to_str()).unwrap_or_default();
        let extension = extension.to_ascii_lowercase();
        INTERPRETERS
            .iter()
            .find(|(extensions, ..)| extensions.contains(&extension.as_str()))
            .map_or(Self::Direct, |(_, interpreter, _)| *interpreter)
    }

    /// The programs that are tried for it, in this order.
    pub(crate) fn programs(self) -> &'static [&'static str] {
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
    script: &SkillScript,
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
            Some(TypeScriptSupport::Plain) => {}
            Some(TypeScriptSupport::Flag) => arguments.push("--experimental-strip-types".to_owned()),
            Some(TypeScriptSupport::None) | None => return Err(LaunchError::NoTypes { script: name, node }),
        }
    }
    arguments.push(file.to_string_lossy().into_owned());
    Ok(Launch { program: program.file.clone(), arguments, programs: vec![program] })
}

/// A file without a known extension.
///
/// The kernel starts a file with a `#!` line inside, so the program that the line names has to be there. A file that lost
/// its permission to be executed, as archives and other systems make it, is run by the named program, and so is one whose
/// line the kernel would read otherwise. Executable text without such a line is run by `sh`, as every shell does it.
fn direct(script: &SkillScript, file: &Path, path: &SearchPath) -> Result<Launch, LaunchError> {
    let name = || script.path.to_string();
    let is_native = script.executable && script.form == ScriptForm::Native;
    let by_itself = |programs| Launch { program: file.to_owned(), arguments: Vec::new(), programs };
    let shebang = match script.shebang.as_deref().map_or(Ok(None), Shebang::parse) {
        Ok(Some(shebang)) => shebang,
        // A program; or a line that is not understood, for which nothing is shown: `env` then finds what is there inside, or
        // says so.
        Ok(None) | Err(NotUnderstood) if is_native => return Ok(by_itself(Vec::new())),
        Ok(None) if script.executable => {
            Shebang { program: PLAIN.to_owned(), arguments: Vec::new(), by_env: false }
        }
        Ok(None) => return Err(LaunchError::NotExecutable(name())),
        Err(NotUnderstood) => return Err(LaunchError::UnknownLine(name())),
    };
    let Shebang { program: named, mut arguments, by_env } = shebang;
    let program = if named.contains('/') {
        path.interpreter(Path::new(&named))
            .ok_or_else(|| LaunchError::BadInterpreter { script: name(), interpreter: named.clone() })?
    } else {
        path.find(&named)
            .ok_or_else(|| LaunchError::NoInterpreter { script: name(), programs: vec![named.clone()] })?
    };
    // The kernel looks the path up inside, where a link or a version manager's stand-in on the way is not there.
    if is_native && (by_env || program.file == Path::new(&named)) {
        return Ok(by_itself(vec![program]));
    }
    arguments.push(file.to_string_lossy().into_owned());
    Ok(Launch { program: program.file.clone(), arguments, programs: vec![program] })
}

/// Who runs text that does not say who runs it.
const PLAIN: &str = "sh";

/// What a `#!` line says.
#[derive(Debug, PartialEq, Eq)]
struct Shebang {
    /// A path, or after `env` a name.
    program: String,
    arguments: Vec<String>,
    /// Whether the system's `env` looks for it.
    by_env: bool,
}

/// A `#!` line whose meaning is not known for certain.
#[derive(Debug, PartialEq, Eq)]
struct NotUnderstood;

/// The places of the system's `env`.
const ENV: &[&str] = &["/usr/bin/env", "/bin/env"];

impl Shebang {
    /// Reads a line; `None` where it names nothing.
    fn parse(line: &str) -> Result<Option<Self>, NotUnderstood> {
        let line = line.trim();
        let Some(first) = line.split_ascii_whitespace().next() else { return Ok(None) };
        let rest = line.get(first.len()..).unwrap_or_default().trim();
        if ENV.contains(&first) {
            return Self::after_env(rest);
        }
        // The kernel gives the rest as one argument.
        let arguments = if rest.is_empty() { Vec::new() } else { vec![rest.to_owned()] };
        Ok(Some(Self { program: first.to_owned(), arguments, by_env: false }))
    }

    /// What `env` would start: `env -S A=1 node --flag` is node. Only `-S`, `-i`, `-u NAME` in their plain forms and
    /// assignments are understood. A guess about anything else would take one word for the program and show it, while
    /// `env` starts another.
    fn after_env(rest: &str) -> Result<Option<Self>, NotUnderstood> {
        // Quotes, escapes and variables are `env -S`'s own language.
        if rest.contains(['\\', '\'', '"', '$', '#']) {
            return Err(NotUnderstood);
        }
        let split =
            ["--split-string=", "--split-string", "-S"].iter().find_map(|option| rest.strip_prefix(option));
        let mut words = split.unwrap_or(rest).split_ascii_whitespace();
        while let Some(word) = words.next() {
            match word {
                "-i" | "--ignore-environment" => {}
                "-u" | "--unset" => drop(words.next()),
                option if option.starts_with('-') => return Err(NotUnderstood),
                assignment if assignment.contains('=') => {}
                program => {
                    let arguments = words.map(str::to_owned).collect();
                    return Ok(Some(Self { program: program.to_owned(), arguments, by_env: true }));
                }
            }
        }
        Err(NotUnderstood)
    }
}

#[cfg(test)]
mod tests {
    use metier_testkit::Workspace;

    use super::*;

    fn script(path: &str, executable: bool, shebang: Option<&str>) -> SkillScript {
        let shebang = shebang.map(str::to_owned);
        SkillScript { path: path.parse().unwrap(), executable, shebang, form: ScriptForm::Native }
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
            let script = SkillScript { form: ScriptForm::Text, ..script("scripts/run", true, shebang) };
            launch(&script, Path::new("/s"), &path, &mut |_| None).unwrap()
        };
        let program = |name: &str| workspace.join("tools/x/bin").join(name);
        assert_eq!(start(None).program, program("sh"));
        assert_eq!(start(None).arguments, ["/s/scripts/run"]);
        assert_eq!(start(Some("/usr/bin/env ruby -w")).program, program("ruby"));
        assert_eq!(start(Some("/usr/bin/env ruby -w")).arguments, ["-w", "/s/scripts/run"]);
    }

    #[test]
    fn only_plain_lines_of_env_are_read() {
        let check = |line: &str, expect: Option<&[&str]>| {
            let found = Shebang::parse(line).ok().flatten();
            let words = found.map(|found| [vec![found.program], found.arguments].concat());
            let expect = expect.map(|words| words.iter().map(ToString::to_string).collect::<Vec<_>>());
            assert_eq!(words, expect, "{line}");
        };
        check("/usr/bin/env python3", Some(&["python3"]));
        check("/bin/env -S python3 -u", Some(&["python3", "-u"]));
        check("/usr/bin/env -Spython3 -u", Some(&["python3", "-u"]));
        check("/usr/bin/env --split-string=python3 -u", Some(&["python3", "-u"]));
        check("/usr/bin/env --split-string python3 -u", Some(&["python3", "-u"]));
        check("/usr/bin/env -S A=1 B=2 python3", Some(&["python3"]));
        check("/usr/bin/env -SA=1 python3", Some(&["python3"]));
        check("/usr/bin/env -S -i -u HOME python3", Some(&["python3"]));
        for line in [
            "/usr/bin/env",
            "/usr/bin/env -S",
            "/usr/bin/env -S -iu /home/ada/x /bin/bash",
            "/usr/bin/env -S -vu /home/ada/x bash",
            "/usr/bin/env -iS /home/ada/x",
            "/usr/bin/env -S --uns /home/ada/x bash",
            "/usr/bin/env -S --chdir /home/ada/x bash",
            "/usr/bin/env -S -C/ x bash",
            "/usr/bin/env -S -- x",
            "/usr/bin/env -S 'x' bash",
            "/usr/bin/env -S x\\_y bash",
            "/usr/bin/env -S ${X} bash",
            "/usr/bin/env -S x #y",
        ] {
            assert_eq!(Shebang::parse(line), Err(NotUnderstood), "{line}");
        }
        // Another `env` is a program like any other.
        check("/home/ada/env -S bash", Some(&["/home/ada/env", "-S bash"]));
        check("/bin/sh -e x", Some(&["/bin/sh", "-e x"]));
        check("", None);
    }

    /// Each line would have made a file or a tree of the user's visible, or would with a laxer reading.
    #[test]
    fn a_line_shows_nothing_that_the_search_path_does_not() {
        let workspace = Workspace::new()
            .executable("home/ada/private/deploy.sh", "secret")
            .executable("home/ada/private/env", "secret")
            .executable("home/ada/private/ruby", "secret")
            .executable("home/ada/.cargo/bin/rg", "")
            .executable("home/ada/venv/bin/tool", "")
            .file("home/ada/venv/pyvenv.cfg", "home = /usr/bin\n")
            .executable("srv/app/bin/rails", "")
            .file("srv/app/lib/a.rb", "")
            .file("srv/app/.env", "KEY=1")
            .executable("tools/x/bin/ruby", "")
            .symlink("home/ada/link", "private");
        let search =
            SearchPath::new(workspace.join("tools/x/bin").as_os_str()).home(&workspace.join("home/ada"));
        let at = |path: &str| workspace.join(path).display().to_string();
        let deploy = at("home/ada/private/deploy.sh");
        let climbing = format!("/usr/bin/../..{deploy}");
        let lines = [
            deploy.clone(),
            climbing,
            format!("/proc/self/root{deploy}"),
            format!("/proc/self/cwd/../../../../../../../..{deploy}"),
            format!("/dev/fd/../../{}", deploy.trim_start_matches('/')),
            at("home/ada/link/deploy.sh"),
            at("home/ada/private/ruby"),
            at("home/ada/private/env"),
            format!("{} -S bash", at("home/ada/private/env")),
            at("home/ada/.cargo/bin/rg"),
            at("home/ada/venv/bin/tool"),
            at("srv/app/bin/rails"),
            format!("/usr/bin/env {deploy}"),
            format!("/usr/bin/env -S {deploy}"),
            format!("/usr/bin/env -S -iu {deploy} /bin/bash"),
            format!("/usr/bin/env -S A=1 {}", at("srv/app/bin/rails")),
            format!("/usr/bin/env -S --split-string={deploy}"),
            "/usr/bin/env ../../home/ada/private/deploy.sh".to_owned(),
            "private/deploy.sh".to_owned(),
        ];
        for executable in [true, false] {
            for line in &lines {
                let script = script("scripts/run", executable, Some(line));
                let shown = launch(&script, Path::new("/s"), &search, &mut |_| None)
                    .map_or(Vec::new(), |launch| launch.programs);
                assert!(shown.iter().all(|program| program.shown.is_empty()), "{line}: {shown:?}");
            }
        }
        // The control: what the search path provides is shown.
        for line in [at("tools/x/bin/ruby"), "/usr/bin/env ruby".to_owned()] {
            let script = script("scripts/run", true, Some(&line));
            let launch = launch(&script, Path::new("/s"), &search, &mut |_| None).unwrap();
            assert_eq!(launch.programs[0].shown, [workspace.join("tools/x/bin/ruby")], "{line}");
        }
        let script = script("scripts/run", true, Some(&deploy));
        let error = launch(&script, Path::new("/s"), &search, &mut |_| None).unwrap_err().to_string();
        assert!(
            error.contains("bad interpreter") && error.contains("add the program's folder to PATH"),
            "{error}"
        );
    }
}
