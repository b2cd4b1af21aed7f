//! `weft mcp`: the tools of `weft_api::agent` by the Model Context Protocol, on standard input and
//! output.
//!
//! Standard output carries the protocol and nothing else. Calls are answered beside each other; each
//! answer depends on its own call alone. The session reads no file, opens no connection, and keeps the
//! long texts of its answers in memory until it ends.

mod lines;

use crate::Outcome;
use crate::failure::Failure;
use lines::Lines;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, Implementation,
    ListResourceTemplatesResult, ListResourcesResult, ListToolsResult, PaginatedRequestParams,
    ReadResourceRequestParams, ReadResourceResponse, ReadResourceResult, Resource,
    ResourceContents, ResourceTemplate, ServerCapabilities, ServerConfig, Tool, ToolAnnotations,
};
use rmcp::service::{QuitReason, RequestContext};
use rmcp::{ErrorData, RoleServer, ServerHandler, ServiceExt as _};
use serde_json::{Map, Value, json};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::Semaphore;
use weft_api::agent::{self, INSTRUCTIONS, Reply, SCHEME, Shelf};
use weft_api::budget::{self, Budget, Limits, Stop};

/// The most calls that are answered at the same time.
const MOST_CALLS: usize = 8;
/// The stack of a thread that answers: as much as a command has.
const STACK: usize = 8 << 20;

/// Serves until standard input ends; a call has these limits where it names none.
pub(crate) fn run(limits: Limits) -> Result<Outcome, Failure> {
    let started = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .thread_stack_size(STACK)
        .build();
    let runtime = started.map_err(|error| Failure::Session { error: error.to_string() })?;
    let served = runtime.block_on(async {
        let lines = Lines::standard().map_err(|error| error.to_string())?;
        match Session::new(limits).serve(lines).await {
            Ok(running) => match running.waiting().await {
                Ok(QuitReason::JoinError(error)) => Err(error.to_string()),
                Ok(_) => Ok(()),
                Err(error) => Err(error.to_string()),
            },
            Err(error) => Err(error.to_string()),
        }
    });
    // Who reads standard input on another thread would be waited for.
    runtime.shutdown_background();
    served.map(|()| Outcome::Good).map_err(|error| Failure::Session { error })
}

/// What a session keeps.
#[derive(Clone)]
struct Session {
    shelf: Arc<Mutex<Shelf>>,
    /// Places for calls that are answered beside each other; others wait.
    places: Arc<Semaphore>,
    limits: Limits,
}

impl Session {
    fn new(limits: Limits) -> Self {
        Self { shelf: Arc::default(), places: Arc::new(Semaphore::new(MOST_CALLS)), limits }
    }

    fn shelf(&self) -> MutexGuard<'_, Shelf> {
        // Whoever panicked with it left it whole: texts are put there in one piece.
        self.shelf.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Answers a call; nothing where there is no such tool.
    fn answer(&self, name: &str, arguments: &Map<String, Value>) -> Option<Reply> {
        if name == "more" {
            return Some(agent::more(&self.shelf(), arguments));
        }
        let reply = agent::call(name, arguments)?;
        let mut shelf = self.shelf();
        reply.kept.iter().for_each(|kept| shelf.keep(kept.clone()));
        Some(reply)
    }
}

impl ServerHandler for Session {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder().enable_tools().enable_resources().build();
        ServerConfig::new(capabilities)
            .with_server_info(Implementation::new("weft", env!("CARGO_PKG_VERSION")))
            .with_instructions(INSTRUCTIONS)
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let tools = agent::tools().into_iter().map(|tool| {
            let what = ToolAnnotations::with_title(tool.title)
                .read_only(true)
                .idempotent(true)
                .open_world(false);
            Tool::new(tool.name, tool.description, tool.input_schema)
                .with_raw_output_schema(Arc::new(tool.output_schema))
                .with_title(tool.title)
                .with_annotations(what)
        });
        Ok(ListToolsResult::with_all_items(tools.collect()))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let session = self.clone();
        let CallToolRequestParams { name, arguments, .. } = request;
        let asked = name.clone();
        let budget = Budget { limits: self.limits, stop: Stop::default() };
        let stop = budget.stop.clone();
        let place = Arc::clone(&self.places).acquire_owned().await;
        let answered = tokio::task::spawn_blocking(move || {
            let _place = place;
            budget::within(&budget, || session.answer(&asked, &arguments.unwrap_or_default()))
        });
        let answered = tokio::select! {
            answered = answered => answered,
            () = context.ct.cancelled() => {
                stop.set();
                return Err(ErrorData::internal_error("the call was cancelled", None));
            }
        };
        let reply = match answered {
            Ok(Some(reply)) => reply,
            Ok(None) => {
                let known: Vec<&str> = agent::tools().iter().map(|tool| tool.name).collect();
                let hint = format!("the tools are {}", known.join(", "));
                let message = format!("there is no tool `{name}`; {hint}");
                return Err(ErrorData::invalid_params(message, Some(json!({"tools": known}))));
            }
            Err(error) => agent::defect(&format!("the answer was not finished: {error}")),
        };
        let result = if reply.is_error {
            CallToolResult::structured_error(reply.value)
        } else {
            CallToolResult::structured(reply.value)
        };
        Ok(result.into())
    }

    async fn list_resources(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        let shelf = self.shelf();
        let resources = shelf.all().map(|kept| {
            let name = kept.handle.trim_start_matches(SCHEME);
            Resource::new(kept.handle.clone(), name)
                .with_mime_type(kept.media_type)
                .with_size(kept.text.len() as u64)
        });
        Ok(ListResourcesResult::with_all_items(resources.collect()))
    }

    async fn list_resource_templates(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        let kept = ResourceTemplate::new(format!("{SCHEME}{{id}}"), "kept")
            .with_description("What an answer left out: the handles in its `more`.");
        Ok(ListResourceTemplatesResult::with_all_items(vec![kept]))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let shelf = self.shelf();
        let Some(kept) = shelf.find(&request.uri) else {
            let message = format!("nothing is kept as {}", request.uri);
            return Err(ErrorData::resource_not_found(message, None));
        };
        let contents = ResourceContents::text(kept.text.clone(), kept.handle.clone());
        Ok(ReadResourceResult::new(vec![contents.with_mime_type(kept.media_type)]).into())
    }
}
