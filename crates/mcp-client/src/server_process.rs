//! A server that metier starts: sandboxed, and ended when it is dropped.

use std::ffi::OsString;
use std::io::{PipeReader, PipeWriter, Read};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use metier_catalog::one_line;
use metier_exec::SearchPath;
use metier_files::{Survey, SurveyBounds, UserPaths, private_folder, real_path};
use metier_policy::HostPattern;
use metier_proxy::{Contact, Limits as ProxyLimits, Proxy, Reach, System, Verdict, Warden, proxy_variables};
use metier_sandbox::{
    Command, DataFolder, GATEWAY, Limits, Network, Profile, Project, ProjectAccess, Running, Sandbox,
};

use super::config::{ProgramConfig, StartFolder};
use super::writable::writable_folders;

/// How many bytes of stderr are kept to explain why a server exited.
const MAX_STDERR_TAIL: usize = 4 * 1_024;

/// How long to wait for the end of stderr after the connection closed. A background process of the server may keep the stream
/// open forever.
const STDERR_TIMEOUT: Duration = Duration::from_secs(1);

/// CPU limit of a server. It lives as long as a session, so this only stops one that spins.
const CPU_LIMIT: Duration = Duration::from_hours(24);

/// What is needed to start servers.
#[derive(Clone, Debug)]
pub struct ServerHost {
    /// The sandbox.
    pub sandbox: Arc<Sandbox>,
    /// Where programs are searched.
    pub path: SearchPath,
    /// The project. Servers can read it except for its secrets.
    pub project: Option<PathBuf>,
    /// The parent of each server's data folder.
    pub data: PathBuf,
    /// The user's files that matter for what is protected in the project.
    pub user: UserPaths,
    /// The locale, such as `C.UTF-8`.
    pub language: String,
}

/// A running server. Dropping it ends all its processes.
pub(crate) struct ServerProcess {
    /// Ends the processes when dropped.
    _running: Running,
    /// The proxy, if the server may use the network.
    _proxy: Option<Proxy>,
    stderr: Arc<StderrTail>,
}

/// The end of a server's stderr.
#[derive(Debug, Default)]
struct StderrTail {
    kept: Mutex<KeptStderr>,
    /// Notified when the stream ends.
    ended: Condvar,
}

#[derive(Debug, Default)]
struct KeptStderr {
    bytes: Vec<u8>,
    is_ended: bool,
}

impl ServerProcess {
    /// The end of stderr on one line, to follow a message; empty if there is none. Waits for the end of the stream, because the reason often comes
    /// after the connection closed.
    pub(crate) fn stderr_suffix(&self) -> String {
        let kept = self.stderr.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let waited = self.stderr.ended.wait_timeout_while(kept, STDERR_TIMEOUT, |kept| !kept.is_ended);
        let (kept, _) = waited.unwrap_or_else(PoisonError::into_inner);
        match one_line(&String::from_utf8_lossy(&kept.bytes), 400) {
            tail if tail.is_empty() => tail,
            tail => format!("; stderr: {tail}"),
        }
    }
}

impl ServerHost {
    /// Starts a server. Returns its process, stdout and stdin.
    pub(crate) fn start(
        &self,
        label: &str,
        config: &ProgramConfig,
    ) -> Result<(ServerProcess, PipeReader, PipeWriter), String> {
        let program = self.program(config)?;
        let mut profile = self.profile(label, config)?;
        profile.programs.extend(program.shown.iter().cloned());
        let command = Command::new(&program.file).arguments(&config.args);
        let mut running = self
            .sandbox
            .start(&profile, &command)
            .map_err(|error| format!("cannot start `{}`: {error}", one_line(&config.command, 80)))?;
        let (Some(stdin), Some(stdout), Some(stderr)) =
            (running.stdin.take(), running.stdout.take(), running.stderr.take())
        else {
            return Err("it has no standard streams".to_owned());
        };
        let proxy = match running.gateway.take() {
            Some(listener) => {
                let warden = Arc::new(HostAllowlist(config.hosts.clone()));
                let proxy = Proxy::start(listener, warden, Arc::new(System), ProxyLimits::default(), |_| {});
                Some(proxy.map_err(|error| format!("cannot start its proxy: {error}"))?)
            }
            None => None,
        };
        let tail = Arc::<StderrTail>::default();
        read_stderr(stderr, &tail).map_err(|error| format!("cannot read its stderr: {error}"))?;
        Ok((ServerProcess { _running: running, _proxy: proxy, stderr: tail }, stdout, stdin))
    }

    fn program(&self, config: &ProgramConfig) -> Result<metier_exec::Program, String> {
        let shown = one_line(&config.command, 80);
        let found = if config.command.contains('/') {
            let base = config.folder.as_ref().map(StartFolder::path).or(self.project.as_deref());
            let path = base.map_or_else(|| PathBuf::from(&config.command), |base| base.join(&config.command));
            self.path.at(&path)
        } else {
            self.path.find(&config.command)
        };
        found.ok_or_else(|| format!("`{shown}` not found, or not executable"))
    }

    /// The sandbox profile: the project read-only except for writable folders, a data folder, the system's programs, the allowed
    /// hosts.
    fn profile(&self, label: &str, config: &ProgramConfig) -> Result<Profile, String> {
        let own = self.data.join(label);
        let own = private_folder(&own).and_then(|()| real_path(&own));
        let own = own.map_err(|error| format!("cannot create its data folder: {error}"))?;
        let real = |path: &Path| real_path(path).map_err(|error| format!("`{}`: {error}", path.display()));
        let project = self.project.as_deref().map(real).transpose()?;
        let start = match (&config.folder, &project) {
            (Some(folder), _) => folder.real().map_err(|error| error.to_string())?,
            (None, Some(project)) => project.clone(),
            (None, None) => own.clone(),
        };
        let mut profile = Profile::new(start.clone());
        if project.as_ref().is_some_and(|project| start.starts_with(project)) {
            // It is visible as part of the project, where secrets are masked.
            profile.readable.clear();
        }
        let survey = project.as_deref().map(|project| Survey::of(project, SurveyBounds::default()));
        let survey = survey.transpose().map_err(|error| format!("cannot scan the project: {error}"))?;
        let survey = survey.map(|survey| survey.with_user(self.user.clone()));
        // Mounted over the read-only project, under the masks.
        profile.writable = writable_folders(&config.write, survey.as_ref())?;
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
        profile.limits = Limits { cpu: CPU_LIMIT, ..Limits::default() };
        let mut set = |name: &str, value: OsString| profile.environment.push((name.into(), value));
        set("PATH", toolbox.path);
        set("LANG", self.language.clone().into());
        set("SERVER_DATA", own.clone().into());
        if let Some(project) = &project {
            set("PROJECT_DIR", project.clone().into());
        }
        for (name, value) in &config.env {
            // Variables that metier sets take precedence.
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

/// Allows the hosts that the server's configuration names.
struct HostAllowlist(Vec<HostPattern>);

impl Warden for HostAllowlist {
    fn may(&self, contact: &Contact) -> Verdict {
        if self.0.iter().any(|hosts| hosts.matches(&contact.host, contact.port)) {
            // A configured IP address or `localhost` is deliberate. A name may only resolve to public addresses.
            return Verdict::Pass(if contact.host.is_address() { Reach::Named } else { Reach::Public });
        }
        let remedy = format!("add `{}` to the `hosts` of the server", contact.host);
        Verdict::Refuse { reason: "it is not in the server's `hosts`".to_owned(), remedy: Some(remedy) }
    }
}

/// Reads stderr until it ends. Otherwise the server would block on a full pipe.
fn read_stderr(mut stderr: PipeReader, tail: &Arc<StderrTail>) -> std::io::Result<()> {
    let tail = Arc::clone(tail);
    thread::Builder::new().name("mcp-stderr".to_owned()).spawn(move || {
        let kept = || tail.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let mut buffer = [0; 4_096];
        while let Ok(read @ 1..) = stderr.read(&mut buffer) {
            let bytes = &mut kept().bytes;
            bytes.extend_from_slice(&buffer[..read]);
            let excess = bytes.len().saturating_sub(MAX_STDERR_TAIL);
            bytes.drain(..excess);
        }
        kept().is_ended = true;
        tail.ended.notify_all();
    })?;
    Ok(())
}
