//! Writing to the project: which places are opened for a call, and what could not be written without them.

use std::path::{Path, PathBuf};

use metier_files::{Blank, Kind, Matching, Survey, kind, matching, plain_path, real_path};
use metier_policy::{FileGlob, Shape};

use crate::write_grant::{WriteGrantError, check_place, check_writes};

/// How many files of a project are opened for one pattern. Each is a mount, and a hundred take a tenth of a second.
const MOST_FILES: usize = 100;

/// How many names are looked at to find them. A project that has more has folders to be named instead.
const MOST_LOOKS: usize = 20_000;

/// The places of a project that one call may write.
#[derive(Debug, Default)]
pub(crate) struct Writing {
    /// Files and folders, without links on the way.
    pub(crate) places: Vec<PathBuf>,
    /// What could not be opened, a sentence each.
    pub(crate) notes: Vec<String>,
    blanks: Vec<Blank>,
}

impl Writing {
    /// Opens what the globs mean. What is not there yet is made empty, since a place that is not there cannot be shown;
    /// [`Writing::settle`] takes it away again if it stays so.
    pub(crate) fn open(globs: &[FileGlob], survey: &Survey) -> Result<Self, WriteGrantError> {
        check_writes(globs, survey)?;
        let mut writing = Self::default();
        for glob in globs {
            let known = writing.places.len();
            if let Err(why) = writing.add(glob, survey.project()) {
                writing.notes.push(format!("`{glob}` is not open for writing: {why}"));
            }
            // Once more by what was opened: a link may have come between.
            let opened = writing.places.iter().skip(known);
            let checked = opened.map(|place| check_place(glob, place, kind(place) == Kind::Folder, survey));
            if let Err(error) = checked.collect::<Result<Vec<()>, _>>() {
                writing.settle();
                return Err(error);
            }
        }
        writing.places.sort();
        writing.places.dedup();
        Ok(writing)
    }

    /// Opens the folder that a crew's skills write, which its crew file makes theirs without a question. Nothing but the
    /// folder itself: a link in its place could lead to any other part of the project.
    pub(crate) fn open_crew(&mut self, data: &Path, project: &Path) -> Option<PathBuf> {
        let opened = (|| {
            if !data.starts_with(project) {
                return Err("it is outside the project".to_owned());
            }
            if kind(data) == Kind::Missing {
                // A link that leads nowhere is in the way and makes this fail, as it should.
                self.blanks.push(Blank::folder(data).map_err(|error| error.to_string())?);
            }
            let real = real_path(data).map_err(|error| error.to_string())?;
            if real != data || kind(data) != Kind::Folder {
                return Err("it is a link or no folder".to_owned());
            }
            Ok(real)
        })();
        let place = match opened {
            Ok(place) => place,
            Err(why) => {
                self.notes.push(format!("{}, which the crew writes, is not open: {why}", data.display()));
                return None;
            }
        };
        self.places.push(place.clone());
        self.places.sort();
        self.places.dedup();
        Some(place)
    }

    fn add(&mut self, glob: &FileGlob, project: &Path) -> Result<(), String> {
        match glob.shape() {
            Shape::Elsewhere => Err("only places of the project can be opened".to_owned()),
            Shape::One(path) => {
                let place = project.join(&path);
                if kind(&place) == Kind::Missing {
                    inside(place.parent().unwrap_or(project), project)?;
                    self.blanks.push(Blank::file(&place).map_err(|error| error.to_string())?);
                }
                self.places.push(inside(&place, project)?);
                Ok(())
            }
            Shape::Below(folder) => {
                let mut place = project.to_owned();
                for step in Path::new(&folder).components() {
                    place.push(step);
                    if kind(&place) == Kind::Missing {
                        self.blanks.push(Blank::folder(&place).map_err(|error| error.to_string())?);
                    }
                    place = inside(&place, project)?;
                }
                self.places.push(place);
                Ok(())
            }
            Shape::Some(folder) => {
                let folder = inside(&project.join(&folder), project)?;
                let found = matching_files(glob, &folder, project);
                self.places.extend(found.files);
                if found.is_partial {
                    return Err(format!("more than {MOST_FILES} files are meant; name a folder instead"));
                }
                self.notes.push(format!(
                    "`{glob}` is open where it means files that are there; for new ones a folder has to be named"
                ));
                Ok(())
            }
        }
    }

    /// What was made, empty, and was not there before.
    pub(crate) fn made(&self) -> Vec<PathBuf> {
        self.blanks.iter().map(|blank| blank.path().to_owned()).collect()
    }

    /// Takes away what was made and stayed empty.
    pub(crate) fn settle(self) {
        // The innermost folder was made last.
        self.blanks.into_iter().rev().for_each(Blank::settle);
    }
}

/// The files of a project below a folder that a glob means.
pub(crate) fn matching_files(glob: &FileGlob, folder: &Path, project: &Path) -> Matching {
    matching(project, folder, MOST_LOOKS, MOST_FILES, |path| glob.matches(path))
}

/// The place without links, where it is in the project. A link of the project's own may lead anywhere.
fn inside(place: &Path, project: &Path) -> Result<PathBuf, String> {
    let real = real_path(place).map_err(|error| error.to_string())?;
    if real.starts_with(project) {
        Ok(real)
    } else {
        Err(format!("{} is a link out of the project", place.display()))
    }
}

/// What programs say of a place that cannot be written.
const REFUSED: &str = "read-only file system";

/// The most places that are named; a script that fails to write a hundred files fails for one reason.
const MOST_NAMED: usize = 5;

/// The files of the project that a program says it could not write, from what it wrote to its standard error. `start` is
/// where it ran. That is a guess by the words of the usual programs, and it is only used to say what would help.
pub(crate) fn unwritten(text: &str, start: &Path, project: &Path) -> Vec<PathBuf> {
    let mut found: Vec<PathBuf> = Vec::new();
    for line in text.lines() {
        let Some(at) = line.to_ascii_lowercase().find(REFUSED) else { continue };
        let named = quoted(line).or_else(|| before_colon(line.get(..at).unwrap_or_default()));
        // Many scripts go to the project first, and then name its files from there.
        let places = named.map(|path| [start, project].map(|from| plain_path(&from.join(path))));
        let place = places.and_then(|places| places.into_iter().find(|place| place.starts_with(project)));
        if let Some(place) = place.filter(|place| !found.contains(place) && found.len() < MOST_NAMED) {
            found.push(place);
        }
    }
    found
}

/// `'…'`, `"…"`, `` `…` `` or `‘…’`: the last of them in a line.
fn quoted(line: &str) -> Option<&str> {
    let pairs = [('\'', '\''), ('"', '"'), ('`', '`'), ('\u{2018}', '\u{2019}'), ('`', '\'')];
    pairs.into_iter().find_map(|(open, close)| {
        let end = line.rfind(close)?;
        let start = line.get(..end)?.rfind(open)? + open.len_utf8();
        line.get(start..end).filter(|inner| !inner.is_empty())
    })
}

/// `bash: line 1: docs/a.md: `: what stands between the last two colons.
fn before_colon(text: &str) -> Option<&str> {
    let text = text.trim_end().strip_suffix(':')?;
    let said = text.rsplit(": ").next()?.trim();
    // dash and busybox say what they could not do in the same breath.
    let could_not = ["cannot create ", "can't create ", "cannot open ", "can't open "];
    let path = could_not.iter().find_map(|words| said.strip_prefix(words)).unwrap_or(said);
    (!path.is_empty()).then_some(path)
}

/// The glob that would open a place, as narrow as it stays useful: the folder it is in, or the file itself at the top.
pub(crate) fn opening(path: &Path, project: &Path) -> Option<FileGlob> {
    let inner = path.strip_prefix(project).ok()?;
    let folder = inner.parent().filter(|folder| !folder.as_os_str().is_empty());
    match folder {
        Some(folder) => {
            let exact = FileGlob::exact(folder.to_str()?).ok()?;
            format!("{exact}/**").parse().ok()
        }
        None => FileGlob::exact(inner.to_str()?).ok(),
    }
}

#[cfg(test)]
mod tests {
    use metier_testkit::Workspace;

    use super::*;

    #[test]
    fn what_a_glob_means_is_opened_and_nothing_else() {
        let workspace = Workspace::new()
            .file("p/docs/a.md", "x")
            .file("p/docs/b.txt", "x")
            .file("p/c.md", "x")
            .dir("elsewhere")
            .symlink("p/out", "../elsewhere");
        let project = workspace.join("p");
        let survey = Survey::of(&project, metier_files::SurveyBounds::default()).unwrap();
        let open = |glob: &str| {
            let writing = Writing::open(&[glob.parse().unwrap()], &survey).unwrap();
            let places: Vec<_> = writing
                .places
                .iter()
                .map(|place| place.strip_prefix(&project).unwrap().to_string_lossy().into_owned())
                .collect();
            let notes = writing.notes.len();
            writing.settle();
            (places.join(" "), notes)
        };
        for (glob, places, notes) in [
            ("docs/**", "docs", 0),
            ("docs/", "docs", 0),
            ("docs", "docs", 0),
            ("docs/a.md", "docs/a.md", 0),
            ("new.txt", "new.txt", 0),
            ("new/deep/**", "new/deep", 0),
            ("docs/*.md", "docs/a.md", 1),
            ("**/*.md", "c.md docs/a.md", 1),
            ("out/**", "", 1),
            ("out/x", "", 1),
            ("missing/x", "", 1),
            ("/etc/**", "", 1),
        ] {
            assert_eq!(open(glob), (places.to_owned(), notes), "{glob}");
        }
        for name in ["new.txt", "new"] {
            assert_eq!(kind(&project.join(name)), Kind::Missing, "{name}");
        }
    }

    #[test]
    fn programs_say_what_they_could_not_write() {
        let check = |line: &str, expect: &[&str]| {
            let found = unwritten(line, Path::new("/p/skill"), Path::new("/p"));
            assert_eq!(found, expect.iter().map(PathBuf::from).collect::<Vec<_>>(), "{line}");
        };
        check("bash: line 1: /p/docs/a.md: Read-only file system", &["/p/docs/a.md"]);
        check("/p/skill/scripts/a.sh: line 3: ../b: Read-only file system", &["/p/b"]);
        check("a.sh: 3: cannot create ../../b/x: Read-only file system", &[]);
        check("a.sh: 3: cannot create ../b/x: Read-only file system", &["/p/b/x"]);
        check("touch: cannot touch '/p/x y': Read-only file system", &["/p/x y"]);
        check("mkdir: cannot create directory \u{2018}/p/x\u{2019}: Read-only file system", &["/p/x"]);
        check("OSError: [Errno 30] Read-only file system: '/p/a.txt'", &["/p/a.txt"]);
        check("Error: EROFS: read-only file system, open '/p/docs/o.json'", &["/p/docs/o.json"]);
        check("a.sh: line 1: docs/x: Read-only file system", &["/p/skill/docs/x"]);
        let elsewhere = unwritten("sh: docs/x: Read-only file system", Path::new("/s"), Path::new("/p"));
        assert_eq!(elsewhere, [PathBuf::from("/p/docs/x")]);
        check("OSError: [Errno 30] Read-only file system: '/elsewhere'", &[]);
        check("all is well: Read-only", &[]);
        check("Read-only file system", &[]);
    }

    #[test]
    fn the_glob_that_would_help_is_narrow() {
        let glob = |path: &str| opening(Path::new(path), Path::new("/p")).map(|glob| glob.to_string());
        assert_eq!(glob("/p/docs/a.md").as_deref(), Some("docs/**"));
        assert_eq!(glob("/p/a.md").as_deref(), Some("a.md"));
        assert_eq!(glob("/q/a.md"), None);
    }
}
