//! Reading a configuration file so that one mistake costs one setting.
//!
//! A file that is refused whole would silently take back every `off` a user has set, and one that is taken half without
//! a word would do the same with the other half. So: what is not TOML is reported and the rest of the file is used; a
//! value that does not fit is reported and its default counts; a key that is not known is reported and has no effect.

mod mcp;
mod models;
mod section;

use self::section::{Report, Section, first_line};
use super::{
    CatalogConfig, ChangesConfig, Config, DiscoveryConfig, EnvConfig, GateConfig, LintConfig, LintPath,
    NeedsConfig, RootConfig, SkillConfig,
};
use crate::catalogue::Disclosure;
use crate::code;
use crate::declared_name::is_variable;
use metier_diagnostic::Diagnostic;
use std::path::Path;
use std::sync::Arc;
use toml::de::DeTable;

impl Config {
    /// Reads a configuration from its text. Everything that could not be used is among the diagnostics, with its place.
    pub fn read(source: &str, path: &Arc<Path>) -> (Self, Vec<Diagnostic>) {
        let mut report = Report { source, path, found: Vec::new() };
        let (table, errors) = DeTable::parse_recoverable(source);
        for error in errors {
            let span = error.span().unwrap_or(0..0);
            report.add(&code::CONFIG_SYNTAX, span, first_line(error.message()));
        }
        let mut config = Section::new("", table.into_inner()).read(&mut report, config);
        // What was lost may have been a rule that denies, unless the file never speaks of rules.
        let is_broken = report.found.iter().any(|found| found.code == &code::CONFIG_SYNTAX);
        if is_broken && source.contains("gate") {
            config.gate.incomplete = Some("the file is not TOML throughout".to_owned());
        }
        if is_broken && source.contains("limits") {
            config.limits.incomplete = Some("the file is not TOML throughout".to_owned());
        }
        report.found.sort_by_key(|diagnostic| diagnostic.place.map(|place| place.span));
        (config, report.found)
    }
}

/// A struct whose fields are keys of the table, beside those that are given.
macro_rules! fields {
    ($section:ident, $report:ident => $config:ident { $($field:ident),+ $(; $($own:ident: $value:expr),+)? }) => {
        $config { $($field: $section.take(stringify!($field), $report),)+ $($($own: $value,)+)? }
    };
}
use fields;

fn config(section: &mut Section<'_>, report: &mut Report<'_>) -> Config {
    Config {
        roots: section.tables("roots", report, root).into_iter().flatten().collect(),
        skills: section.named("skills", report, |_, entry, report| Some(skill(entry, report))),
        catalog: section.part("catalog", report, catalog),
        discovery: section.part(
            "discovery",
            report,
            |section, report| fields!(section, report => DiscoveryConfig { depth, entries }),
        ),
        lint: section.part("lint", report, lint),
        gate: gate(section, report),
        env: section.named("env", report, env),
        bundled: section.take("bundled", report),
        model: section.take("model", report),
        models: section.named("models", report, models::model),
        providers: section
            .named("providers", report, |_, entry, report| Some(models::provider(entry, report))),
        limits: models::limits(section, report),
        changes: section.part(
            "changes",
            report,
            |section, report| fields!(section, report => ChangesConfig { ignored, max_mib, max_files }),
        ),
        mcp: section.named("mcp", report, |_, entry, report| Some(mcp::server(entry, report))),
    }
}

fn root(section: &mut Section<'_>, report: &mut Report<'_>) -> Option<RootConfig> {
    let path = section.needed("path", report, || "this root has no `path`, so it is left out".to_owned());
    let root =
        fields!(section, report => RootConfig { depth, ignore, nested, allowed_tools, commands; path: path });
    (!root.path.is_empty()).then_some(root)
}

fn skill(section: &mut Section<'_>, report: &mut Report<'_>) -> SkillConfig {
    let needs = section.part(
        "needs",
        report,
        |section, report| fields!(section, report => NeedsConfig { hosts, write, env, seconds }),
    );
    fields!(section, report => SkillConfig { visibility, start; needs: needs })
}

fn env(name: &str, section: &mut Section<'_>, report: &mut Report<'_>) -> Option<EnvConfig> {
    // Whoever writes the word means a secret, also where its value cannot be read: it must not become text by a typing error.
    let says_sensitive = section.table.contains_key("sensitive");
    let sensitive: Option<bool> = section.take("sensitive", report);
    let sensitive = sensitive.unwrap_or(says_sensitive);
    let env = fields!(section, report => EnvConfig { required, default, description; sensitive: sensitive });
    if !is_variable(name) {
        let message = format!(
            "`{name}` is no environment name: letters, digits and `_`, no digit first; it is left out"
        );
        report.add(&code::CONFIG_INVALID, section.span.clone(), message);
        section.table.clear();
        return None;
    }
    Some(env)
}

fn catalog(section: &mut Section<'_>, report: &mut Report<'_>) -> CatalogConfig {
    let format = section.take("format", report);
    let disclosure: Option<Disclosure> = section.take("disclosure", report);
    fields!(section, report => CatalogConfig { budget, window; disclosure: disclosure.or(format) })
}

fn lint(section: &mut Section<'_>, report: &mut Report<'_>) -> LintConfig {
    let paths = section.tables("paths", report, |section, report| {
        if !section.table.contains_key("path") {
            let message = "this table has no `path`, so it has no effect";
            report.add(&code::CONFIG_INVALID, section.span.clone(), message);
        }
        fields!(section, report => LintPath { path, allow, warn, deny })
    });
    fields!(section, report => LintConfig { allow, warn, deny; paths: paths })
}

/// The rules, as text: what they mean is for whoever decides by them. A value of another type stays in the list as it is
/// written, where it is no rule and is treated like one that cannot be read, since a rule that denies must not be lost.
fn gate(above: &mut Section<'_>, report: &mut Report<'_>) -> GateConfig {
    let is_there = above.table.contains_key("gate");
    let gate = above.table("gate", report, |section, report| GateConfig {
        mode: section.texts("mode", "a text", report).into_iter().next(),
        allow: section.texts("allow", "a list of texts", report),
        ask: section.texts("ask", "a list of texts", report),
        deny: section.texts("deny", "a list of texts", report),
        incomplete: None,
    });
    gate.unwrap_or_else(|| GateConfig {
        incomplete: is_there.then(|| "`gate` is not a table".to_owned()),
        ..GateConfig::default()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Visibility;
    use crate::root::AllowedTools;
    use std::num::{NonZeroU16, NonZeroU32};

    fn read(source: &str) -> (Config, Vec<String>) {
        let path: Arc<Path> = Arc::from(Path::new("config.toml"));
        let (config, found) = Config::read(source, &path);
        let shown = found.iter().map(|found| {
            let place = (found.line().unwrap(), found.column().unwrap());
            format!("{}:{} {} {}", place.0, place.1, found.code, found.message)
        });
        (config, shown.collect())
    }

    #[test]
    fn every_setting_is_read() {
        let (config, found) = read(
            r#"
bundled = false

[[roots]]
path = "~/team"
depth = 1
ignore = ["draft-*"]
nested = true
allowed_tools = "both"

[[roots]]
path = "other"

[skills.deploy]
visibility = "user-only"
[skills.deploy.needs]
hosts = ["api.example.com"]
write = ["docs/**"]
env = ["API_TOKEN"]
seconds = 300
[skills."project.claude:deploy"]
visibility = "off"

[catalog]
budget = 2000
window = 200_000
disclosure = "eager"

[discovery]
depth = 3
entries = 1000

[lint]
allow = ["unknown-key"]
deny = ["body-empty"]
[[lint.paths]]
path = "vendor"
allow = ["body-too-long"]
warn = ["body-empty"]

[gate]
mode = "strict"
allow = ["skill:pdf", "command:git:*"]
ask = ["command:git push:*"]
deny = "skill:secret"
"#,
        );
        assert_eq!(found, Vec::<String>::new());
        assert_eq!(config.bundled, Some(false));
        assert_eq!(config.roots.len(), 2);
        assert_eq!(config.roots[0].allowed_tools, Some(AllowedTools::Both));
        assert_eq!(config.roots[0].ignore, ["draft-*"]);
        assert!(config.roots[0].nested && !config.roots[1].nested);
        assert_eq!(config.skills["deploy"].visibility, Some(Visibility::UserOnly));
        assert_eq!(config.skills["project.claude:deploy"].visibility, Some(Visibility::Off));
        let needs = &config.skills["deploy"].needs;
        assert_eq!(
            (&*needs.hosts[0], &*needs.write[0], &*needs.env[0]),
            ("api.example.com", "docs/**", "API_TOKEN")
        );
        assert_eq!(needs.seconds.map(NonZeroU32::get), Some(300));
        assert_eq!(config.catalog.disclosure, Some(Disclosure::Eager));
        assert_eq!(config.discovery.depth.map(NonZeroU16::get), Some(3));
        assert_eq!((&*config.lint.allow[0], &*config.lint.deny[0]), ("unknown-key", "body-empty"));
        assert_eq!((&*config.lint.paths[0].path, &*config.lint.paths[0].warn[0]), ("vendor", "body-empty"));
        assert_eq!(config.gate.mode.as_deref(), Some("strict"));
        assert_eq!(config.gate.allow, ["skill:pdf", "command:git:*"]);
        assert_eq!((&*config.gate.ask[0], &*config.gate.deny[0]), ("command:git push:*", "skill:secret"));
        assert_eq!(config.gate.incomplete, None);
    }

    #[test]
    fn a_rule_that_is_no_text_is_reported_and_not_lost() {
        let (config, found) =
            read("[gate]\nmode = 1\ndeny = [\"skill:a\", 7, [\"x\"]]\nask = { a = 1 }\ndenny = []\n");
        assert_eq!(config.gate.mode.as_deref(), Some("1"));
        assert_eq!(config.gate.deny, ["skill:a", "7", "[\"x\"]"]);
        assert_eq!(config.gate.ask, ["{ a = 1 }"]);
        assert_eq!(found[0], "2:8 config-invalid `mode` is a text, not integer");
        assert_eq!(found[1], "3:20 config-invalid `deny` is a list of texts, not integer");
        assert_eq!(found[4], "5:1 config-unknown-key `gate` has no setting `denny`; it has no effect");
        assert_eq!(found.len(), 5, "{found:?}");
    }

    #[test]
    fn rules_that_may_be_lost_are_said_to_be() {
        for (source, expect) in [
            ("[gate]\ndeny = [\"a\n[catalog]\nbudget = 1\n", true),
            ("gate = 1\n", true),
            ("[gate]\ndeny = []\n[catalog]\nbudget = = 3\n", true),
            ("[catalog]\nbudget = = 3\n", false),
            ("[gate]\ndeny = [\"a\"]\n", false),
        ] {
            assert_eq!(read(source).0.gate.incomplete.is_some(), expect, "{source}");
        }
    }

    #[test]
    fn a_wrong_value_costs_that_value_only() {
        let (config, found) = read(
            "[skills.a]\nvisibility = \"hidden\"\n[skills.b]\nvisibility = \"off\"\n[discovery]\ndepth = 0\nentries = 7\n",
        );
        assert_eq!(config.skills["a"].visibility, None);
        assert_eq!(config.skills["b"].visibility, Some(Visibility::Off));
        assert_eq!(config.discovery.entries.map(NonZeroU32::get), Some(7));
        assert_eq!(found.len(), 2, "{found:?}");
        assert!(
            found[0].starts_with("2:14 config-invalid `visibility`: unknown variant `hidden`"),
            "{found:?}"
        );
        assert!(found[1].starts_with("6:9 config-invalid `depth`:"), "{found:?}");
    }

    #[test]
    fn an_unknown_key_is_named_with_the_nearest_known_one() {
        let path: Arc<Path> = Arc::from(Path::new("metier.toml"));
        let (config, found) = Config::read("[catalogue]\nx = 1\n[catalog]\nbudgett = 5\nwindow = 9\n", &path);
        assert_eq!(config.catalog.window, Some(9));
        assert_eq!(found[0].message, "metier has no setting `catalogue`; it has no effect");
        assert_eq!(found[0].help.as_deref(), Some("did you mean `catalog`?"));
        assert_eq!(found[1].message, "`catalog` has no setting `budgett`; it has no effect");
        assert_eq!((found[1].line(), found[1].column()), (Some(4), Some(1)));
        assert_eq!(found[1].help.as_deref(), Some("did you mean `budget`?"));
    }

    #[test]
    fn what_is_not_toml_leaves_the_rest_standing() {
        let (config, found) = read("[skills.a]\nvisibility = \"off\"\n[catalog]\nbudget = = 3\nwindow = 9\n");
        assert_eq!(config.skills["a"].visibility, Some(Visibility::Off));
        assert_eq!(config.catalog.window, Some(9));
        assert!(found[0].starts_with("4:"), "{found:?}");
        assert!(found[0].contains("config-syntax"), "{found:?}");
    }

    #[test]
    fn tables_of_the_wrong_shape_are_reported() {
        for (source, expected) in [
            ("roots = \"x\"", "`roots` is a list of tables"),
            ("[roots]\npath = \"x\"", "`roots` is a list of tables"),
            ("roots = [1]", "`roots` is a table, not integer"),
            ("[[roots]]\ndepth = 1", "this root has no `path`"),
            ("[[roots]]\npath = ''", "this root has no `path`"),
            ("[[roots]]\npath = 1", "`path`: invalid type"),
            ("[[lint.paths]]\nallow = [\"x\"]", "this table has no `path`"),
            ("skills = 1", "`skills` is a table, not integer"),
            ("[skills]\na = \"off\"", "`skills.a` is a table, not string"),
        ] {
            let (_, found) = read(source);
            assert_eq!(found.len(), 1, "{source}: {found:?}");
            assert!(found[0].contains(expected), "{source}: {found:?}");
        }
    }

    #[test]
    fn a_declared_name_costs_only_itself_where_it_is_none() {
        let (config, found) =
            read("[env.REGION]\ndefault = \"eu\"\nrequired = true\n[env.my-var]\n[env.B]\nsensitive = 1\n");
        let names: Vec<_> = config.env.keys().map(String::as_str).collect();
        assert_eq!((names, found.len()), (vec!["B", "REGION"], 2), "{found:?}");
        assert!(config.env["REGION"].required && config.env["B"].sensitive, "a typing error makes no text");
        assert_eq!(config.env["REGION"].default.as_deref(), Some("eu"));
    }

    /// The reader and the schema name the keys independently; this holds them together.
    #[test]
    fn the_schema_and_the_reader_know_the_same_keys() {
        let schema = Config::schema();
        let keys = |of: &serde_json::Value| {
            let mut keys: Vec<_> = of["properties"].as_object().unwrap().keys().cloned().collect();
            keys.sort();
            keys
        };
        let known = |read: &dyn Fn(&mut Section<'_>, &mut Report<'_>)| {
            let path: Arc<Path> = Arc::from(Path::new("x"));
            let mut report = Report { source: "", path: &path, found: Vec::new() };
            let mut section = Section::new("", DeTable::new());
            read(&mut section, &mut report);
            let mut known: Vec<_> = section.known.iter().map(|key| (*key).to_owned()).collect();
            known.sort();
            known
        };
        assert_eq!(
            keys(&schema),
            [
                "bundled",
                "catalog",
                "changes",
                "discovery",
                "env",
                "gate",
                "limits",
                "lint",
                "mcp",
                "model",
                "models",
                "providers",
                "roots",
                "skills"
            ]
        );
        assert_eq!(keys(&schema["$defs"]["LimitsConfig"]), ["calls", "money", "seconds", "tokens", "turns"]);
        assert_eq!(keys(&schema["$defs"]["EnvConfig"]), ["default", "description", "required", "sensitive"]);
        let root = known(&|section, report| {
            for key in ["path", "depth", "ignore", "nested", "allowed_tools", "commands"] {
                section.take::<String>(key, report);
            }
        });
        assert_eq!(keys(&schema["$defs"]["RootConfig"]), root);
        assert_eq!(keys(&schema["$defs"]["SkillConfig"]), ["needs", "start", "visibility"]);
        assert_eq!(keys(&schema["$defs"]["NeedsConfig"]), ["env", "hosts", "seconds", "write"]);
        assert_eq!(keys(&schema["$defs"]["CatalogConfig"]), ["budget", "disclosure", "window"]);
        assert_eq!(keys(&schema["$defs"]["DiscoveryConfig"]), ["depth", "entries"]);
        assert_eq!(keys(&schema["$defs"]["LintConfig"]), ["allow", "deny", "paths", "warn"]);
        assert_eq!(keys(&schema["$defs"]["GateConfig"]), ["allow", "ask", "deny", "mode"]);
        assert_eq!(
            keys(&schema["$defs"]["McpServerConfig"]),
            [
                "aliases", "args", "command", "cwd", "disabled", "env", "headers", "hosts", "type", "url",
                "write"
            ]
        );
        assert_eq!(keys(&schema["$defs"]["LintPath"]), ["allow", "deny", "path", "warn"]);
    }

    #[test]
    fn the_sentences_about_limits_have_their_defaults() {
        let schema = Config::schema();
        for (key, default) in [
            ("turns", crate::DEFAULT_TURNS.to_string()),
            ("calls", crate::DEFAULT_CALLS.to_string()),
            ("tokens", format!("{},000", crate::DEFAULT_TOKENS / 1000)),
        ] {
            let sentence =
                schema["$defs"]["LimitsConfig"]["properties"][key]["description"].as_str().unwrap();
            assert!(sentence.ends_with(&format!("The default is {default}.")), "{sentence}");
        }
    }

    #[test]
    fn every_setting_of_the_schema_has_a_sentence() {
        let schema = Config::schema();
        let definitions = schema["$defs"].as_object().unwrap().values().chain([&schema]);
        for (key, property) in definitions.filter_map(|one| one["properties"].as_object()).flatten() {
            assert!(property["description"].is_string(), "{key} has no description");
        }
    }
}
