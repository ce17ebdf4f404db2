//! Licence expressions, as far as crates use them: names, `WITH`, `AND`, `OR`, parentheses and the old `/`.

/// Whether a choice of licences exists that uses none but the allowed ones. `None` when the text is no expression.
pub(crate) fn satisfied(expression: &str, allowed: &[String]) -> Option<bool> {
    let spaced = expression.replace('(', " ( ").replace(')', " ) ").replace('/', " OR ");
    let mut words = spaced.split_whitespace().peekable();
    let answer = either(&mut words, allowed)?;
    words.next().is_none().then_some(answer)
}

type Words<'a> = std::iter::Peekable<std::str::SplitWhitespace<'a>>;

/// `a OR b OR …`. Both sides are always read, so that a broken right side is noticed.
fn either(words: &mut Words<'_>, allowed: &[String]) -> Option<bool> {
    let mut answer = both(words, allowed)?;
    while words.next_if_eq(&"OR").is_some() {
        answer |= both(words, allowed)?;
    }
    Some(answer)
}

/// `a AND b AND …`, which binds closer than `OR`.
fn both(words: &mut Words<'_>, allowed: &[String]) -> Option<bool> {
    let mut answer = one(words, allowed)?;
    while words.next_if_eq(&"AND").is_some() {
        answer &= one(words, allowed)?;
    }
    Some(answer)
}

/// A name, a name with its exception, or a whole expression in parentheses.
fn one(words: &mut Words<'_>, allowed: &[String]) -> Option<bool> {
    let word = words.next()?;
    if word == "(" {
        let answer = either(words, allowed)?;
        return (words.next()? == ")").then_some(answer);
    }
    if ["AND", "OR", "WITH", ")"].contains(&word) {
        return None;
    }
    if words.next_if_eq(&"WITH").is_none() {
        return Some(allowed.iter().any(|name| name == word));
    }
    let whole = format!("{word} WITH {}", words.next()?);
    // An exception only ever permits more, so the plain licence being allowed is enough.
    Some(allowed.iter().any(|name| *name == whole || name == word))
}

#[cfg(test)]
mod tests {
    use super::satisfied;

    fn judge(expression: &str) -> Option<bool> {
        satisfied(expression, &["MIT".to_owned(), "Unicode-3.0".to_owned(), "Zlib WITH x".to_owned()])
    }

    #[test]
    fn names_are_compared_whole() {
        assert_eq!(judge("MIT"), Some(true));
        assert_eq!(judge("MIT-0"), Some(false));
        assert_eq!(judge("GPL-3.0-only"), Some(false));
    }

    #[test]
    fn one_allowed_choice_is_enough() {
        assert_eq!(judge("GPL-3.0-only OR MIT"), Some(true));
        assert_eq!(judge("MIT/Apache-2.0"), Some(true));
        assert_eq!(judge("GPL-3.0-only OR LGPL-3.0-only"), Some(false));
    }

    #[test]
    fn every_part_of_a_whole_has_to_be_allowed() {
        assert_eq!(judge("(MIT OR Apache-2.0) AND Unicode-3.0"), Some(true));
        assert_eq!(judge("MIT AND GPL-3.0-only"), Some(false));
        assert_eq!(judge("GPL-3.0-only OR MIT AND Unicode-3.0"), Some(true));
        assert_eq!(judge("GPL-3.0-only AND (MIT OR Unicode-3.0)"), Some(false));
    }

    #[test]
    fn an_exception_belongs_to_its_licence() {
        assert_eq!(judge("MIT WITH LLVM-exception"), Some(true));
        assert_eq!(judge("Zlib WITH x"), Some(true));
        assert_eq!(judge("Zlib"), Some(false));
        assert_eq!(judge("GPL-2.0-only WITH Classpath-exception-2.0"), Some(false));
    }

    #[test]
    fn what_is_no_expression_is_not_guessed() {
        for text in ["", "MIT OR", "(MIT", "MIT)", "AND MIT", "MIT Apache-2.0", "MIT WITH"] {
            assert_eq!(judge(text), None, "{text:?}");
        }
    }
}
