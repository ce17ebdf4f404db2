//! One client, in the words of the SDK: what it asks, and what it is told.

mod extension;

use std::sync::Arc;

use metier_runtime::{By, NotUsed};
use metier_sandbox::Cancel;
use rmcp::model::{
    CacheScope, CallToolRequestParams, CallToolResponse, CustomRequest, CustomResult, ErrorCode,
    ExtensionCapabilities, GetPromptRequestParams, GetPromptResponse, GetPromptResult, Implementation,
    InputResponses, JsonObject, ListPromptsResult, ListResourcesResult, ListToolsResult,
    PaginatedRequestParams, PromptMessage, ProtocolVersion, ReadResourceRequestParams, ReadResourceResponse,
    ReadResourceResult, Role, ServerCapabilities, ServerConfig, SubscriptionFilter, Tool,
};
use rmcp::service::{NotificationContext, RequestContext, RoleServer, SubscriptionContext};
use rmcp::{ErrorData, ServerHandler};
use serde_json::{Value, json};
use tokio::runtime::Handle;

use super::Hall;
use super::cursor::Cursor;
use super::files::Files;
use super::news::Stand;
use super::prompt;
use super::question::{ConnectionAnswers, Inquiry, Lasting, Rounds, Tampered, Way};
use super::shelf::Shelf;
use super::tool;

/// The extension for skills.
const SKILLS: &str = "io.modelcontextprotocol/skills";

/// How long a client may take a list for current, in milliseconds. It is told of changes, but not every host listens.
const FRESH: u64 = 5_000;

/// The same for a file and for the entry of one skill: whoever asks for one wants what is there now. A file from somewhere in between
/// would not fit an entry that was fetched since, and a host would have to refuse it.
const AT_ONCE: u64 = 0;

/// The methods of the protocol itself that are answered here.
const KNOWN: [&str; 6] =
    ["tools/list", "tools/call", "prompts/list", "prompts/get", "resources/list", "resources/read"];

/// What a connection goes over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Carrier {
    /// Two pipes, as long as the client is there.
    Pipe,
    /// HTTP, where a client of the newer revision has no connection at all.
    Http,
}

/// One client.
#[derive(Debug)]
pub(super) struct Connection {
    hall: Arc<Hall>,
    carrier: Carrier,
    /// What its user said to questions.
    answers: Arc<ConnectionAnswers>,
}

/// Whether a client speaks the revision that has no handshake.
fn is_stateless(context: &RequestContext<RoleServer>) -> bool {
    let version = context.protocol_version();
    version.is_some_and(|version| version.as_str() >= ProtocolVersion::V_2026_07_28.as_str())
}

impl Connection {
    pub(super) fn new(hall: Arc<Hall>, carrier: Carrier) -> Self {
        Self { hall, carrier, answers: Arc::default() }
    }

    fn shelf(&self) -> &Shelf {
        &self.hall.counter.shelf
    }

    /// Who is asked in this call, where the client can ask its user.
    fn inquiry(
        &self,
        context: &RequestContext<RoleServer>,
        responses: Option<InputResponses>,
        state: Option<&str>,
        cancel: &Cancel,
    ) -> Result<Option<Arc<Inquiry>>, ErrorData> {
        let elicitation = context.client_capabilities().and_then(|client| client.elicitation);
        // A client that names no kind of question takes forms, as it was before there were kinds.
        if elicitation.is_none_or(|known| known.form.is_none() && known.url.is_some()) {
            return Ok(None);
        }
        let (way, lasting) = if is_stateless(context) {
            let lasting = if self.carrier == Carrier::Pipe { Lasting::Connection } else { Lasting::Call };
            let rounds = Rounds::of(responses, state, Arc::clone(&self.hall.seal));
            let tampered = |error: Tampered| ErrorData::invalid_params(error.to_string(), None);
            (Way::Rounds(rounds.map_err(tampered)?), lasting)
        } else {
            let way = Way::Elicit { peer: context.peer.clone(), runtime: Handle::current() };
            (way, Lasting::Connection)
        };
        Ok(Some(Arc::new(Inquiry::new(way, lasting, Arc::clone(&self.answers), cancel.clone()))))
    }

    /// Whether a call is done in no time: a page of a file that lies on this machine. Another server's file may have to be fetched.
    fn is_quick(&self, tool: &str, arguments: &Value) -> bool {
        let named = arguments.get("skill_name").and_then(Value::as_str).filter(|_| tool == tool::READ);
        let row = self.shelf().row();
        let entry = named.and_then(|name| row.offered(name)).and_then(|id| row.snapshot.entry(id));
        entry.is_some_and(|entry| entry.remote().is_none())
    }

    /// Looks at the files of skills.
    async fn files<T: Send + 'static>(
        &self,
        work: impl FnOnce(Files<'_>) -> T + Send + 'static,
    ) -> Result<T, ErrorData> {
        self.hall
            .counter
            .look(move |counter, session| {
                work(Files { shelf: &counter.shelf, row: counter.shelf.row(), session })
            })
            .await
    }
}

fn cancel() -> Result<Cancel, ErrorData> {
    Cancel::new().map_err(|error| ErrorData::internal_error(format!("nothing can be started: {error}"), None))
}

/// How long a result holds and for whom. The older revision does not know of that.
fn freshness(context: &RequestContext<RoleServer>) -> (Option<u64>, Option<CacheScope>) {
    if is_stateless(context) { (Some(FRESH), Some(CacheScope::Private)) } else { (None, None) }
}

fn cursor(request: Option<PaginatedRequestParams>) -> Result<Option<Cursor>, ErrorData> {
    Cursor::parse(request.and_then(|request| request.cursor).as_deref())
}

impl ServerHandler for Connection {
    fn get_info(&self) -> ServerConfig {
        let mut extensions = ExtensionCapabilities::new();
        let mut settings = JsonObject::new();
        settings.insert("directoryRead".to_owned(), json!(true));
        extensions.insert(SKILLS.to_owned(), settings);
        let capabilities = ServerCapabilities::builder()
            .enable_extensions_with(extensions)
            .enable_prompts()
            .enable_prompts_list_changed()
            .enable_resources()
            .enable_resources_list_changed()
            .enable_tools()
            .enable_tool_list_changed()
            .build();
        let about =
            Implementation::new("metier", env!("CARGO_PKG_VERSION")).with_title("Agent Skills by metier");
        ServerConfig::new(capabilities)
            .with_server_info(about)
            .with_instructions(self.hall.front().instructions.to_string())
    }

    async fn list_tools(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        // There is one page.
        if cursor(request)?.is_some() {
            return Err(ErrorData::invalid_params("there are no more tools", None));
        }
        let mut result = ListToolsResult::with_all_items(self.hall.front().tools.to_vec());
        (result.ttl_ms, result.cache_scope) = freshness(&context);
        Ok(result)
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        self.hall.front().tools.iter().find(|tool| tool.name == name).cloned()
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let name = request.name.to_string();
        if self.get_tool(&name).is_none() {
            return Err(ErrorData::invalid_params(format!("there is no tool `{name}`"), None));
        }
        let cancel = cancel()?;
        let inquiry =
            self.inquiry(&context, request.input_responses, request.request_state.as_deref(), &cancel)?;
        let arguments = Value::Object(request.arguments.unwrap_or_default());
        if self.is_quick(&name, &arguments)
            && let Some(given) =
                self.hall.counter.at_once(cancel.clone(), |session| session.call_in_scope(&name, &arguments))
        {
            return Ok(tool::result(&name, given).into());
        }
        let called = name.clone();
        let mut given = self
            .hall
            .counter
            .carry_out(&context, cancel, inquiry.clone(), move |_, session| {
                session.call_in_scope(&called, &arguments)
            })
            .await?;
        given.notes.extend(inquiry.as_ref().and_then(|inquiry| inquiry.note()));
        match inquiry.and_then(|inquiry| inquiry.next_round()) {
            Some(round) => Ok(round.into()),
            None => Ok(tool::result(&name, given).into()),
        }
    }

    async fn list_prompts(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        let cursor = cursor(request)?;
        let page = self
            .hall
            .counter
            .look(move |counter, _| prompt::prompts(&counter.shelf.row(), cursor.as_ref()))
            .await?;
        let mut result = ListPromptsResult::with_all_items(page.items);
        result.next_cursor = page.next.map(|next| next.text());
        (result.ttl_ms, result.cache_scope) = freshness(&context);
        Ok(result)
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        let row = self.shelf().row();
        let name = request.name;
        let unknown = || ErrorData::invalid_params(format!("there is no prompt `{name}`"), None);
        let id = row.startable(&name).ok_or_else(unknown)?;
        let arguments = prompt::arguments(&row, id, request.arguments.as_ref())?;
        let entry = row.snapshot.entry(id).ok_or_else(unknown)?;
        let (folder, description) = (row.snapshot.folder(entry), entry.description().to_owned());
        let cancel = cancel()?;
        let inquiry =
            self.inquiry(&context, request.input_responses, request.request_state.as_deref(), &cancel)?;
        let asked = name.clone();
        let used = self
            .hall
            .counter
            .carry_out(&context, cancel, inquiry.clone(), move |counter, session| {
                let used = session.activate_by(By::User, &asked, arguments);
                if used.is_ok() {
                    counter.started(folder);
                }
                used.map(|used| used.text)
            })
            .await?;
        if let Some(round) = inquiry.and_then(|inquiry| inquiry.next_round()) {
            return Ok(round.into());
        }
        let text = used.map_err(|error: NotUsed| ErrorData::invalid_params(error.to_string(), None))?;
        let mut result = GetPromptResult::new(vec![PromptMessage::new_text(Role::User, text)]);
        result.description = Some(metier_catalog::one_line(&description, 1_024));
        Ok(result.into())
    }

    async fn list_resources(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        let cursor = cursor(request)?;
        let page = self.files(move |files| files.resources(cursor.as_ref())).await?;
        let mut result = ListResourcesResult::with_all_items(page.items);
        result.next_cursor = page.next.map(|next| next.text());
        (result.ttl_ms, result.cache_scope) = freshness(&context);
        Ok(result)
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let contents = self.files(move |files| files.read(&request.uri)).await??;
        let mut result = ReadResourceResult::new(vec![contents]);
        (result.ttl_ms, result.cache_scope) = freshness(&context);
        result.ttl_ms = result.ttl_ms.map(|_| AT_ONCE);
        Ok(result.into())
    }

    async fn on_custom_request(
        &self,
        request: CustomRequest,
        context: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        let Some(method) = extension::Method::of(&request.method) else {
            // The SDK takes a request for an unknown one when it cannot read its parameters, too.
            if KNOWN.contains(&request.method.as_str()) {
                let why = format!("the parameters of `{}` cannot be read", request.method);
                return Err(ErrorData::invalid_params(why, None));
            }
            return Err(ErrorData::new(ErrorCode::METHOD_NOT_FOUND, request.method, None));
        };
        let asked = extension::Asked::of(request.params.as_ref())?;
        let result = self.files(move |files| method.answer(&files, &asked)).await??;
        let fields = if is_stateless(&context) { method.fields() } else { Vec::new() };
        Ok(CustomResult(extension::with(result, fields)))
    }

    /// A client with a handshake is told of changes as long as it is there.
    async fn on_initialized(&self, context: NotificationContext<RoleServer>) {
        let mut news = self.shelf().news.subscribe();
        let peer = context.peer;
        tokio::spawn(async move {
            let mut before = *news.borrow_and_update();
            loop {
                tokio::select! {
                    changed = news.changed() => if changed.is_err() { return },
                    // Nobody is told when a client goes; it is found out before long, so that nothing is kept for it.
                    () = tokio::time::sleep(std::time::Duration::from_secs(5)) => {
                        if peer.is_transport_closed() { return }
                        continue;
                    }
                }
                let now = *news.borrow_and_update();
                let told = async {
                    if now.tools != before.tools {
                        peer.notify_tool_list_changed().await?;
                    }
                    if now.prompts != before.prompts {
                        peer.notify_prompt_list_changed().await?;
                    }
                    if now.resources != before.resources {
                        peer.notify_resource_list_changed().await?;
                    }
                    Ok::<(), rmcp::ServiceError>(())
                };
                if told.await.is_err() {
                    return;
                }
                before = now;
            }
        });
    }

    fn accepted_subscription_filter(&self, requested: &SubscriptionFilter) -> Option<SubscriptionFilter> {
        // Single resources are not followed: nobody watches below a skill's folder, and a read finds out.
        let mut accepted = requested.clone();
        accepted.resource_subscriptions = None;
        Some(accepted)
    }

    async fn listen(&self, context: SubscriptionContext) -> Result<(), ErrorData> {
        let mut news = self.shelf().news.subscribe();
        let mut before: Stand = *news.borrow_and_update();
        let sink = context.sink().clone();
        loop {
            tokio::select! {
                changed = news.changed() => if changed.is_err() { return Ok(()) },
                () = context.cancelled() => return Ok(()),
            }
            let now = *news.borrow_and_update();
            // What the client did not ask for is not sent, which is no reason to stop.
            if now.tools != before.tools {
                let _ = sink.notify_tool_list_changed().await;
            }
            if now.prompts != before.prompts {
                let _ = sink.notify_prompt_list_changed().await;
            }
            if now.resources != before.resources {
                let _ = sink.notify_resource_list_changed().await;
            }
            before = now;
        }
    }
}
