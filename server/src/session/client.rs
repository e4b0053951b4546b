//! What the client said of itself in `initialize`, read from the raw parameters.
//!
//! Total: whatever has another shape than expected counts as not said. The raw parameters are read because the typed
//! ones misname `workspace.diagnostics.refreshSupport` and rewrite URIs.

use rules::plain::{ID, plain};
use serde_json::Value;

use crate::text::Encoding;

/// The client's abilities and wishes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Profile {
    /// The unit of characters that both sides use.
    pub encoding: Encoding,
    /// It asks for diagnostics and can be told to ask again; nothing is published to it. One that only asks would keep
    /// showing what a changed rulebook no longer says.
    pub pulls: bool,
    /// It can be told to ask again.
    pub refreshes: bool,
    /// It watches files for us when asked to.
    pub watches: bool,
    /// It shows places related to a diagnostic.
    pub relates: bool,
    /// It shows a diagnostic's code as a link.
    pub links_codes: bool,
    /// It gives a diagnostic's data back.
    pub keeps_data: bool,
    /// It opens a document when asked to.
    pub shows_documents: bool,
    /// It can be told to ask for lenses again.
    pub refreshes_lenses: bool,
    /// It fills in places of a completion that was taken.
    pub fills_snippets: bool,
    /// It shows Markdown alone where something is told of a place.
    pub reads_markdown_alone: bool,
    /// It wants to be told how things stand.
    pub wants_status: bool,
    /// It wants to be told of each decision of an agent.
    pub wants_decisions: bool,
    /// It shows how far something is that it did not ask for.
    pub shows_progress: bool,
    /// What it calls itself, as it may be shown.
    pub name: String,
    /// The URIs of the workspace's folders.
    pub folders: Vec<String>,
    /// `initializationOptions`.
    pub options: Value,
}

impl Default for Profile {
    /// A client that said nothing.
    fn default() -> Profile {
        Profile::read(&Value::Null)
    }
}

impl Profile {
    /// Reads the raw parameters of `initialize`.
    pub fn read(parameters: &Value) -> Profile {
        let capability = |path: &str| parameters.pointer(&format!("/capabilities{path}"));
        let says = |path: &str| capability(path) == Some(&Value::Bool(true));
        let refreshes = says("/workspace/diagnostics/refreshSupport");
        Profile {
            encoding: encoding(capability("/general/positionEncodings")),
            pulls: capability("/textDocument/diagnostic").is_some_and(Value::is_object) && refreshes,
            refreshes,
            watches: says("/workspace/didChangeWatchedFiles/dynamicRegistration"),
            relates: says("/textDocument/publishDiagnostics/relatedInformation")
                || says("/textDocument/diagnostic/relatedInformation"),
            links_codes: says("/textDocument/publishDiagnostics/codeDescriptionSupport")
                || says("/textDocument/diagnostic/codeDescriptionSupport"),
            keeps_data: says("/textDocument/publishDiagnostics/dataSupport")
                || says("/textDocument/diagnostic/dataSupport"),
            shows_documents: says("/window/showDocument/support"),
            refreshes_lenses: says("/workspace/codeLens/refreshSupport"),
            fills_snippets: says("/textDocument/completion/completionItem/snippetSupport"),
            reads_markdown_alone: reads_markdown_alone(capability("/textDocument/hover/contentFormat")),
            shows_progress: says("/window/workDoneProgress"),
            wants_status: says("/experimental/rulelineStatus"),
            wants_decisions: says("/experimental/rulelineDecisions"),
            name: name(parameters.pointer("/clientInfo/name")),
            folders: folders(parameters),
            options: parameters.get("initializationOptions").cloned().unwrap_or_default(),
        }
    }
}

fn encoding(offered: Option<&Value>) -> Encoding {
    let offers = |name: &str| offered.and_then(Value::as_array).is_some_and(|all| all.iter().any(|one| one == name));
    if offers("utf-8") {
        Encoding::Utf8
    } else if offers("utf-32") && !offers("utf-16") {
        Encoding::Utf32
    } else {
        Encoding::Utf16
    }
}

fn name(said: Option<&Value>) -> String {
    let said = said.and_then(Value::as_str).map(|name| plain(name.trim(), ID)).filter(|name| !name.is_empty());
    said.unwrap_or_else(|| "the editor".to_owned())
}

fn reads_markdown_alone(formats: Option<&Value>) -> bool {
    let formats = formats.and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    !formats.is_empty() && formats.iter().all(|format| format == "markdown")
}

/// The folders, or the older `rootUri`, or the oldest `rootPath` as a URI.
fn folders(parameters: &Value) -> Vec<String> {
    let named = |value: &Value| value.get("uri").and_then(Value::as_str).map(str::to_owned);
    match parameters.get("workspaceFolders").and_then(Value::as_array) {
        Some(folders) if !folders.is_empty() => folders.iter().filter_map(named).collect(),
        _ => parameters.get("rootUri").and_then(Value::as_str).map(str::to_owned).into_iter().collect(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn encodings_are_negotiated() {
        for (offered, expected) in [
            (json!(null), Encoding::Utf16),
            (json!([]), Encoding::Utf16),
            (json!("utf-8"), Encoding::Utf16),
            (json!(["utf-16"]), Encoding::Utf16),
            (json!(["utf-32"]), Encoding::Utf32),
            (json!(["utf-32", "utf-16"]), Encoding::Utf16),
            (json!(["utf-32", "utf-16", "utf-8"]), Encoding::Utf8),
            (json!(["utf-7", 3]), Encoding::Utf16),
        ] {
            let parameters = json!({"capabilities": {"general": {"positionEncodings": offered}}});
            assert_eq!(Profile::read(&parameters).encoding, expected, "{offered}");
        }
    }

    #[test]
    fn refresh_support_is_read_under_the_name_of_the_specification() {
        let read =
            |name: &str| Profile::read(&json!({"capabilities": {"workspace": {name: {"refreshSupport": true}}}}));
        assert!(read("diagnostics").refreshes);
        assert!(!read("diagnostic").refreshes);
    }

    #[test]
    fn only_a_client_that_can_be_told_to_ask_again_pulls() {
        for (capabilities, expected) in [
            (json!({}), false),
            (json!({"textDocument": {"diagnostic": {}}}), false),
            (json!({"workspace": {"diagnostics": {"refreshSupport": true}}}), false),
            (json!({"textDocument": {"diagnostic": {}}, "workspace": {"diagnostics": {"refreshSupport": true}}}), true),
        ] {
            assert_eq!(Profile::read(&json!({"capabilities": capabilities})).pulls, expected, "{capabilities}");
        }
    }

    #[test]
    fn s19_a_name_is_shown_plain() {
        for (info, expected) in [
            (json!(null), "the editor"),
            (json!({"name": "Visual Studio Code"}), "Visual Studio Code"),
            (json!({"name": " \t"}), "the editor"),
            (json!({"name": 3}), "the editor"),
            (json!({"name": "a\nb\u{202e}"}), "a\\nb\\u{202e}"),
        ] {
            assert_eq!(Profile::read(&json!({"clientInfo": info})).name, expected, "{info}");
        }
    }

    #[test]
    fn folders_before_root_uri() {
        for (parameters, expected) in [
            (json!({}), vec![]),
            (json!({"rootUri": "file:///a"}), vec!["file:///a"]),
            (json!({"rootUri": null, "workspaceFolders": null}), vec![]),
            (json!({"rootUri": "file:///a", "workspaceFolders": []}), vec!["file:///a"]),
            (
                json!({"rootUri": "file:///a", "workspaceFolders": [{"uri": "file:///b"}, {"uri": 3}, {"uri": "file:///c"}]}),
                vec!["file:///b", "file:///c"],
            ),
        ] {
            assert_eq!(Profile::read(&parameters).folders, expected, "{parameters}");
        }
    }

    #[test]
    fn anything_can_be_read() {
        for parameters in
            [json!(null), json!([1]), json!({"capabilities": [true]}), json!({"capabilities": {"general": 3}})]
        {
            assert_eq!(Profile::read(&parameters).encoding, Encoding::Utf16);
        }
    }
}
