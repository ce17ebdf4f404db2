//! The tables about models, key by key.

use super::{Report, Section, fields};
use crate::config::{LimitsConfig, ModelConfig, ProviderConfig};

pub(super) fn model(name: &str, section: &mut Section<'_>, report: &mut Report<'_>) -> Option<ModelConfig> {
    let model = section.needed("model", report, || {
        format!(
            "`models.{name}` has no `model`, so it is left out: write one such as `model = \"ollama/qwen3\"`"
        )
    });
    let config =
        fields!(section, report => ModelConfig { context, max_output, effort, tools, price; model: model });
    (!config.model.is_empty()).then_some(config)
}

pub(super) fn provider(section: &mut Section<'_>, report: &mut Report<'_>) -> ProviderConfig {
    fields!(section, report => ProviderConfig {
        protocol, base_url, key_env, headers, header_env, proxy, plain_http, connect_seconds, first_byte_seconds,
        between_bytes_seconds
    })
}

/// The limits. One that cannot be read is remembered as such: a run without the bound that somebody wrote down may cost
/// what nobody wanted to spend.
pub(super) fn limits(above: &mut Section<'_>, report: &mut Report<'_>) -> LimitsConfig {
    let (is_there, before) = (above.table.contains_key("limits"), report.found.len());
    let limits = above.table("limits", report, |section, report| {
        fields!(section, report => LimitsConfig { turns, calls, tokens, money, seconds; incomplete: None })
    });
    let incomplete = match limits {
        Some(_) => report.found.get(before).map(|found| found.message.clone()),
        None => is_there.then(|| "`limits` is not a table".to_owned()),
    };
    LimitsConfig { incomplete, ..limits.unwrap_or_default() }
}

#[cfg(test)]
mod tests {
    use crate::config::{Config, Effort, Protocol, ToolSupport};
    use std::path::Path;
    use std::sync::Arc;

    fn read(source: &str) -> (Config, Vec<String>) {
        let path: Arc<Path> = Arc::from(Path::new("config.toml"));
        let (config, found) = Config::read(source, &path);
        let shown = found.iter().map(|found| {
            format!("{}:{} {} {}", found.line().unwrap(), found.column().unwrap(), found.code, found.message)
        });
        (config, shown.collect())
    }

    #[test]
    fn every_setting_about_models_is_read() {
        let (config, found) = read(
            r#"
model = "fast"

[models.fast]
model = "ollama/qwen3:8b"
context = 32768
max_output = 4096
effort = { tokens = 4096 }
tools = "constrained"
price = { input = "0.60", output = "2.50", cache_read = "0.15", cache_write = "0" }

[models."kimi-k2"]
model = "openrouter/moonshotai/kimi-k2"
effort = "low"

[providers.work]
protocol = "anthropic"
base_url = "https://llm.example.com/v1"
key_env = "WORK_KEY"
headers = { x-team = "docs" }
header_env = { x-auth = "WORK_AUTH" }
proxy = "http://proxy.example.com:3128"
plain_http = true
connect_seconds = 1
first_byte_seconds = 2
between_bytes_seconds = 3

[limits]
turns = 10
calls = 20
tokens = 1000
money = "2.50"
seconds = 60
"#,
        );
        assert_eq!(found, Vec::<String>::new());
        assert_eq!(config.model.as_deref(), Some("fast"));
        let fast = &config.models["fast"];
        assert_eq!((fast.effort, fast.tools), (Some(Effort::Tokens(4096)), ToolSupport::Constrained));
        let price = fast.price.as_ref().unwrap();
        assert_eq!((price.output.micros(), price.cache_write.as_ref().unwrap().micros()), (2_500_000, 0));
        assert_eq!(config.models["kimi-k2"].effort, Some(Effort::Low));
        let work = &config.providers["work"];
        assert_eq!((work.protocol, work.plain_http), (Some(Protocol::Anthropic), true));
        assert_eq!((&*work.headers["x-team"], &*work.header_env["x-auth"]), ("docs", "WORK_AUTH"));
        assert_eq!(work.between_bytes_seconds.unwrap().get(), 3);
        let limits = &config.limits;
        assert_eq!((limits.turns.unwrap().get(), limits.seconds.unwrap().get()), (10, 60));
        assert_eq!(limits.money.as_ref().unwrap().micros(), 2_500_000);
        assert_eq!(limits.incomplete, None);
    }

    #[test]
    fn what_is_wrong_is_told_with_its_line() {
        for (source, expect) in [
            ("model = 3", "1:9 config-invalid `model`: invalid type"),
            ("[models.a]", "1:1 config-invalid `models.a` has no `model`, so it is left out"),
            ("[models.a]\nmodel = \"\"", "1:1 config-invalid `models.a` has no `model`"),
            ("[models]\na = \"ollama/x\"", "2:5 config-invalid `models.a` is a table, not string"),
            (
                "[models.a]\nmodel = \"o/x\"\ncontxt = 1",
                "3:1 config-unknown-key `models.a` has no setting `contxt`",
            ),
            ("[models.a]\nmodel = \"o/x\"\nprice = { input = \"1\" }", "3:9 config-invalid `price`: missing"),
            (
                "[models.a]\nmodel = \"o/x\"\nprice = { input = \"cheap\", output = \"1\" }",
                "3:19 config-invalid `price`: `cheap` is no amount",
            ),
            (
                "[models.a]\nmodel = \"o/x\"\neffort = \"huge\"",
                "3:10 config-invalid `effort`: unknown variant",
            ),
            ("[providers.a]\nprotocol = \"soap\"", "2:12 config-invalid `protocol`: unknown variant `soap`"),
            ("[providers.a]\nkey = \"sk-1\"", "2:1 config-unknown-key `providers.a` has no setting `key`"),
        ] {
            let (_, found) = read(source);
            assert_eq!(found.len(), 1, "{source}: {found:?}");
            assert!(found[0].starts_with(expect), "{source}: {found:?}");
        }
    }

    #[test]
    fn a_limit_that_cannot_be_read_is_not_taken_for_none() {
        for (source, is_incomplete) in [
            ("[limits]\nturns = 0", true),
            ("[limits]\nturns = -1", true),
            ("[limits]\nturns = 1.5", true),
            ("[limits]\nturns = \"x\"", true),
            ("[limits]\nmoney = 2.5", true),
            ("[limits]\nmoney = \"2,5\"", true),
            ("[limits]\nmonny = \"2\"", true),
            ("limits = 3", true),
            ("[limits]\nturns = = 3", true),
            ("[limits]\nturns = 3", false),
            ("[catalog]\nbudget = = 3", false),
            ("", false),
        ] {
            let (config, found) = read(source);
            assert_eq!(config.limits.incomplete.is_some(), is_incomplete, "{source}: {found:?}");
            assert!(
                found.is_empty() != is_incomplete || source.starts_with("[catalog]"),
                "{source}: {found:?}"
            );
        }
    }
}
