//! Symbols and places in the protocol's types.

use symbols::Kind;
use tower_lsp::lsp_types::{DocumentSymbol, DocumentSymbolResponse, Location, SymbolInformation, SymbolKind};

use crate::features::symbols::{Node, Place, Symbol};
use crate::lsp::proto::to_range;
use crate::lsp::uri;
use crate::session::client::Profile;
use crate::text::Text;

/// The symbols of a document.
pub fn to_outline(text: &Text, all: &[Node], profile: &Profile) -> DocumentSymbolResponse {
    DocumentSymbolResponse::Nested(all.iter().map(|node| to_node(text, node, profile)).collect())
}

#[expect(deprecated, reason = "the type has the field, and no other way to be made")]
fn to_node(text: &Text, node: &Node, profile: &Profile) -> DocumentSymbol {
    DocumentSymbol {
        name: node.name.clone(),
        detail: None,
        kind: to_kind(node.kind),
        tags: None,
        deprecated: None,
        range: to_range(text, &node.span, profile.encoding),
        selection_range: to_range(text, &node.name_span, profile.encoding),
        children: Some(node.children.iter().map(|node| to_node(text, node, profile)).collect()),
    }
}

/// The symbols of the workspace.
#[expect(deprecated, reason = "the type has the field, and no other way to be made")]
pub fn to_symbols(all: &[Symbol], profile: &Profile) -> Vec<SymbolInformation> {
    let symbol = |symbol: &Symbol| {
        Some(SymbolInformation {
            name: symbol.name.clone(),
            kind: to_kind(symbol.kind),
            tags: None,
            deprecated: None,
            location: to_location(&symbol.place, profile)?,
            container_name: Some(symbol.container.clone()).filter(|container| !container.is_empty()),
        })
    };
    all.iter().filter_map(symbol).collect()
}

/// Places.
pub fn to_locations(all: &[Place], profile: &Profile) -> Vec<Location> {
    all.iter().filter_map(|place| to_location(place, profile)).collect()
}

fn to_location(place: &Place, profile: &Profile) -> Option<Location> {
    Some(Location { uri: uri::from_path(&place.path)?, range: to_range(&place.text, &place.span, profile.encoding) })
}

fn to_kind(kind: Kind) -> SymbolKind {
    match kind {
        Kind::Class => SymbolKind::CLASS,
        Kind::Function => SymbolKind::FUNCTION,
        Kind::Method => SymbolKind::METHOD,
    }
}
