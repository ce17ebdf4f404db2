//! Which files a text names.

/// What stands around a path in a sentence.
const AROUND: &[char] = &['"', '\'', '`', ',', ';', ':', '!', '?', '(', ')', '[', ']', '<', '>', '*'];

/// The words of a text that read as files: they have a dot inside or a slash. Nobody looks whether they are there.
pub fn files_named(text: &str) -> impl Iterator<Item = &str> {
    let words = text.split_whitespace().map(|word| word.trim_matches(AROUND).trim_end_matches('.'));
    words.filter(|word| word.contains('/') || word.trim_start_matches('.').contains('.'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_that_read_as_files_are_files() {
        let named: Vec<&str> = files_named("Look at `src/app.py`, (lib.rs) and docs/. Then stop.").collect();
        assert_eq!(named, ["src/app.py", "lib.rs", "docs/"]);
        assert_eq!(files_named("nothing of the kind...").count(), 0);
    }
}
