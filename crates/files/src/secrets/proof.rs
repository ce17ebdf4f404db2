//! What a file's beginning says about whether it is a secret.

/// What besides its name makes a file a secret.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Proof {
    /// Nothing.
    Name,
    /// It has the header of a private key.
    PrivateKey,
    /// It holds one of these, in whatever case.
    Holds(&'static [&'static str]),
    /// It gives a value to a name such as `API_KEY` or `db_password`.
    Assignment,
    /// The same in JSON and YAML as well: `"password": "x"`, `api_key: x`.
    Value,
    /// It holds an address with a password or token in it.
    Address,
}

impl Proof {
    /// How much of a file is looked at: a private key behind a chain of four certificates still is in it.
    pub(crate) const HEAD: usize = 16 * 1024;

    /// Whether the beginning of a file proves it.
    pub(crate) fn holds(self, head: &[u8]) -> bool {
        match self {
            Self::Name => true,
            Self::PrivateKey => head.split(|&byte| byte == b'\n').any(is_private_key_header),
            Self::Holds(words) => {
                let head = head.to_ascii_lowercase();
                words.iter().any(|word| contains(&head, word.as_bytes()))
            }
            Self::Assignment => head.split(|&byte| byte == b'\n').any(is_secret_assignment),
            Self::Value => values(head).any(|(name, value)| is_secret_name(name) && is_filled_in(value)),
            Self::Address => {
                let head = head.to_ascii_lowercase();
                contains(&head, b"extraheader") || has_address_with_password(&head)
            }
        }
    }
}

fn contains(haystack: &[u8], needle: &[u8]) -> bool {
    haystack.windows(needle.len()).any(|window| window == needle)
}

/// `-----BEGIN … PRIVATE KEY…`, in PEM, OpenSSH's and PGP's form.
fn is_private_key_header(line: &[u8]) -> bool {
    contains(line, b"-----BEGIN ") && contains(line, b"PRIVATE KEY")
}

/// `NAME=value` or `name = "value"` where the name speaks of a secret and the value is no empty text and no variable.
fn is_secret_assignment(line: &[u8]) -> bool {
    let line = line.trim_ascii();
    let Some(at) = line.iter().position(|&byte| byte == b'=').filter(|_| !line.starts_with(b"#")) else {
        return false;
    };
    is_secret_name(&line[..at]) && is_filled_in(&line[at + 1..])
}

fn is_secret_name(name: &[u8]) -> bool {
    const WORDS: &[&[u8]] = &[
        b"secret",
        b"token",
        b"passw",
        b"api_key",
        b"api-key",
        b"apikey",
        b"private_key",
        b"access_key",
        b"credential",
        b"accesskey",
        b"privatekey",
    ];
    let name = name.to_ascii_lowercase();
    WORDS.iter().any(|word| contains(&name, word))
}

/// Whether a value is one: no empty text, no variable, no place that a template fills in, no `null`, and no list or object.
fn is_filled_in(value: &[u8]) -> bool {
    let value = value.trim_ascii();
    let value = value.strip_prefix(b"\"").or_else(|| value.strip_prefix(b"'")).unwrap_or(value);
    let is_word = |word: &[u8]| value.get(..word.len()).is_some_and(|start| start.eq_ignore_ascii_case(word));
    !is_word(b"null")
        && !is_word(b"true")
        && !is_word(b"false")
        && value.first().is_some_and(|first| !b"\"'$#<{[|>,".contains(first))
}

/// Every name with what follows it, in lines such as `name = value` and `name: value` and in JSON on one line.
fn values(head: &[u8]) -> impl Iterator<Item = (&[u8], &[u8])> {
    let pieces = head.split(|byte| matches!(byte, b'\n' | b',' | b'{' | b';'));
    pieces.map(<[u8]>::trim_ascii).filter(|piece| !piece.starts_with(b"#")).filter_map(|piece| {
        let at = piece.iter().position(|byte| matches!(byte, b'=' | b':'))?;
        // A value that begins with `{` is a template's or an object, and was cut off by the split.
        Some((&piece[..at], &piece[at + 1..]))
    })
}

/// `scheme://user:password@host` or `scheme://token@host`. A bare `git@host` is ssh's and no secret.
fn has_address_with_password(text: &[u8]) -> bool {
    let mut rest = text;
    while let Some(at) = rest.windows(3).position(|window| window == b"://") {
        let scheme_is_ssh = rest[..at].ends_with(b"ssh");
        rest = &rest[at + 3..];
        let end =
            rest.iter().position(|byte| matches!(byte, b'/' | b'\n' | b'"' | b' ')).unwrap_or(rest.len());
        if let Some(at) = rest[..end].iter().rposition(|&byte| byte == b'@') {
            let login = &rest[..at];
            // A user name alone is shorter than any token that a service gives out.
            if login.contains(&b':') || (login.len() >= 20 && !scheme_is_ssh) {
                return true;
            }
        }
    }
    false
}
