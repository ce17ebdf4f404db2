//! A server that is a program: started contained, ended with whoever started it.

use std::ffi::OsString;
use std::io::{PipeReader, PipeWriter, Read};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use metier_catalog::one_line;
use metier_files::{Survey, SurveyBounds, private_folder, real_path};
use metier_policy::HostPattern;
use metier_proxy::{Contact, Limits as ProxyLimits, Proxy, Reach, System, Verdict, Warden, proxy_variables};
use metier_runtime::SearchPath;
use metier_sandbox::{
    Command, DataFolder, GATEWAY, Limits, Network, Profile, Project, ProjectAccess, Running, Sandbox,
};

use super::config::{ProgramConfig, StartFolder};
use super::writable::writable_folders;

/// How much of what a server complains of is kept, in bytes: its last words, for whoever asks why it ended.
const LAST_WORDS: usize = 4 * 1_024;

/// How long the end of standard error is waited for once the connection is gone. A process that it left behind may keep the stream
/// open for good.
const STDERR_TIMEOUT: Duration = Duration::from_secs(1);

/// How much processor time a server may take: it lives as long as a conversation, so this is only against one that spins.
const CPU: Duration = Duration::from_hours(24);

/// What servers that are programs stand on.
#[derive(Clone, Debug)]
pub struct Ground {
    /// What contains them.
    pub sandbox: Arc<Sandbox>,
    /// Where programs are found.
    pub path: SearchPath,
    /// The project, which they can read but for its secrets.
    pub project: Option<PathBuf>,
    /// The folder below which each server has one of its own, to keep things in.
    pub data: PathBuf,
    /// The language, such as `C.UTF-8`.
    pub language: String,
}

/// A server's process. When this is dropped, every process of it is ended.
#[derive(Debug)]
pub(super) struct Child {
    /// Ends it when it is dropped.
    _running: Running,
    /// Its way out, where it has one.
    _proxy: Option<Guarded>,
    stderr: Arc<StderrTail>,
}

/// The end of what a server writes to standard error.
#[derive(Debug, Default)]
struct StderrTail {
    kept: Mutex<KeptStderr>,
    /// Told when the stream ends.
    ended: Condvar,
}

#[derive(Debug, Default)]
struct KeptStderr {
    bytes: Vec<u8>,
    is_ended: bool,
}

/// A proxy, which has no words of its own for debugging.
struct Guarded(#[expect(dead_code, reason = "it serves until it is dropped")] Proxy);

impl std::fmt::Debug for Guarded {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Proxy")
    }
}

impl Child {
    /// What it wrote to standard error last, on one line; empty where it wrote nothing. Its connection is closed or does not answer,
    /// so the end of the stream is waited for: the reason often comes after the connection is gone.
    pub(super) fn last_words(&self) -> String {
        let kept = self.stderr.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let waited = self.stderr.ended.wait_timeout_while(kept, STDERR_TIMEOUT, |kept| !kept.is_ended);
        let (kept, _) = waited.unwrap_or_else(PoisonError::into_inner);
        one_line(&String::from_utf8_lossy(&kept.bytes), 400)
    }
}

impl Ground {
    /// Starts a server. Gives its process, what it writes and what it reads.
    pub(super) fn start(
        &self,
        label: &str,
        config: &ProgramConfig,
    ) -> Result<(Child, PipeReader, PipeWriter), String> {
        let program = self.program(config)?;
        let mut profile = self.profile(label, config)?;
        profile.programs.extend(program.shown.iter().cloned());
        let command = Command::new(&program.file).arguments(&config.args);
        let mut running = self
            .sandbox
            .start(&profile, &command)
            .map_err(|error| format!("`{}` could not be started: {error}", one_line(&config.command, 80)))?;
        let (Some(stdin), Some(stdout), Some(stderr)) =
            (running.stdin.take(), running.stdout.take(), running.stderr.take())
        else {
            return Err("it has no streams".to_owned());
        };
        let proxy = match running.gateway.take() {
            Some(listener) => {
                let warden = Arc::new(Hosts(config.hosts.clone()));
                let proxy = Proxy::start(listener, warden, Arc::new(System), ProxyLimits::default(), |_| {});
                Some(Guarded(proxy.map_err(|error| format!("it has no way out: {error}"))?))
            }
            None => None,
        };
        let tail = Arc::<StderrTail>::default();
        listen(stderr, &tail).map_err(|error| format!("its standard error cannot be read: {error}"))?;
        Ok((Child { _running: running, _proxy: proxy, stderr: tail }, stdout, stdin))
    }

    fn program(&self, config: &ProgramConfig) -> Result<metier_runtime::Program, String> {
        let shown = one_line(&config.command, 80);
        let found = if config.command.contains('/') {
            let base = config.folder.as_ref().map(StartFolder::path).or(self.project.as_deref());
            let path = base.map_or_else(|| PathBuf::from(&config.command), |base| base.join(&config.command));
            self.path.at(&path)
        } else {
            self.path.find(&config.command)
        };
        found.ok_or_else(|| format!("`{shown}` is not found, or is no program"))
    }

    /// The project read-only but for the folders it may write, a folder of its own to write, the system's programs, the hosts it is given, and nothing else.
    fn profile(&self, label: &str, config: &ProgramConfig) -> Result<Profile, String> {
        let own = self.data.join(label);
        let own = private_folder(&own).and_then(|()| real_path(&own));
        let own = own.map_err(|error| format!("it has no folder to keep things in: {error}"))?;
        let real = |path: &Path| real_path(path).map_err(|error| format!("`{}`: {error}", path.display()));
        let project = self.project.as_deref().map(real).transpose()?;
        let start = match (&config.folder, &project) {
            (Some(folder), _) => folder.real().map_err(|error| error.to_string())?,
            (None, Some(project)) => project.clone(),
            (None, None) => own.clone(),
        };
        let mut profile = Profile::new(start.clone());
        if project.as_ref().is_some_and(|project| start.starts_with(project)) {
            // Shown with the project, and there without what looks like a secret.
            profile.readable.clear();
        }
        let survey = project.as_deref().map(|project| Survey::of(project, SurveyBounds::default()));
        let survey =
            survey.transpose().map_err(|error| format!("the project cannot be looked over: {error}"))?;
        // Mounted above the read-only project, below what is masked.
        profile.writable =
            writable_folders(&config.write, survey.as_ref()).map_err(|error| error.to_string())?;
        if let (Some(project), Some(survey)) = (&project, &survey) {
            profile.project = Some(Project {
                access: ProjectAccess::ReadOnly,
                folder: project.clone(),
                writable: Vec::new(),
                masked: survey.masked(),
                protected: Vec::new(),
            });
        }
        let toolbox = self.path.usual_toolbox(&[]);
        profile.programs = toolbox.shown;
        profile.limits = Limits { cpu: CPU, ..Limits::default() };
        let mut set = |name: &str, value: OsString| profile.environment.push((name.into(), value));
        set("PATH", toolbox.path);
        set("LANG", self.language.clone().into());
        set("SERVER_DATA", own.clone().into());
        if let Some(project) = &project {
            set("PROJECT_DIR", project.clone().into());
        }
        for (name, value) in &config.env {
            // What metier sets keeps its meaning.
            if !profile.environment.iter().any(|(known, _)| known == name.as_str()) {
                profile.environment.push((name.into(), value.into()));
            }
        }
        profile.data = vec![DataFolder::new(own)];
        if !config.hosts.is_empty() {
            profile.network = Network::Gateway;
            profile.environment.extend(proxy_variables(GATEWAY.port()));
        }
        Ok(profile)
    }
}

/// Lets a server reach the hosts that its configuration names.
struct Hosts(Vec<HostPattern>);

impl Warden for Hosts {
    fn may(&self, contact: &Contact) -> Verdict {
        if self.0.iter().any(|hosts| hosts.matches(&contact.host, contact.port)) {
            // An address, or `localhost`, is named by whoever wrote it down; a name may lead to the open internet only.
            return Verdict::Pass(if contact.host.is_address() { Reach::Named } else { Reach::Public });
        }
        let remedy = format!("add `{}` to the `hosts` of the server", contact.host);
        Verdict::Refuse { reason: "the server's `hosts` do not name it".to_owned(), remedy: Some(remedy) }
    }
}

/// Reads standard error until it ends. Without it the server stops when the pipe is full.
fn listen(mut stderr: PipeReader, tail: &Arc<StderrTail>) -> std::io::Result<()> {
    let tail = Arc::clone(tail);
    thread::Builder::new().name("mcp-stderr".to_owned()).spawn(move || {
        let kept = || tail.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let mut buffer = [0; 4_096];
        while let Ok(read @ 1..) = stderr.read(&mut buffer) {
            let bytes = &mut kept().bytes;
            bytes.extend_from_slice(&buffer[..read]);
            let excess = bytes.len().saturating_sub(LAST_WORDS);
            bytes.drain(..excess);
        }
        kept().is_ended = true;
        tail.ended.notify_all();
    })?;
    Ok(())
}
