use super::*;
use metier_catalog::Config;
use metier_model::{Message, Request, whole};
use std::io::{Read, Write};
use std::net::TcpListener;
use std::thread::{self, JoinHandle};

/// Local servers moved to where nobody listens, so that nothing on the machine that runs the tests is asked.
const NO_SERVERS: &str = "[providers.ollama]\nbase_url = \"http://127.0.0.1:9/v1\"\n[providers.\"llama.cpp\"]\nbase_url = \"http://127.0.0.1:9/v1\"\n\
    [providers.lmstudio]\nbase_url = \"http://127.0.0.1:9/v1\"\n[providers.vllm]\nbase_url = \"http://127.0.0.1:9/v1\"\n";

fn settings(text: &str) -> ModelSettings {
    let path: Arc<Path> = Path::new("config.toml").into();
    let (config, found) = Config::read(&format!("{text}\n{NO_SERVERS}"), &path);
    assert_eq!(found, []);
    let mut settings = ModelSettings::default();
    settings.default = config.model.map(|name| metier_catalog::DefaultModel {
        name,
        file: path,
        owner: metier_catalog::LayerOwner::User,
    });
    (settings.models, settings.providers) = (config.models, config.providers);
    settings
}

fn settle(named: Option<&str>, config: &str, variables: &[(&str, &str)]) -> Result<Settled> {
    let variable =
        |name: &str| variables.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned());
    let shown = |path: &Path| path.display().to_string();
    let settings = settings(config);
    Wish { named, flag: MODEL_FLAG, settings: &settings, variable: &variable, shown: Box::new(shown) }
        .settle()
}

/// Which model, or `offline`, and why; or what is wrong.
fn told(named: Option<&str>, config: &str, variables: &[(&str, &str)]) -> Result<(String, String), String> {
    match settle(named, config, variables) {
        Ok(Settled::Model(chosen)) => Ok((chosen.model.id().to_string(), chosen.how)),
        Ok(Settled::Offline { why }) => Ok(("offline".to_owned(), why)),
        Err(error) => Err(format!("{error:#}")),
    }
}

const KEY: (&str, &str) = ("OPENAI_API_KEY", "sk-test-1234567890");

#[test]
fn the_flag_counts_before_the_configuration_and_that_before_a_key() {
    let config =
        "model = \"fast\"\n[models.fast]\nmodel = \"ollama/a\"\n[models.other]\nmodel = \"openai/b\"\n";
    let check = |named: Option<&str>, config: &str, variables: &[(&str, &str)], id: &str, how: &str| {
        let (found, why) = told(named, config, variables).unwrap();
        assert_eq!(found, id);
        assert!(why.contains(how), "{why}");
    };
    check(Some("openai/c"), config, &[KEY], "openai/c", "`--model` names it");
    check(Some("other"), config, &[KEY], "openai/b", "`--model` names it");
    check(None, config, &[KEY], "ollama/a", "`model` in config.toml names it");
    let no_default = config.replace("model = \"fast\"\n", "");
    check(None, &no_default, &[KEY], "openai/b", "`OPENAI_API_KEY` is set, and `[models.other]`");
    check(None, &no_default, &[], "offline", "no model is configured");
    check(Some("offline"), config, &[KEY], "offline", "`--model` names it");
    check(None, "model = \"offline\"", &[KEY], "offline", "`model` in config.toml");
}

#[test]
fn a_key_alone_says_how_to_name_a_model_and_makes_none_up() {
    let (found, why) = told(None, "", &[KEY, ("GROQ_API_KEY", "gsk-1234567890")]).unwrap();
    assert_eq!(found, "offline");
    assert!(why.starts_with("`OPENAI_API_KEY` is set, but no model is named"), "{why}");
    assert!(why.contains("--model openai/NAME") && why.contains("model = \"openai/NAME\""), "{why}");
    let (_, why) = told(None, "", &[("OPENAI_API_KEY", " ")]).unwrap();
    assert!(why.contains("no provider's key"), "{why}");
}

#[test]
fn what_was_named_and_cannot_be_had_is_an_error_that_says_what_to_do() {
    for (named, config, expect) in [
        (Some("openai/x"), "", "`openai` wants a key, and `OPENAI_API_KEY` is not set; set it"),
        (Some("gemini/x"), "", "`GEMINI_API_KEY` or `GOOGLE_API_KEY` is not set"),
        (Some("nobody/x"), "", "there is no model `nobody/x`; write `provider/model`"),
        (Some("fats"), "[models.fast]\nmodel = \"ollama/a\"", "there are fast"),
        (Some("a"), "[models.a]\nmodel = \"b\"\n[models.b]\nmodel = \"a\"", "`a` → `b` → `a`"),
        (None, "model = \"a\"\n[models.a]\nmodel = \"a\"", "`model` in config.toml: the names `a` → `a`"),
        (Some("a"), "[models.a]\nmodel = \"nobody/x\"", "the model `a`: there is no model `nobody/x`"),
        (Some("work/x"), "[providers.work]\nkey_env = \"K\"", "set `base_url` in `[providers.work]`"),
        (
            Some("work/x"),
            "[providers.work]\nbase_url = \"https://w.example/v1\"\nkey_env = \"WORK_KEY\"",
            "`WORK_KEY` is not set",
        ),
        (
            Some("work/x"),
            "[providers.work]\nbase_url = \"https://w.example/v1\"\nheader_env = { x-auth = \"WORK_AUTH\" }",
            "gets the header `x-auth` from `WORK_AUTH`, which is not set",
        ),
        (Some("work/x"), "[providers.work]\nbase_url = \"w.example\"", "is no address of a provider"),
    ] {
        let why = told(named, config, &[]).unwrap_err();
        assert!(why.contains(expect), "{named:?} {config}\n{why}");
    }
}

#[test]
fn what_is_wrong_with_a_name_that_nobody_asked_for_costs_that_name_only() {
    let config = "[models.bad]\nmodel = \"nobody/x\"\n[models.round]\nmodel = \"round\"\n[models.fast]\nmodel = \"ollama/a\"\ncontext = 9\n\
        [providers.work]\nkey_env = \"K\"\n";
    assert_eq!(told(Some("fast"), config, &[]).unwrap().0, "ollama/a");
    let Settled::Model(chosen) = settle(Some("ollama/a"), config, &[]).unwrap() else { panic!() };
    assert_eq!(chosen.choice.context, Some(9), "what an alias says holds for the full name");
}

#[test]
fn a_proxy_that_is_none_is_told_by_its_variable_and_not_by_its_password() {
    let proxy = ("HTTPS_PROXY", "socks5://user:hunter22@proxy.example:1080");
    let why = told(Some("openai/x"), "", &[KEY, proxy]).unwrap_err();
    assert!(why.contains("`HTTPS_PROXY`") && !why.contains("hunter22"), "{why}");
    assert!(told(Some("openai/x"), "", &[KEY, proxy, ("NO_PROXY", "openai.com")]).is_ok());
}

/// Takes one request and answers it with a fault that is not tried again; gives the head of the request back.
fn listening() -> (String, JoinHandle<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let taken = thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut request = Vec::new();
        let mut piece = [0; 4096];
        while !request.windows(4).any(|four| four == b"\r\n\r\n") {
            let read = stream.read(&mut piece).unwrap();
            request.extend_from_slice(&piece[..read]);
        }
        stream.write_all(b"HTTP/1.1 418 No\r\nContent-Length: 0\r\nConnection: close\r\n\r\n").unwrap();
        String::from_utf8_lossy(&request).to_lowercase()
    });
    (address, taken)
}

fn ask(settled: Settled) {
    let Settled::Model(chosen) = settled else { panic!("no model is asked") };
    let request = Request { messages: vec![Message::user("Hello.").into()], ..Request::default() };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let answer = runtime.block_on(whole(chosen.model.ask(&request)));
    assert!(answer.is_err(), "the server refuses everything");
}

#[test]
fn the_key_and_the_headers_go_to_the_address_of_the_user() {
    let (address, taken) = listening();
    let config = format!(
        "[providers.work]\nbase_url = \"http://{address}/v1\"\nkey_env = \"WORK_KEY\"\nheaders = {{ x-team = \"docs\" }}\n\
         header_env = {{ x-auth = \"WORK_AUTH\" }}\n"
    );
    let variables = [("WORK_KEY", "sk-work-1234567890"), ("WORK_AUTH", "auth-0987654321")];
    ask(settle(Some("work/x"), &config, &variables).unwrap());
    let head = taken.join().unwrap();
    for line in [
        "post /v1/chat/completions",
        "authorization: bearer sk-work-1234567890",
        "x-team: docs",
        "x-auth: auth-0987654321",
    ] {
        assert!(head.contains(line), "{line}\n{head}");
    }
}

#[test]
fn a_proxy_of_the_environment_carries_the_request() {
    let (address, taken) = listening();
    let config = "[providers.work]\nbase_url = \"http://llm.example/v1\"\n";
    ask(settle(Some("work/x"), config, &[("HTTP_PROXY", &address)]).unwrap());
    let head = taken.join().unwrap();
    assert!(head.starts_with("post http://llm.example/v1/chat/completions"), "{head}");
}

#[test]
fn a_skill_gets_a_model_of_the_user_and_no_other() {
    let config = "[models.fast]\nmodel = \"ollama/a\"\n[providers.mine]\nbase_url = \"http://127.0.0.1:9/v1\"\nprotocol = \"openai\"\n";
    let settings = settings(config);
    let check = |name: &str, variables: &[(&str, &str)], expect: Option<&str>| {
        let variable = |name: &str| {
            variables.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned())
        };
        let shown = |path: &Path| path.display().to_string();
        let shown = Box::new(shown);
        let wish =
            Wish { named: Some(name), flag: MODEL_FLAG, settings: &settings, variable: &variable, shown };
        let found = wish.of_a_skill("openrouter").map(|chosen| chosen.model.id().to_string());
        assert_eq!(found.as_deref(), expect, "{name}");
    };
    check("fast", &[], Some("ollama/a"));
    check("mine/x", &[], Some("mine/x"));
    check("openai/x", &[KEY], Some("openai/x"));
    check("openai/x", &[], None);
    check("kimi-k2", &[KEY], None);
    check("nobody/x", &[KEY], None);
    check("offline", &[], None);
    check("openrouter/x", &[("OPENROUTER_API_KEY", "sk-or-1234567890")], Some("openrouter/x"));
}
