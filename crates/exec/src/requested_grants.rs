//! What a skill's processes get beyond the default containment, once the policy allows all of it.

use metier_policy::{FileGlob, HostPattern, Need};
use metier_secret::{Secret, SecretName};

/// What is requested beyond the default containment: declared by the skill, set by the user's configuration, or passed with
/// the call. All of it is one question.
#[derive(Clone, Debug, Default)]
pub struct RequestedGrants {
    hosts: Vec<HostPattern>,
    writes: Vec<FileGlob>,
    /// Variables of the environment, with their values where there are any.
    variables: Vec<(SecretName, Option<Secret>)>,
    /// Variables that are no secret, and that nobody has to be asked about.
    texts: Vec<(SecretName, String)>,
}

impl RequestedGrants {
    /// Adds hosts.
    pub fn host(&mut self, hosts: HostPattern) {
        if !self.hosts.contains(&hosts) {
            self.hosts.push(hosts);
        }
    }

    /// Adds places of the project to be written.
    pub fn write(&mut self, glob: FileGlob) {
        if !self.writes.contains(&glob) {
            self.writes.push(glob);
        }
    }

    /// Adds a variable. One that has no value is asked about all the same: the answer is for the skill, and the value may
    /// come later.
    pub fn variable(&mut self, name: SecretName, value: Option<Secret>) {
        match self.variables.iter_mut().find(|(known, _)| *known == name) {
            Some((_, known)) => *known = value.or(known.take()),
            None => self.variables.push((name, value)),
        }
    }

    /// Sets a variable that is no secret, for every process: nobody is asked about it, and nobody hides it.
    pub fn set(&mut self, name: SecretName, text: &str) {
        if !self.texts.iter().any(|(known, _)| *known == name) {
            self.texts.push((name, text.to_owned()));
        }
    }

    /// The variables that are no secret.
    pub fn texts(&self) -> impl Iterator<Item = (&SecretName, &str)> {
        self.texts.iter().map(|(name, text)| (name, text.as_str()))
    }

    /// Adds what a skill declares, or a configuration for it. What cannot be read is left out, a sentence each.
    pub fn declare(
        &mut self,
        needs: &DeclaredNeeds<'_>,
        value: &mut dyn FnMut(&SecretName) -> Option<Secret>,
    ) -> Vec<String> {
        let mut problems = Vec::new();
        for text in needs.hosts {
            match text.parse() {
                Ok(hosts) => self.host(hosts),
                Err(error) => problems.push(format!("the host `{text}` that it needs is none: {error}")),
            }
        }
        for text in needs.write {
            match text.parse() {
                Ok(glob) => self.write(glob),
                Err(error) => {
                    problems.push(format!("`{text}`, which it needs to write, is no glob: {error}"));
                }
            }
        }
        for text in needs.env {
            match text.parse::<SecretName>() {
                Ok(name) => {
                    let value = value(&name);
                    self.variable(name, value);
                }
                Err(error) => problems.push(error.to_string()),
            }
        }
        problems
    }

    /// Keeps what `keep` says, need by need.
    pub fn retain(&mut self, keep: impl Fn(&Need) -> bool) {
        self.hosts.retain(|hosts| keep(&Need::Hosts(hosts.clone())));
        self.writes.retain(|glob| keep(&Need::WriteBelow(glob.clone())));
        self.variables.retain(|(name, _)| keep(&Need::Secret(name.to_string())));
    }

    /// Whether nothing is wanted.
    pub fn is_empty(&self) -> bool {
        self.hosts.is_empty() && self.writes.is_empty() && self.variables.is_empty()
    }

    /// The same for the gate.
    pub fn needs(&self) -> Vec<Need> {
        let hosts = self.hosts.iter().cloned().map(Need::Hosts);
        let writes = self.writes.iter().cloned().map(Need::WriteBelow);
        let variables = self.variables.iter().map(|(name, _)| Need::Secret(name.to_string()));
        hosts.chain(writes).chain(variables).collect()
    }

    /// The hosts.
    pub fn hosts(&self) -> &[HostPattern] {
        &self.hosts
    }

    /// The places.
    pub fn writes(&self) -> &[FileGlob] {
        &self.writes
    }

    /// The variables that have a value.
    pub fn secrets(&self) -> impl Iterator<Item = (&SecretName, &Secret)> {
        self.variables.iter().filter_map(|(name, value)| Some((name, value.as_ref()?)))
    }

    /// The variables that have none.
    pub fn missing(&self) -> impl Iterator<Item = &SecretName> {
        self.variables.iter().filter(|(_, value)| value.is_none()).map(|(name, _)| name)
    }
}

/// Needs as they are written in a manifest, a configuration or an option.
#[derive(Clone, Copy, Debug, Default)]
pub struct DeclaredNeeds<'a> {
    /// Hosts.
    pub hosts: &'a [String],
    /// Globs of the project.
    pub write: &'a [String],
    /// Names of variables.
    pub env: &'a [String],
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_declared_becomes_needs_and_what_cannot_be_read_is_said() {
        let mut grants = RequestedGrants::default();
        let texts = |all: &[&str]| all.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>();
        let (hosts, write) = (texts(&["API.example.org", "*.b.example", "a b"]), texts(&["docs/", "../x"]));
        let env = texts(&["API_TOKEN", "PATH", "OTHER"]);
        let problems = grants
            .declare(&DeclaredNeeds { hosts: &hosts, write: &write, env: &env }, &mut |name| {
                (name.as_str() == "API_TOKEN").then(|| Secret::new("0123456789".into()).unwrap())
            });
        assert_eq!(problems.len(), 3, "{problems:?}");
        let words: Vec<_> = grants.needs().iter().map(Need::words).collect();
        assert_eq!(
            words,
            [
                "reach `api.example.org`",
                "reach `*.b.example`",
                "write `docs/**`",
                "see the secret `API_TOKEN`",
                "see the secret `OTHER`"
            ]
        );
        assert_eq!(grants.secrets().count(), 1);
        assert_eq!(grants.missing().map(SecretName::as_str).collect::<Vec<_>>(), ["OTHER"]);
    }
}
