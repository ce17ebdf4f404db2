//! The small patterns of the tables: the last parts of a path, with `*` for any piece of a name.

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
pub(crate) fn fits(pattern: &str, folder: &[u8], name: &[u8]) -> bool {
    let mut parts = pattern.trim_end_matches('/').rsplit('/');
    let Some(last) = parts.next() else {
        return false;
    };
    if !part_fits(last.as_bytes(), name) {
        return false;
    }
    let mut above = folder.rsplit(|&byte| byte == b'/').filter(|part| !part.is_empty());
    parts.all(|part| above.next().is_some_and(|name| part_fits(part.as_bytes(), &name.to_ascii_lowercase())))
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
    }
}
