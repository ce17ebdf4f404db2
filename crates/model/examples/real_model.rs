//! Asks a real model behind an OpenAI-compatible address everything that metier asks models: words, words as they come, a call
//! that it has to make, and the choice of a skill that it cannot get wrong in shape.
//!
//! `real_model BASE_URL MODEL`, as in `real_model http://127.0.0.1:8080/v1 smollm2`. A small model says little of sense, so what is
//! checked is what has to hold however little it knows. `cargo xtask e2e-model` brings a server along.

#![expect(clippy::print_stdout, reason = "a program that shows what it did")]

use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, Instant};

use metier_model::{
    Answered, ChatModel, Constrained, Endpoint, Event, Message, Protocol, Remote, Request, Schema, Stop,
    Timeouts, ToolCall, ToolChoice, ToolDefinition, next,
};
use serde_json::{Value, json};

/// A machine that is busy with other things takes long for the first token; nobody waits for it at a terminal.
const PATIENCE: Duration = Duration::from_mins(8);

/// The skills to choose from.
const SKILLS: [&str; 3] = ["pdf-tools", "todo-list", "cold-email"];

type Fault = Box<dyn std::error::Error>;

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    let (Some(address), Some(name)) = (arguments.next(), arguments.next()) else {
        println!("real_model BASE_URL MODEL");
        return ExitCode::from(2);
    };
    match asked(&address, &name) {
        Ok(()) => ExitCode::SUCCESS,
        Err(fault) => {
            println!("failed: {fault}");
            ExitCode::FAILURE
        }
    }
}

fn asked(address: &str, name: &str) -> Result<(), Fault> {
    let timeouts = Timeouts { first_byte: PATIENCE, between_bytes: PATIENCE, ..Timeouts::default() };
    let endpoint = Endpoint::new(address)?.with_timeouts(timeouts);
    let model = Remote::new(format!("local/{name}").parse()?, Protocol::OpenAi, endpoint)?;
    let model: Arc<dyn ChatModel> = Arc::new(model);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        chat(&*model).await?;
        stream(&*model).await?;
        native_tools(&*model).await?;
        forced_call(Arc::clone(&model)).await?;
        skill_choice(&*model).await?;
        constrained_tools(Arc::clone(&model)).await
    })
}

/// An answer, and what happened while it came.
struct Heard {
    answered: Answered,
    /// How many pieces of text there were.
    pieces: usize,
    /// When the first and the last one came.
    first: Option<Instant>,
    last: Option<Instant>,
    took: Duration,
}

async fn hear(model: &dyn ChatModel, request: &Request) -> Result<Heard, Fault> {
    let began = Instant::now();
    let mut heard =
        Heard { answered: Answered::default(), pieces: 0, first: None, last: None, took: Duration::ZERO };
    let mut answer = model.ask(request);
    while let Some(event) = next(&mut answer).await {
        let event = event?;
        if let Event::Text(_) = &event {
            heard.pieces += 1;
            heard.first.get_or_insert_with(Instant::now);
            heard.last = Some(Instant::now());
        }
        heard.answered.take(event);
    }
    heard.took = began.elapsed();
    Ok(heard)
}

fn question(text: &str, most: u32) -> Request {
    Request {
        messages: vec![Message::user(text).into()],
        max_output: Some(most),
        // The same model says the same thing twice.
        temperature: Some(0.0),
        ..Request::default()
    }
}

fn show(what: &str, heard: &Heard, said: &str) {
    let tokens = heard.answered.usage.map(|usage| usage.output).unwrap_or_default();
    let said: String = said.split_whitespace().collect::<Vec<_>>().join(" ").chars().take(100).collect();
    println!("ok  {what}: {said} ({tokens} tokens, {:.1} s)", heard.took.as_secs_f64());
}

fn hold(holds: bool, what: impl Into<String>) -> Result<(), Fault> {
    if holds { Ok(()) } else { Err(what.into().into()) }
}

async fn chat(model: &dyn ChatModel) -> Result<(), Fault> {
    let heard = hear(model, &question("Say hello in one short sentence.", 24)).await?;
    let text = heard.answered.text();
    hold(!text.trim().is_empty(), "chat: the model said nothing")?;
    let usage = heard.answered.usage.ok_or("chat: the server counted nothing")?;
    hold(usage.output > 0, format!("chat: nothing was counted: {usage:?}"))?;
    let ended = matches!(heard.answered.stop, Some(Stop::EndOfTurn | Stop::Length));
    hold(ended, format!("chat: it ended by {:?}", heard.answered.stop))?;
    show("chat", &heard, &text);
    Ok(())
}

async fn stream(model: &dyn ChatModel) -> Result<(), Fault> {
    let heard = hear(model, &question("Count from one to ten in words.", 32)).await?;
    hold(heard.pieces >= 5, format!("streaming: the text came in {} pieces", heard.pieces))?;
    let (Some(first), Some(last)) = (heard.first, heard.last) else {
        return Err("streaming: no text came".into());
    };
    hold(last > first, "streaming: all pieces came at once")?;
    let span = last.saturating_duration_since(first);
    show("streaming", &heard, &format!("{} pieces over {:.1} s", heard.pieces, span.as_secs_f64()));
    Ok(())
}

fn weather() -> ToolDefinition {
    ToolDefinition {
        name: "get_weather".into(),
        description: "Says what the weather is in a city.".into(),
        parameters: Arc::new(json!({
            "type": "object",
            "properties": { "city": { "type": "string", "maxLength": 40 } },
            "required": ["city"],
        })),
    }
}

/// The one call of an answer.
fn call(answered: &Answered) -> Option<ToolCall> {
    let mut calls = answered.calls();
    calls.pop().filter(|_| calls.is_empty())
}

/// The one call of an answer, which has to be this one.
fn weather_call(what: &str, heard: &Heard) -> Result<String, Fault> {
    let call = call(&heard.answered)
        .ok_or_else(|| format!("{what}: there is no call in {:?}", heard.answered.text()))?;
    hold(&*call.name == "get_weather", format!("{what}: it calls `{}`", call.name))?;
    let city = call.arguments.fields().and_then(|fields| fields.get("city")).and_then(Value::as_str);
    // A city without an end is cut with the answer.
    let is_cut = heard.answered.stop == Some(Stop::Length);
    hold(city.is_some() || is_cut, format!("{what}: its arguments are {:?}", call.arguments))?;
    Ok(format!("get_weather {}", call.arguments.raw()))
}

/// Tools by the server's own protocol. Whether a model that was not taught to call does so is its own affair; that the server takes
/// them and that what comes is a call or words is not.
async fn native_tools(model: &dyn ChatModel) -> Result<(), Fault> {
    let request = Request {
        tools: vec![weather()].into(),
        choice: ToolChoice::Any,
        ..question("What is the weather in Paris?", 48)
    };
    let heard = hear(model, &request).await?;
    let text = heard.answered.text();
    let said = if text.trim().is_empty() { weather_call("native tools", &heard)? } else { text };
    show("native tools", &heard, &said);
    Ok(())
}

/// A call that the model has to make: nothing else has the shape.
async fn forced_call(model: Arc<dyn ChatModel>) -> Result<(), Fault> {
    let model = Constrained::new(model);
    let request = Request {
        tools: vec![weather()].into(),
        choice: ToolChoice::Tool("get_weather".into()),
        ..question("What is the weather in Paris?", 64)
    };
    let heard = hear(&model, &request).await?;
    let said = weather_call("forced call", &heard)?;
    hold(heard.answered.text().is_empty(), format!("forced call: it also says {:?}", heard.answered.text()))?;
    show("forced call", &heard, &said);
    Ok(())
}

async fn skill_choice(model: &dyn ChatModel) -> Result<(), Fault> {
    let schema = json!({
        "type": "object",
        "properties": { "skill": { "enum": SKILLS } },
        "required": ["skill"],
        "additionalProperties": false,
    });
    let request = Request {
        schema: Some(Schema { name: "skill_choice".into(), schema: Arc::new(schema) }),
        ..question(
            "Which skill fits this request: merge two PDF files? Skills: pdf-tools, todo-list, cold-email.",
            48,
        )
    };
    let heard = hear(model, &request).await?;
    let text = heard.answered.text();
    let chosen: Value =
        serde_json::from_str(&text).map_err(|error| format!("skill choice: {text:?} is no JSON: {error}"))?;
    let skill = chosen["skill"].as_str().unwrap_or_default();
    hold(SKILLS.contains(&skill), format!("skill choice: {text:?} is none of {SKILLS:?}"))?;
    show("skill choice", &heard, &format!("{skill} (of {})", SKILLS.join(", ")));
    Ok(())
}

/// The same tools for a model that was not taught to call: an answer in a prescribed shape is a call or words, nothing else.
async fn constrained_tools(model: Arc<dyn ChatModel>) -> Result<(), Fault> {
    let model = Constrained::new(model);
    let request = Request { tools: vec![weather()].into(), ..question("What is the weather in Paris?", 96) };
    let heard = hear(&model, &request).await?;
    let text = heard.answered.text();
    let said = if text.trim().is_empty() { weather_call("constrained tools", &heard)? } else { text };
    hold(!said.trim_start().starts_with('{'), format!("constrained tools: the shape is shown: {said:?}"))?;
    show("constrained tools", &heard, &said);
    Ok(())
}
