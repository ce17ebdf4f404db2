//! The table of names that secrets have.

use super::Proof;
use std::sync::LazyLock;

/// What one pattern of the table says.
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

/// A row of the table: patterns that mean the same kind of secret.
struct SecretKind {
    what: &'static str,
    proof: Proof,
    except: &'static [&'static str],
    patterns: &'static [&'static str],
}

const fn named(what: &'static str, patterns: &'static [&'static str]) -> SecretKind {
    proven(what, Proof::Name, patterns)
}

const fn proven(what: &'static str, proof: Proof, patterns: &'static [&'static str]) -> SecretKind {
    SecretKind { what, proof, except: &[], patterns }
}

/// Every pattern of the table.
pub static SECRETS: LazyLock<Vec<SecretRule>> = LazyLock::new(|| {
    let rules = |&SecretKind { what, proof, except, patterns }: &'static SecretKind| {
        patterns.iter().map(move |&pattern| SecretRule { pattern, except, proof, what })
    };
    KINDS.iter().flat_map(rules).collect()
});

/// The last part decides: `.env.local.example` is an example, `.env.example.local` is a copy of one, filled in.
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
const KINDS: &[SecretKind] = &[
    named(VARIABLES, &[".env", ".dev.vars"]),
    SecretKind { except: EXAMPLES, ..named(VARIABLES, &[".env.*", ".dev.vars.*"]) },
    SecretKind { except: EXAMPLES, ..proven(VARIABLES, Proof::Assignment, &[".env-*", ".env_*"]) },
    proven(VARIABLES, Proof::Assignment, &[".flaskenv", "*.env", ".envrc", "env.sh", "env.local"]),
    proven(VARIABLES, Proof::Assignment, &["secrets.sh"]),
    proven("an app's secrets", Proof::Value, &[".secrets", ".secrets.*", "secret.yml", "secret.yaml"]),
    proven("an app's secrets", Proof::Value, &["secrets.yml", "secrets.yaml", "secrets.json"]),
    proven("an app's secrets", Proof::Value, &["secrets.toml", "secrets.ini", "secrets.properties"]),
    proven("an app's secrets", Proof::Value, &["local.settings.json"]),
    proven("credentials", Proof::Value, &["credentials.yml", "credentials.yaml", "credentials.toml"]),
    proven("credentials", Proof::Value, &["credentials.ini"]),
    proven("signing keys", Proof::Assignment, &["gradle.properties", "local.properties", "key.properties"]),
    proven("signing keys", Proof::Assignment, &["keystore.properties"]),
    proven("Terraform variables", Proof::Assignment, &["*.tfvars"]),
    SecretKind { except: &["*.pub"], ..named("an SSH key", &["id_rsa*", "id_dsa*"]) },
    SecretKind { except: &["*.pub"], ..named("an SSH key", &["id_ecdsa*", "id_ed25519*"]) },
    // A key by another name: its first line says so.
    proven("an SSH key", Proof::PrivateKey, &["*_rsa", "*_dsa", "*_ecdsa", "*_ed25519"]),
    proven(KEY, Proof::PrivateKey, &["*_key", "*-key", "*.priv", "*.pem", "*.key", "*.p8", "*.asc", "*.gpg"]),
    proven(KEY, Proof::PrivateKey, &["*.ovpn", "*.crt"]),
    named(KEY, &["*.ppk"]),
    named("the key of Rails credentials", &["master.key"]),
    named("a key store", &["*.p12", "*.pfx", "*.jks", "*.keystore", "*.pkcs12", "*.bks", "*.jceks"]),
    named("a password store", &["*.kdbx", "*.psafe3", "*.1pux", ".config/op/", ".password-store/"]),
    named("an age key", &["*.agekey"]),
    named("logins", &[".netrc", "_netrc", ".authinfo", ".subversion/auth/", ".cvspass"]),
    named("an npm token", &[".npmrc"]),
    proven("an npm token", Proof::Holds(&["authtoken", "authident"]), &[".yarnrc.yml"]),
    named("a PyPI token", &[".pypirc"]),
    named("git logins", &[".git-credentials", ".git/credentials", ".config/git/credentials"]),
    // Hidden only with a token in it: git does not run without its configuration.
    proven("an address with a token", Proof::Address, &[".git/config.worktree", ".gitconfig", "pip.conf"]),
    proven("an address with a token", Proof::Address, &[".condarc", ".git/config", "config"]),
    proven("logins", Proof::Value, &[".hgrc", "sftp-config.json", ".vscode/sftp.json", ".ftpconfig"]),
    proven("logins", Proof::Value, &["auth.json"]),
    proven("registry logins", Proof::Holds(&["cleartextpassword", "key=\"password\""]), &["nuget.config"]),
    proven("logins", Proof::Holds(&["<pass"]), &["sitemanager.xml"]),
    proven("mail logins", Proof::Assignment, &[".muttrc"]),
    proven("mail logins", Proof::Holds(&["password", "pass "]), &[".fetchmailrc"]),
    proven("mail logins", Proof::Holds(&["pass "]), &[".mbsyncrc"]),
    proven(KEY, Proof::Holds(&["privatekey"]), &["wg*.conf"]),
    named(CLOUD, &[".databrickscfg", "kaggle.json", ".passwd-s3fs", ".aws/cli/cache/", ".oci/", ".aliyun/"]),
    named(CLOUD, &[".pulumi/credentials.json", ".supabase/access-token", ".fly/config.yml"]),
    named(CLOUD, &[".railway/config.json", ".config/doctl/config.yaml", ".config/stripe/config.toml"]),
    named(CLOUD, &["rclone.conf", ".s3cfg", ".boto", ".aws/credentials", ".aws/sso/", ".azure/"]),
    named(CLOUD, &[".config/gcloud/"]),
    named("registry logins", &[".dockerconfigjson", ".dockercfg", ".docker/config.json", ".m2/settings.xml"]),
    named("passwords", &["htpasswd", ".htpasswd"]),
    named("a password", &[".vault_pass*", ".vault-pass*", ".rediscli_auth"]),
    // Logins of agents and of services, each where its program keeps it.
    named(AGENT, &[".codex/auth.json", ".gemini/oauth_creds.json", ".qwen/oauth_creds.json"]),
    named(AGENT, &["oauth_creds.json", ".claude.json", ".claude/.credentials.json"]),
    named(AGENT, &[".config/github-copilot/", ".huggingface/token", "huggingface/token"]),
    proven(AGENT, Proof::Value, &[".claude/settings.local.json", ".aider.conf.yml", ".continue/config.json"]),
    proven(AGENT, Proof::Value, &[".continue/config.yaml", ".cursor/mcp.json", ".vscode/mcp.json"]),
    proven(AGENT, Proof::Value, &[".mcp.json"]),
    proven("a token", TOKENS, &["token*.json"]),
    named("a token", &[".token"]),
    named("a GitHub token", &[".config/hub", ".config/gh/hosts.yml"]),
    named("a GitLab token", &[".config/glab-cli/config.yml"]),
    proven(CLOUD, Proof::Value, &[".wrangler/config/default.toml"]),
    proven("database logins", Proof::Value, &["profiles.yml"]),
    // What people type into a shell has passwords in it.
    named(HISTORY, &[".*_history", "fish_history", ".zhistory", ".histfile", ".history"]),
    named("what was edited", &[".viminfo"]),
    named("database logins", &[".pgpass", ".my.cnf", ".mylogin.cnf"]),
    named("a Vault token", &[".vault-token"]),
    named("mail logins", &[".msmtprc"]),
    proven("a Terraform token", Proof::Holds(&["token"]), &["terraform.rc", ".terraformrc"]),
    named("a Terraform token", &["credentials.tfrc.json"]),
    // States hold every attribute of every resource in plain text, passwords included; the vendor calls them sensitive.
    named("a Terraform state", &["*.tfstate", "*.tfstate.backup"]),
    named("cluster logins", &[".kube/config"]),
    proven("cluster logins", Proof::Holds(&["client-key-data", "token:", "password:"]), &["*kubeconfig*"]),
    named("a registry token", &[".cargo/credentials", ".cargo/credentials.toml", ".gem/credentials"]),
    named("an app's secrets", &[".streamlit/secrets.toml"]),
    named("SSH keys", &[".ssh/"]),
    named("GnuPG keys", &[".gnupg/"]),
    proven("a service account's key", TOKENS, &["*service*account*.json"]),
    proven("credentials", TOKENS, &["*credential*.json", "*client*secret*.json"]),
    proven("a service account's key", TOKENS, &["*adminsdk*.json", "*-key.json", "*_key.json", "key.json"]),
];
