//! What a skill asks for beyond what every script has, for people and for programs. Each is a request and none a grant.

use metier_skill::Needs;
use serde_json::{Value, json};

/// What a frontmatter says, for programs; `None` where it asks for nothing.
pub(crate) fn object(needs: &Needs) -> Option<Value> {
    let Needs { hosts, write, env, seconds } = needs;
    // A variable is an object, so that more can be said of it than its name.
    let env: Vec<Value> = env.iter().map(|name| json!({ "name": name })).collect();
    let object = json!({ "hosts": hosts, "write": write, "env": env, "seconds": seconds });
    (*needs != Needs::default()).then_some(object)
}

/// What a skill would do with what it asks for, a line each. They follow on "asks".
pub(crate) fn in_words(needs: &Needs) -> Vec<String> {
    let mut lines: Vec<String> = needs.hosts.iter().map(|host| format!("to reach {host}")).collect();
    lines.extend(needs.write.iter().map(|glob| {
        // A glob that starts neither at the root nor at home is seen from the project.
        let place = if glob.starts_with(['/', '~']) { "" } else { " in the project" };
        format!("to write {glob}{place}")
    }));
    lines.extend(needs.env.iter().map(|name| format!("to read {name} of your environment")));
    lines.extend(needs.seconds.map(|seconds| match seconds.get() {
        1 => "to run for up to 1 second".to_owned(),
        seconds => format!("to run for up to {seconds} seconds"),
    }));
    lines
}

/// The same of what the catalogue keeps: `host example.org`, `write docs/**`, `env TOKEN`, `seconds 60`. What a newer version
/// recorded and this one has no words for is still said.
pub(crate) fn kept_in_words(kept: &[String]) -> Vec<String> {
    let (mut needs, mut others) = (Needs::default(), Vec::new());
    for text in kept {
        let (kind, value) = text.split_once(' ').unwrap_or((text, ""));
        match (kind, value.parse()) {
            ("host", _) => needs.hosts.push(value.to_owned()),
            ("write", _) => needs.write.push(value.to_owned()),
            ("env", _) => needs.env.push(value.to_owned()),
            ("seconds", Ok(seconds)) => needs.seconds = Some(seconds),
            _ => others.push(format!("for {text}")),
        }
    }
    let mut lines = in_words(&needs);
    lines.extend(others);
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(kept: &[&str], expect: &[&str]) {
        let kept: Vec<String> = kept.iter().map(|text| (*text).to_owned()).collect();
        assert_eq!(kept_in_words(&kept), expect);
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
        assert_eq!(in_words(&needs), kept_in_words(&kept));
        assert_eq!(
            object(&needs).map(|object| object.to_string()).as_deref(),
            Some(r#"{"hosts":["a.org"],"write":["docs/**"],"env":[{"name":"TOKEN"}],"seconds":60}"#)
        );
        assert_eq!(object(&Needs::default()), None);
    }
}
