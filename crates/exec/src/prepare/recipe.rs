//! What a skill wants beside itself: packages for Python, packages for Node.

use std::path::Path;

use metier_files::{Error, ListBounds, RelativePath, SkillDir};

use super::package_json::{NodePackages, PackageError};
use super::registry::NODE;
use super::requirement::{PackageRequirement, RequirementError, read_file};
use super::script_block::{ScriptBlock, ScriptBlockError};
use crate::data_folder::short_digest;
use crate::script::SCRIPTS;

/// The largest file that is read for a recipe. A lock of a large Node project has some megabytes; more than that is none
/// that a skill carries around.
const MAX_FILE: u64 = 8 << 20;

/// How much of a script is read for its block, which stands at its beginning.
const MAX_HEAD: u64 = 64 << 10;

/// What a skill wants, from the files it has for it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Recipe {
    /// From `requirements.txt` and the `# /// script` blocks of its scripts.
    pub python: Option<PythonRecipe>,
    /// From `package.json`.
    pub node: Option<NodePackages>,
}

/// What a skill wants of Python.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PythonRecipe {
    /// Its packages, sorted: those of all its scripts together, for there is one environment.
    pub requirements: Vec<PackageRequirement>,
    /// Which versions of Python its scripts run with; all of them hold.
    pub requires_python: Vec<String>,
}

/// Why there is no recipe.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RecipeError {
    /// A requirement is not taken.
    #[error("{file}:{line}: {reason}")]
    Requirement {
        /// The file.
        file: String,
        /// The line.
        line: usize,
        /// Why.
        reason: RequirementError,
    },
    /// A block in a script is not taken.
    #[error("{file}:{line}: {reason}")]
    Block {
        /// The script.
        file: String,
        /// The line where the block begins.
        line: usize,
        /// Why.
        reason: ScriptBlockError,
    },
    /// A `package.json` or its lock is not taken.
    #[error("{file}: {reason}")]
    Package {
        /// The file.
        file: String,
        /// Why.
        reason: PackageError,
    },
    /// A file is no text.
    #[error("{0}: it is no UTF-8; save it as such")]
    NoText(String),
    /// A file cannot be read.
    #[error(transparent)]
    Unreadable(#[from] Error),
}

impl Recipe {
    /// Reads what the skill in this folder wants.
    pub(crate) fn of(skill: &SkillDir) -> Result<Self, RecipeError> {
        Self::for_registry(skill, NODE)
    }

    /// The same, where packages for Node may come from another registry.
    pub(crate) fn for_registry(skill: &SkillDir, registry: &str) -> Result<Self, RecipeError> {
        Ok(Self { python: python(skill)?, node: node(skill, registry)? })
    }

    /// Whether the skill wants nothing.
    pub(crate) fn is_empty(&self) -> bool {
        self.python.is_none() && self.node.is_none()
    }
}

impl PythonRecipe {
    /// What names the environment: another recipe or another Python is another environment.
    pub(crate) fn key(&self, interpreter: &Path) -> String {
        // Each part says how long it is, so that no text of one can be the beginning of the next.
        let mut parts: Vec<Vec<u8>> =
            vec![b"python 1".to_vec(), interpreter.as_os_str().as_encoded_bytes().to_vec()];
        parts.extend(self.requirements.iter().map(|requirement| requirement.to_string().into_bytes()));
        parts.push(Vec::new());
        parts.extend(self.requires_python.iter().map(|versions| versions.clone().into_bytes()));
        digest_of(&parts)
    }
}

impl NodePackages {
    /// What names the environment.
    pub(crate) fn key(&self) -> String {
        let lock = self.lock.clone().unwrap_or_default();
        digest_of(&[b"node 1".to_vec(), self.manifest.clone(), lock])
    }
}

fn digest_of(parts: &[Vec<u8>]) -> String {
    let mut bytes = Vec::new();
    for part in parts {
        bytes.extend_from_slice(&(part.len() as u64).to_le_bytes());
        bytes.extend_from_slice(part);
    }
    short_digest(&bytes)
}

fn python(skill: &SkillDir) -> Result<Option<PythonRecipe>, RecipeError> {
    let mut recipe = PythonRecipe { requirements: Vec::new(), requires_python: Vec::new() };
    for file in ["requirements.txt".to_owned(), format!("{SCRIPTS}/requirements.txt")] {
        let Some(bytes) = read(skill, &file)? else { continue };
        let text = String::from_utf8(bytes).map_err(|_| RecipeError::NoText(file.clone()))?;
        let found =
            read_file(&text).map_err(|(line, reason)| RecipeError::Requirement { file, line, reason })?;
        recipe.requirements.extend(found);
    }
    for path in python_scripts(skill)? {
        let head = skill.read_page(&path, 0, MAX_HEAD)?.bytes;
        // A script may be in any encoding; a block in it is text.
        let block = ScriptBlock::read(&String::from_utf8_lossy(&head))
            .map_err(|(line, reason)| RecipeError::Block { file: path.to_string(), line, reason })?;
        let Some(block) = block.filter(|block| !block.dependencies.is_empty()) else { continue };
        recipe.requirements.extend(block.dependencies);
        recipe.requires_python.extend(block.requires_python);
    }
    recipe.requires_python.sort();
    recipe.requires_python.dedup();
    recipe.requirements.sort();
    recipe.requirements.dedup();
    Ok(Some(recipe).filter(|recipe| !recipe.requirements.is_empty()))
}

/// The scripts in Python, in the order of their names.
fn python_scripts(skill: &SkillDir) -> Result<Vec<RelativePath>, RecipeError> {
    let Ok(scripts) = RelativePath::parse(SCRIPTS) else { return Ok(Vec::new()) };
    let folder = match skill.folder(&scripts) {
        Ok(folder) => folder,
        Err(Error::NotFound { .. } | Error::NotAFolder { .. } | Error::Outside { .. }) => {
            return Ok(Vec::new());
        }
        Err(error) => return Err(error.into()),
    };
    let listing = folder.list(ListBounds::default())?;
    let is_python = |path: &RelativePath| {
        path.as_path().extension().is_some_and(|extension| extension.eq_ignore_ascii_case("py"))
    };
    let paths = listing.files.into_iter().map(|file| file.path).filter(is_python);
    Ok(paths
        .filter_map(|path| RelativePath::parse_os(Path::new(SCRIPTS).join(&path).as_os_str()).ok())
        .collect())
}

fn node(skill: &SkillDir, registry: &str) -> Result<Option<NodePackages>, RecipeError> {
    for folder in ["", "scripts/"] {
        let file = format!("{folder}package.json");
        let Some(manifest) = read(skill, &file)? else { continue };
        let lock = read(skill, &format!("{folder}package-lock.json"))?;
        let packages = NodePackages::read(&manifest, lock.as_deref(), registry)
            .map_err(|reason| RecipeError::Package { file, reason })?;
        if packages.is_some() {
            return Ok(packages);
        }
    }
    Ok(None)
}

fn read(skill: &SkillDir, file: &str) -> Result<Option<Vec<u8>>, RecipeError> {
    let Ok(path) = RelativePath::parse(file) else { return Ok(None) };
    match skill.read(&path, MAX_FILE) {
        Ok(bytes) => Ok(Some(bytes)),
        Err(Error::NotFound { .. }) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

#[cfg(test)]
mod tests {
    use metier_testkit::Workspace;

    use super::*;

    fn recipe(workspace: &Workspace) -> Result<Recipe, RecipeError> {
        Recipe::of(&SkillDir::open(&workspace.join("skill")).unwrap())
    }

    #[test]
    fn all_files_that_say_what_is_wanted_are_put_together() {
        let workspace = Workspace::new()
            .file("skill/requirements.txt", "six\nrequests>=2\n")
            .file("skill/scripts/requirements.txt", "six\nattrs\n")
            .file(
                "skill/scripts/a.py",
                "# /// script\n# requires-python = \">=3.9\"\n# dependencies = [\"rich\"]\n# ///\n",
            )
            .file("skill/scripts/plain.py", "print('é')")
            .file("skill/scripts/latin.py", b"# \xe9\nprint()")
            .file("skill/package.json", "{\"dependencies\": {\"left-pad\": \"1.3.0\"}}");
        let recipe = recipe(&workspace).unwrap();
        let python = recipe.python.unwrap();
        let names: Vec<String> = python.requirements.iter().map(ToString::to_string).collect();
        assert_eq!(names, ["attrs", "requests>=2", "rich", "six"]);
        assert_eq!(python.requires_python, [">=3.9"]);
        assert_eq!(recipe.node.unwrap().wanted["left-pad"], "1.3.0");
        assert!(self::recipe(&Workspace::new().skill("skill", "x")).unwrap().is_empty());
    }

    #[test]
    fn the_name_of_an_environment_is_that_of_its_recipe_and_interpreter() {
        let key = |text: &str, interpreter: &str| {
            let workspace = Workspace::new().file("skill/requirements.txt", text);
            recipe(&workspace).unwrap().python.unwrap().key(Path::new(interpreter))
        };
        let one = key("six\nrich\n", "/usr/bin/python3.11");
        assert_eq!(one, key("# the same\nrich\nsix # x\nsix\n", "/usr/bin/python3.11"));
        assert_ne!(one, key("six\nrich\n", "/usr/bin/python3.12"));
        assert_ne!(one, key("six\n", "/usr/bin/python3.11"));
        assert_eq!(one.len(), 16);
    }

    #[test]
    fn what_is_not_taken_is_said_with_file_and_line() {
        let check = |file: &str, text: &str, expect: &str| {
            let error =
                recipe(&Workspace::new().file(format!("skill/{file}"), text)).unwrap_err().to_string();
            assert!(error.starts_with(expect), "{error}");
        };
        check("requirements.txt", "six\n-r more.txt\n", "requirements.txt:2: `-r more.txt` is an option");
        check("scripts/a.py", "# /// script\n", "scripts/a.py:1: the `# /// script` block has no end");
        check("package.json", "[]", "package.json: it is no JSON object");
        let outside = Workspace::new().file("secret", "x").symlink("skill/requirements.txt", "../secret");
        assert!(matches!(recipe(&outside), Err(RecipeError::Unreadable(_))));
    }
}
