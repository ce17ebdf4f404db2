//! Which files of a project look like secrets: the one table.
//!
//! It is a net and not a wall: a password in `settings.py` is not found, and cannot be by its name. A row that hides a
//! harmless file from a script is a nuisance that people answer by turning masking off, so whatever has harmless uses as
//! well needs a proof in its content.

mod proof;

use std::collections::HashMap;
use std::os::unix::ffi::OsStrExt;
use std::sync::LazyLock;

pub use self::proof::Proof;
use crate::RelativePath;
use crate::survey::pattern::fits;

/// A row of the table.
#[derive(Debug, PartialEq, Eq)]
pub struct SecretRule {
    /// The end of the path, in lower case, with `*` for any piece of a name. With a `/` at its end it is a folder, which
    /// is hidden whole.
    pub pattern: &'static str,
    /// Names that fit the pattern and are meant to be read.
    pub except: &'static [&'static str],
    /// What else has to be so.
    pub proof: Proof,
    /// What it is, in words.
    pub what: &'static str,
}

const fn named(pattern: &'static str, what: &'static str) -> SecretRule {
    SecretRule { pattern, except: &[], proof: Proof::Name, what }
}

const fn proven(pattern: &'static str, proof: Proof, what: &'static str) -> SecretRule {
    SecretRule { pattern, except: &[], proof, what }
}

const fn key(pattern: &'static str) -> SecretRule {
    SecretRule { pattern, except: &["*.pub"], proof: Proof::Name, what: "an SSH key" }
}

/// The last part decides: `.env.local.example` is an example, `.env.example.local` is somebody's copy of one, filled in.
const EXAMPLES: &[&str] =
    &[".env.example", ".env.sample", ".env.template", ".env.*.example", ".env.*.sample", ".env.*.template"];

/// What a service's own file of credentials holds.
const TOKENS: Proof =
    Proof::Holds(&["private_key", "client_secret", "refresh_token", "access_token", "secret_access_key"]);

/// Every row. The order has no meaning.
pub const SECRETS: &[SecretRule] = &[
    SecretRule { pattern: ".env", except: &[], proof: Proof::Name, what: "environment variables" },
    SecretRule { pattern: ".env.*", except: EXAMPLES, proof: Proof::Name, what: "environment variables" },
    proven("*.env", Proof::Assignment, "environment variables"),
    proven(".envrc", Proof::Assignment, "environment variables"),
    proven("*.tfvars", Proof::Assignment, "Terraform variables"),
    key("id_rsa*"),
    key("id_dsa*"),
    key("id_ecdsa*"),
    key("id_ed25519*"),
    proven("*.pem", Proof::PrivateKey, "a private key"),
    proven("*.key", Proof::PrivateKey, "a private key"),
    proven("*.p8", Proof::PrivateKey, "a private key"),
    proven("*.asc", Proof::PrivateKey, "a private key"),
    proven("*.gpg", Proof::PrivateKey, "a private key"),
    proven("*.ovpn", Proof::PrivateKey, "a private key"),
    proven("*.crt", Proof::PrivateKey, "a private key"),
    named("*.ppk", "a private key"),
    named("master.key", "the key of Rails credentials"),
    named("*.p12", "a key store"),
    named("*.pfx", "a key store"),
    named("*.jks", "a key store"),
    named("*.keystore", "a key store"),
    named("*.kdbx", "a password store"),
    named("*.agekey", "an age key"),
    named(".netrc", "logins"),
    named("_netrc", "logins"),
    named(".npmrc", "an npm token"),
    proven(".yarnrc.yml", Proof::Holds(&["authtoken", "authident"]), "an npm token"),
    named(".pypirc", "a PyPI token"),
    named(".git-credentials", "git logins"),
    // Hidden only with a token in it: git does not run without its configuration.
    proven(".git/config", Proof::Address, "an address with a token"),
    proven("config", Proof::Address, "an address with a token"),
    named(".pgpass", "database logins"),
    named(".my.cnf", "database logins"),
    named(".mylogin.cnf", "database logins"),
    named(".htpasswd", "passwords"),
    named(".vault-token", "a Vault token"),
    named(".dockercfg", "registry logins"),
    named(".s3cfg", "cloud keys"),
    named(".boto", "cloud keys"),
    named(".rediscli_auth", "a password"),
    named(".msmtprc", "mail logins"),
    proven("terraform.rc", Proof::Holds(&["token"]), "a Terraform token"),
    proven(".terraformrc", Proof::Holds(&["token"]), "a Terraform token"),
    named("credentials.tfrc.json", "a Terraform token"),
    // States hold every attribute of every resource in plain text, passwords included; the vendor calls them sensitive.
    named("*.tfstate", "a Terraform state"),
    named("*.tfstate.backup", "a Terraform state"),
    named(".aws/credentials", "cloud keys"),
    named(".aws/sso/", "cloud keys"),
    named(".azure/", "cloud keys"),
    named(".config/gcloud/", "cloud keys"),
    named(".config/gh/hosts.yml", "a GitHub token"),
    named(".config/op/", "a password store"),
    named(".docker/config.json", "registry logins"),
    named(".kube/config", "cluster logins"),
    proven("*kubeconfig*", Proof::Holds(&["client-key-data", "token:", "password:"]), "cluster logins"),
    named(".cargo/credentials", "a registry token"),
    named(".cargo/credentials.toml", "a registry token"),
    named(".gem/credentials", "a registry token"),
    named(".m2/settings.xml", "registry logins"),
    named(".streamlit/secrets.toml", "an app's secrets"),
    named(".ssh/", "SSH keys"),
    named(".gnupg/", "GnuPG keys"),
    named(".password-store/", "a password store"),
    proven("*service*account*.json", TOKENS, "a service account's key"),
    proven("*credential*.json", TOKENS, "credentials"),
    proven("*client*secret*.json", TOKENS, "credentials"),
    proven("*adminsdk*.json", TOKENS, "a service account's key"),
    proven("*-key.json", TOKENS, "a service account's key"),
    proven("*_key.json", TOKENS, "a service account's key"),
    proven("key.json", TOKENS, "a service account's key"),
];

/// The rows by the end of their pattern: a walk asks for each of a hundred thousand names, and most fit no row.
struct Index {
    exact: HashMap<&'static [u8], Vec<&'static SecretRule>>,
    extension: HashMap<&'static [u8], Vec<&'static SecretRule>>,
    other: Vec<&'static SecretRule>,
}

static INDEX: LazyLock<Index> = LazyLock::new(|| {
    let mut index = Index { exact: HashMap::new(), extension: HashMap::new(), other: Vec::new() };
    for rule in SECRETS {
        let last = rule.pattern.trim_end_matches('/').rsplit('/').next().unwrap_or_default();
        match last.rsplit_once('.') {
            _ if !last.contains('*') => index.exact.entry(last.as_bytes()).or_default().push(rule),
            Some((_, extension)) if !extension.contains('*') => {
                index.extension.entry(extension.as_bytes()).or_default().push(rule);
            }
            _ => index.other.push(rule),
        }
    }
    index
});

/// What a name stands for in its folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shape {
    File,
    Folder,
}

/// The rows that `folder/name` fits, those that need no proof first.
pub(crate) fn rules_for(folder: &[u8], name: &[u8], shape: Shape) -> Vec<&'static SecretRule> {
    let lower = name.to_ascii_lowercase();
    let extension = lower.rsplit(|&byte| byte == b'.').next().unwrap_or_default();
    let index = &*INDEX;
    let mut rules: Vec<_> =
        [index.exact.get(lower.as_slice()), index.extension.get(extension), Some(&index.other)]
            .into_iter()
            .flatten()
            .flatten()
            .copied()
            .filter(|rule| rule.pattern.ends_with('/') == (shape == Shape::Folder))
            .filter(|rule| fits(rule.pattern, folder, &lower))
            .filter(|rule| !rule.except.iter().any(|except| fits(except, folder, &lower)))
            .collect();
    // Git's own files are called `config` in every submodule; elsewhere that name means nothing.
    rules.retain(|rule| rule.pattern != "config" || in_git_modules(folder));
    rules.sort_by_key(|rule| rule.proof != Proof::Name);
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
        ] {
            check(path, "harmless", false);
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
        ] {
            let rules = rules_for(folder.as_bytes(), name.as_bytes(), Shape::Folder);
            assert_eq!(!rules.is_empty(), expect, "{folder}/{name}");
        }
    }

    #[test]
    fn every_row_is_in_lower_case_and_found_by_the_index() {
        for rule in SECRETS {
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
