//! The client as the session sees it: published to through the pump, asked in tasks of their own.
//!
//! Nothing waits for a client's answer but such a task, and that not for ever.

use std::collections::HashMap;
use std::future::Future;
use std::path::Path;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use serde::Serialize;
use serde_json::{Value, json};
use tower_lsp::Client;
use tower_lsp::lsp_types::{
    self as lsp, DidChangeWatchedFilesRegistrationOptions, FileSystemWatcher, GlobPattern, MessageActionItem,
    MessageType, ProgressParams, ProgressParamsValue, ProgressToken, Registration, ShowDocumentParams,
    ShowMessageParams, WorkDoneProgress, WorkDoneProgressBegin, WorkDoneProgressEnd,
};

use crate::features::decisions::Decision;
use crate::features::diagnostics::Report;
use crate::lsp::gate::Life;
use crate::lsp::progress::Indexing;
use crate::lsp::pump::Pump;
use crate::lsp::{proto, uri};
use crate::session::client::Profile;
use crate::session::editor::{Answered, CannotAsk, Editor, Filling, Level, Place, Target};

/// How long a client may take to answer.
const PATIENCE: Duration = Duration::from_secs(10);
/// What a client watches for us in each of its folders.
const WATCHED: [&str; 5] =
    ["**/.ruleline", "**/.ruleline/*", "**/.ruleline/hooks/**", "**/.git/HEAD", "**/.git/logs/HEAD"];
/// How long a person may take to answer a question.
const THOUGHT: Duration = Duration::from_secs(10 * 60);

/// As the protocol's own type, but with the URI as the client wrote it.
#[derive(Serialize)]
struct Published<'a> {
    uri: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    version: Option<i32>,
    diagnostics: Vec<lsp::Diagnostic>,
}

/// The client.
pub struct Remote {
    client: Client,
    pump: Pump,
    life: Arc<Life>,
    profile: OnceLock<Profile>,
    indexing: Indexing,
    runtime: tokio::runtime::Handle,
}

impl Remote {
    /// A client whose notifications go through `pump`; to be made on the runtime.
    pub fn new(client: Client, pump: Pump, life: Arc<Life>) -> Remote {
        let (indexing, runtime) = (Indexing::new(pump.clone()), tokio::runtime::Handle::current());
        Remote { client, pump, life, profile: OnceLock::new(), indexing, runtime }
    }

    /// The client is ready to be told something.
    pub fn release(&self) {
        self.pump.release();
    }

    /// Who the client is; somebody who said nothing before `initialize`.
    pub fn profile(&self) -> &Profile {
        self.profile.get_or_init(Profile::default)
    }

    /// Tells the client that what it gave this token for began, or ended.
    pub fn progress(&self, token: Option<&ProgressToken>, title: &str, ended: bool) {
        let Some(token) = token else { return };
        let stage = if ended {
            WorkDoneProgress::End(WorkDoneProgressEnd::default())
        } else {
            WorkDoneProgress::Begin(WorkDoneProgressBegin {
                title: title.to_owned(),
                ..WorkDoneProgressBegin::default()
            })
        };
        let params = ProgressParams { token: token.clone(), value: ProgressParamsValue::WorkDone(stage) };
        self.pump.notify(None, "$/progress", &params);
    }
}

/// Runs a request to the client; one that is not answered in time is given up.
fn ask<T: Send + 'static>(
    what: &'static str,
    request: impl Future<Output = Result<T, tower_lsp::jsonrpc::Error>> + Send + 'static,
) {
    tokio::spawn(async move {
        match tokio::time::timeout(PATIENCE, request).await {
            Ok(Ok(_)) => {}
            Ok(Err(error)) => tracing::warn!("{what}: {error}"),
            Err(_) => tracing::warn!("{what}: the client gave no answer in {} s", PATIENCE.as_secs()),
        }
    });
}

impl Editor for Remote {
    fn meet(&self, profile: &Profile) {
        let _ = self.profile.set(profile.clone());
    }

    fn publish(&self, target: &Target, report: &Report) {
        let raw = match target {
            Target::Document(uri) => uri.to_string(),
            Target::File(path) => match uri::from_path(path) {
                Some(uri) => uri.to_string(),
                None => return,
            },
        };
        let params = Published {
            uri: &raw,
            version: report.version,
            diagnostics: proto::to_diagnostics(report, self.profile()),
        };
        self.pump.notify(Some(&raw), "textDocument/publishDiagnostics", &params);
    }

    fn refresh(&self) {
        if self.profile().refreshes {
            let client = self.client.clone();
            ask("workspace/diagnostic/refresh", async move { client.workspace_diagnostic_refresh().await });
        }
    }

    fn say(&self, level: Level, text: &str) {
        let typ = match level {
            Level::Info => MessageType::INFO,
            Level::Warning => MessageType::WARNING,
        };
        self.pump.notify(None, "window/showMessage", &ShowMessageParams { typ, message: unlinked(text) });
    }

    fn watch(&self) {
        let watchers = WATCHED
            .iter()
            .map(|glob| FileSystemWatcher { glob_pattern: GlobPattern::String((*glob).to_owned()), kind: None });
        let watchers = watchers.collect();
        let registration = Registration {
            id: "ruleline.rulebooks".to_owned(),
            method: "workspace/didChangeWatchedFiles".to_owned(),
            register_options: Some(json!(DidChangeWatchedFilesRegistrationOptions { watchers })),
        };
        let client = self.client.clone();
        ask("client/registerCapability", async move { client.register_capability(vec![registration]).await });
    }

    fn open(&self, place: Place) {
        let Some(uri) = uri::from_path(&place.path) else { return };
        if !self.profile().shows_documents {
            self.say(Level::Info, &place.otherwise);
            return;
        }
        let selection = proto::to_range(&place.text, &place.span, self.profile().encoding);
        let params = ShowDocumentParams { uri, external: None, take_focus: Some(true), selection: Some(selection) };
        let (client, pump) = (self.client.clone(), self.pump.clone());
        ask("window/showDocument", async move {
            let shown = client.show_document(params).await;
            if !matches!(shown, Ok(true)) {
                let message = ShowMessageParams { typ: MessageType::INFO, message: unlinked(&place.otherwise) };
                pump.notify(None, "window/showMessage", &message);
            }
            shown
        });
    }

    fn ask(&self, question: &str, choices: [&'static str; 2], answered: Answered) {
        let (client, life) = (self.client.clone(), self.life.clone());
        let message = unlinked(question);
        tokio::spawn(async move {
            let item = |title: &str| MessageActionItem { title: title.to_owned(), properties: HashMap::default() };
            let actions = choices.map(item).to_vec();
            let request = client.show_message_request(MessageType::WARNING, message, Some(actions));
            let answer = tokio::select! {
                biased;
                answer = tokio::time::timeout(THOUGHT, request) => answer.ok(),
                // Nobody answers any more, and the server ends only when nothing waits.
                () = life.input_end() => None,
            };
            let answer = match answer {
                Some(Ok(answer)) => Ok(answer.map(|item| item.title)),
                Some(Err(error)) => {
                    tracing::warn!("window/showMessageRequest: {error}");
                    Err(CannotAsk)
                }
                None => Ok(None),
            };
            answered(answer);
        });
    }

    fn refresh_lenses(&self) {
        if self.profile().refreshes_lenses {
            let client = self.client.clone();
            ask("workspace/codeLens/refresh", async move { client.code_lens_refresh().await });
        }
    }

    fn tell_filling(&self, folder: &Path, filling: Filling) {
        if self.profile().shows_progress {
            self.indexing.tell(&self.client, &self.runtime, folder, filling);
        }
    }

    fn tell_decision(&self, decision: &Decision) {
        if self.profile().wants_decisions {
            self.pump.notify(None, "ruleline/decision", &proto::to_decision(decision));
        }
    }

    fn tell_status(&self, status: &Value) {
        if self.profile().wants_status {
            self.pump.notify(None, "ruleline/status", status);
        }
    }
}

/// Editors make links of `[text](address)` in a message, even such that run commands.
fn unlinked(text: &str) -> String {
    text.replace("](", "] (")
}

/// The diagnostics of a pull.
pub fn pulled(report: Option<&Arc<Report>>, former: Option<&str>, profile: &Profile) -> lsp::DocumentDiagnosticReport {
    let id = report.map(|report| report.stamp.to_string());
    match (&id, former) {
        (Some(id), Some(former)) if id == former => {
            lsp::DocumentDiagnosticReport::Unchanged(lsp::RelatedUnchangedDocumentDiagnosticReport {
                related_documents: None,
                unchanged_document_diagnostic_report: lsp::UnchangedDocumentDiagnosticReport { result_id: id.clone() },
            })
        }
        _ => lsp::DocumentDiagnosticReport::Full(lsp::RelatedFullDocumentDiagnosticReport {
            related_documents: None,
            full_document_diagnostic_report: lsp::FullDocumentDiagnosticReport {
                result_id: id,
                items: report.map(|report| proto::to_diagnostics(report, profile)).unwrap_or_default(),
            },
        }),
    }
}
