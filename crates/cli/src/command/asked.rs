//! What a skill asks for beyond what every script has, for people and for programs.

use metier_skill::Needs;
use serde::Serialize;

/// The needs of a skill, each a request and none a grant.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub(crate) struct Asked {
    hosts: Vec<String>,
    write: Vec<String>,
    env: Vec<Variable>,
    seconds: Option<u32>,
    /// What a newer version recorded and this one has no words for. It is still said.
    #[serde(skip)]
    other: Vec<String>,
}

/// A variable that a skill wants to see. An object, so that more can be said of it than its name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Variable {
    name: String,
}

impl Asked {
    /// What a frontmatter says; `None` where it asks for nothing.
    pub(crate) fn of(needs: &Needs) -> Option<Self> {
        let env = needs.env.iter().map(|name| Variable { name: name.clone() }).collect();
        let asked = Self {
            hosts: needs.hosts.clone(),
            write: needs.write.clone(),
            env,
            seconds: needs.seconds.map(std::num::NonZero::get),
            other: Vec::new(),
        };
        (asked != Self::default()).then_some(asked)
    }

    /// What the catalogue keeps of it: `host example.org`, `write docs/**`, `env TOKEN`, `seconds 60`.
    pub(crate) fn of_kept(kept: &[String]) -> Self {
        let mut asked = Self::default();
        for text in kept {
            let (kind, value) = text.split_once(' ').unwrap_or((text, ""));
            match (kind, value.parse()) {
                ("host", _) => asked.hosts.push(value.to_owned()),
                ("write", _) => asked.write.push(value.to_owned()),
                ("env", _) => asked.env.push(Variable { name: value.to_owned() }),
                ("seconds", Ok(seconds)) => asked.seconds = Some(seconds),
                _ => asked.other.push(text.clone()),
            }
        }
        asked
    }

    /// What it would do with what it asks for, a line each. They follow on "asks".
    pub(crate) fn in_words(&self) -> Vec<String> {
        let mut lines: Vec<String> = self.hosts.iter().map(|host| format!("to reach {host}")).collect();
        lines.extend(self.write.iter().map(|glob| {
            // A glob that starts neither at the root nor at home is seen from the project.
            let place = if glob.starts_with(['/', '~']) { "" } else { " in the project" };
            format!("to write {glob}{place}")
        }));
        lines
            .extend(self.env.iter().map(|variable| format!("to read {} of your environment", variable.name)));
        lines.extend(self.seconds.map(|seconds| match seconds {
            1 => "to run for up to 1 second".to_owned(),
            seconds => format!("to run for up to {seconds} seconds"),
        }));
        lines.extend(self.other.iter().map(|other| format!("for {other}")));
        lines
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(kept: &[&str], expect: &[&str]) {
        let kept: Vec<String> = kept.iter().map(|text| (*text).to_owned()).collect();
        assert_eq!(Asked::of_kept(&kept).in_words(), expect);
    }

    #[test]
    fn each_need_is_a_line_in_words() {
        check(
            &["host *.a.org:8443", "write docs/**", "write ~/notes/**", "env TOKEN", "seconds 300"],
            &[
                "to reach *.a.org:8443",
                "to write docs/** in the project",
                "to write ~/notes/**",
                "to read TOKEN of your environment",
                "to run for up to 300 seconds",
            ],
        );
        check(&["seconds 1"], &["to run for up to 1 second"]);
        check(&["device gpu", "seconds many"], &["for device gpu", "for seconds many"]);
        check(&[], &[]);
    }

    #[test]
    fn what_the_frontmatter_says_and_what_is_kept_read_alike() {
        let needs = Needs {
            hosts: vec!["a.org".to_owned()],
            write: vec!["docs/**".to_owned()],
            env: vec!["TOKEN".to_owned()],
            seconds: std::num::NonZero::new(60),
        };
        let kept = ["host a.org", "write docs/**", "env TOKEN", "seconds 60"].map(str::to_owned);
        assert_eq!(Asked::of(&needs), Some(Asked::of_kept(&kept)));
        assert_eq!(Asked::of(&Needs::default()), None);
    }
}
