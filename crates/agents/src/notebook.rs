//! Jupyter notebooks: their cells out of the JSON, and what a cell edit leaves.
//!
//! Tolerant as notebook programs are: unknown fields are skipped, of repeated ones the last counts, sources are a text
//! or a list of lines, and the sheets of the third format are read. Nothing is written back.

use std::fmt;
use std::marker::PhantomData;

use serde::Deserialize;
use serde::de::{Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};

use crate::event::{NotebookEdit, NotebookMode};

/// One cell of a notebook.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cell {
    /// Its source.
    pub source: String,
    /// Whether it is code.
    pub code: bool,
    /// Its id; empty in notebooks older than ids.
    pub id: String,
}

/// Whether a path is a notebook's.
pub fn is_notebook(path: &str) -> bool {
    path.rsplit_once('.').is_some_and(|(_, extension)| extension.eq_ignore_ascii_case("ipynb"))
}

/// The cells of a notebook; none when the text is no notebook.
pub fn cells(text: &str) -> Option<Vec<Cell>> {
    let text = text.strip_prefix('\u{FEFF}').unwrap_or(text);
    serde_json::from_str::<Notebook>(text).ok()?.cells
}

/// The cells after an edit.
///
/// # Errors
/// In one line: there is no such cell.
pub fn edit(cells: &[Cell], edit: &NotebookEdit) -> Result<Vec<Cell>, String> {
    let mut after = cells.to_vec();
    let at = match &edit.cell {
        Some(id) => Some(position(cells, id).ok_or("the notebook has no such cell")?),
        None => None,
    };
    match (edit.mode, at) {
        (NotebookMode::Insert, _) => {
            let cell = Cell { source: edit.source.clone(), code: edit.code.unwrap_or(true), id: String::new() };
            after.insert(at.map_or(0, |at| at + 1), cell);
        }
        (NotebookMode::Replace, _) => {
            let cell = after.get_mut(at.unwrap_or(0)).ok_or("the notebook has no cell")?;
            cell.source.clone_from(&edit.source);
            cell.code = edit.code.unwrap_or(cell.code);
        }
        (NotebookMode::Delete, _) => {
            let at = at.unwrap_or(0);
            if at >= after.len() {
                return Err("the notebook has no cell".to_owned());
            }
            after.remove(at);
        }
    }
    Ok(after)
}

/// A cell by its id, else as `cell-N` or `N`, counted from 0, as agents name the cells of notebooks without ids.
fn position(cells: &[Cell], id: &str) -> Option<usize> {
    cells.iter().position(|cell| !id.is_empty() && cell.id == id).or_else(|| {
        let number: usize = id.strip_prefix("cell-").unwrap_or(id).parse().ok()?;
        (number < cells.len()).then_some(number)
    })
}

/// Fields of an object that a type reads one by one.
trait ByField: Default {
    fn field<'de, A: MapAccess<'de>>(&mut self, name: &str, map: &mut A) -> Result<(), A::Error>;
}

struct FieldVisitor<T>(PhantomData<T>);

impl<'de, T: ByField> Visitor<'de> for FieldVisitor<T> {
    type Value = T;

    fn expecting(&self, out: &mut fmt::Formatter) -> fmt::Result {
        out.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<T, A::Error> {
        let mut value = T::default();
        while let Some(name) = map.next_key::<String>()? {
            value.field(&name, &mut map)?;
        }
        Ok(value)
    }
}

macro_rules! by_field {
    ($($type:ty),*) => {$(
        impl<'de> Deserialize<'de> for $type {
            fn deserialize<D: Deserializer<'de>>(input: D) -> Result<Self, D::Error> {
                input.deserialize_map(FieldVisitor(PhantomData))
            }
        }
    )*};
}

by_field!(Notebook, RawCell);

#[derive(Default)]
struct Notebook {
    cells: Option<Vec<Cell>>,
}

impl ByField for Notebook {
    fn field<'de, A: MapAccess<'de>>(&mut self, name: &str, map: &mut A) -> Result<(), A::Error> {
        match name {
            "cells" => self.cells = Some(map.next_value::<Vec<RawCell>>()?.into_iter().map(RawCell::read).collect()),
            "worksheets" => {
                let sheets = map.next_value::<Vec<Notebook>>()?;
                self.cells = Some(sheets.into_iter().filter_map(|sheet| sheet.cells).flatten().collect());
            }
            _ => {
                map.next_value::<IgnoredAny>()?;
            }
        }
        Ok(())
    }
}

#[derive(Default)]
struct RawCell {
    kind: String,
    id: String,
    source: String,
}

impl RawCell {
    fn read(self) -> Cell {
        Cell { source: self.source, code: self.kind == "code", id: self.id }
    }
}

impl ByField for RawCell {
    fn field<'de, A: MapAccess<'de>>(&mut self, name: &str, map: &mut A) -> Result<(), A::Error> {
        match name {
            "cell_type" => self.kind = map.next_value()?,
            "id" => self.id = map.next_value()?,
            "source" | "input" => self.source = map.next_value::<Source>()?.0,
            _ => {
                map.next_value::<IgnoredAny>()?;
            }
        }
        Ok(())
    }
}

struct Source(String);

impl<'de> Deserialize<'de> for Source {
    fn deserialize<D: Deserializer<'de>>(input: D) -> Result<Self, D::Error> {
        input.deserialize_any(SourceVisitor)
    }
}

struct SourceVisitor;

impl<'de> Visitor<'de> for SourceVisitor {
    type Value = Source;

    fn expecting(&self, out: &mut fmt::Formatter) -> fmt::Result {
        out.write_str("a text or a list of lines")
    }

    fn visit_str<E>(self, text: &str) -> Result<Source, E> {
        Ok(Source(text.to_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut lines: A) -> Result<Source, A::Error> {
        let mut source = String::new();
        while let Some(line) = lines.next_element::<std::borrow::Cow<str>>()? {
            source.push_str(&line);
        }
        Ok(Source(source))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sketch(cells: &[Cell]) -> String {
        cells
            .iter()
            .map(|cell| format!("{}{}", if cell.code { "c:" } else { "m:" }, cell.source))
            .collect::<Vec<_>>()
            .join("|")
    }

    #[test]
    fn cells_are_read_from_every_format() {
        for (text, wanted) in [
            (
                r#"{"cells":[{"cell_type":"code","source":["a\n","b"]},{"cell_type":"markdown","source":"t"}]}"#,
                Some("c:a\nb|m:t"),
            ),
            (r#"{"worksheets":[{"cells":[{"cell_type":"code","input":["x"]}]}],"nbformat":3}"#, Some("c:x")),
            (
                r#"{"cells":[{"source":"no","source":"yes","cell_type":"code","outputs":[{"data":[1,2]}]}]}"#,
                Some("c:yes"),
            ),
            ("\u{FEFF}{\"cells\":[]}", Some("")),
            (r#"{"cells":[{"cell_type":"code"}]}"#, Some("c:")),
            ("{}", None),
            ("[]", None),
            ("{\"cells\":5}", None),
            ("not json", None),
        ] {
            assert_eq!(cells(text).map(|cells| sketch(&cells)).as_deref(), wanted, "{text}");
        }
    }

    #[test]
    fn edits_find_their_cell() {
        type Case<'a> = (Option<&'a str>, NotebookMode, Option<bool>, Result<&'a str, &'a str>);
        let text = r#"{"cells":[{"cell_type":"code","id":"one","source":"a"},{"cell_type":"markdown","source":"b"}]}"#;
        let before = cells(text).unwrap();
        let table: &[Case] = &[
            (Some("one"), NotebookMode::Replace, None, Ok("c:N|m:b")),
            (Some("cell-1"), NotebookMode::Replace, Some(true), Ok("c:a|c:N")),
            (Some("1"), NotebookMode::Replace, None, Ok("c:a|m:N")),
            (None, NotebookMode::Replace, None, Ok("c:N|m:b")),
            (None, NotebookMode::Insert, None, Ok("c:N|c:a|m:b")),
            (Some("one"), NotebookMode::Insert, Some(false), Ok("c:a|m:N|m:b")),
            (Some("one"), NotebookMode::Delete, None, Ok("m:b")),
            (Some("two"), NotebookMode::Replace, None, Err("no such cell")),
            (Some("cell-2"), NotebookMode::Delete, None, Err("no such cell")),
        ];
        for (cell, mode, code, wanted) in table {
            let edited = edit(
                &before,
                &NotebookEdit {
                    path: "n".into(),
                    cell: cell.map(Into::into),
                    source: "N".into(),
                    code: *code,
                    mode: *mode,
                },
            );
            match wanted {
                Ok(wanted) => assert_eq!(sketch(&edited.unwrap()), *wanted),
                Err(part) => assert!(edited.unwrap_err().contains(part)),
            }
        }
        let empty =
            NotebookEdit { path: "n".into(), cell: None, source: "N".into(), code: None, mode: NotebookMode::Replace };
        assert!(edit(&[], &empty).is_err());
    }
}
