//! What is told, suggested and counted in our own files, in the protocol's types.

use std::path::PathBuf;

use serde_json::{Value, json};
use tower_lsp::lsp_types::{
    self as lsp, CompletionItem, CompletionItemKind, CompletionList, CompletionResponse, CompletionTextEdit,
    Documentation, HoverContents, InsertTextFormat, MarkupContent, MarkupKind, TextEdit,
};

use crate::features::completion::{Kind, Suggestion};
use crate::features::counts;
use crate::features::hover::{self, Hover};
use crate::lsp::proto::{SHOW_FINDINGS, to_range};
use crate::lsp::uri;
use crate::session::client::Profile;
use crate::session::counting::Lenses;
use crate::text::Text;

/// Suggestions in their order.
pub fn to_completion(text: &Text, all: &[Suggestion], profile: &Profile) -> CompletionResponse {
    let item = |(index, one): (usize, &Suggestion)| {
        let snippet = one.snippet.as_ref().filter(|_| profile.fills_snippets);
        let edit = TextEdit {
            range: to_range(text, &one.span, profile.encoding),
            new_text: snippet.unwrap_or(&one.text).clone(),
        };
        CompletionItem {
            label: one.label.clone(),
            kind: Some(match one.kind {
                Kind::Key => CompletionItemKind::PROPERTY,
                Kind::Word => CompletionItemKind::ENUM_MEMBER,
                Kind::Table => CompletionItemKind::STRUCT,
                Kind::File => CompletionItemKind::FILE,
            }),
            detail: (!one.detail.is_empty()).then(|| one.detail.clone()),
            documentation: Some(Documentation::String(one.about.clone())),
            sort_text: Some(format!("{index:03}")),
            filter_text: Some(one.filter.clone()),
            insert_text_format: snippet.map(|_| InsertTextFormat::SNIPPET),
            text_edit: Some(CompletionTextEdit::Edit(edit)),
            ..CompletionItem::default()
        }
    };
    let items = all.iter().enumerate().map(item).collect();
    CompletionResponse::List(CompletionList { is_incomplete: false, items })
}

/// What is told of a place.
pub fn to_hover(text: &Text, told: &Hover, profile: &Profile) -> lsp::Hover {
    let (kind, value) = if profile.reads_markdown_alone {
        (MarkupKind::Markdown, hover::as_markdown(&told.lines))
    } else {
        (MarkupKind::PlainText, told.lines.join("\n"))
    };
    lsp::Hover {
        contents: HoverContents::Markup(MarkupContent { kind, value }),
        range: Some(to_range(text, &told.span, profile.encoding)),
    }
}

/// A lens over each rule, without its title: nothing is counted before it is seen. `document` is the raw URI.
pub fn to_lenses(lenses: &Lenses, document: &str, profile: &Profile) -> Vec<lsp::CodeLens> {
    let lens = |one: &counts::Lens| lsp::CodeLens {
        range: to_range(&lenses.text, &(one.at..one.at), profile.encoding),
        command: None,
        data: Some(json!({"rulebook": document, "rule": one.rule, "says": one.says, "asked": lenses.asked})),
    };
    lenses.all.iter().map(lens).collect()
}

/// What a lens that the client sends back is about.
pub struct Seen {
    /// The rulebook.
    pub path: PathBuf,
    /// The rule.
    pub rule: String,
    /// What the rule said.
    pub says: String,
    /// Which asking it is of.
    pub asked: u64,
}

/// Reads a lens that the client sends back.
///
/// # Errors
/// Its data is not ours, in one line.
pub fn from_lens(lens: &lsp::CodeLens) -> Result<Seen, String> {
    let data = lens.data.as_ref().unwrap_or(&Value::Null);
    let text = |key: &str| data.get(key).and_then(Value::as_str);
    let seen = || {
        let (path, rule) = (uri::text_to_path(text("rulebook")?)?, text("rule")?.to_owned());
        Some(Seen { path, rule, says: text("says")?.to_owned(), asked: data.get("asked")?.as_u64()? })
    };
    seen().ok_or_else(|| "the data of the lens is none of ours".to_owned())
}

/// The lens with its title.
pub fn resolved(lens: lsp::CodeLens, title: String) -> lsp::CodeLens {
    let data = lens.data.as_ref().unwrap_or(&Value::Null);
    let argument = json!({"rulebook": data["rulebook"], "rule": data["rule"]});
    let command = lsp::Command { title, command: SHOW_FINDINGS.to_owned(), arguments: Some(vec![argument]) };
    lsp::CodeLens { command: Some(command), ..lens }
}

/// The rulebook and the rule whose findings are to be shown.
///
/// # Errors
/// Which argument is missing or wrong, in one line.
pub fn from_show_findings(arguments: &[Value]) -> Result<(PathBuf, String), String> {
    let given = arguments.first().unwrap_or(&Value::Null);
    let text = |key: &str| {
        given.get(key).and_then(Value::as_str).ok_or(format!("{SHOW_FINDINGS}: no text \"{key}\" in its argument"))
    };
    let path = uri::text_to_path(text("rulebook")?).ok_or(format!("{SHOW_FINDINGS}: \"rulebook\" names no file"))?;
    Ok((path, text("rule")?.to_owned()))
}
