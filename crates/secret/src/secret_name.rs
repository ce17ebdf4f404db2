//! What a secret is called: the environment variable in which a skill's processes find it.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// The longest name. It is shown in place of the value wherever that appears, so it bounds how much longer a text can get.
const MAX_NAME: usize = 64;

/// The name of a secret, which is the environment variable that holds it.
///
/// ```
/// use metier_secret::SecretName;
///
/// assert!("JIRA_TOKEN".parse::<SecretName>().is_ok());
/// assert!("JIRA TOKEN".parse::<SecretName>().is_err());
/// assert!("LD_PRELOAD".parse::<SecretName>().is_err());
/// ```
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct SecretName(String);

/// Why a text is no name of a secret.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SecretNameError {
    /// It cannot be an environment variable.
    #[error(
        "a secret's name is that of an environment variable: letters, digits and `_`, no digit first, such as `API_TOKEN`"
    )]
    Syntax,
    /// It is longer than a name may be.
    #[error("the name has {length} characters; at most {MAX_NAME} are taken")]
    TooLong {
        /// How long it is.
        length: usize,
    },
    /// The variable already means something.
    #[error("`{name}` cannot be a secret's name: it {reason}")]
    Reserved {
        /// The name.
        name: String,
        /// What the variable does, as a sentence without its subject.
        reason: &'static str,
    },
}

/// Variables that a secret must not set, and what they do. A `*` at the end stands for any rest; upper and lower case do
/// not matter, since some programs read both.
pub const RESERVED: &[(&[&str], &str)] = &[
    (
        &[
            "SKILL_DIR",
            "SKILL_DATA",
            "PROJECT_DIR",
            "SESSION_ID",
            "CLAUDE_PLUGIN_ROOT",
            "CLAUDE_PLUGIN_DATA",
            "TMPDIR",
            "TMP",
            "TEMP",
            "PATH",
            "LANG",
            "LC_*",
            "HOME",
            "GIT_OPTIONAL_LOCKS",
            "GIT_DISCOVERY_ACROSS_FILESYSTEM",
            "GIT_CONFIG_COUNT",
            "GIT_CONFIG_KEY_*",
            "GIT_CONFIG_VALUE_*",
            "METIER_*",
        ],
        "is set by metier for every process of a skill",
    ),
    (
        &["PWD", "OLDPWD", "SHLVL", "USER", "LOGNAME", "SHELL", "TERM", "TZ", "XDG_*"],
        "is set by the system or the shell",
    ),
    (
        &["HTTP_PROXY", "HTTPS_PROXY", "FTP_PROXY", "ALL_PROXY", "NO_PROXY"],
        "decides which way the network is reached, and metier's proxy is the only way",
    ),
    (
        &[
            "SSL_CERT_FILE",
            "SSL_CERT_DIR",
            "CURL_CA_BUNDLE",
            "REQUESTS_CA_BUNDLE",
            "NODE_EXTRA_CA_CERTS",
            "GIT_SSL_*",
            "OPENSSL_*",
            "NODE_TLS_REJECT_UNAUTHORIZED",
        ],
        "decides which servers are believed",
    ),
    (
        &["LD_*", "DYLD_*", "GCONV_PATH", "GLIBC_TUNABLES", "LOCPATH", "NLSPATH", "MALLOC_*", "HOSTALIASES"],
        "changes what the system loads into every program",
    ),
    (
        &[
            "BASH_*",
            "ENV",
            "SHELLOPTS",
            "BASHOPTS",
            "PROMPT_COMMAND",
            "PS1",
            "PS2",
            "PS4",
            "IFS",
            "CDPATH",
            "GLOBIGNORE",
            "ZDOTDIR",
            "POSIXLY_CORRECT",
        ],
        "changes what a shell runs or how it reads a line",
    ),
    (
        &[
            "PYTHON*",
            "NODE_OPTIONS",
            "NODE_PATH",
            "NODE_REPL_*",
            "PERL5*",
            "PERLLIB",
            "PERLIO*",
            "RUBYOPT",
            "RUBYLIB",
            "GEM_HOME",
            "GEM_PATH",
            "BUNDLE_GEMFILE",
            "LUA_*",
            "PHPRC",
            "PHP_INI_SCAN_DIR",
            "CLASSPATH",
            "JAVA_TOOL_OPTIONS",
            "_JAVA_OPTIONS",
            "JDK_JAVA_OPTIONS",
            "DOTNET_STARTUP_HOOKS",
            "NPM_CONFIG_*",
            "DENO_DIR",
            "BUN_OPTIONS",
            "R_PROFILE*",
            "R_ENVIRON*",
            "JULIA_LOAD_PATH",
        ],
        "changes what an interpreter loads",
    ),
    (
        &[
            "EDITOR",
            "VISUAL",
            "PAGER",
            "MANPAGER",
            "BROWSER",
            "LESSOPEN",
            "LESSCLOSE",
            "SSH_ASKPASS",
            "SUDO_ASKPASS",
            "SSH_AUTH_SOCK",
            "GIT_SSH",
            "GIT_SSH_COMMAND",
            "GIT_ASKPASS",
            "GIT_EXEC_PATH",
            "GIT_CONFIG*",
            "GIT_EDITOR",
            "GIT_SEQUENCE_EDITOR",
            "GIT_PAGER",
            "GIT_PROXY_COMMAND",
            "GIT_EXTERNAL_DIFF",
            "GIT_TEMPLATE_DIR",
            "GIT_DIR",
            "GIT_WORK_TREE",
            "RUSTC_WRAPPER",
            "CC",
            "CXX",
            "MAKEFLAGS",
        ],
        "names a program that others start, or where they look for one",
    ),
];

impl SecretName {
    /// The name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for SecretName {
    type Err = SecretNameError;

    fn from_str(text: &str) -> Result<Self, SecretNameError> {
        Self::try_from(text.to_owned())
    }
}

impl TryFrom<String> for SecretName {
    type Error = SecretNameError;

    fn try_from(text: String) -> Result<Self, SecretNameError> {
        let mut bytes = text.bytes();
        let begins = bytes.next().is_some_and(|byte| byte.is_ascii_alphabetic() || byte == b'_');
        if !begins || !bytes.all(|byte| byte.is_ascii_alphanumeric() || byte == b'_') {
            return Err(SecretNameError::Syntax);
        }
        if text.len() > MAX_NAME {
            return Err(SecretNameError::TooLong { length: text.len() });
        }
        match reserved(&text) {
            Some(reason) => Err(SecretNameError::Reserved { name: text, reason }),
            None => Ok(Self(text)),
        }
    }
}

/// What the variable of this name already does.
fn reserved(name: &str) -> Option<&'static str> {
    let is_meant = |pattern: &&str| match pattern.strip_suffix('*') {
        Some(beginning) => {
            name.get(..beginning.len()).is_some_and(|start| start.eq_ignore_ascii_case(beginning))
        }
        None => name.eq_ignore_ascii_case(pattern),
    };
    RESERVED.iter().find(|(patterns, _)| patterns.iter().any(is_meant)).map(|(_, reason)| *reason)
}

impl fmt::Display for SecretName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl From<SecretName> for String {
    fn from(name: SecretName) -> Self {
        name.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_environment_variables() {
        for name in [
            "A",
            "_x",
            "API_TOKEN",
            "apiToken2",
            "GIT_TOKEN",
            "NODE_AUTH_TOKEN",
            "PYPI_TOKEN",
            "LDAP_PASSWORD",
        ] {
            assert_eq!(name.parse::<SecretName>().map(String::from), Ok(name.to_owned()));
        }
        for name in ["", "1A", "A-B", "A B", "A=B", "Ä", "A\n", "A\0"] {
            assert_eq!(name.parse::<SecretName>(), Err(SecretNameError::Syntax), "{name:?}");
        }
        let long = "A".repeat(65);
        assert_eq!(long.parse::<SecretName>(), Err(SecretNameError::TooLong { length: 65 }));
        assert!(long[1..].parse::<SecretName>().is_ok());
    }

    #[test]
    fn what_already_means_something_is_refused_with_its_meaning() {
        for (name, reason) in [
            ("PATH", "is set by metier"),
            ("home", "is set by metier"),
            ("https_proxy", "the only way"),
            ("LD_PRELOAD", "loads into every program"),
            ("LD_", "loads into every program"),
            ("BASH_ENV", "a shell"),
            ("PYTHONPATH", "an interpreter"),
            ("npm_config_script_shell", "an interpreter"),
            ("NODE_OPTIONS", "an interpreter"),
            ("GIT_SSH_COMMAND", "a program"),
            ("SSL_CERT_FILE", "believed"),
        ] {
            let error = name.parse::<SecretName>().unwrap_err().to_string();
            assert!(error.contains(reason) && error.contains(name), "{name}: {error}");
        }
    }

    #[test]
    fn a_file_cannot_bring_in_a_name_that_is_refused() {
        assert!(serde_json::from_str::<SecretName>("\"LD_PRELOAD\"").is_err());
        assert_eq!(serde_json::from_str::<SecretName>("\"TOKEN\"").unwrap().as_str(), "TOKEN");
    }
}
