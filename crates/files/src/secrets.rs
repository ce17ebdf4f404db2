//! Which files of a project look like secrets: the one table.
//!
//! It is a net and not a wall: a password in `settings.py` is not found, and cannot be by its name. A row that hides a
//! harmless file from a script is a nuisance that people answer by turning masking off, so whatever has harmless uses as
//! well needs a proof in its content.

mod decoration;
mod proof;

use std::os::unix::ffi::OsStrExt;
use std::sync::LazyLock;

use self::decoration::undecorated;
pub use self::proof::Proof;
use crate::RelativePath;
use crate::survey::pattern::{PatternIndex, fits};

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
const EXAMPLES: &[&str] = &[
    ".env*.example",
    ".env*.sample",
    ".env*.template",
    ".env*.dist",
    ".env*.tpl",
    ".env*.tmpl",
    ".env*.schema",
    ".env*.d.ts",
    ".env*-example",
    ".env*-sample",
    ".env*-template",
    ".env*_example",
    ".env*_sample",
    ".env*_template",
    ".dev.vars.example",
    ".dev.vars.sample",
];

/// What a service's own file of credentials holds.
const TOKENS: Proof = Proof::Holds(&[
    "private_key",
    "privatekey",
    "client_secret",
    "clientsecret",
    "refresh_token",
    "refreshtoken",
    "access_token",
    "accesstoken",
    "secret_access_key",
    "id_token",
    "api_key",
    "apikey",
]);

/// What a program of an agent keeps for itself.
const AGENT: &str = "an agent's login";
const CLOUD: &str = "cloud keys";
const HISTORY: &str = "what was typed into a shell";
const KEY: &str = "a private key";
const VARIABLES: &str = "environment variables";

/// Every row. The order has no meaning.
pub const SECRETS: &[SecretRule] = &[
    SecretRule { pattern: ".env", except: &[], proof: Proof::Name, what: VARIABLES },
    SecretRule { pattern: ".env.*", except: EXAMPLES, proof: Proof::Name, what: VARIABLES },
    SecretRule { pattern: ".env-*", except: EXAMPLES, proof: Proof::Assignment, what: VARIABLES },
    SecretRule { pattern: ".env_*", except: EXAMPLES, proof: Proof::Assignment, what: VARIABLES },
    named(".dev.vars", VARIABLES),
    SecretRule { pattern: ".dev.vars.*", except: EXAMPLES, proof: Proof::Name, what: VARIABLES },
    proven(".flaskenv", Proof::Assignment, VARIABLES),
    proven("*.env", Proof::Assignment, VARIABLES),
    proven(".envrc", Proof::Assignment, VARIABLES),
    proven("env.sh", Proof::Assignment, VARIABLES),
    proven("env.local", Proof::Assignment, VARIABLES),
    proven("secrets.sh", Proof::Assignment, VARIABLES),
    proven(".secrets", Proof::Value, "an app's secrets"),
    proven(".secrets.*", Proof::Value, "an app's secrets"),
    proven("secret.yml", Proof::Value, "an app's secrets"),
    proven("secret.yaml", Proof::Value, "an app's secrets"),
    proven("secrets.yml", Proof::Value, "an app's secrets"),
    proven("secrets.yaml", Proof::Value, "an app's secrets"),
    proven("secrets.json", Proof::Value, "an app's secrets"),
    proven("secrets.toml", Proof::Value, "an app's secrets"),
    proven("secrets.ini", Proof::Value, "an app's secrets"),
    proven("secrets.properties", Proof::Value, "an app's secrets"),
    proven("credentials.yml", Proof::Value, "credentials"),
    proven("credentials.yaml", Proof::Value, "credentials"),
    proven("credentials.toml", Proof::Value, "credentials"),
    proven("credentials.ini", Proof::Value, "credentials"),
    proven("local.settings.json", Proof::Value, "an app's secrets"),
    proven("gradle.properties", Proof::Assignment, "signing keys"),
    proven("local.properties", Proof::Assignment, "signing keys"),
    proven("key.properties", Proof::Assignment, "signing keys"),
    proven("keystore.properties", Proof::Assignment, "signing keys"),
    proven("*.tfvars", Proof::Assignment, "Terraform variables"),
    key("id_rsa*"),
    key("id_dsa*"),
    key("id_ecdsa*"),
    key("id_ed25519*"),
    // A key by another name: its first line says so.
    proven("*_rsa", Proof::PrivateKey, "an SSH key"),
    proven("*_dsa", Proof::PrivateKey, "an SSH key"),
    proven("*_ecdsa", Proof::PrivateKey, "an SSH key"),
    proven("*_ed25519", Proof::PrivateKey, "an SSH key"),
    proven("*_key", Proof::PrivateKey, KEY),
    proven("*-key", Proof::PrivateKey, KEY),
    proven("*.priv", Proof::PrivateKey, KEY),
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
    named("*.pkcs12", "a key store"),
    named("*.bks", "a key store"),
    named("*.jceks", "a key store"),
    named("*.kdbx", "a password store"),
    named("*.psafe3", "a password store"),
    named("*.1pux", "a password store"),
    named("*.agekey", "an age key"),
    named(".netrc", "logins"),
    named("_netrc", "logins"),
    named(".npmrc", "an npm token"),
    proven(".yarnrc.yml", Proof::Holds(&["authtoken", "authident"]), "an npm token"),
    named(".pypirc", "a PyPI token"),
    named(".git-credentials", "git logins"),
    named(".git/credentials", "git logins"),
    named(".config/git/credentials", "git logins"),
    proven(".git/config.worktree", Proof::Address, "an address with a token"),
    proven(".gitconfig", Proof::Address, "an address with a token"),
    proven(".hgrc", Proof::Value, "logins"),
    proven("pip.conf", Proof::Address, "an address with a token"),
    proven(".condarc", Proof::Address, "an address with a token"),
    proven("nuget.config", Proof::Holds(&["cleartextpassword", "key=\"password\""]), "registry logins"),
    named(".authinfo", "logins"),
    named(".subversion/auth/", "logins"),
    proven("sftp-config.json", Proof::Value, "logins"),
    proven(".vscode/sftp.json", Proof::Value, "logins"),
    proven(".ftpconfig", Proof::Value, "logins"),
    proven("sitemanager.xml", Proof::Holds(&["<pass"]), "logins"),
    named(".cvspass", "logins"),
    proven(".muttrc", Proof::Assignment, "mail logins"),
    proven(".fetchmailrc", Proof::Holds(&["password", "pass "]), "mail logins"),
    proven(".mbsyncrc", Proof::Holds(&["pass "]), "mail logins"),
    proven("wg*.conf", Proof::Holds(&["privatekey"]), KEY),
    named(".databrickscfg", CLOUD),
    named("kaggle.json", CLOUD),
    named(".passwd-s3fs", CLOUD),
    named(".dockerconfigjson", "registry logins"),
    named("htpasswd", "passwords"),
    named(".vault_pass*", "a password"),
    named(".vault-pass*", "a password"),
    // Logins of agents and of services, each where its program keeps it.
    named(".codex/auth.json", AGENT),
    named(".gemini/oauth_creds.json", AGENT),
    named(".qwen/oauth_creds.json", AGENT),
    named("oauth_creds.json", AGENT),
    named(".claude.json", AGENT),
    named(".claude/.credentials.json", AGENT),
    named(".config/github-copilot/", AGENT),
    named(".huggingface/token", AGENT),
    named("huggingface/token", AGENT),
    proven(".claude/settings.local.json", Proof::Value, AGENT),
    proven(".aider.conf.yml", Proof::Value, AGENT),
    proven(".continue/config.json", Proof::Value, AGENT),
    proven(".continue/config.yaml", Proof::Value, AGENT),
    proven(".cursor/mcp.json", Proof::Value, AGENT),
    proven(".vscode/mcp.json", Proof::Value, AGENT),
    proven(".mcp.json", Proof::Value, AGENT),
    proven("auth.json", Proof::Value, "logins"),
    proven("token*.json", TOKENS, "a token"),
    named(".token", "a token"),
    named(".aws/cli/cache/", CLOUD),
    named(".oci/", CLOUD),
    named(".aliyun/", CLOUD),
    named(".pulumi/credentials.json", CLOUD),
    named(".supabase/access-token", CLOUD),
    named(".fly/config.yml", CLOUD),
    named(".railway/config.json", CLOUD),
    named(".config/hub", "a GitHub token"),
    named(".config/glab-cli/config.yml", "a GitLab token"),
    named(".config/doctl/config.yaml", CLOUD),
    named(".config/stripe/config.toml", CLOUD),
    named("rclone.conf", CLOUD),
    proven(".wrangler/config/default.toml", Proof::Value, CLOUD),
    proven("profiles.yml", Proof::Value, "database logins"),
    // What people type into a shell has passwords in it.
    named(".*_history", HISTORY),
    named("fish_history", HISTORY),
    named(".zhistory", HISTORY),
    named(".histfile", HISTORY),
    named(".history", HISTORY),
    named(".viminfo", "what was edited"),
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

static INDEX: LazyLock<PatternIndex<SecretRule>> =
    LazyLock::new(|| PatternIndex::new(SECRETS, |rule| rule.pattern));

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
