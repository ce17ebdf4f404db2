//! Paths that a text names, and whether they are still there: what is remembered may have been moved or deleted since.

use metier_files::RelativePath;

use super::GeneralTools;

/// How many paths of one record are looked for. A record is at most a page; more would be a listing, which is stale by itself.
const MAX_PATHS: usize = 20;

/// The longest path that is looked for, in bytes.
const MAX_PATH: usize = 256;

/// Endings by which a name without a folder is taken for a file's. Without a list every `example.com` would be one.
const ENDINGS: &[&str] = &[
    "c", "cfg", "conf", "cpp", "css", "csv", "go", "h", "html", "ini", "ipynb", "java", "json", "jsonl",
    "jsx", "kt", "lock", "log", "lua", "md", "mjs", "pdf", "php", "png", "py", "rb", "rs", "sh", "sql",
    "svg", "toml", "ts", "tsx", "txt", "xml", "yaml", "yml",
];

impl GeneralTools {
    /// The paths of the project that a text names and at which nothing is any more. Others are not looked for: whether a file of the
    /// user's is there is nothing that a record may find out.
    pub fn gone(&self, text: &str) -> Vec<String> {
        let Some(project) = &self.project else { return Vec::new() };
        let folder = project.ground.path().display().to_string();
        let given = self.project_shown().unwrap_or_default();
        let mut gone: Vec<String> = Vec::new();
        for named in named_paths(text).take(MAX_PATHS) {
            let inner = [&folder, &given].into_iter().find_map(|folder| named.strip_prefix(folder.as_str()));
            let inner = inner.map_or(named, |inner| inner.trim_start_matches('/'));
            let inner = inner.strip_prefix("./").unwrap_or(inner).trim_end_matches('/');
            let Ok(path) = RelativePath::parse(inner) else { continue };
            if !gone.iter().any(|known| known == named)
                && project.ground.has(&path).is_ok_and(|is_there| !is_there)
            {
                gone.push(named.to_owned());
            }
        }
        gone
    }
}

/// What looks like a path in a text: words with a folder and an ending, names with the ending of a file, and whatever stands in
/// backticks with a folder. Addresses, patterns and options are none.
fn named_paths(text: &str) -> impl Iterator<Item = &str> {
    let quoted = text.split('`').skip(1).step_by(2);
    let words = text.split(|c: char| c.is_whitespace() || "`\"'()[]<>{},;|".contains(c));
    let quoted = quoted.filter(|word| word.contains('/') || has_ending(word)).map(trimmed);
    let words = words.map(trimmed).filter(|word| {
        let name = word.rsplit('/').next().unwrap_or_default();
        if word.contains('/') { name.contains('.') && is_named(name) } else { has_ending(word) }
    });
    words.chain(quoted).filter(|word| is_path(word))
}

fn is_path(word: &str) -> bool {
    let is_plain = !word.contains("://") && !word.contains("..") && !word.starts_with(['-', '~', '$', '@']);
    !word.is_empty() && word.len() <= MAX_PATH && is_plain && !word.contains(['*', '?', '=', '\\', ' ', '\n'])
}

/// A name with letters before and in its ending: `1.2/3.4` is none.
fn is_named(name: &str) -> bool {
    let ending = name.rsplit('.').next().unwrap_or_default();
    !ending.is_empty() && ending.len() <= 8 && ending.chars().any(|c| c.is_ascii_alphabetic())
}

fn has_ending(word: &str) -> bool {
    let (name, ending) = trimmed(word).rsplit_once('.').unwrap_or_default();
    !name.is_empty() && ENDINGS.contains(&ending)
}

/// Without what a sentence puts behind a path: a point, a colon, the number of a line.
fn trimmed(word: &str) -> &str {
    let word = word.trim_end_matches(['.', ':', '!']);
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    match word.rsplit_once(':') {
        Some((before, number)) if is_number(number) => trimmed(before),
        _ => word,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_found_in_sentences_and_other_words_are_not() {
        for (text, expect) in [
            ("See src/main.rs:12:4 and docs/guide.md.", &["src/main.rs", "docs/guide.md"][..]),
            ("The key is in `conf/keys`, not in (notes.md).", &["notes.md", "conf/keys"]),
            ("and/or 24/7 v1.2/3 e.g. example.com https://x.org/a.md", &[]),
            ("*.md --out=x/y.md ~/a/b.md ../up.md $HOME/x.md a\\b.md", &[]),
            ("/srv/project/a.txt: fine", &["/srv/project/a.txt"]),
        ] {
            assert_eq!(named_paths(text).collect::<Vec<_>>(), expect, "{text}");
        }
    }
}
