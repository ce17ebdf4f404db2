//! What a Python script says of itself in a `# /// script` block (PEP 723).

use super::requirement::{PackageRequirement, RequirementError};

/// What a script wants.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct ScriptBlock {
    /// Its packages.
    pub dependencies: Vec<PackageRequirement>,
    /// Which versions of Python it runs with, such as `>=3.11`.
    pub requires_python: Option<String>,
}

/// Why a block is not taken.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ScriptBlockError {
    /// There are several.
    #[error("there are two `# /// script` blocks; keep one")]
    Twice,
    /// It has no end.
    #[error(
        "the `# /// script` block has no end; close it with a line `# ///`, every line before it beginning with `#`"
    )]
    NoEnd,
    /// It is no TOML.
    #[error("the `# /// script` block is no TOML: {0}")]
    NoToml(String),
    /// A key has another type than it should.
    #[error("`{0}` in the `# /// script` block should be {1}")]
    Type(&'static str, &'static str),
    /// A dependency is not taken.
    #[error(transparent)]
    Requirement(#[from] RequirementError),
}

impl ScriptBlock {
    /// Reads the block of a script; `None` where it has none. The line is that of the block's beginning.
    pub(super) fn read(text: &str) -> Result<Option<Self>, (usize, ScriptBlockError)> {
        let lines: Vec<&str> = text.lines().collect();
        let mut block = None;
        let mut at = 0;
        while at < lines.len() {
            if lines.get(at).map(|line| line.trim_end()) != Some("# /// script") {
                at += 1;
                continue;
            }
            let begin = at + 1;
            if block.is_some() {
                return Err((begin, ScriptBlockError::Twice));
            }
            let inner = lines.get(begin..).unwrap_or_default();
            let run = inner.iter().take_while(|line| is_inner(line)).count();
            // The last line of the kind ends the block: one before it may be a part of a text.
            let end = inner.iter().take(run).rposition(|line| line.trim_end() == "# ///");
            let end = end.ok_or((begin, ScriptBlockError::NoEnd))?;
            let inner = inner.get(..end).unwrap_or_default();
            block = Some(Self::of_toml(inner).map_err(|error| (begin, error))?);
            at = begin + end + 1;
        }
        Ok(block)
    }

    fn of_toml(lines: &[&str]) -> Result<Self, ScriptBlockError> {
        let text: Vec<&str> = lines
            .iter()
            .map(|line| line.strip_prefix("# ").or(line.strip_prefix('#')).unwrap_or(line))
            .collect();
        let table: toml::Table = text
            .join("\n")
            .parse()
            .map_err(|error: toml::de::Error| ScriptBlockError::NoToml(error.message().to_owned()))?;
        let requires_python = match table.get("requires-python") {
            None => None,
            Some(toml::Value::String(text)) if is_versions(text) => Some(text.trim().to_owned()),
            Some(_) => return Err(ScriptBlockError::Type("requires-python", "a text such as `>=3.11`")),
        };
        let list = ScriptBlockError::Type("dependencies", "a list of texts such as `[\"requests>=2\"]`");
        let dependencies = match table.get("dependencies") {
            None => Vec::new(),
            Some(toml::Value::Array(items)) => {
                let one = |item: &toml::Value| match item {
                    toml::Value::String(text) => {
                        PackageRequirement::parse(text).map_err(ScriptBlockError::from)
                    }
                    _ => Err(list.clone()),
                };
                items.iter().map(one).collect::<Result<_, _>>()?
            }
            Some(_) => return Err(list),
        };
        Ok(Self { dependencies, requires_python })
    }
}

fn is_inner(line: &str) -> bool {
    let line = line.trim_end();
    line == "#" || line.starts_with("# ")
}

/// Versions and operators only: the text becomes an argument of a program.
fn is_versions(text: &str) -> bool {
    let is_fine = |c: char| {
        c.is_ascii_alphanumeric() || matches!(c, '.' | '*' | '<' | '>' | '=' | '!' | '~' | ',' | ' ')
    };
    !text.trim().is_empty() && text.len() < 200 && text.chars().all(is_fine)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    type Read = (Vec<String>, Option<String>);

    fn read(text: &str) -> Result<Option<Read>, (usize, String)> {
        ScriptBlock::read(text)
            .map(|block| {
                block.map(|block| {
                    (block.dependencies.iter().map(ToString::to_string).collect(), block.requires_python)
                })
            })
            .map_err(|(line, error)| (line, error.to_string()))
    }

    #[test]
    fn a_block_is_found_wherever_it_stands() {
        let text = "#!/usr/bin/env python3\n# /// script\n# requires-python = \">=3.9\"\n# dependencies = [\n#   \"six\",\n\
                    #   \"rich >= 13\",\n# ]\n#\n# [tool.x]\n# y = 1\n# ///\nprint()\n";
        let expect = (vec!["six".to_owned(), "rich>=13".to_owned()], Some(">=3.9".to_owned()));
        assert_eq!(read(text), Ok(Some(expect)));
        assert_eq!(read("# /// script\n# ///\n"), Ok(Some((vec![], None))));
        assert_eq!(read("# /// other\n# x = 1\n# ///\nprint()"), Ok(None));
        assert_eq!(read("print()\n"), Ok(None));
        assert_eq!(read(""), Ok(None));
    }

    #[test]
    fn what_is_wrong_is_said_with_the_line() {
        let check = |text: &str, line: usize, expect: &str| {
            let (at, error) = read(text).unwrap_err();
            assert_eq!(at, line, "{text}");
            assert!(error.contains(expect), "{text}: {error}");
        };
        check("x\n# /// script\n# dependencies = []\nprint()", 2, "has no end");
        check("# /// script\n# ///\n\n# /// script\n# ///\n", 4, "two");
        check("# /// script\n# dependencies = [\n# ///\n", 1, "no TOML");
        check("# /// script\n# dependencies = \"six\"\n# ///\n", 1, "should be a list");
        check("# /// script\n# dependencies = [1]\n# ///\n", 1, "should be a list");
        check("# /// script\n# dependencies = [\"-r x\"]\n# ///\n", 1, "is an option");
        check("# /// script\n# requires-python = 3\n# ///\n", 1, "should be a text");
        check("# /// script\n# requires-python = \"$(id)\"\n# ///\n", 1, "should be a text");
    }

    proptest! {
        #[test]
        fn any_text_can_be_read(
            lines in proptest::collection::vec(
                prop_oneof![
                    Just("# /// script".to_owned()), Just("# ///".to_owned()), Just("#".to_owned()),
                    Just("# dependencies = [\"a\"]".to_owned()), "[ #a-z=\\[\\]\"/\\n]{0,12}", any::<String>(),
                ],
                0..8,
            )
        ) {
            let _ = ScriptBlock::read(&lines.join("\n"));
        }
    }
}
