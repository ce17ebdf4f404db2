//! The environment names that the configuration declares, with what they are here.

use std::fmt;

use metier_catalog::DeclaredName;
use metier_secret::{Secret, SecretName};
use metier_skill::Manifest;

use crate::requested_grants::RequestedGrants;

/// The declared names and their values.
#[derive(Clone, Debug, Default)]
pub struct DeclaredEnvironment {
    variables: Vec<Variable>,
    names: Vec<SecretName>,
    unset: Vec<DeclaredName>,
    problems: Vec<String>,
}

/// Names that are required and not set, all of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnsetVariablesError(Vec<DeclaredName>);

impl fmt::Display for UnsetVariablesError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let is = if self.0.len() == 1 { "is" } else { "are" };
        f.write_str("nothing is started: ")?;
        for (at, name) in self.0.iter().enumerate() {
            let comma = if at == 0 { "" } else { ", " };
            write!(f, "{comma}`{}`", name.name)?;
            if let Some(what) = &name.config.description {
                write!(f, " ({})", what.trim())?;
            }
        }
        let mut files: Vec<String> = self.0.iter().map(|name| name.file.display().to_string()).collect();
        files.dedup();
        write!(f, " {is} required by {} and not set", files.join(" and "))
    }
}

impl std::error::Error for UnsetVariablesError {}

/// A variable of the environment that the configuration declares.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Variable {
    /// Its name.
    pub name: String,
    /// What it is.
    pub value: VariableValue,
}

/// What a declared variable is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum VariableValue {
    /// This text: what is set, or the default.
    Text(String),
    /// Never to be put into text; the skill's processes see it under its name.
    Sensitive,
    /// Not set and not required: empty.
    Unset,
    /// Not set, and the skill cannot do without it.
    Required,
}

impl DeclaredEnvironment {
    /// Looks each name up; what `value` does not know has its default.
    pub fn of(declared: &[DeclaredName], mut value: impl FnMut(&str) -> Option<String>) -> Self {
        let mut environment = Self::default();
        for declared in declared {
            let config = &declared.config;
            let name: SecretName = match declared.name.parse() {
                Ok(name) => name,
                Err(error) => {
                    // What a process needs to start, or what metier sets itself, keeps its meaning.
                    environment.problems.push(format!("{}: {error}", declared.file.display()));
                    continue;
                }
            };
            // Empty is as good as not set: nobody who requires a value means that one.
            let found = value(&declared.name).filter(|value| !value.is_empty());
            let value = match (config.sensitive, found.or_else(|| config.default.clone())) {
                (_, None) if config.required => {
                    environment.unset.push(declared.clone());
                    VariableValue::Required
                }
                // Also where it is not set: what comes later is a secret as well.
                (true, _) => VariableValue::Sensitive,
                (false, Some(text)) => VariableValue::Text(text),
                (false, None) => VariableValue::Unset,
            };
            environment.variables.push(Variable { name: declared.name.clone(), value });
            environment.names.push(name);
        }
        environment
    }

    /// The variables, as a body may name them.
    pub fn variables(&self) -> &[Variable] {
        &self.variables
    }

    /// Names that cannot be taken, a sentence each.
    pub fn problems(&self) -> &[String] {
        &self.problems
    }

    /// Whether something can start at all: nothing that is required is missing.
    pub fn check(&self) -> Result<(), UnsetVariablesError> {
        if self.unset.is_empty() { Ok(()) } else { Err(UnsetVariablesError(self.unset.clone())) }
    }

    /// Gives a skill's processes what is theirs: every declared text, and what is sensitive where the skill names it, in its
    /// text (`source` is its file) or in `requires`. That is asked about like every secret.
    pub fn give(
        &self,
        grants: &mut RequestedGrants,
        source: &str,
        manifest: Option<&Manifest>,
        secret: &mut dyn FnMut(&SecretName) -> Option<Secret>,
    ) {
        let requires = manifest.and_then(|manifest| manifest.more.requires.as_ref());
        for (variable, name) in self.variables.iter().zip(&self.names) {
            match &variable.value {
                VariableValue::Text(text) => grants.set(name.clone(), text),
                VariableValue::Sensitive => {
                    let is_named = source.contains(&format!("${{env:{name}}}"))
                        || requires
                            .is_some_and(|requires| requires.env.iter().any(|env| env == name.as_str()));
                    if is_named {
                        let value = secret(name);
                        grants.variable(name.clone(), value);
                    }
                }
                VariableValue::Unset | VariableValue::Required => {}
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use metier_catalog::EnvConfig;

    use super::*;

    fn declared(name: &str, required: bool, default: Option<&str>, sensitive: bool) -> DeclaredName {
        let description = (name == "B").then(|| "the second".to_owned());
        DeclaredName {
            name: name.to_owned(),
            config: EnvConfig { required, default: default.map(str::to_owned), sensitive, description },
            file: Path::new("/u/config.toml").into(),
        }
    }

    #[test]
    fn a_name_is_its_value_else_its_default_and_what_is_required_and_missing_is_told_at_once() {
        let all = [
            declared("A", true, None, false),
            declared("B", true, None, true),
            declared("C", true, Some("c"), false),
            declared("D", false, None, false),
            declared("E", false, None, true),
            declared("PATH", false, Some("/evil"), false),
        ];
        let of = |set: &'static [(&str, &str)]| {
            DeclaredEnvironment::of(&all, |name| {
                set.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned())
            })
        };
        let values = |environment: &DeclaredEnvironment| -> Vec<VariableValue> {
            environment.variables().iter().map(|variable| variable.value.clone()).collect()
        };
        let some = of(&[("A", ""), ("D", "d")]);
        let text = |text: &str| VariableValue::Text(text.to_owned());
        assert_eq!(
            values(&some),
            [
                VariableValue::Required,
                VariableValue::Required,
                text("c"),
                text("d"),
                VariableValue::Sensitive
            ]
        );
        assert_eq!(
            some.check().unwrap_err().to_string(),
            "nothing is started: `A`, `B` (the second) are required by /u/config.toml and not set"
        );
        assert_eq!(some.problems().len(), 1, "what a process needs keeps its meaning");
        let whole = of(&[("A", "a"), ("B", "secret-value"), ("C", "other")]);
        assert_eq!(whole.check(), Ok(()));
        assert_eq!(values(&whole)[..3], [text("a"), VariableValue::Sensitive, text("other")]);
    }

    #[test]
    fn processes_get_texts_and_the_secrets_that_their_skill_names() {
        let all = [declared("KEY", false, None, true), declared("URL", false, Some("u"), false)];
        let environment = DeclaredEnvironment::of(&all, |_| None);
        for (source, expect) in [("Do.", 0), ("Use ${env:KEY}.", 1), ("Use ${env:KEYS}.", 0)] {
            let mut grants = RequestedGrants::default();
            environment.give(&mut grants, source, None, &mut |_| Secret::new("0123456789".to_owned()).ok());
            assert_eq!((grants.secrets().count(), grants.texts().count()), (expect, 1), "{source}");
        }
    }
}
