//! The file system that a Containerfile describes, without a container engine.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};

use super::namespace::Namespace;
use super::run;

/// What engines set where an image does not.
const SEARCH_PATH: &str = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/// A root folder, and how its container starts.
#[derive(Debug)]
pub(super) struct ContainerRoot {
    folder: PathBuf,
    recipe: Recipe,
}

/// What a Containerfile says.
#[derive(Debug, Default, PartialEq, Eq)]
struct Recipe {
    /// From the context to the container.
    copies: Vec<(String, String)>,
    environment: Vec<(String, String)>,
    user: u32,
    folder: String,
    entrypoint: Vec<String>,
}

impl ContainerRoot {
    /// Copies what the Containerfile in `context` copies. The base image is left out: an engine would have to fetch it.
    pub(super) fn build(context: &Path, folder: &Path) -> Result<Self> {
        let text =
            fs::read_to_string(context.join("Containerfile")).context("the Containerfile is missing")?;
        let recipe = Recipe::parse(&text)?;
        if recipe.user == 0 {
            bail!("the container's user is root; name another with USER");
        }
        let inside = |path: &str| folder.join(path.trim_start_matches('/'));
        for (from, to) in &recipe.copies {
            copy(&context.join(from), &inside(to))?;
        }
        // What engines add to every container, and bubblewrap mounts on.
        for path in [recipe.folder.as_str(), "/proc", "/dev", "/tmp"] {
            fs::create_dir_all(inside(path))?;
        }
        Ok(Self { folder: folder.to_owned(), recipe })
    }

    /// The programs of Alpine: it is made of busybox, too.
    pub(super) fn add_busybox(&self) -> Result<()> {
        let folder = self.folder.join("bin");
        fs::create_dir_all(&folder)?;
        let path = run(Command::new("sh").args(["-c", "command -v busybox"]))?;
        fs::copy(path.trim(), folder.join("busybox"))?;
        for name in run(Command::new("busybox").arg("--list"))?.lines().filter(|name| *name != "busybox") {
            symlink("busybox", folder.join(name))?;
        }
        Ok(())
    }

    /// Where its program runs.
    pub(super) fn namespace(&self) -> Namespace {
        let Recipe { environment, user, folder, entrypoint, .. } = &self.recipe;
        let search_path = ("PATH".to_owned(), SEARCH_PATH.to_owned());
        let environment: Vec<_> = std::iter::once(search_path).chain(environment.iter().cloned()).collect();
        Namespace::on_root(&self.folder, *user, &environment, folder, entrypoint)
    }
}

impl Recipe {
    /// Reads the instructions that the file uses. Any other is an error: it would be left out in silence.
    fn parse(text: &str) -> Result<Self> {
        let mut recipe = Self::default();
        for line in text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#')) {
            let (instruction, rest) = line.split_once(' ').unwrap_or((line, ""));
            match instruction {
                "ARG" | "FROM" | "CMD" => {}
                "COPY" => {
                    let paths: Vec<&str> =
                        rest.split_whitespace().filter(|word| !word.starts_with("--chown=")).collect();
                    let [from, to] = paths[..] else { bail!("`{line}` copies not one path to another") };
                    recipe.copies.push((from.to_owned(), to.to_owned()));
                }
                "ENV" => {
                    let (name, value) =
                        rest.split_once('=').with_context(|| format!("`{line}` has no `=`"))?;
                    recipe.environment.push((name.to_owned(), value.to_owned()));
                }
                "WORKDIR" => rest.clone_into(&mut recipe.folder),
                "USER" => {
                    let user = rest.split(':').next().unwrap_or_default();
                    recipe.user = user.parse().with_context(|| format!("`{line}` names no number"))?;
                }
                "ENTRYPOINT" => {
                    recipe.entrypoint = serde_json::from_str(rest).with_context(|| format!("`{line}`"))?;
                }
                _ => bail!("the instruction `{instruction}` is unknown to this test; add it to {}", file!()),
            }
        }
        Ok(recipe)
    }
}

/// A file, or a folder with the files in it.
fn copy(from: &Path, to: &Path) -> Result<()> {
    let context = || format!("{} cannot be copied", from.display());
    if let Some(folder) = to.parent() {
        fs::create_dir_all(folder)?;
    }
    if !from.is_dir() {
        fs::copy(from, to).with_context(context)?;
        return Ok(());
    }
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from).with_context(context)? {
        let entry = entry?;
        copy(&entry.path(), &to.join(entry.file_name()))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn instructions_are_read() {
        let text = "# A comment\nARG BASE=a\nFROM ${BASE}\nCOPY --chown=1:1 a /b\nENV HOME=/b\nUSER 7:7\nWORKDIR /w\nENTRYPOINT [\"/a\", \"b\"]\n";
        let expected = Recipe {
            copies: vec![("a".to_owned(), "/b".to_owned())],
            environment: vec![("HOME".to_owned(), "/b".to_owned())],
            user: 7,
            folder: "/w".to_owned(),
            entrypoint: vec!["/a".to_owned(), "b".to_owned()],
        };
        assert_eq!(Recipe::parse(text).unwrap(), expected);
    }

    #[test]
    fn an_unknown_instruction_is_an_error() {
        let error = Recipe::parse("FROM scratch\nRUN true\n").unwrap_err().to_string();
        assert!(error.contains("`RUN`"), "{error}");
    }
}
