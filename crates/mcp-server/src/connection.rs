//! One client connection: the SDK's `ServerHandler`.

mod extension;

use std::sync::Arc;
use std::time::Duration;

use metier_activation::Invoker;
use metier_runtime::UseError;
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

use super::ServerState;
use super::change_notifier::ListVersions;
use super::cursor::Cursor;
use super::elicitation::{
    ApprovalLifetime, ConnectionApprovals, Elicitation, ElicitationMode, RoundAnswers, TamperedStateError,
};
use super::files::SkillFiles;
use super::prompt;
use super::served_catalog::ServedCatalog;
use super::tool;

/// The name of the skills extension.
const SKILLS_EXTENSION: &str = "io.modelcontextprotocol/skills";

/// How long a client may cache a list, in milliseconds. Clients are notified of changes, but not every host listens.
const LIST_TTL_MS: u64 = 5_000;

/// How long a client may cache a file or the entry of one skill. Zero: a cached file might not match the digest in an entry
/// fetched later, and the host would refuse it.
const FILE_TTL_MS: u64 = 0;

/// Methods of the protocol itself that this server answers.
const PROTOCOL_METHODS: [&str; 6] =
    ["tools/list", "tools/call", "prompts/list", "prompts/get", "resources/list", "resources/read"];

/// How often a notification task checks whether its client disconnected. A closed client costs one idle task until the next check;
/// a shorter interval would wake an idle server for nothing.
const CLOSED_POLL_INTERVAL: Duration = Duration::from_secs(5);

/// One client.
pub(crate) struct Connection {
    state: Arc<ServerState>,
    /// Whether it has two streams that last as long as the connection. Over HTTP, clients of the stateless revision have no
    /// connection.
    is_stream: bool,
    /// Approvals that the client's user gave for this connection.
    approvals: Arc<ConnectionApprovals>,
}

/// Whether the client uses the revision without a handshake.
fn is_stateless(context: &RequestContext<RoleServer>) -> bool {
    let version = context.protocol_version();
    version.is_some_and(|version| version.as_str() >= ProtocolVersion::V_2026_07_28.as_str())
}

impl Connection {
    pub(crate) fn over_streams(state: Arc<ServerState>) -> Self {
        Self { state, is_stream: true, approvals: Arc::default() }
    }

    pub(crate) fn over_http(state: Arc<ServerState>) -> Self {
        Self { is_stream: false, ..Self::over_streams(state) }
    }

    fn catalog(&self) -> &ServedCatalog {
        &self.state.executor.catalog
    }

    /// What cancels a call, and how to ask the client's user during it; `None` if the client cannot.
    fn elicitation(
        &self,
        context: &RequestContext<RoleServer>,
        responses: Option<InputResponses>,
        state: Option<&str>,
    ) -> Result<(Cancel, Option<Arc<Elicitation>>), ErrorData> {
        let failed =
            |error| ErrorData::internal_error(format!("cannot create a cancel handle: {error}"), None);
        let cancel = Cancel::new().map_err(failed)?;
        let capability = context.client_capabilities().and_then(|client| client.elicitation);
        // A client that lists no elicitation kinds supports forms: earlier revisions had no kinds.
        if capability.is_none_or(|known| known.form.is_none() && known.url.is_some()) {
            return Ok((cancel, None));
        }
        let (mode, lifetime) = if is_stateless(context) {
            let lifetime = if self.is_stream { ApprovalLifetime::Connection } else { ApprovalLifetime::Call };
            let rounds = RoundAnswers::of(responses, state, Arc::clone(&self.state.signer));
            let tampered = |error: TamperedStateError| ErrorData::invalid_params(error.to_string(), None);
            (ElicitationMode::Rounds(rounds.map_err(tampered)?), lifetime)
        } else {
            let mode = ElicitationMode::Request { peer: context.peer.clone(), runtime: Handle::current() };
            (mode, ApprovalLifetime::Connection)
        };
        let elicitation = Elicitation::new(mode, lifetime, Arc::clone(&self.approvals), cancel.clone());
        Ok((cancel, Some(Arc::new(elicitation))))
    }

    /// Whether a call is fast enough to run on the current thread: reading a local file. Files of other servers may have to be
    /// fetched.
    fn is_quick(&self, tool: &str, arguments: &Value) -> bool {
        let named = arguments.get("skill_name").and_then(Value::as_str).filter(|_| tool == tool::READ_FILE);
        let view = self.catalog().view();
        let entry = named.and_then(|name| view.offered(name)).and_then(|id| view.snapshot.entry(id));
        entry.is_some_and(|entry| entry.remote().is_none())
    }

    /// Runs a function with the files of the served skills.
    async fn files<T: Send + 'static>(
        &self,
        work: impl FnOnce(SkillFiles<'_>) -> T + Send + 'static,
    ) -> Result<T, ErrorData> {
        self.state
            .executor
            .inspect(move |executor, session| {
                work(SkillFiles { catalog: &executor.catalog, view: executor.catalog.view(), session })
            })
            .await
    }
}

/// TTL and cache scope of a list; the older revision has neither.
fn freshness(context: &RequestContext<RoleServer>) -> (Option<u64>, Option<CacheScope>) {
    if is_stateless(context) { (Some(LIST_TTL_MS), Some(CacheScope::Private)) } else { (None, None) }
}

fn cursor(request: Option<PaginatedRequestParams>) -> Result<Option<Cursor>, ErrorData> {
    Cursor::parse(request.and_then(|request| request.cursor).as_deref())
}

impl ServerHandler for Connection {
    fn get_info(&self) -> ServerConfig {
        let mut extensions = ExtensionCapabilities::new();
        let mut settings = JsonObject::new();
        settings.insert("directoryRead".to_owned(), json!(true));
        extensions.insert(SKILLS_EXTENSION.to_owned(), settings);
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
            .with_instructions(self.state.advertised().instructions.to_string())
    }

    async fn list_tools(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        // All tools fit on one page, so no cursor is valid.
        if cursor(request)?.is_some() {
            return Err(ErrorData::invalid_params("invalid cursor: all tools are on the first page", None));
        }
        let mut result = ListToolsResult::with_all_items(self.state.advertised().tools.to_vec());
        (result.ttl_ms, result.cache_scope) = freshness(&context);
        Ok(result)
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        self.state.advertised().tools.iter().find(|tool| tool.name == name).cloned()
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let name = request.name.to_string();
        if self.get_tool(&name).is_none() {
            return Err(ErrorData::invalid_params(format!("unknown tool `{name}`"), None));
        }
        let (cancel, elicitation) =
            self.elicitation(&context, request.input_responses, request.request_state.as_deref())?;
        let arguments = Value::Object(request.arguments.unwrap_or_default());
        if self.is_quick(&name, &arguments)
            && let Some(given) = self
                .state
                .executor
                .execute_inline(cancel.clone(), |session| session.call_in_scope(&name, &arguments))
        {
            return Ok(tool::result(&name, given).into());
        }
        let called = name.clone();
        let mut given = self
            .state
            .executor
            .execute(&context, cancel, elicitation.clone(), move |_, session| {
                session.call_in_scope(&called, &arguments)
            })
            .await?;
        given.notes.extend(elicitation.as_ref().and_then(|elicitation| elicitation.note()));
        match elicitation.and_then(|elicitation| elicitation.next_round()) {
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
            .state
            .executor
            .inspect(move |executor, _| prompt::prompts(&executor.catalog.view(), cursor.as_ref()))
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
        let view = self.catalog().view();
        let name = request.name;
        let unknown = || ErrorData::invalid_params(format!("unknown prompt `{name}`"), None);
        let id = view.startable(&name).ok_or_else(unknown)?;
        let arguments = prompt::arguments(&view, id, request.arguments.as_ref())?;
        let entry = view.snapshot.entry(id).ok_or_else(unknown)?;
        let (folder, description) = (view.snapshot.folder(entry), entry.description().to_owned());
        let (cancel, elicitation) =
            self.elicitation(&context, request.input_responses, request.request_state.as_deref())?;
        let asked = name.clone();
        let used = self
            .state
            .executor
            .execute(&context, cancel, elicitation.clone(), move |executor, session| {
                let used = session.activate_by(Invoker::User, &asked, arguments);
                if used.is_ok() {
                    executor.mark_started(folder);
                }
                used.map(|used| used.text)
            })
            .await?;
        if let Some(round) = elicitation.and_then(|elicitation| elicitation.next_round()) {
            return Ok(round.into());
        }
        let text = used.map_err(|error: UseError| ErrorData::invalid_params(error.to_string(), None))?;
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
        result.ttl_ms = result.ttl_ms.map(|_| FILE_TTL_MS);
        Ok(result.into())
    }

    async fn on_custom_request(
        &self,
        request: CustomRequest,
        context: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        let Some(method) = extension::ExtensionMethod::of(&request.method) else {
            // The SDK also reports a known request as unknown if it cannot parse its parameters.
            if PROTOCOL_METHODS.contains(&request.method.as_str()) {
                let why = format!("invalid parameters for `{}`", request.method);
                return Err(ErrorData::invalid_params(why, None));
            }
            return Err(ErrorData::new(ErrorCode::METHOD_NOT_FOUND, request.method, None));
        };
        let asked = extension::MethodParams::of(request.params.as_ref())?;
        let result = self.files(move |files| method.answer(&files, &asked)).await??;
        let fields = if is_stateless(&context) { method.fields() } else { Vec::new() };
        Ok(CustomResult(extension::with(result, fields)))
    }

    /// Notifies a client with a handshake of changes until it disconnects.
    async fn on_initialized(&self, context: NotificationContext<RoleServer>) {
        let mut changes = self.catalog().notifier.subscribe();
        let peer = context.peer;
        tokio::spawn(async move {
            let mut before = *changes.borrow_and_update();
            loop {
                tokio::select! {
                    result = changes.changed() => if result.is_err() { return },
                    // rmcp reports no disconnect here, so the task polls to end itself.
                    () = tokio::time::sleep(CLOSED_POLL_INTERVAL) => {
                        if peer.is_transport_closed() { return }
                        continue;
                    }
                }
                let now = *changes.borrow_and_update();
                let notified = async {
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
                if notified.await.is_err() {
                    return;
                }
                before = now;
            }
        });
    }

    fn accepted_subscription_filter(&self, requested: &SubscriptionFilter) -> Option<SubscriptionFilter> {
        // Subscriptions to single resources are not supported: files below a skill's folder are not watched. A read detects
        // changes.
        let mut accepted = requested.clone();
        accepted.resource_subscriptions = None;
        Some(accepted)
    }

    async fn listen(&self, context: SubscriptionContext) -> Result<(), ErrorData> {
        let mut changes = self.catalog().notifier.subscribe();
        let mut before: ListVersions = *changes.borrow_and_update();
        let sink = context.sink().clone();
        loop {
            tokio::select! {
                result = changes.changed() => if result.is_err() { return Ok(()) },
                () = context.cancelled() => return Ok(()),
            }
            let now = *changes.borrow_and_update();
            // A notification outside the client's filter fails; that does not end the subscription.
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
