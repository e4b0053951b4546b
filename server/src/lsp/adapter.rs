//! The handlers. Each hands one event to the session and awaits at most the session's own reply.

use std::path::PathBuf;
use std::sync::Arc;

use serde_json::{Value, json};
use tokio::sync::{mpsc, oneshot};
use tower_lsp::LanguageServer;
use tower_lsp::jsonrpc::{Error, ErrorCode, Result};
use tower_lsp::lsp_types::{
    CodeActionKind, CodeActionParams, CodeActionResponse, CodeLens, CodeLensParams, CompletionParams,
    CompletionResponse, DidChangeConfigurationParams, DidChangeTextDocumentParams, DidChangeWatchedFilesParams,
    DidChangeWorkspaceFoldersParams, DidCloseTextDocumentParams, DidOpenTextDocumentParams, DidSaveTextDocumentParams,
    DocumentDiagnosticParams, DocumentDiagnosticReportResult, DocumentSymbolParams, DocumentSymbolResponse,
    ExecuteCommandParams, GotoDefinitionParams, GotoDefinitionResponse, Hover, HoverParams, InitializeParams,
    InitializeResult, InitializedParams, Location, ReferenceParams, SymbolInformation, TextDocumentPositionParams, Url,
    WorkspaceFolder, WorkspaceSymbolParams,
};

use crate::features::diagnostics::Report;
use crate::features::{actions, hooks, reviews};
use crate::lsp::gate::Life;
use crate::lsp::remote::{self, Remote};
use crate::lsp::{capabilities, own, proto, symbols, uri};
use crate::session::client::Profile;
use crate::session::counting::Waiter;
use crate::session::event::{Event, Reply};
use crate::session::rulebook::{Inquiry, Meaning};
use crate::session::symbols::Question;

/// What the router calls.
pub struct Adapter {
    events: mpsc::UnboundedSender<Event>,
    life: Arc<Life>,
    remote: Arc<Remote>,
}

impl Adapter {
    /// Handlers that send to `events`.
    pub fn new(events: mpsc::UnboundedSender<Event>, life: Arc<Life>, remote: Arc<Remote>) -> Adapter {
        Adapter { events, life, remote }
    }

    /// A notification that changes nothing here.
    #[expect(clippy::unused_async, reason = "the router takes async handlers")]
    pub async fn ignore(&self, _: Value) {}

    fn send(&self, event: Event) {
        let _ = self.events.send(event);
    }

    /// Sends an event and awaits the session's reply; none when the event was lost.
    async fn ask<T>(&self, event: impl FnOnce(oneshot::Sender<T>) -> Event) -> Option<T> {
        let (reply, answer) = oneshot::channel();
        self.send(event(reply));
        answer.await.ok()
    }

    async fn report(&self, document: &Url) -> Option<Arc<Report>> {
        let key = document.to_string();
        self.ask(|reply| Event::Wanted { key, reply }).await.flatten()
    }

    /// What came of a command.
    async fn obeyed(&self, event: impl FnOnce(Reply) -> Event) -> Result<Value> {
        match self.ask(event).await {
            Some(Ok(answer)) => Ok(answer),
            Some(Err(why)) => Err(Error::invalid_params(why)),
            None => Err(Error::internal_error()),
        }
    }

    /// Asks something about a document; none when it is not open, or there is nothing to say.
    async fn inquire<T>(&self, document: &Url, inquiry: impl FnOnce(oneshot::Sender<T>) -> Inquiry) -> Option<T> {
        let key = document.to_string();
        self.ask(|reply| Event::Inquired { key, inquiry: inquiry(reply) }).await
    }

    async fn run(&self, params: &ExecuteCommandParams) -> Result<Value> {
        match params.command.as_str() {
            proto::RELOAD => {
                self.ask(|reply| Event::Reload { reply }).await;
                Ok(Value::Null)
            }
            proto::STATUS => Ok(self.ask(|reply| Event::Status { reply }).await.unwrap_or_default()),
            proto::DECISIONS => {
                let limit = proto::from_limit(&params.arguments);
                let decisions = self.ask(|reply| Event::Decisions { limit, reply }).await.unwrap_or_default();
                Ok(decisions.iter().map(proto::to_decision).collect())
            }
            name @ (proto::OPEN_RULE | proto::EXPLAIN) => {
                let (command, document) =
                    proto::from_command(name, &params.arguments).map_err(Error::invalid_params)?;
                let key = document.map(String::from);
                match self.ask(|reply| Event::Commanded { key, command, reply }).await {
                    Some(Ok(said)) => Ok(json!({"message": said})),
                    Some(Err(why)) => Err(Error::invalid_params(why)),
                    None => Err(Error::internal_error()),
                }
            }
            name @ (proto::REVIEW_HOOKS | proto::TRUST_HOOKS | proto::UNTRUST_HOOKS) => {
                let command = proto::from_hook_command(name, &params.arguments).map_err(Error::invalid_params)?;
                self.obeyed(|reply| Event::Hooks { command, reply }).await
            }
            name @ (proto::REVIEW_REFUSAL | proto::ALLOW_ONCE) => {
                let command = proto::from_refusal_command(name, &params.arguments).map_err(Error::invalid_params)?;
                self.obeyed(|reply| Event::Refusal { command, reply }).await
            }
            proto::SHOW_FINDINGS => {
                let (path, rule) = own::from_show_findings(&params.arguments).map_err(Error::invalid_params)?;
                self.obeyed(|reply| Event::CountWanted { path, waiter: Waiter::Listing { rule, reply } }).await
            }
            other => Err(Error::invalid_params(format!("there is no command {}", actions::plain_id(other)))),
        }
    }
}

/// What was asked about is not what is there any more; clients ask again by themselves.
fn outdated() -> Error {
    let message = "the lenses were asked for anew".into();
    Error { code: ErrorCode::ServerError(CONTENT_MODIFIED), message, data: None }
}

/// The protocol's `ContentModified`.
const CONTENT_MODIFIED: i64 = -32801;

fn folders(folders: &[WorkspaceFolder]) -> Vec<PathBuf> {
    folders.iter().filter_map(|folder| uri::to_path(&folder.uri)).collect()
}

#[tower_lsp::async_trait]
impl LanguageServer for Adapter {
    async fn initialize(&self, _: InitializeParams) -> Result<InitializeResult> {
        let profile = Profile::read(&self.life.take_parameters());
        let result = capabilities::initialize_result(&profile);
        let folders = profile.folders.iter().filter_map(|folder| uri::text_to_path(folder)).collect();
        self.send(Event::Started { profile, folders });
        Ok(result)
    }

    async fn initialized(&self, _: InitializedParams) {
        self.remote.release();
        self.send(Event::Ready);
    }

    async fn did_open(&self, params: DidOpenTextDocumentParams) {
        // Some forget to say `initialized`.
        self.remote.release();
        let document = params.text_document;
        self.send(Event::Opened {
            uri: self.life.raw_uri(&document.uri).into(),
            path: uri::to_path(&document.uri),
            key: document.uri.into(),
            version: document.version,
            text: document.text,
        });
    }

    async fn did_change(&self, params: DidChangeTextDocumentParams) {
        self.send(Event::Changed {
            key: params.text_document.uri.into(),
            version: params.text_document.version,
            edits: params.content_changes.into_iter().map(proto::from_change).collect(),
        });
    }

    async fn did_save(&self, params: DidSaveTextDocumentParams) {
        self.send(Event::Saved { key: params.text_document.uri.into() });
    }

    async fn did_close(&self, params: DidCloseTextDocumentParams) {
        self.send(Event::Closed { key: params.text_document.uri.into() });
    }

    async fn did_change_watched_files(&self, params: DidChangeWatchedFilesParams) {
        self.send(Event::Watched {
            paths: params.changes.iter().filter_map(|change| uri::to_path(&change.uri)).collect(),
        });
    }

    async fn did_change_workspace_folders(&self, params: DidChangeWorkspaceFoldersParams) {
        let (added, removed) = (folders(&params.event.added), folders(&params.event.removed));
        self.send(Event::Folders { added, removed });
    }

    async fn did_change_configuration(&self, mut params: DidChangeConfigurationParams) {
        let settings = params.settings.get_mut("ruleline").map(Value::take).unwrap_or_default();
        self.send(Event::Configured { settings });
    }

    async fn diagnostic(&self, params: DocumentDiagnosticParams) -> Result<DocumentDiagnosticReportResult> {
        let report = self.report(&params.text_document.uri).await;
        let former = params.previous_result_id.as_deref();
        Ok(remote::pulled(report.as_ref(), former, self.remote.profile()).into())
    }

    async fn code_action(&self, params: CodeActionParams) -> Result<Option<CodeActionResponse>> {
        let wanted = |kind: &CodeActionKind| {
            let kind = kind.as_str();
            kind.is_empty() || CodeActionKind::QUICKFIX.as_str() == kind
        };
        if params.context.only.is_some_and(|kinds| !kinds.iter().any(wanted)) {
            return Ok(None);
        }
        let Some(report) = self.report(&params.text_document.uri).await else { return Ok(None) };
        let profile = self.remote.profile();
        let (from, to) = (proto::from_position(params.range.start), proto::from_position(params.range.end));
        let document = self.life.raw_uri(&params.text_document.uri);
        let offered = actions::offer(&report, from, to, profile.encoding);
        let offered = offered.iter().filter_map(|action| proto::to_action(action, &report, &document, profile));
        let refused = proto::to_refusal_actions(&report, params.range.start, params.range.end, profile);
        let offered = offered.chain(refused).chain(proto::to_hook_actions(&report.hooks));
        Ok(Some(offered.chain(proto::to_allow_actions(&report.allowances)).collect()))
    }

    async fn completion(&self, params: CompletionParams) -> Result<Option<CompletionResponse>> {
        let TextDocumentPositionParams { text_document, position } = params.text_document_position;
        let at = proto::from_position(position);
        let found = self.inquire(&text_document.uri, |reply| Inquiry::Completion { at, reply }).await;
        Ok(found.map(|(text, all)| own::to_completion(&text, &all, self.remote.profile())))
    }

    async fn hover(&self, params: HoverParams) -> Result<Option<Hover>> {
        let TextDocumentPositionParams { text_document, position } = params.text_document_position_params;
        let (document, at) = (text_document.uri, proto::from_position(position));
        let profile = self.remote.profile();
        match self.inquire(&document, |reply| Inquiry::Meaning { at, reply }).await {
            None => Ok(None),
            Some(Meaning::Ours(told, text)) => Ok(told.map(|told| own::to_hover(&text, &told, profile))),
            Some(Meaning::NotOurs) => {
                let Some(report) = self.report(&document).await else { return Ok(None) };
                let of = report.clone();
                let told = self.inquire(&document, |reply| Inquiry::Findings { at, report: of, reply }).await;
                if let Some(told) = told.flatten() {
                    return Ok(Some(own::to_hover(&report.text, &told, profile)));
                }
                let key = document.to_string();
                let told = self.ask(|reply| Event::Symbols(Question::Hover { key, at, reply })).await.flatten();
                Ok(told.map(|(text, told)| own::to_hover(&text, &told, profile)))
            }
        }
    }

    async fn document_symbol(&self, params: DocumentSymbolParams) -> Result<Option<DocumentSymbolResponse>> {
        let key = params.text_document.uri.to_string();
        let found = self.ask(|reply| Event::Symbols(Question::Outline { key, reply })).await;
        Ok(found.map(|(text, all)| symbols::to_outline(&text, &all, self.remote.profile())))
    }

    async fn symbol(&self, params: WorkspaceSymbolParams) -> Result<Option<Vec<SymbolInformation>>> {
        let found = self.ask(|reply| Event::Symbols(Question::Search { query: params.query, reply })).await;
        Ok(found.map(|all| symbols::to_symbols(&all, self.remote.profile())))
    }

    async fn goto_definition(&self, params: GotoDefinitionParams) -> Result<Option<GotoDefinitionResponse>> {
        let TextDocumentPositionParams { text_document, position } = params.text_document_position_params;
        let (key, at) = (text_document.uri.to_string(), proto::from_position(position));
        let found = self.ask(|reply| Event::Symbols(Question::Definitions { key, at, reply })).await;
        let places = found.map(|all| symbols::to_locations(&all, self.remote.profile()));
        Ok(places.filter(|places| !places.is_empty()).map(GotoDefinitionResponse::Array))
    }

    async fn references(&self, params: ReferenceParams) -> Result<Option<Vec<Location>>> {
        let TextDocumentPositionParams { text_document, position } = params.text_document_position;
        let (key, at) = (text_document.uri.to_string(), proto::from_position(position));
        let with_definitions = params.context.include_declaration;
        let question = |reply| Question::References { key, at, with_definitions, reply };
        let found = self.ask(|reply| Event::Symbols(question(reply))).await;
        Ok(found.map(|all| symbols::to_locations(&all, self.remote.profile())))
    }

    async fn code_lens(&self, params: CodeLensParams) -> Result<Option<Vec<CodeLens>>> {
        let document = params.text_document.uri;
        if uri::to_path(&document).is_some_and(|path| hooks::is_manifest(&path) || reviews::is_review(&path)) {
            let Some(report) = self.report(&document).await else { return Ok(None) };
            return Ok(Some([proto::to_lenses(&report.hooks), proto::to_allow_lenses(&report.allowances)].concat()));
        }
        let lenses = self.inquire(&document, |reply| Inquiry::Lenses { reply }).await;
        let (raw, profile) = (self.life.raw_uri(&document), self.remote.profile());
        Ok(lenses.map(|lenses| own::to_lenses(&lenses, &raw, profile)))
    }

    async fn code_lens_resolve(&self, lens: CodeLens) -> Result<CodeLens> {
        let own::Seen { path, rule, says, asked } = own::from_lens(&lens).map_err(Error::invalid_params)?;
        let waiter = |reply| Waiter::Lens { rule, says, asked, reply };
        match self.ask(|reply| Event::CountWanted { path, waiter: waiter(reply) }).await.flatten() {
            Some(title) => Ok(own::resolved(lens, title)),
            None => Err(outdated()),
        }
    }

    async fn execute_command(&self, params: ExecuteCommandParams) -> Result<Option<Value>> {
        let token = params.work_done_progress_params.work_done_token.as_ref();
        self.remote.progress(token, &params.command, false);
        let result = self.run(&params).await;
        self.remote.progress(token, &params.command, true);
        result.map(Some)
    }

    async fn shutdown(&self) -> Result<()> {
        super::settled(&self.events).await;
        Ok(())
    }
}
