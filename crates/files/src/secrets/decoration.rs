//! What people and editors put around the name of a file when they copy it.

/// Words at the end of a copy's name, after `.`, `-`, `_` or a space.
const WORDS: &[&[u8]] = &[
    b"backup",
    b"bak",
    b"bck",
    b"bk",
    b"bkp",
    b"copy",
    b"dev",
    b"development",
    b"disabled",
    b"home",
    b"live",
    b"local",
    b"new",
    b"old",
    b"orig",
    b"original",
    b"personal",
    b"prev",
    b"previous",
    b"private",
    b"prod",
    b"production",
    b"rej",
    b"save",
    b"saved",
    b"stage",
    b"staging",
    b"swn",
    b"swo",
    b"swp",
    b"swx",
    b"temp",
    b"test",
    b"tmp",
    b"un",
    b"work",
];

/// Words that stand before it.
const BEFORE: &[&[u8]] =
    &[b"copy of ", b"backup of ", b"backup-", b"backup_", b"old-", b"old_", b"old.", b"bak-", b"bak_"];

/// How many decorations a name has at most that is still looked at: `.env.bak.1~`.
const MAX_STEPS: usize = 4;

/// The names under which a copy is known, nearest first; none for a name without decoration. `name` is in lower case.
pub(super) fn undecorated(name: &[u8]) -> Vec<&[u8]> {
    let mut found = Vec::new();
    let mut rest = name;
    while let Some((plain, is_swap)) =
        step(rest).filter(|(plain, _)| plain.len() > 1 && found.len() < MAX_STEPS)
    {
        found.push(plain);
        // Vim puts a dot before the name of a swap file, unless it has one.
        found.extend(plain.strip_prefix(b".").filter(|_| is_swap));
        rest = plain;
    }
    found
}

/// The name without one decoration, and whether it is a swap file's.
fn step(name: &[u8]) -> Option<(&[u8], bool)> {
    if let Some(inner) = name.strip_prefix(b"#").and_then(|name| name.strip_suffix(b"#")) {
        return Some((inner, false));
    }
    if let Some(inner) = name.strip_prefix(b".#") {
        return Some((inner, false));
    }
    if let Some(inner) = BEFORE.iter().find_map(|word| name.strip_prefix(*word)) {
        return Some((inner, false));
    }
    // `x~` and `x.~1~`
    if let Some(inner) = name.strip_suffix(b"~") {
        let numbered = inner.iter().rposition(|byte| !byte.is_ascii_digit()).filter(|at| inner[*at] == b'~');
        let inner = numbered.map_or(inner, |at| &inner[..at]);
        return Some((inner.strip_suffix(b".").unwrap_or(inner), false));
    }
    let inner = name.strip_suffix(b")").and_then(|name| {
        let at = name.iter().rposition(|byte| *byte == b'(')?;
        let (before, number) = name.split_at(at);
        number
            .get(1..)
            .is_some_and(|number| number.iter().all(u8::is_ascii_digit))
            .then_some(before.trim_ascii_end())
    });
    if let Some(inner) = inner {
        return Some((inner, false));
    }
    let at = name.iter().rposition(|byte| matches!(byte, b'.' | b'-' | b'_' | b' ')).filter(|at| *at > 0)?;
    let word = name.get(at + 1..)?;
    // `prod2`, and numbers alone: of a rotation, or a date.
    let letters = word.iter().position(u8::is_ascii_digit).map_or(word, |at| &word[..at]);
    let is_number = letters.is_empty() && !word.is_empty() && word.iter().all(u8::is_ascii_digit);
    let is_word = WORDS.contains(&letters) && word[letters.len()..].iter().all(u8::is_ascii_digit);
    let is_swap = word.starts_with(b"sw") || word == b"un";
    let inner = name[..at].trim_ascii_end();
    // ` - copy`
    let inner = inner.strip_suffix(b" -").unwrap_or(inner);
    (is_number || is_word).then_some((inner, is_swap))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_copy_is_known_by_the_name_of_what_was_copied() {
        for (name, expect) in [
            (".env~", ".env"),
            (".env.~1~", ".env"),
            ("#.env#", ".env"),
            (".#.env", ".env"),
            (".env.bak", ".env"),
            (".env.bak.1", ".env"),
            (".env-prod", ".env"),
            (".env_prod2", ".env"),
            (".env copy", ".env"),
            (".env copy 2", ".env"),
            (".env - copy", ".env"),
            (".env (1)", ".env"),
            ("copy of .env", ".env"),
            (".env.20240131", ".env"),
            (".env.2024-01-31", ".env"),
            (".server.key.swp", "server.key"),
            ("x.tfstate.17.backup", "x.tfstate"),
        ] {
            let names = undecorated(name.as_bytes());
            assert!(names.contains(&expect.as_bytes()), "{name}: {names:?}");
        }
        for name in [".env", "main.rs", "readme.md", "a-b", "package.json", "x", "", "~", "#", "-", ".1"] {
            assert!(undecorated(name.as_bytes()).iter().all(|name| !name.is_empty()), "{name}");
        }
        assert!(undecorated(b"main.rs").is_empty());
    }
}
