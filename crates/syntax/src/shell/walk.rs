//! One walk over a shell text's tree to its simple commands; scripts within words are left to the caller.

use tree_sitter::{Node, TreeCursor};

use crate::Span;

use super::{Assignment, Commands, Heredoc, Input, Operator, Redirection, SimpleCommand, Word, word};

/// A node whose children are being walked.
struct Frame<'t> {
    kind: &'t str,
    /// The command that words, redirections and inputs found here belong to.
    owner: Option<usize>,
    /// The command that feeds what stands here.
    piped_from: Option<usize>,
    /// The command before this place in the same node.
    last: Option<usize>,
    /// The kind of the statement that redirections apply to.
    body: &'t str,
    /// A redirection has its target.
    targeted: bool,
}

struct Walk<'t> {
    text: &'t str,
    commands: Commands,
    frames: Vec<Frame<'t>>,
    misread: Vec<Span>,
    /// Words were put together of several nodes; their values are read when their spans are known.
    extended: bool,
}

/// The commands of a tree of `text`, and the lines of heredocs that the grammar takes for their end and the shell does
/// not: they only start with the delimiter, or with blanks.
pub(super) fn walk<'t>(tree: &'t tree_sitter::Tree, text: &'t str) -> (Commands, Vec<Span>) {
    let root = tree.root_node();
    let commands = Commands { simple: Vec::new(), opaque: root.has_error() };
    let mut walk = Walk { text, commands, frames: Vec::new(), misread: Vec::new(), extended: false };
    walk.run(root.walk());
    if walk.extended {
        for word in walk.commands.simple.iter_mut().flat_map(SimpleCommand::words_mut) {
            word.value = text.get(word.span.clone()).and_then(word::value);
        }
    }
    for command in &walk.commands.simple {
        walk.commands.opaque |= command.words.first().is_some_and(|name| name.value.is_none());
    }
    (walk.commands, walk.misread)
}

impl<'t> Walk<'t> {
    fn run(&mut self, mut cursor: TreeCursor<'t>) {
        loop {
            let frame = self.enter(cursor.node());
            if cursor.goto_first_child() {
                self.frames.push(frame);
                continue;
            }
            self.leave(&frame);
            while !cursor.goto_next_sibling() {
                if !cursor.goto_parent() {
                    return;
                }
                if let Some(frame) = self.frames.pop() {
                    self.leave(&frame);
                }
            }
        }
    }

    fn enter(&mut self, node: Node<'t>) -> Frame<'t> {
        let kind = node.kind();
        let parent = self.frames.last().map_or("", |frame| frame.kind);
        let piped_from = self.frames.last().and_then(|frame| frame.piped_from);
        let mut frame = Frame { kind, owner: None, piped_from, last: None, body: "", targeted: false };
        if parent == "redirected_statement" && !kind.ends_with("redirect") {
            self.frames.last_mut().expect("the parent has a frame").body = kind;
        }
        match (parent, kind) {
            ("pipeline", "|" | "|&") => {
                if let Some(pipeline) = self.frames.last_mut() {
                    pipeline.piped_from = pipeline.last.or(pipeline.piped_from);
                }
            }
            // The pipe behind a heredoc goes on from the heredoc's command.
            ("heredoc_redirect", "pipeline") => frame.last = self.owner(node),
            (_, "command" | "declaration_command" | "unset_command") => {
                frame.owner = Some(self.open(node));
            }
            ("command" | "variable_assignments", "variable_assignment") => self.assign(node),
            ("declaration_command", "variable_assignment") => self.add_word(node),
            (_, "variable_assignment") => {
                frame.owner = Some(self.open(node));
                self.assign_to(frame.owner, node);
            }
            (_, "variable_assignments") => frame.owner = Some(self.open(node)),
            (_, "file_redirect") => {
                frame.owner = self.owner(node);
                self.redirect(frame.owner, node);
            }
            (_, "heredoc_redirect") => {
                frame.owner = self.owner(node);
                self.heredoc(frame.owner, node);
            }
            (_, "herestring_redirect") => frame.owner = self.owner(node),
            ("herestring_redirect", _) if node.is_named() && kind != "file_descriptor" => {
                let word = self.word(node);
                if let Some(command) = self.command(self.frames.last().and_then(|frame| frame.owner)) {
                    command.inputs.push(Input::HereString(word));
                }
            }
            ("file_redirect", _) if node.is_named() && kind != "file_descriptor" => self.destination(node),
            ("command" | "declaration_command" | "unset_command" | "heredoc_redirect", _) if is_word(parent, node) => {
                self.add_word(node);
            }
            _ => {}
        }
        frame
    }

    fn leave(&mut self, frame: &Frame<'t>) {
        let own = matches!(frame.kind, "command" | "declaration_command" | "unset_command" | "variable_assignments");
        let last = if own { frame.owner } else { frame.last.or(frame.owner.filter(|_| frame.kind != "file_redirect")) };
        if let (Some(last), Some(parent)) = (last, self.frames.last_mut()) {
            // The words of a command may hold commands, but it is the command that comes before what follows.
            parent.last = Some(last);
        }
    }

    /// A new command at a node.
    fn open(&mut self, node: Node<'_>) -> usize {
        let piped_from = self.frames.last().and_then(|frame| frame.piped_from);
        self.commands.simple.push(SimpleCommand { span: node.byte_range(), piped_from, ..SimpleCommand::default() });
        self.commands.simple.len() - 1
    }

    fn command(&mut self, index: Option<usize>) -> Option<&mut SimpleCommand> {
        self.commands.simple.get_mut(index?)
    }

    /// The command that a redirection belongs to.
    fn owner(&mut self, redirection: Node<'_>) -> Option<usize> {
        let frame = self.frames.last()?;
        if frame.owner.is_some() {
            return frame.owner;
        }
        let simple = matches!(
            frame.body,
            "command" | "declaration_command" | "unset_command" | "list" | "pipeline" | "negated_command"
        );
        let owner = match frame.last {
            Some(last) if simple => last,
            // Redirections of a group, or of nothing.
            _ => self.open(redirection),
        };
        if let Some(frame) = self.frames.last_mut() {
            frame.owner = Some(owner);
        }
        Some(owner)
    }

    fn word(&self, node: Node<'_>) -> Word {
        let span = node.byte_range();
        Word { value: self.text.get(span.clone()).and_then(word::value), span }
    }

    fn add_word(&mut self, node: Node<'_>) {
        let word = self.word(node);
        let owner = self.frames.last().and_then(|frame| frame.owner);
        let text = self.text;
        let Some(command) = self.command(owner) else { return };
        let before = match command.words.last_mut() {
            Some(before) => Some(before),
            None => command.assignments.last_mut().map(|assignment| &mut assignment.value),
        };
        match before {
            Some(before) if continues(text, before, &word) => {
                before.span.end = word.span.end;
                self.extended = true;
            }
            _ => command.words.push(word),
        }
    }

    fn assign(&mut self, node: Node<'_>) {
        let owner = self.frames.last().and_then(|frame| frame.owner);
        self.assign_to(owner, node);
    }

    fn assign_to(&mut self, owner: Option<usize>, node: Node<'_>) {
        let name = node.child_by_field_name("name").and_then(|name| self.text.get(name.byte_range()));
        let name = name.unwrap_or_default().to_owned();
        let value = match node.child_by_field_name("value") {
            Some(value) if value.kind() == "array" => Word { span: value.byte_range(), value: None },
            Some(value) => self.word(value),
            None => Word { span: node.end_byte()..node.end_byte(), value: Some(String::new()) },
        };
        if let Some(command) = self.command(owner) {
            command.assignments.push(Assignment { name, value });
        }
    }

    fn redirect(&mut self, owner: Option<usize>, node: Node<'_>) {
        let mut cursor = node.walk();
        let mut descriptor = None;
        let mut operator = None;
        for child in node.children(&mut cursor) {
            let text = self.text.get(child.byte_range()).unwrap_or_default();
            if child.kind() == "file_descriptor" {
                descriptor = text.parse().ok();
            }
            operator = operator.or(match text {
                "<" => Some(Operator::Read),
                ">" => Some(Operator::Write),
                ">|" => Some(Operator::Clobber),
                ">>" => Some(Operator::Append),
                "&>" => Some(Operator::WriteBoth),
                "&>>" => Some(Operator::AppendBoth),
                "<&" => Some(Operator::DuplicateInput),
                ">&" => Some(Operator::DuplicateOutput),
                "<&-" | ">&-" => Some(Operator::Close),
                _ => None,
            });
            if operator.is_some() {
                break;
            }
        }
        let Some(operator) = operator else {
            self.commands.opaque = true;
            return;
        };
        let redirection = Redirection { span: node.byte_range(), descriptor, operator, target: None };
        if let Some(command) = self.command(owner) {
            command.redirections.push(redirection);
        }
    }

    /// The first destination is the target; more are arguments, as in `cat > out in`.
    fn destination(&mut self, node: Node<'_>) {
        let word = self.word(node);
        let Some(frame) = self.frames.last_mut() else { return };
        let first = !std::mem::replace(&mut frame.targeted, true);
        let owner = frame.owner;
        let text = self.text;
        let Some(command) = self.command(owner) else { return };
        match command.redirections.last_mut().map(|redirection| &mut redirection.target) {
            Some(target) if first => *target = Some(word),
            Some(Some(target)) if continues(text, target, &word) => {
                target.span.end = word.span.end;
                self.extended = true;
            }
            _ => command.words.push(word),
        }
    }

    /// Reads a heredoc's lines from the text itself: the grammar leaves out blanks at their start.
    fn heredoc(&mut self, owner: Option<usize>, node: Node<'_>) {
        let mut cursor = node.walk();
        let mut start = None;
        let mut before_body = node.start_byte();
        let mut strips_tabs = false;
        let mut end = None;
        for child in node.children(&mut cursor) {
            match child.kind() {
                "<<-" => strips_tabs = true,
                "heredoc_start" => start = self.text.get(child.byte_range()),
                "heredoc_end" => end = Some(child.start_byte()),
                _ => {}
            }
            if !matches!(child.kind(), "heredoc_body" | "heredoc_end" | "\n") {
                before_body = child.end_byte();
            }
        }
        let heredoc = start.and_then(|start| self.heredoc_of(start, before_body, strips_tabs, end?));
        match (heredoc, self.command(owner)) {
            (Some(heredoc), Some(command)) => command.inputs.push(Input::Heredoc(heredoc)),
            _ => self.commands.opaque = true,
        }
    }

    fn heredoc_of(&mut self, start: &str, before_body: usize, strips_tabs: bool, end: usize) -> Option<Heredoc> {
        let quoted = start.contains(['\'', '"', '\\']);
        let delimiter: String = start.chars().filter(|character| !"'\"\\".contains(*character)).collect();
        let first = before_body + self.text.get(before_body..)?.find('\n')? + 1;
        let mut body = String::new();
        let mut misread = Vec::new();
        let mut at = first;
        loop {
            let rest = self.text.get(at..).filter(|rest| !rest.is_empty())?;
            let length = rest.find('\n').map_or(rest.len(), |newline| newline + 1);
            let whole = &rest[..length];
            let line = if strips_tabs { whole.trim_start_matches('\t') } else { whole };
            let content = line.strip_suffix('\n').unwrap_or(line);
            if content == delimiter {
                break;
            }
            if content.trim_start().starts_with(&delimiter) {
                misread.push(at..at + whole.trim_end_matches('\n').len());
            }
            body.push_str(line);
            at += length;
        }
        let tabs = self.text[at..].len() - self.text[at..].trim_start_matches('\t').len();
        if end != at + if strips_tabs { tabs } else { 0 } {
            // The grammar ends it elsewhere: it took another line for its end, or one of us is wrong.
            self.misread.append(&mut misread);
            return None;
        }
        let text = if quoted { Some(body.clone()) } else { word::heredoc_text(&body) };
        Some(Heredoc { span: first..at, body, quoted, text })
    }
}

/// Whether a word goes on from another: the grammar parts them at some escapes and at line continuations.
fn continues(text: &str, before: &Word, word: &Word) -> bool {
    text.get(before.span.end..word.span.start).is_some_and(|between| between.replace("\\\n", "").is_empty())
}

/// Whether a child of a command is one of its words.
fn is_word(parent: &str, node: Node<'_>) -> bool {
    match node.kind() {
        "comment" | "heredoc_start" | "heredoc_body" | "heredoc_end" | "file_descriptor" | "subshell" | "ERROR" => {
            false
        }
        _ if parent == "heredoc_redirect" => {
            matches!(
                node.kind(),
                "word"
                    | "string"
                    | "raw_string"
                    | "ansi_c_string"
                    | "translated_string"
                    | "number"
                    | "concatenation"
                    | "expansion"
                    | "simple_expansion"
                    | "command_substitution"
                    | "process_substitution"
                    | "arithmetic_expansion"
                    | "brace_expression"
            )
        }
        _ => node.is_named() || !matches!(node.kind(), "(" | ")" | ";" | "&" | "\n"),
    }
}
