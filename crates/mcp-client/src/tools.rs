//! The servers' tools for an agent.

use std::os::fd::AsFd;

use metier_catalog::one_line;
use metier_sandbox::Cancel;
use metier_tools::{ExternalTool, ServerAnswer, ServerReport, ToolServer};
use rmcp::model::{CallToolResult, ContentBlock, ResourceContents, Tool};
use serde_json::{Map, Value};
use tokio::io::unix::AsyncFd;

use super::connection::RequestError;
use super::servers::Servers;

impl ToolServer for Servers {
    fn tools(&self) -> Vec<ExternalTool> {
        let all = self.each(|server| async move {
            // A failed server has no tools; its status tells why.
            let tools = server.tools().await.unwrap_or_default();
            let label = server.config.label.clone();
            tools.into_iter().map(|tool| to_outside_tool(&label, tool)).collect::<Vec<_>>()
        });
        all.into_iter().flatten().collect()
    }

    fn standings(&self) -> Vec<ServerReport> {
        let all = self.summaries().into_iter();
        all.map(|summary| ServerReport { server: summary.label, footing: summary.footing }).collect()
    }

    fn aliases(&self) -> Vec<(String, String, String)> {
        let all = self.configs().flat_map(|config| {
            let own = config.aliases.iter();
            own.map(|(name, tool)| (name.clone(), config.label.clone(), tool.clone()))
        });
        all.collect()
    }

    fn call(
        &self,
        server: &str,
        tool: &str,
        input: &Map<String, Value>,
        cancel: Option<&Cancel>,
    ) -> ServerAnswer {
        let Some(server) = self.named(server) else {
            return ServerAnswer::None(format!("unknown MCP server `{server}`"));
        };
        let called = self.wait(async {
            tokio::select! {
                biased;
                // Dropping the call cancels it on the server.
                () = cancelled(cancel) => Err(RequestError::Rejected("the call was cancelled".to_owned())),
                answer = server.call(tool, input.clone()) => answer,
            }
        });
        match called {
            Ok(Ok(result)) => to_answer(&result),
            Ok(Err(error @ RequestError::Disconnected(_))) => {
                let why = "it may have had an effect";
                ServerAnswer::None(format!("`{tool}` failed: {error}; {why}"))
            }
            Ok(Err(error)) => ServerAnswer::None(format!("`{tool}` failed: {error}")),
            Err(why) => ServerAnswer::None(why),
        }
    }
}

/// Completes when the call is cancelled; never without a handle.
#[expect(deprecated, reason = "its successor is unsafe; an owned descriptor stays open as long as it has to")]
async fn cancelled(cancel: Option<&Cancel>) {
    let descriptor = cancel.and_then(|cancel| cancel.as_fd().try_clone_to_owned().ok());
    if let Some(waiting) = descriptor.and_then(|descriptor| AsyncFd::new(descriptor).ok())
        && waiting.readable().await.is_ok()
    {
        return;
    }
    std::future::pending::<()>().await;
}

fn to_outside_tool(label: &str, tool: Tool) -> ExternalTool {
    let is_read_only = tool.annotations.as_ref().and_then(|annotations| annotations.read_only_hint);
    ExternalTool {
        server: label.to_owned(),
        tool: tool.name.into_owned(),
        description: tool.description.map(std::borrow::Cow::into_owned).unwrap_or_default(),
        schema: Value::Object(tool.input_schema.as_ref().clone()),
        is_read_only: is_read_only == Some(true),
    }
}

/// A result as text. Other content is described by its kind and size.
fn to_answer(result: &CallToolResult) -> ServerAnswer {
    let mut texts: Vec<String> = result.content.iter().map(text).collect();
    if texts.is_empty()
        && let Some(structured) = &result.structured_content
    {
        texts.push(structured.to_string());
    }
    let text = texts.join("\n");
    if result.is_error == Some(true) { ServerAnswer::Failed(text) } else { ServerAnswer::Done(text) }
}

fn text(content: &ContentBlock) -> String {
    match content {
        ContentBlock::Text(text) => text.text.clone(),
        ContentBlock::Image(image) => binary("image", &image.mime_type, image.data.len()),
        ContentBlock::Audio(audio) => binary("audio", &audio.mime_type, audio.data.len()),
        ContentBlock::Resource(resource) => match &resource.resource {
            ResourceContents::TextResourceContents { uri, text, .. } => {
                format!("[{}]\n{text}", one_line(uri, 200))
            }
            ResourceContents::BlobResourceContents { uri, blob, .. } => binary("file", uri, blob.len()),
            _ => "[unsupported content]".to_owned(),
        },
        ContentBlock::ResourceLink(link) => format!("[{}]", one_line(&link.uri, 200)),
        _ => "[unsupported content]".to_owned(),
    }
}

fn binary(what: &str, kind: &str, length: usize) -> String {
    // Four characters of base64 are three bytes.
    format!("[{what}: {}, {} bytes]", one_line(kind, 100), length / 4 * 3)
}
