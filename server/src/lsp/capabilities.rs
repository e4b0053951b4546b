//! What the server says it can do, as the client's own abilities allow.

use tower_lsp::lsp_types::{
    CodeActionKind, CodeActionOptions, CodeActionProviderCapability, CodeLensOptions, CompletionOptions,
    DiagnosticOptions, DiagnosticServerCapabilities, ExecuteCommandOptions, HoverProviderCapability, InitializeResult,
    OneOf, PositionEncodingKind, SaveOptions, ServerCapabilities, ServerInfo, TextDocumentSyncCapability,
    TextDocumentSyncKind, TextDocumentSyncOptions, TextDocumentSyncSaveOptions, WorkDoneProgressOptions,
    WorkspaceFoldersServerCapabilities, WorkspaceServerCapabilities,
};

use crate::lsp::proto;
use crate::session::client::Profile;
use crate::session::settings::Symbols;
use crate::text::Encoding;

/// The answer to `initialize`.
pub fn initialize_result(profile: &Profile) -> InitializeResult {
    InitializeResult {
        capabilities: capabilities(profile),
        server_info: Some(ServerInfo {
            name: "ruleline".to_owned(),
            version: Some(env!("CARGO_PKG_VERSION").to_owned()),
        }),
    }
}

fn capabilities(profile: &Profile) -> ServerCapabilities {
    let pull = DiagnosticServerCapabilities::Options(DiagnosticOptions {
        identifier: Some(proto::SOURCE.to_owned()),
        inter_file_dependencies: false,
        workspace_diagnostics: false,
        work_done_progress_options: WorkDoneProgressOptions::default(),
    });
    // A client that has another server for symbols says so before anything else.
    let answers = Symbols::said(&profile.options).unwrap_or_default() == Symbols::All;
    ServerCapabilities {
        position_encoding: Some(match profile.encoding {
            Encoding::Utf8 => PositionEncodingKind::UTF8,
            Encoding::Utf16 => PositionEncodingKind::UTF16,
            Encoding::Utf32 => PositionEncodingKind::UTF32,
        }),
        text_document_sync: Some(TextDocumentSyncCapability::Options(TextDocumentSyncOptions {
            open_close: Some(true),
            change: Some(TextDocumentSyncKind::INCREMENTAL),
            save: Some(TextDocumentSyncSaveOptions::SaveOptions(SaveOptions { include_text: Some(false) })),
            ..TextDocumentSyncOptions::default()
        })),
        diagnostic_provider: profile.pulls.then_some(pull),
        code_action_provider: Some(CodeActionProviderCapability::Options(CodeActionOptions {
            code_action_kinds: Some(vec![CodeActionKind::QUICKFIX]),
            ..CodeActionOptions::default()
        })),
        code_lens_provider: Some(CodeLensOptions { resolve_provider: Some(true) }),
        completion_provider: Some(CompletionOptions {
            trigger_characters: Some(["[", "=", "\"", "'"].map(str::to_owned).to_vec()),
            ..CompletionOptions::default()
        }),
        document_symbol_provider: answers.then_some(OneOf::Left(true)),
        workspace_symbol_provider: answers.then_some(OneOf::Left(true)),
        definition_provider: answers.then_some(OneOf::Left(true)),
        references_provider: answers.then_some(OneOf::Left(true)),
        hover_provider: Some(HoverProviderCapability::Simple(true)),
        execute_command_provider: Some(ExecuteCommandOptions {
            commands: proto::COMMANDS.map(str::to_owned).to_vec(),
            work_done_progress_options: WorkDoneProgressOptions { work_done_progress: Some(true) },
        }),
        workspace: Some(WorkspaceServerCapabilities {
            workspace_folders: Some(WorkspaceFoldersServerCapabilities {
                supported: Some(true),
                change_notifications: Some(OneOf::Left(true)),
            }),
            file_operations: None,
        }),
        ..ServerCapabilities::default()
    }
}
