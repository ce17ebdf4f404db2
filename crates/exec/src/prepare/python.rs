//! A Python environment: resolved to wheels, locked, installed from them.

use metier_diagnostic::counted;
use std::collections::BTreeSet;

use metier_sandbox::{Command, Ended, Report};

use super::PrepareError;
use super::environment_dir::{EnvironmentDir, Package};
use super::installer::{Installer, StepNetwork};
use super::lock::{self, LockedWheel};
use super::recipe::PythonRecipe;
use super::registry::Registry;
use super::requirement::PackageRequirement;
use crate::search_path::Program;

/// Settings of pip that hold for every call: none of the machine's or the user's configuration, which could name other
/// indexes, and nothing kept but what is asked for.
const SETTINGS: &[(&str, &str)] = &[
    ("PIP_CONFIG_FILE", "/dev/null"),
    ("PIP_DISABLE_PIP_VERSION_CHECK", "1"),
    ("PIP_NO_INPUT", "1"),
    ("PIP_NO_CACHE_DIR", "1"),
    ("PIP_PROGRESS_BAR", "off"),
    ("PIP_NO_WARN_SCRIPT_LOCATION", "1"),
];

/// Finds the pip that comes with this Python. It is used out of its wheel: installed into each environment, it would be most
/// of what is there.
const FIND_PIP: &str = "\
import ensurepip, glob, os, sysconfig
own = os.path.join(os.path.dirname(ensurepip.__file__), '_bundled')
for folder in filter(None, [sysconfig.get_config_var('WHEEL_PKG_DIR'), own]):
    for wheel in sorted(glob.glob(os.path.join(folder, 'pip-*.whl')))[-1:]:
        print(wheel)
        raise SystemExit
raise SystemExit('ensurepip has no pip')
";

/// Says which of the versions that are asked for this Python is not one of.
const CHECK_VERSION: &str = "\
import platform, sys
from pip._vendor.packaging.specifiers import SpecifierSet
own = platform.python_version()
wrong = [text for text in sys.argv[1:] if not SpecifierSet(text).contains(own, prereleases=True)]
if wrong:
    sys.exit('this is Python %s, and the skill wants %s' % (own, ', '.join(wrong)))
";

/// Lists the wheels of a folder with their digests.
const LIST_WHEELS: &str = "\
import hashlib, os, sys
for name in sorted(os.listdir(sys.argv[1])):
    digest = hashlib.sha256()
    with open(os.path.join(sys.argv[1], name), 'rb') as file:
        for piece in iter(lambda: file.read(1 << 20), b''):
            digest.update(piece)
    print(digest.hexdigest(), name)
";

/// The lock, if there is one and every wheel of it is at hand: then nobody has to be reached.
pub(crate) fn stocked(dir: &EnvironmentDir) -> Option<Vec<LockedWheel>> {
    let wheels = lock::read(&dir.read(&dir.lock())?)?;
    wheels.iter().all(|wheel| dir.has(&dir.stock().join(&wheel.file))).then_some(wheels)
}

/// Makes the environment, and says what is in it.
pub(crate) fn make(
    installer: &mut Installer<'_>,
    dir: &EnvironmentDir,
    recipe: &PythonRecipe,
    python: &Program,
    registry: &Registry,
) -> Result<Vec<Package>, PrepareError> {
    installer.variables = SETTINGS.iter().map(|(name, value)| ((*name).to_owned(), value.into())).collect();
    installer.programs = vec![python.clone()];
    installer.tell("making a Python environment");
    let begin = "mkdir -p \"$(dirname \"$2\")\"; rm -rf \"$1\" \"$1.json\"";
    installer.shell("making room", begin, [dir.folder(), dir.stock()], Vec::new())?;
    let own = dir.folder().join("bin/python");
    let venv = Command::new(&python.file).arguments(["-m", "venv", "--without-pip"]).argument(dir.folder());
    let find = Command::new(&own).arguments(["-c", FIND_PIP]);
    let mut report = installer.attempt(StepNetwork::Closed, &venv)?.0;
    if report.succeeded() {
        report = installer.attempt(StepNetwork::Closed, &find)?.0;
    }
    if !report.succeeded() {
        return Err(no_venv(&report, python));
    }
    installer.variables.push(("PYTHONPATH".to_owned(), report.stdout.text().trim_end().into()));
    if !recipe.requires_python.is_empty() {
        let check = Command::new(&own).arguments(["-c", CHECK_VERSION]).arguments(&recipe.requires_python);
        installer.step("looking at the version of Python", StepNetwork::Closed, &check)?;
    }
    let wheels = match stocked(dir) {
        Some(wheels) => wheels,
        None => fetch(installer, dir, recipe, registry)?,
    };
    installer.tell(&format!("installing {}", counted(wheels.len(), "package", "packages")));
    let install = Command::new(&own)
        .arguments(["-m", "pip", "install", "--no-index", "--require-hashes", "--only-binary", ":all:"])
        .argument("--find-links")
        .argument(dir.stock())
        .argument("-r")
        .argument(dir.lock());
    installer.step("installing", StepNetwork::Closed, &install)?;
    Ok(wheels.into_iter().map(|wheel| wheel.package).collect())
}

/// Fetches the wheels and writes the lock: what the lock says where there is one, else whatever fits the recipe now.
fn fetch(
    installer: &mut Installer<'_>,
    dir: &EnvironmentDir,
    recipe: &PythonRecipe,
    registry: &Registry,
) -> Result<Vec<LockedWheel>, PrepareError> {
    let names: BTreeSet<&str> = recipe.requirements.iter().map(PackageRequirement::name).collect();
    installer
        .tell(&format!("fetching {}, dependencies included", counted(names.len(), "package", "packages")));
    let known = dir.read(&dir.lock()).filter(|bytes| lock::read(bytes).is_some());
    let part = dir.stock().with_extension("part");
    let list = dir.stock().with_extension("txt");
    let lines: Vec<String> =
        recipe.requirements.iter().map(|requirement| format!("{requirement}\n")).collect();
    installer.shell(
        "making room",
        "rm -rf \"$1\" \"$2\"; mkdir \"$1\"",
        [&part, &dir.stock()],
        Vec::new(),
    )?;
    installer.write(&list, lines.concat().into_bytes())?;
    // Only wheels: a package in source runs its own program while it is built, before anybody has seen it.
    let mut download = Command::new(dir.folder().join("bin/python"))
        .arguments(["-m", "pip", "download", "--only-binary", ":all:", "--index-url"])
        .argument(&registry.url)
        .argument("--dest")
        .argument(&part)
        .argument("-r")
        .argument(if known.is_some() { dir.lock() } else { list.clone() });
    if known.is_some() {
        download = download.argument("--require-hashes");
    }
    // An index without TLS is one that whoever runs this has put up.
    if let (Some(_), Some((host, _))) = (registry.url.strip_prefix("http://"), registry.hosts.first()) {
        download = download.argument("--trusted-host").argument(host.as_str());
    }
    installer.step("fetching packages", StepNetwork::Open, &download).map_err(only_wheels)?;
    let digest = Command::new(dir.folder().join("bin/python")).arguments(["-c", LIST_WHEELS]).argument(&part);
    let report = installer.step("reading packages", StepNetwork::Closed, &digest)?;
    let text = report.stdout.text();
    let wheels = text.lines().map(|line| {
        let (digest, file) = line.split_once(' ').unwrap_or_default();
        LockedWheel::new(file, digest).ok_or_else(|| PrepareError::NoWheel(file.to_owned()))
    });
    let mut wheels = wheels.collect::<Result<Vec<_>, _>>()?;
    wheels.sort();
    installer.write(&dir.lock(), lock::write(&wheels))?;
    installer.shell(
        "keeping packages",
        "mv -T \"$1\" \"$2\"; rm -f \"$3\"",
        [&part, &dir.stock(), &list],
        Vec::new(),
    )?;
    Ok(wheels)
}

/// pip does not say that there is a package which was not looked at.
fn only_wheels(error: PrepareError) -> PrepareError {
    match error {
        PrepareError::Step { what, ended, mut said } if said.contains("No matching distribution found") => {
            said.push_str(
                "\nonly wheels are installed, since a package in source runs its own program while it is built; name a \
                 version that has a wheel for this Python",
            );
            PrepareError::Step { what, ended, said }
        }
        other => other,
    }
}

/// Debian and its like have Python without the part that makes environments.
fn no_venv(report: &Report, python: &Program) -> PrepareError {
    let said = format!("{}\n{}", report.stdout.text().trim(), report.stderr.text().trim());
    if said.contains("ensurepip") || said.contains("No module named venv") {
        return PrepareError::NoVenv { python: python.file.clone() };
    }
    let ended = match report.ended {
        Ended::Exited(status) => format!("ended with status {status}"),
        _ => "was stopped".to_owned(),
    };
    PrepareError::Step { what: "making a Python environment".to_owned(), ended, said: said.trim().to_owned() }
}
