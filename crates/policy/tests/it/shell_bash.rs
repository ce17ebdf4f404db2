//! A real bash that records what it starts, for the tests and for the fuzz target.
//!
//! Its PATH holds nothing but recorders: programs that write down how they were called. What bash itself runs is traced.
//! It gets no environment, a folder of its own, little time and, where the tests run as root, the rights of nobody.

use metier_policy::shell::{Joint, Line};
use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};

/// Programs that are there and do nothing but write down how they were called.
pub(crate) const RECORDERS: &[&str] = &[
    "a", "b", "cat", "curl", "find", "git", "grep", "head", "ls", "make", "node", "npm", "npx", "show",
    "sort", "wc",
];

/// Builtins of bash that touch nothing outside the shell.
pub(crate) const BUILTINS: &[&str] = &[
    ":", "[", "cd", "command", "dirs", "echo", "false", "popd", "printf", "pushd", "pwd", "test", "true",
    "type",
];

/// Names that a glob must never turn into options or evaluate.
const HOSTILE: &[&str] = &["-x", "--upload-pack=id", "a", "ab", "a[$(echo >pwned)]", "b c"];

/// In both of them a line means the same; which one a line gets depends on its length, so that it stays the same one.
const LOCALES: &[&str] = &["C.UTF-8", "C"];

/// What begins every traced command: a text that the line does not have, for a fuzzer finds out any fixed one.
fn mark(line: &str) -> String {
    let marks = (0_u32..).map(|number| format!("@trace-{number}@ "));
    marks
        .take(line.len() + 2)
        .find(|mark| !line.contains(mark.trim_end()))
        .expect("a line has no room for all of them")
}

/// The files that lie where bash runs.
#[derive(Clone, Copy)]
pub(crate) enum Files {
    None,
    Hostile,
}

pub(crate) struct Bash {
    folder: PathBuf,
    wrapper: Vec<String>,
}

/// What bash did with a line.
#[derive(Debug, Default)]
pub(crate) struct Ran {
    /// How each program was called, sorted.
    pub(crate) started: Vec<Vec<String>>,
    /// What the programs read from standard input, where they read it.
    pub(crate) read: Vec<String>,
    /// The name of each command that bash ran, builtins included.
    pub(crate) traced: Vec<String>,
    /// Files that were not there before.
    pub(crate) made: Vec<String>,
    /// A name was looked for and not found.
    pub(crate) unknown: bool,
    /// What bash said.
    pub(crate) errors: String,
}

impl Bash {
    /// A folder with recorders, or nothing where there is no bash that can be traced.
    pub(crate) fn find() -> Option<Self> {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let version = Command::new("/bin/bash").args(["-c", "exit $((BASH_VERSINFO[0] < 5))"]).status();
        if !version.is_ok_and(|status| status.success()) {
            return None;
        }
        let folder = std::env::temp_dir().join(format!("metier-shell-{}-{number}", std::process::id()));
        let _ = fs::remove_dir_all(&folder);
        for name in ["bin", "record", "work"] {
            fs::create_dir_all(folder.join(name)).expect("a folder");
            fs::set_permissions(folder.join(name), fs::Permissions::from_mode(0o777)).expect("its mode");
        }
        let record = folder.join("record").display().to_string();
        for name in RECORDERS {
            // A file per process, since the commands of a pipe run at the same time. `cat` reads, the others do not.
            let mut script = format!("#!/bin/sh\nprintf '%s\\0' \"${{0##*/}}\" \"$@\" >'{record}/argv.'$$\n");
            if *name == "cat" {
                script = script.replace("/bin/sh", "/bin/bash");
                script += &format!("IFS= read -r -d '' text\nprintf %s \"$text\" >'{record}/read.'$$\n");
            }
            fs::write(folder.join("bin").join(name), script).expect("a recorder");
            let mode = fs::Permissions::from_mode(0o755);
            fs::set_permissions(folder.join("bin").join(name), mode).expect("its mode");
        }
        let setup = format!(
            "unset BASH_ENV\ncommand_not_found_handle() {{ : >'{record}/unknown'; return 127; }}\n\
             exec 7>'{record}/trace'\nBASH_XTRACEFD=7 PS4='\n'\"$MARK\"\nunset MARK\nset -x\n"
        );
        fs::write(folder.join("setup.sh"), setup).expect("the setup");
        Some(Self { folder, wrapper: wrapper() })
    }

    /// Runs a line in a folder with these files.
    pub(crate) fn run(&self, line: &str, files: Files) -> Ran {
        let (record, work) = (self.folder.join("record"), self.folder.join("work"));
        empty(&record);
        empty(&work);
        let there: &[&str] = match files {
            Files::None => &[],
            Files::Hostile => HOSTILE,
        };
        for name in there {
            fs::write(work.join(name), "").expect("a file");
        }
        let mark = mark(line);
        let output = Command::new(&self.wrapper[0])
            .args(&self.wrapper[1..])
            .args(["/bin/bash", "--norc", "--noprofile", "-c", line])
            .env_clear()
            .env("PATH", self.folder.join("bin"))
            .env("LC_ALL", LOCALES[line.len() / 2 % LOCALES.len()])
            .env("HOME", "/nonexistent")
            .env("MARK", &mark)
            .env("BASH_ENV", self.folder.join("setup.sh"))
            .current_dir(&work)
            .stdin(Stdio::null())
            .output()
            .expect("bash starts");
        let mut ran = Ran { errors: String::from_utf8_lossy(&output.stderr).into_owned(), ..Ran::default() };
        ran.made = names(&work).into_iter().filter(|name| !there.contains(&name.as_str())).collect();
        for name in names(&record) {
            let text = String::from_utf8_lossy(&fs::read(record.join(&name)).expect("a record")).into_owned();
            match name.split('.').next() {
                Some("argv") => {
                    let words = text.strip_suffix('\0').unwrap_or(&text).split('\0');
                    ran.started.push(words.map(str::to_owned).collect());
                }
                Some("read") => ran.read.push(text),
                Some("trace") => {
                    let first = |piece: &str| piece.split([' ', '\n']).next().unwrap_or_default().to_owned();
                    ran.traced = text.split(mark.as_str()).skip(1).map(first).collect();
                }
                _ => ran.unknown = true,
            }
        }
        ran.started.sort();
        ran
    }

    /// Runs a line that was understood, all of whose commands are recorders or harmless builtins, and holds what bash
    /// did against what was understood.
    pub(crate) fn agrees(&self, line: &Line, files: Files) {
        let ran = self.run(&line.source, files);
        let source = &line.source;
        assert!(ran.made.is_empty(), "{source:?} made {:?}: {ran:?}", ran.made);
        assert!(!ran.unknown, "{source:?} looked for a program that is not there: {ran:?}");
        // So begins what bash says when it cannot read a line; `test` has syntax errors of its own.
        assert!(!ran.errors.contains("bash: -c: line"), "{source:?}: {ran:?}");

        let mut named: BTreeMap<&str, usize> = BTreeMap::new();
        for command in &line.commands {
            *named.entry(command.words[0].text.as_str()).or_default() += 1;
        }
        for name in &ran.traced {
            // The trace quotes what is odd in a name; of the names here only the bracket is.
            let name = name.trim_matches('\'');
            let left = named.get_mut(name).unwrap_or_else(|| panic!("{source:?} ran {name:?}: {ran:?}"));
            assert!(*left > 0, "{source:?} ran {name:?} too often: {ran:?}");
            *left -= 1;
        }

        let words = || line.commands.iter().flat_map(|command| &command.words);
        let recorded =
            line.commands.iter().all(|command| RECORDERS.contains(&command.words[0].text.as_str()));
        // Recorders say nothing, so whatever is said is bash's: a file that it could not open for one of them.
        assert!(!recorded || ran.errors.is_empty(), "{source:?}: {ran:?}");
        // A file opened for reading would show in what `cat` read: recorders write nothing into pipes.
        let given = |text: &String| {
            line.commands.iter().filter_map(|command| command.stdin.as_ref()).any(|own| own.body == *text)
        };
        assert!(
            !recorded || ran.read.iter().all(|text| text.is_empty() || given(text)),
            "{source:?}: {ran:?}"
        );
        // Where nothing is there to be found, a glob stays as it is; a path leads elsewhere, and so does `cd`.
        let stays = recorded && matches!(files, Files::None);
        if words().any(|word| word.glob && (!stays || word.text.contains(['/', '.']))) {
            for word in ran.started.iter().flat_map(|argv| &argv[1..]).filter(|word| word.starts_with('-')) {
                assert!(words().any(|own| own.text == *word), "{source:?} got the option {word:?}: {ran:?}");
            }
            return;
        }
        if recorded {
            assert_eq!(ran.started, expected(line), "{source:?}: {ran:?}");
        } else {
            // How builtins end decides what runs behind them; that much is bash's to say.
            let ours: Vec<Vec<&str>> =
                line.commands.iter().map(metier_policy::shell::Command::argv).collect();
            for argv in &ran.started {
                assert!(ours.iter().any(|own| own == argv), "{source:?} started {argv:?}: {ran:?}");
            }
        }
    }
}

impl Drop for Bash {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.folder);
    }
}

/// What recorders write down, given that each of them succeeds: all but the pipelines behind `||`.
fn expected(line: &Line) -> Vec<Vec<String>> {
    let mut started = Vec::new();
    let mut skipped = false;
    for (index, command) in line.commands.iter().enumerate() {
        if index > 0 && line.joints[index - 1] != Joint::Pipe {
            skipped = line.joints[index - 1] == Joint::Or;
        }
        if !skipped {
            started.push(command.argv().into_iter().map(str::to_owned).collect());
        }
    }
    started.sort();
    started
}

/// What bounds a run, as far as the machine has it: limits, time, and other rights than root's.
fn wrapper() -> Vec<String> {
    let limits = "ulimit -t 5; ulimit -f 2048; ulimit -c 0; exec \"$@\"";
    let mut wrapper = ["/bin/sh", "-c", limits, "sh"].map(str::to_owned).to_vec();
    if let Some(timeout) = program("timeout") {
        wrapper.extend([timeout, "-k".to_owned(), "1".to_owned(), "10".to_owned()]);
    }
    let root = fs::metadata("/proc/self").is_ok_and(|own| own.uid() == 0);
    if let Some(setpriv) = program("setpriv").filter(|_| root) {
        let rights = ["--reuid=65534", "--regid=65534", "--clear-groups", "--no-new-privs"];
        wrapper.push(setpriv);
        wrapper.extend(rights.map(str::to_owned));
    }
    wrapper
}

fn program(name: &str) -> Option<String> {
    ["/usr/bin", "/bin"].iter().map(|folder| format!("{folder}/{name}")).find(|path| Path::new(path).exists())
}

fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).expect("the folder");
    let mut names: Vec<_> =
        entries.map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

fn empty(folder: &Path) {
    for name in names(folder) {
        let path = folder.join(name);
        let _ = fs::remove_file(&path).or_else(|_| fs::remove_dir_all(&path));
    }
}
