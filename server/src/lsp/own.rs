//! What is told and suggested in our own files, in the protocol's types.

use tower_lsp::lsp_types::{
    self as lsp, CompletionItem, CompletionItemKind, CompletionList, CompletionResponse, CompletionTextEdit,
    Documentation, HoverContents, InsertTextFormat, MarkupContent, MarkupKind, TextEdit,
};

use crate::features::completion::{Kind, Suggestion};
use crate::features::hover::{self, Hover};
use crate::lsp::proto::to_range;
use crate::session::client::Profile;
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
