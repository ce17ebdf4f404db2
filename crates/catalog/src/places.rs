//! The folders of this machine that matter, as plain data.

use crate::bundled::Bundled;
use crate::remote::Remote;
use metier_files::UserPaths;
use std::path::PathBuf;
use std::sync::Arc;

/// Where things are. The program fills it from the environment once; no library reads the environment, so that a test,
/// a server with many users and a program that embeds metier all say for themselves what counts as home.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Places {
    /// The user's home directory, if there is one.
    pub home: Option<PathBuf>,
    /// The current folder, absolute.
    pub current: PathBuf,
    /// The system's temporary folder.
    pub temp: PathBuf,
    /// The folder of `config.toml`.
    pub config: PathBuf,
    /// The folder of metier's own records, such as `trust.json`.
    pub data: PathBuf,
    /// metier's own folder for the user's skills.
    pub user_skills: PathBuf,
    /// The folder for the skills of everybody on this machine.
    pub system_skills: PathBuf,
    /// The folder for what can be made again, such as the search index; `None` where nothing is kept.
    pub cache: Option<PathBuf>,
    /// git's configuration of the user and of the machine: it may name files of a project.
    pub git_configs: Vec<PathBuf>,
    /// The skills that come with the program, if it has any.
    pub bundled: Option<Bundled>,
    /// The skills of MCP servers, as they were listed last; `None` where there is no server.
    pub remote: Option<Arc<Remote>>,
}

impl Places {
    /// A machine on which there is nothing but a folder: no home, no configuration, no skills of the user's or the
    /// system's. For programs that name their roots and want nothing else.
    pub fn bare(current: PathBuf) -> Self {
        let nowhere = current.join(".nowhere");
        Self {
            home: None,
            temp: nowhere.clone(),
            config: nowhere.clone(),
            data: nowhere.clone(),
            user_skills: nowhere.clone(),
            system_skills: nowhere,
            bundled: None,
            cache: None,
            remote: None,
            git_configs: Vec::new(),
            current,
        }
    }

    /// metier's own files and folders. What is in them decides what runs.
    pub fn own(&self) -> Vec<PathBuf> {
        let files = ["config.toml", "approvals.json", "answers.json"].map(|name| self.config.join(name));
        let folders = [&self.config, &self.data, &self.user_skills].into_iter().chain(&self.cache);
        files.into_iter().chain(folders.cloned()).collect()
    }

    /// The user's files that matter for what is protected in a project.
    pub fn user_paths(&self) -> UserPaths {
        UserPaths { home: self.home.clone(), metier: self.own(), git_configs: self.git_configs.clone() }
    }

    /// The user's configuration file.
    pub fn config_file(&self) -> PathBuf {
        self.config.join("config.toml")
    }

    /// A path as people write it: `~` is the home directory, anything relative is seen from `from`.
    pub(crate) fn resolve(&self, written: &str, from: &std::path::Path) -> PathBuf {
        let home = |rest: &str| self.home.as_ref().map(|home| home.join(rest));
        match written.strip_prefix("~/") {
            Some(rest) => home(rest.trim_start_matches('/')),
            None if written == "~" => self.home.clone(),
            None => None,
        }
        .unwrap_or_else(|| from.join(written))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    #[test]
    fn written_paths_are_seen_from_home_or_from_their_file() {
        let mut places = Places {
            home: Some("/home/ada".into()),
            current: "/project".into(),
            temp: "/tmp".into(),
            config: "/home/ada/.config/metier".into(),
            data: "/home/ada/.local/share/metier".into(),
            user_skills: "/home/ada/.config/metier/skills".into(),
            system_skills: "/etc/metier/skills".into(),
            bundled: None,
            cache: None,
            remote: None,
            git_configs: Vec::new(),
        };
        let table = [
            ("~/team", "/home/ada/team"),
            ("~", "/home/ada"),
            ("~//etc", "/home/ada/etc"),
            ("team", "/from/team"),
            ("/srv/team", "/srv/team"),
            ("~team", "/from/~team"),
        ];
        for (written, expected) in table {
            assert_eq!(places.resolve(written, Path::new("/from")), Path::new(expected), "{written}");
        }
        places.home = None;
        assert_eq!(places.resolve("~/team", Path::new("/from")), Path::new("/from/~/team"));
    }
}
