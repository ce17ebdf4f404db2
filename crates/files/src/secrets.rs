//! Which files of a project look like secrets: the one table.
//!
//! It finds much and not all: a password in `settings.py` cannot be found by its name. A row that hides a harmless file from a
//! script is a nuisance, and people turn masking off for it. So a name that has harmless uses as well needs a proof in the
//! content.

mod decoration;
mod proof;
mod table;

use std::os::unix::ffi::OsStrExt;
use std::sync::LazyLock;

use self::decoration::undecorated;
pub use self::proof::Proof;
pub use self::table::{SECRETS, SecretRule};
use crate::RelativePath;
use crate::survey::pattern::{PatternIndex, fits};

static INDEX: LazyLock<PatternIndex<SecretRule>> =
    LazyLock::new(|| PatternIndex::new(&SECRETS, |rule| rule.pattern));

/// What a name stands for in its folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shape {
    File,
    Folder,
}

/// The rows that `folder/name` fits, those that need no proof first. A copy of a secret is a secret: `.env~`, `.npmrc.bak` and
/// `#id_rsa#` fit what the name fits without what an editor or a person put around it.
pub(crate) fn rules_for(folder: &[u8], name: &[u8], shape: Shape) -> Vec<&'static SecretRule> {
    let lower = name.to_ascii_lowercase();
    let mut rules = rules_for_name(folder, &lower, shape);
    for plain in undecorated(&lower) {
        rules.extend(rules_for_name(folder, plain, shape));
    }
    rules.sort_by_key(|rule| rule.proof != Proof::Name);
    rules.dedup();
    rules
}

/// The rows that a name in lower case fits as it is.
fn rules_for_name(folder: &[u8], lower: &[u8], shape: Shape) -> Vec<&'static SecretRule> {
    let mut rules: Vec<_> = INDEX
        .candidates(lower)
        .filter(|rule| rule.pattern.ends_with('/') == (shape == Shape::Folder))
        .filter(|rule| fits(rule.pattern, folder, lower))
        .filter(|rule| !rule.except.iter().any(|except| fits(except, folder, lower)))
        .collect();
    // Git's own files are called `config` in every submodule; elsewhere that name means nothing.
    rules.retain(|rule| rule.pattern != "config" || in_git_modules(folder));
    rules
}

/// What a file looks like, by its path below a project and the beginning of its content; `None` for one that looks like no
/// secret. [`crate::Survey`] knows the same of a whole project and of other names of a file; this is for a single one, where a
/// survey had to stop or the file came later.
pub fn looks_secret(path: &RelativePath, head: &[u8]) -> Option<&'static str> {
    let head = head.get(..Proof::HEAD).unwrap_or(head);
    let (mut path, mut shape) = (Some(path.as_path()), Shape::File);
    while let Some(here) = path {
        let folder = here.parent().map_or(&b""[..], |folder| folder.as_os_str().as_bytes());
        let name = here.file_name().unwrap_or_default().as_bytes();
        let rules = rules_for(folder, name, shape);
        if let Some(rule) = rules.into_iter().find(|rule| shape == Shape::Folder || rule.proof.holds(head)) {
            return Some(rule.what);
        }
        (path, shape) = (here.parent().filter(|folder| !folder.as_os_str().is_empty()), Shape::Folder);
    }
    None
}

fn in_git_modules(folder: &[u8]) -> bool {
    let mut parts = folder.split(|&byte| byte == b'/');
    parts.any(|part| part == b".git") && parts.next() == Some(b"modules")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(path: &str, content: &str, expect: bool) {
        let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
        let rules = rules_for(folder.as_bytes(), name.as_bytes(), Shape::File);
        let found = rules.iter().any(|rule| rule.proof.holds(content.as_bytes()));
        assert_eq!(found, expect, "{path}: {rules:?}");
    }

    #[test]
    fn a_single_file_is_judged_by_its_whole_path() {
        let looks = |path: &str, head: &str| looks_secret(&path.parse().unwrap(), head.as_bytes());
        assert_eq!(looks("app/.env", ""), Some("environment variables"));
        assert_eq!(looks("home/.ssh/known_hosts", ""), Some("SSH keys"));
        assert_eq!(looks("a.pem", "-----BEGIN PRIVATE KEY-----"), Some("a private key"));
        assert_eq!(looks("a.pem", "-----BEGIN CERTIFICATE-----"), None);
        assert_eq!(looks("docs/a.md", ""), None);
    }

    #[test]
    fn names_alone_tell_most_secrets() {
        for path in [
            ".env",
            ".ENV",
            ".env.local",
            ".Env.Production",
            ".env.example.local",
            "app/.env",
            "id_rsa",
            "ID_RSA",
            "id_ed25519_work",
            "keys/id_ecdsa.bak",
            ".netrc",
            ".npmrc",
            ".pypirc",
            ".git-credentials",
            ".pgpass",
            ".aws/credentials",
            "x/.docker/config.json",
            ".kube/config",
            "a.p12",
            "a.PFX",
            "release.keystore",
            "terraform.tfstate",
            "terraform.tfstate.backup",
            "config/master.key",
            ".htpasswd",
            ".vault-token",
        ] {
            check(path, "", true);
        }
        for path in [
            ".env.example",
            ".env.sample",
            ".env.template",
            ".env.local.example",
            ".envelope",
            "env",
            "id_rsa.pub",
            "id_ed25519_work.pub",
            "npmrc",
            "credentials",
            "config.json",
            "aws/credentials",
            "config",
            "README.md",
            "id_card.md",
            "keystore",
            "environment",
            ".envrc",
            "prod.env",
            "a.pem",
            "a.key",
            "kubeconfig.md",
            ".env-example",
            ".env.dist",
            ".env.d.ts",
            "README.md.bak",
            "main.rs~",
            "#notes.txt#",
            "auth.json",
            "secrets.yml",
            "config.bak",
            "package copy.json",
            "my_id_rsa",
            "api_key",
            "history",
            "version_history",
            "tokenizer.json",
            "token_types.json",
            ".flaskenv",
            ".mcp.json",
            "gradle.properties",
        ] {
            check(path, "harmless", false);
        }
    }

    #[test]
    fn copies_and_kin_are_secrets_too() {
        for path in [
            ".env~",
            "#.env#",
            ".#.env",
            ".env.swp",
            ".env-prod",
            ".env_prod",
            ".env copy",
            ".env copy 2",
            ".env (1)",
            ".env.bak.1",
            ".env.save",
            ".env.orig",
            ".env.2024-01-31",
            "copy of .env",
            ".dev.vars",
            ".dev.vars.production",
            ".netrc.bak",
            ".netrc~",
            ".npmrc.bak",
            ".npmrc-old",
            ".npmrc_backup",
            "..npmrc.swp",
            ".pgpass.1",
            "release.keystore.bak",
            "terraform.tfstate.1700000000.backup",
            ".git/credentials",
            ".codex/auth.json",
            ".gemini/oauth_creds.json",
            ".claude.json",
            ".bash_history",
            ".zsh_history",
            ".python_history",
            ".local/share/fish/fish_history",
            ".aws/credentials.bak",
        ] {
            check(path, "", true);
        }
    }

    #[test]
    fn content_tells_the_rest() {
        let private =
            "-----BEGIN CERTIFICATE-----\nx\n-----END CERTIFICATE-----\n-----BEGIN RSA PRIVATE KEY-----\n";
        check("server.pem", private, true);
        check("server.key", "-----BEGIN OPENSSH PRIVATE KEY-----", true);
        check("mine.asc", "-----BEGIN PGP PRIVATE KEY BLOCK-----", true);
        check("server.pem", "-----BEGIN CERTIFICATE-----\n", false);
        check("server.pem", "-----BEGIN PUBLIC KEY-----\n", false);
        check("song.key", "C major", false);
        check("my-service-account.json", r#"{"private_key": "x"}"#, true);
        check("service-account-schema.json", r#"{"title": "x"}"#, false);
        check("package.json", r#"{"private_key": "x"}"#, false);
        check("prod.env", "# a\nexport API_KEY=abc\n", true);
        check("prod.env", "PORT=80\nAPI_KEY=\nTOKEN=$OTHER\n# SECRET=x\nPASSWORD=\"\"\n", false);
        check("prod.tfvars", "db_password = \"x\"", true);
        check("my_id_rsa", "-----BEGIN OPENSSH PRIVATE KEY-----", true);
        check("deploy_key", "-----BEGIN OPENSSH PRIVATE KEY-----", true);
        check("server.key.bak", private, true);
        check("server.key~", private, true);
        check(".server.key.swp", private, true);
        check("server.key.bak", "C major", false);
        check("secrets.yml", "production:\n  secret_key_base: 0123abcd\n", true);
        check("secrets.yml", "production:\n  secret_key_base: <%= ENV[\"X\"] %>\n", false);
        check("secrets.yaml", "db:\n  password: {{ .Values.password }}\n", false);
        check("auth.json", r#"{"http-basic": {"host": {"username": "a", "password": "b"}}}"#, true);
        check("auth.json", r#"{"OPENAI_API_KEY": "sk-1"}"#, true);
        check("auth.json", r#"{"title": "how to log in"}"#, false);
        check(".mcp.json", r#"{"mcpServers": {"a": {"env": {"GITHUB_TOKEN": "ghp_x"}}}}"#, true);
        check(".mcp.json", r#"{"mcpServers": {"a": {"env": {"GITHUB_TOKEN": "${GITHUB_TOKEN}"}}}}"#, false);
        check(".flaskenv", "FLASK_APP=app\nSECRET_KEY=abc\n", true);
        check(".env-acme", "API_TOKEN=abc\n", true);
        check(".git/config.worktree", "url = https://me:secret@host/x\n", true);
        check(".git/config.bak", "url = https://me:secret@host/x\n", true);
        check(".envrc", "use nix\n", false);
        check(".envrc", "export GITHUB_TOKEN='abc'\n", true);
    }

    #[test]
    fn git_configurations_are_hidden_with_a_token_only() {
        let token = "[remote \"origin\"]\n\turl = https://ghp_0123456789abcdef0123@github.com/a/b\n";
        check(".git/config", token, true);
        check(".git/modules/lib/config", token, true);
        check("config", token, false);
        check(".git/config", "url = https://me:secret@host/x\n", true);
        check(".git/config", "[http]\n extraheader = AUTHORIZATION: basic x\n", true);
        check(".git/config", "url = git@github.com:a/b\n", false);
        check(".git/config", "url = ssh://git@github.com/a/b\nurl = https://me@host/a@b\n", false);
    }

    #[test]
    fn folders_of_keys_are_hidden_whole() {
        for (folder, name, expect) in [
            ("", ".ssh", true),
            ("home", ".GnuPG", true),
            (".config", "gcloud", true),
            ("", "gcloud", false),
            ("", ".env", false),
            ("", ".ssh.bak", true),
            ("", ".ssh-old", true),
            ("", "src.old", false),
        ] {
            let rules = rules_for(folder.as_bytes(), name.as_bytes(), Shape::Folder);
            assert_eq!(!rules.is_empty(), expect, "{folder}/{name}");
        }
    }

    #[test]
    fn every_row_is_in_lower_case_and_found_by_the_index() {
        for rule in &*SECRETS {
            assert_eq!(rule.pattern, rule.pattern.to_ascii_lowercase());
            let shape = if rule.pattern.ends_with('/') { Shape::Folder } else { Shape::File };
            let path = rule.pattern.trim_end_matches('/').replace('*', "x");
            let (folder, name) = path.rsplit_once('/').unwrap_or(("", &path));
            let folder = if rule.pattern == "config" { ".git/modules/x" } else { folder };
            let found = rules_for(folder.as_bytes(), name.as_bytes(), shape);
            assert!(found.contains(&rule), "{rule:?}");
        }
    }
}
