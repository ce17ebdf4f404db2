//! Names of models, and what a configuration makes of them.

use std::collections::BTreeMap;

use metier_model::{
    Directory, Key, Message, ModelConfig, Money, Protocol, ProviderConfig, Request, ToolSupport, Usage, whole,
};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::server::{Reply, Server};

/// A configuration as a file has it.
#[derive(Deserialize)]
struct File {
    #[serde(default)]
    models: BTreeMap<String, ModelConfig>,
    #[serde(default)]
    providers: BTreeMap<String, ProviderConfig>,
}

fn directory(text: &str) -> Result<Directory, String> {
    let file: File = toml::from_str(text).map_err(|error| error.to_string())?;
    Directory::new(&file.models, &file.providers).map_err(|error| error.to_string())
}

const FILE: &str = r#"
[models.fast]
model = "ollama/qwen3:8b"
tools = "constrained"
effort = { tokens = 2048 }

[models.kimi-k2]
model = "openrouter/moonshotai/kimi-k2"
context = 131072
max_output = 8192
effort = "low"
price = { input = "0.60", output = "2.50", cache_read = "0.15" }

[models.work]
model = "work/large"

[providers.work]
protocol = "anthropic"
base_url = "https://llm.example.com/v1"
key_env = "WORK_LLM_KEY"
headers = { x-team = "docs" }
header_env = { x-auth = "WORK_AUTH" }
proxy = "http://proxy.example.com:3128"
first_byte_seconds = 600
"#;

/// What an alias says about its model is on the wire, whatever the protocol, and a request may ask for less.
#[tokio::test]
async fn what_an_alias_says_of_its_model_is_sent() {
    for (protocol, limit, thinks) in [
        ("openai", "/max_completion_tokens", ("/reasoning_effort", "low")),
        ("anthropic", "/max_tokens", ("/output_config/effort", "low")),
        (
            "gemini",
            "/generationConfig/maxOutputTokens",
            ("/generationConfig/thinkingConfig/thinkingLevel", "low"),
        ),
    ] {
        let text = format!(
            "[models.m]\nmodel = \"own/x\"\nmax_output = 777\neffort = \"low\"\n\
             [providers.own]\nprotocol = \"{protocol}\"\nbase_url = \"http://127.0.0.1:1/v1\"\n"
        );
        let choice = directory(&text).unwrap().resolve("m").unwrap();
        for (asked, expect) in [(None, 777), (Some(100), 100), (Some(9_000), 777)] {
            let server = Server::start([Reply::status(400, "", "no")]).await;
            let model = choice.open(server.endpoint()).unwrap();
            let request = Request {
                messages: vec![Message::user("Hello.").into()],
                max_output: asked,
                ..Request::default()
            };
            whole(model.ask(&request)).await.unwrap_err();
            let body: Value = serde_json::from_slice(&server.seen()[0].body).unwrap();
            assert_eq!(body.pointer(limit), Some(&json!(expect)), "{protocol} {body}");
            assert_eq!(body.pointer(thinks.0), Some(&json!(thinks.1)), "{protocol} {body}");
        }
    }
}

#[test]
fn aliases_full_names_and_own_providers_are_found() {
    let directory = directory(FILE).unwrap();
    let kimi = directory.resolve("kimi-k2").unwrap();
    assert_eq!(kimi.id.as_str(), "openrouter/moonshotai/kimi-k2");
    assert_eq!((kimi.context, kimi.max_output), (Some(131_072), Some(8_192)));
    assert_eq!(kimi.provider.key_env, ["OPENROUTER_API_KEY"]);
    // The same model by its full name is known as well.
    assert_eq!(directory.resolve("openrouter/moonshotai/kimi-k2").unwrap(), kimi);
    assert_eq!(directory.resolve("fast").unwrap().tools, ToolSupport::Constrained);
    let work = directory.resolve("work").unwrap();
    assert_eq!(
        (work.provider.protocol, work.provider.key_env.as_slice()),
        (Protocol::Anthropic, ["WORK_LLM_KEY".to_owned()].as_slice())
    );
    let headers = BTreeMap::from([("x-auth".to_owned(), Key::new("secret-1234").unwrap())]);
    let endpoint = work.provider.endpoint(Some(Key::new("key-1234").unwrap()), &headers, None).unwrap();
    assert_eq!(endpoint.host(), "llm.example.com");
    assert!(work.open(endpoint).unwrap().id().as_str() == "work/large");
    assert_eq!(directory.resolve("gemini/some").unwrap().provider.protocol, Protocol::Gemini);
    let unknown = directory.resolve("x").unwrap_err().to_string();
    assert!(unknown.contains("there are fast, kimi-k2, work;"), "{unknown}");
}

#[test]
fn an_unknown_name_is_answered_with_what_there_is() {
    let check = |name: &str| directory(FILE).unwrap().resolve(name).unwrap_err().to_string();
    assert_eq!(
        check("fats"),
        "there is no model `fats`; there are fast, kimi-k2, work; or write `provider/model` with one of these providers: \
         anthropic, deepseek, gemini, groq, llama.cpp, lmstudio, mistral, ollama, openai, openrouter, vllm, work"
    );
    assert!(check("nobody/x").starts_with("there is no model `nobody/x`; there are fast"));
}

#[test]
fn mistakes_are_said_with_their_place() {
    let check = |text: &str, expect: &str| {
        let error = directory(text).unwrap_err();
        assert!(error.contains(expect), "{error}");
    };
    check("[models.a]\nmodel = \"nothing\"", "the model `a`: `nothing` names no model");
    check("[models.a]\nmodel = \"x/y\"", "the model `a`: there is no model `x/y`");
    check(
        "[models.a]\nmodel = \"ollama/y\"\nprice = { input = \"1,5\", output = \"2\" }",
        "`1,5` is no amount",
    );
    check("[providers.own]\nprotocol = \"openai\"", "set `base_url` in `[providers.own]`");
    check("[models.a]\nmodle = \"ollama/y\"", "unknown field `modle`");
    check("[providers.own]\nprotocol = \"soap\"", "soap");
}

#[test]
fn money_is_counted_only_where_prices_are() {
    let directory = directory(FILE).unwrap();
    let usage = Usage { input: 1_000_000, output: 100_000, cache_read: 200_000, ..Usage::default() };
    assert_eq!(
        directory.resolve("kimi-k2").unwrap().prices.map(|prices| prices.cost(&usage)),
        Some(Money::from_micros(880_000))
    );
    assert_eq!(directory.resolve("fast").unwrap().prices.map(|prices| prices.cost(&usage)), None);
}

/// What the page for users shows is what there is.
#[test]
fn the_page_about_models_is_right() {
    let page = include_str!("../../../../docs/models.md");
    let blocks = page.split("```toml\n").skip(1).filter_map(|rest| rest.split("```").next());
    // Limits of a run are another crate's.
    let blocks: Vec<&str> = blocks.filter(|block| !block.starts_with("[limits]")).collect();
    assert_eq!(blocks.len(), 2);
    let read = directory(&blocks.concat()).unwrap();
    assert_eq!(read.resolve("work/x").unwrap().provider.key_env, ["WORK_LLM_KEY"]);
    for provider in metier_model::Provider::built_in() {
        let speaks = match provider.protocol {
            Protocol::OpenAi => "OpenAI",
            Protocol::Anthropic => "Anthropic",
            Protocol::Gemini => "Gemini",
        };
        let keys: Vec<String> = provider.key_env.iter().map(|name| format!("`{name}`")).collect();
        let keys = if keys.is_empty() { "–".to_owned() } else { keys.join(", ") };
        let row = format!("| `{}` | {speaks} | `{}` | {keys} |", provider.name, provider.base_url);
        assert!(page.contains(&row), "{row}");
    }
}
