//! The small patterns of the tables: the last parts of a path, with `*` for any piece of a name.

use std::collections::HashMap;

/// Rows of a table by what a name has to be, begin or end with: a walk asks for each of a hundred thousand names, and most fit no
/// row.
#[derive(Debug)]
pub(crate) struct PatternIndex<T: 'static> {
    exact: HashMap<&'static [u8], Vec<&'static T>>,
    /// By what follows the last dot.
    extension: HashMap<&'static [u8], Vec<&'static T>>,
    head: HashMap<&'static [u8], Vec<&'static T>>,
    tail: HashMap<&'static [u8], Vec<&'static T>>,
    other: Vec<&'static T>,
}

/// How many bytes of the beginning and the end of a name are looked for. Shorter patterns are few.
const HEAD: usize = 3;
const TAIL: usize = 4;

impl<T> PatternIndex<T> {
    pub(crate) fn new(rows: &'static [T], pattern: impl Fn(&T) -> &'static str) -> Self {
        let (exact, extension, head, tail) = Default::default();
        let mut index = Self { exact, extension, head, tail, other: Vec::new() };
        for row in rows {
            let last = pattern(row).trim_end_matches('/').rsplit('/').next().unwrap_or_default();
            let bytes = last.as_bytes();
            let end = last.rsplit('*').next().unwrap_or_default();
            let start = last.split('*').next().unwrap_or_default();
            let extension = last.rsplit_once('.').map(|(_, extension)| extension);
            let (map, key) = match extension {
                _ if !last.contains('*') => (&mut index.exact, bytes),
                Some(extension) if end.contains('.') => (&mut index.extension, extension.as_bytes()),
                _ if start.len() >= HEAD => (&mut index.head, &bytes[..HEAD]),
                _ if end.len() >= TAIL => (&mut index.tail, &bytes[bytes.len() - TAIL..]),
                _ => {
                    index.other.push(row);
                    continue;
                }
            };
            map.entry(key).or_default().push(row);
        }
        index
    }

    /// The rows whose last part may fit a name in lower case.
    pub(crate) fn candidates<'a>(&'a self, name: &'a [u8]) -> impl Iterator<Item = &'static T> + 'a {
        let extension = name.rsplit(|&byte| byte == b'.').next().unwrap_or_default();
        let head = name.get(..HEAD).and_then(|head| self.head.get(head));
        let tail = name.len().checked_sub(TAIL).and_then(|at| self.tail.get(&name[at..]));
        let found = [self.exact.get(name), self.extension.get(extension), head, tail, Some(&self.other)];
        found.into_iter().flatten().flatten().copied()
    }
}

/// Whether `name`, in lower case, fits one part of a pattern.
fn part_fits(pattern: &[u8], name: &[u8]) -> bool {
    let Some(star) = pattern.iter().position(|&byte| byte == b'*') else {
        return pattern == name;
    };
    let (before, after) = (&pattern[..star], &pattern[star + 1..]);
    let Some(mut rest) = name.strip_prefix(before) else {
        return false;
    };
    // The pattern after the star may begin anywhere in what is left. Patterns have two stars at most, names 255 bytes.
    loop {
        if part_fits(after, rest) {
            return true;
        }
        match rest.split_first() {
            Some((_, shorter)) => rest = shorter,
            None => return false,
        }
    }
}

/// Whether the end of `folder/name` fits a pattern such as `id_rsa*` or `.aws/credentials`. Names are compared without
/// regard to case: some file systems do not tell `.ENV` from `.env`, and whoever made either meant a secret. `name` is
/// given in lower case, as it is compared with many patterns.
///
/// A pattern that begins with `/` is the whole path.
pub(crate) fn fits(pattern: &str, folder: &[u8], name: &[u8]) -> bool {
    let (pattern, is_whole) = pattern.strip_prefix('/').map_or((pattern, false), |pattern| (pattern, true));
    let mut parts = pattern.trim_end_matches('/').rsplit('/');
    let Some(last) = parts.next() else {
        return false;
    };
    if !part_fits(last.as_bytes(), name) {
        return false;
    }
    let mut above = folder.rsplit(|&byte| byte == b'/').filter(|part| !part.is_empty());
    let is_below = |part: &str, name: &[u8]| part_fits(part.as_bytes(), &name.to_ascii_lowercase());
    parts.all(|part| above.next().is_some_and(|name| is_below(part, name)))
        && !(is_whole && above.next().is_some())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(pattern: &str, path: &str, expect: bool) {
        let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
        assert_eq!(
            fits(pattern, folder.as_bytes(), name.to_ascii_lowercase().as_bytes()),
            expect,
            "{pattern} on {path}"
        );
    }

    #[test]
    fn patterns_fit_the_end_of_a_path_in_any_case() {
        check(".env", ".env", true);
        check(".env", "a/b/.ENV", true);
        check(".env", "x.env", false);
        check(".env.*", ".env.local", true);
        check(".env.*", ".env", false);
        check("id_rsa*", "keys/id_rsa_work", true);
        check("*.pem", ".pem", true);
        check("*.pem", "a.pem.txt", false);
        check("*service*account*.json", "my-service_account-1.json", true);
        check("*service*account*.json", "account-service.json", false);
        check(".aws/credentials", "home/.aws/credentials", true);
        check(".aws/credentials", "credentials", false);
        check(".aws/credentials", "aws/credentials", false);
        check(".config/gcloud/", ".config/gcloud", true);
        check("/agents/*.md", "Agents/a.md", true);
        check("/agents/*.md", "docs/agents/a.md", false);
    }
}
