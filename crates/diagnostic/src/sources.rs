//! Source texts as the views of many diagnostics ask for them.

use std::path::{Path, PathBuf};

/// Asks its caller for a text once for a run of diagnostics of one file, however many they are.
pub(crate) struct Sources<F, S> {
    ask: F,
    last: Option<(PathBuf, Option<S>)>,
}

impl<F: FnMut(&Path) -> Option<S>, S: AsRef<str>> Sources<F, S> {
    pub(crate) fn new(ask: F) -> Self {
        Self { ask, last: None }
    }

    /// The text of a file, where the caller has it.
    pub(crate) fn of(&mut self, path: Option<&Path>) -> Option<&str> {
        let path = path?;
        if self.last.as_ref().is_none_or(|(last, _)| last != path) {
            self.last = Some((path.to_path_buf(), (self.ask)(path)));
        }
        let (_, text) = self.last.as_ref()?;
        text.as_ref().map(AsRef::as_ref)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_asked_for_once_in_a_row() {
        let mut asked = 0;
        let mut sources = Sources::new(|path: &Path| {
            asked += 1;
            (path == Path::new("a")).then_some("text")
        });
        for (path, text) in
            [(Some("a"), Some("text")), (Some("a"), Some("text")), (None, None), (Some("b"), None)]
        {
            assert_eq!(sources.of(path.map(Path::new)), text);
        }
        assert_eq!(asked, 2);
    }
}
