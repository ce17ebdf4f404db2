//! Where an environment is made: contained, with the data folder to write to and nothing else of the user's.

use std::ffi::OsString;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use metier_files::{Kind, kind};
use metier_proxy::{Outside, Warden};
use metier_sandbox::{
    Attendance, Cancel, Command, DataFolder, Ended, Limits, Profile, Report, Sandbox, Stop,
};

use super::PrepareError;
use super::environment_dir::EnvironmentDir;
use super::registry::ApprovedRegistries;
use crate::network_access::{CallProxy, with_gateway};
use crate::search_path::{Program, Toolbox};

/// How much a data folder may hold while it is prepared. What scripts keep by themselves is bounded far below that, but
/// packages for computing and drawing take some hundred megabytes, and come twice: as they were fetched and as they are
/// installed.
pub(crate) const MAX_DATA: u64 = 2 << 30;

/// How long one step may take: some hundred megabytes over a slow line.
const STEP_TIMEOUT: Duration = Duration::from_mins(15);

/// How much of what a failed step wrote is shown: the end, where errors stand.
const MAX_SAID: usize = 2000;

/// Where systems keep the certificates of the authorities they trust. Installers carry lists of their own, which lack an
/// authority that the user's company added to the system.
const CERTIFICATES: &[&str] = &[
    "/etc/ssl/certs/ca-certificates.crt",
    "/etc/pki/tls/certs/ca-bundle.crt",
    "/etc/ssl/ca-bundle.pem",
    "/etc/ssl/cert.pem",
];

/// The variables by which programs are told of them.
const CERTIFICATE_NAMES: &[&str] =
    &["SSL_CERT_FILE", "PIP_CERT", "REQUESTS_CA_BUNDLE", "NODE_EXTRA_CA_CERTS"];

/// Whether a step reaches its registry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum StepNetwork {
    Closed,
    Open,
}

/// Runs the steps of an installation, contained.
pub(crate) struct Installer<'a> {
    pub(crate) sandbox: &'a Sandbox,
    pub(crate) data: &'a Path,
    pub(crate) toolbox: &'a Toolbox,
    pub(crate) language: &'a str,
    pub(crate) outside: &'a Arc<dyn Outside>,
    pub(crate) warden: Arc<ApprovedRegistries>,
    pub(crate) cancel: Option<&'a Cancel>,
    pub(crate) progress: &'a mut dyn FnMut(&str),
    /// What is shown of the user's folders, beside the toolbox.
    pub(crate) programs: Vec<Program>,
    /// Variables of the installer.
    pub(crate) variables: Vec<(String, OsString)>,
}

impl Installer<'_> {
    /// Says what is done next.
    pub(crate) fn tell(&mut self, what: &str) {
        (self.progress)(what);
    }

    /// Runs one step, which has to succeed.
    pub(crate) fn step(
        &mut self,
        what: &str,
        line: StepNetwork,
        command: &Command,
    ) -> Result<Report, PrepareError> {
        let (report, heard) = self.attempt(line, command)?;
        if report.succeeded() {
            return Ok(report);
        }
        Err(PrepareError::Step { what: what.to_owned(), ended: ended(&report), said: said(&report, &heard) })
    }

    /// Runs one step, which may fail, and gives what was heard about contacts that were not made.
    pub(crate) fn attempt(
        &mut self,
        line: StepNetwork,
        command: &Command,
    ) -> Result<(Report, Vec<String>), PrepareError> {
        let profile = self.profile(line);
        let mut porter = CallProxy::new(Arc::clone(&self.warden) as Arc<dyn Warden>, self.outside);
        let mut serve = |listener| porter.serve(listener);
        let attendance =
            Attendance { cancel: self.cancel, porter: Some(&mut serve), ..Attendance::default() };
        let report = self.sandbox.run_with(&profile, command, attendance)?;
        let (contacts, problem) = porter.finish();
        if let Some(error) = problem {
            return Err(PrepareError::Proxy(error));
        }
        let heard = contacts.notes();
        Ok((report, heard))
    }

    /// Runs a few lines of a shell, with the words behind them as `$1`, `$2` and so on.
    pub(crate) fn shell<A: Into<OsString>>(
        &mut self,
        what: &str,
        script: &str,
        words: impl IntoIterator<Item = A>,
        input: Vec<u8>,
    ) -> Result<Report, PrepareError> {
        let script = format!("set -eu\n{script}");
        let command =
            Command::new("/bin/sh").arguments(["-c", &script, "prepare"]).arguments(words).stdin(input);
        self.step(what, StepNetwork::Closed, &command)
    }

    /// Writes a file of the data folder: whole or not at all.
    pub(crate) fn write(&mut self, path: &Path, bytes: Vec<u8>) -> Result<(), PrepareError> {
        let script = "cat > \"$1.part\"; mv -fT \"$1.part\" \"$1\"";
        self.shell("writing to the data folder", script, [path], bytes).map(drop)
    }

    /// How much environments take, in bytes on disk, with what was fetched for them. Nothing else that lies there counts: it
    /// may be a script's, which would have more room for it.
    pub(crate) fn size(&mut self, dirs: &[&EnvironmentDir]) -> Result<u64, PrepareError> {
        let script = "for place; do if [ -e \"$place\" ]; then du -sk \"$place\"; fi; done | cut -f1";
        let places = dirs.iter().flat_map(|dir| [dir.folder(), dir.stock(), dir.lock()]);
        let report = self.shell("measuring", script, places, Vec::new())?;
        let text = report.stdout.text();
        let sizes = text.lines().map(|line| line.trim().parse::<u64>().unwrap_or_default());
        Ok(sizes.sum::<u64>().saturating_mul(1024).min(MAX_DATA))
    }

    fn profile(&self, line: StepNetwork) -> Profile {
        let mut environment: Vec<(OsString, OsString)> =
            vec![("PATH".into(), self.toolbox.path.clone()), ("LANG".into(), self.language.into())];
        let certificates = CERTIFICATES.iter().find(|file| kind(Path::new(file)) == Kind::File);
        if let Some(file) = certificates.filter(|_| line == StepNetwork::Open) {
            environment.extend(CERTIFICATE_NAMES.iter().map(|name| (name.into(), file.into())));
        }
        environment.extend(self.variables.iter().map(|(name, value)| (name.into(), value.clone())));
        let mut programs = self.toolbox.shown.clone();
        programs.extend(self.programs.iter().flat_map(|program| program.shown.iter().cloned()));
        programs.sort();
        programs.dedup();
        let profile = Profile {
            readable: Vec::new(),
            data: vec![DataFolder::new(self.data.to_owned())],
            programs,
            environment,
            limits: Limits { time: STEP_TIMEOUT, cpu: STEP_TIMEOUT, data: MAX_DATA, ..Limits::default() },
            ..Profile::new(self.data.to_owned())
        };
        if line == StepNetwork::Open { with_gateway(&profile) } else { profile }
    }
}

fn ended(report: &Report) -> String {
    match report.ended {
        Ended::Exited(status) => format!("ended with status {status}"),
        Ended::Signaled(signal) => format!("was ended by signal {signal}"),
        Ended::Stopped(Stop::Data) => {
            let most = MAX_DATA >> 20;
            format!("was stopped: the data folder held more than {most} MiB or 20,000 files")
        }
        Ended::Stopped(stop) => format!("was stopped: over its limit of {}", stop.word()),
    }
}

/// The end of what a step wrote, and what the proxy has to say.
fn said(report: &Report, heard: &[String]) -> String {
    let text = |text: String| text.trim().to_owned();
    let (out, err) = (text(report.stdout.text()), text(report.stderr.text()));
    let whole = if err.is_empty() { out } else { err };
    let begin = whole.char_indices().rev().nth(MAX_SAID).map_or(0, |(at, _)| at);
    let mut said = whole.get(begin..).unwrap_or_default().to_owned();
    for line in heard {
        said.push('\n');
        said.push_str(line);
    }
    said
}
