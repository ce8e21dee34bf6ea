//! HTML, however broken: what people see of a page, without its menus.

mod entities;
mod formula;
mod hidden;
mod nesting;
mod table;
mod tag;
mod visibility;

use super::Place;
use super::block::Block;
use entities::entities;
use formula::Formulas;
pub use hidden::HiddenElements;
use nesting::{HEADINGS, Open};
use table::Table;
use tag::Tag;

/// Elements whose contents people do not see, or that stand on every page.
const SKIPPED: &[&str] = &[
    "script",
    "style",
    "noscript",
    "template",
    "svg",
    "nav",
    "iframe",
    "object",
    "select",
    "button",
    "textarea",
    "annotation",
    "annotation-xml",
    // What is struck out is withdrawn.
    "s",
    "strike",
    "del",
];

/// Elements that hold no elements, only text until their end.
const RAW: &[&str] = &["script", "style", "textarea", "title", "iframe", "xmp"];

/// Elements before and behind which a paragraph ends.
const BREAKING: &[&str] = &[
    "p",
    "div",
    "section",
    "article",
    "ul",
    "ol",
    "dl",
    "dd",
    "dt",
    "li",
    "blockquote",
    "header",
    "footer",
    "main",
    "aside",
    "figure",
    "figcaption",
    "details",
    "summary",
    "body",
    "tr",
    "table",
    "pre",
    "hr",
    "form",
    "head",
    "title",
];

/// Returns the blocks of a page.
pub fn blocks(text: &str) -> Vec<Block> {
    let mut reader = Reader {
        text,
        line: 1,
        counted: 0,
        out: Vec::new(),
        begun: String::new(),
        first: 1,
        level: None,
        n_pre: 0,
        table: None,
        open: Open::default(),
        hidden: None,
        is_xml: text.trim_start().starts_with("<?xml"),
        formulas: Formulas::default(),
        colored: None,
        is_behind_script: false,
    };
    reader.read();
    reader.out
}

struct Reader<'a> {
    text: &'a str,
    /// The line of the byte `counted`, from 1.
    line: u32,
    counted: usize,
    out: Vec<Block>,
    begun: String,
    /// The line in which `begun` begins.
    first: u32,
    /// How deep the heading is that is read.
    level: Option<u8>,
    n_pre: u32,
    table: Option<Table>,
    open: Open,
    /// How many elements are open around the one that is not seen, if there is such.
    hidden: Option<usize>,
    /// Whether `/>` ends an element.
    is_xml: bool,
    /// How many elements are open around the one that has a background, if there is such.
    colored: Option<usize>,
    /// The formulas that are open.
    formulas: Formulas,
    /// Whether such a part has just ended.
    is_behind_script: bool,
}

impl Reader<'_> {
    fn read(&mut self) {
        let text = self.text;
        let mut at = 0;
        while at < text.len() {
            let Some(open) = text[at..].find('<') else {
                self.add(&text[at..], at);
                break;
            };
            if 0 < open {
                self.add(&text[at..at + open], at);
                at += open;
            }
            at += self.tag(at);
        }
        self.end_table();
        self.close();
    }

    /// Reads what begins with `<` at a place, and returns its length.
    fn tag(&mut self, at: usize) -> usize {
        let rest = &self.text[at..];
        if rest.starts_with("<!--") {
            return rest.find("-->").map_or(rest.len(), |end| end + 3);
        }
        if rest.starts_with("<!") || rest.starts_with("<?") {
            return rest.find('>').map_or(rest.len(), |end| end + 1);
        }
        let name = rest[1..].strip_prefix('/').unwrap_or(&rest[1..]);
        if !name.starts_with(|c: char| c.is_ascii_alphabetic()) {
            self.add("<", at);
            return 1;
        }
        let Some(tag) = Tag::read(rest) else {
            return rest.len();
        };
        let name = tag.name.as_str();
        let mut length = tag.length;
        let has_raw_contents = match tag.is_end {
            true => {
                self.open.end(name);
                false
            }
            false => self.begin(&tag) && RAW.contains(&name),
        };
        if self
            .hidden
            .is_some_and(|hidden| self.open.count() <= hidden)
        {
            self.hidden = None;
        }
        if self.hidden.is_none() {
            self.element(&tag, at);
        }
        if has_raw_contents {
            let contents = &rest[length..];
            let contents = &contents[..tag::end_of_raw(contents, name)];
            self.add(contents, at + length);
            length += contents.len();
        }
        length
    }

    /// Begins an element, and returns whether it has contents.
    fn begin(&mut self, tag: &Tag) -> bool {
        let name = tag.name.as_str();
        let around = self.open.start(name);
        // What is begun may be what ends an element that is not seen.
        if self.hidden.is_some_and(|hidden| around <= hidden) {
            self.hidden = None;
        }
        if self.hidden.is_none() {
            self.formulas.begin(name, around, &mut self.begun);
            if let Some(formula) = tag.attribute("alttext").filter(|_| name == "math") {
                self.add(&formula.replace(['{', '}'], ""), self.counted);
                self.hidden = Some(around);
            }
        }
        if tag.closes_itself && (self.is_xml || self.open.is_in(&["svg", "math"])) {
            self.open.end(name);
        }
        let has_contents = around < self.open.count();
        if self.colored.is_some_and(|colored| around <= colored) {
            self.colored = None;
        }
        if has_contents && self.colored.is_none() && visibility::has_background(tag) {
            self.colored = Some(around);
        }
        let is_on_color = self.colored.is_some();
        let is_hidden = SKIPPED.contains(&name) || visibility::is_hidden(tag, is_on_color);
        if has_contents && is_hidden && self.hidden.is_none() {
            self.hidden = Some(around);
        }
        has_contents
    }

    fn element(&mut self, tag: &Tag, at: usize) {
        let (name, is_end) = (tag.name.as_str(), tag.is_end);
        if self.level.is_some() && self.table.is_none() {
            let is_over = !self.open.is_in(HEADINGS);
            let is_apart = BREAKING.contains(&name);
            // Within a heading, what begins behind its words is no part of it.
            if is_over || is_apart && !is_end && !self.begun.trim().is_empty() {
                self.close();
                self.level = None;
            } else if is_apart {
                return;
            }
        }
        if is_end {
            self.formulas.end(name, self.open.count(), &mut self.begun);
        }
        self.is_behind_script = is_end && matches!(name, "sup" | "sub" | "msup" | "msub");
        match name {
            "h1" | "h2" | "h3" | "h4" | "h5" | "h6" => {
                self.close();
                self.level = (!is_end).then(|| name.as_bytes()[1] - b'0');
            }
            "table" => {
                self.close();
                self.end_table();
                if !is_end {
                    self.table = Some(Table::new(self.line_of(at)));
                }
            }
            "tr" | "td" | "th" if let Some(table) = &mut self.table => {
                let text = std::mem::take(&mut self.begun);
                match name {
                    "tr" => table.end_row(&text),
                    // What stands behind a cell is read as a part of it.
                    _ if is_end => self.begun = text,
                    _ => table.begin_cell(tag, &text),
                }
            }
            // Paragraphs in a cell are parts of it, and words stay together whatever marks them.
            name if self.table.is_some() => {
                let is_apart = name == "br" || BREAKING.contains(&name);
                self.begun += if is_apart { " " } else { "" };
            }
            "br" => self.begun.push('\n'),
            "pre" => {
                self.close();
                self.n_pre = match is_end {
                    true => self.n_pre.saturating_sub(1),
                    false => self.n_pre + 1,
                };
            }
            "li" => {
                self.close();
                if !is_end {
                    self.begun += "- ";
                }
            }
            name if BREAKING.contains(&name) => self.close(),
            _ => {}
        }
    }

    /// Adds text with its entities at a place, if it is seen.
    fn add(&mut self, raw: &str, at: usize) {
        if self.hidden.is_some() {
            return;
        }
        if self.begun.trim().is_empty() && !raw.trim().is_empty() {
            let blank = raw.len() - raw.trim_start().len();
            self.first = self.line_of(at + blank);
        }
        let text = entities(raw);
        if std::mem::take(&mut self.is_behind_script) && text.starts_with(char::is_alphanumeric) {
            self.begun.push(' ');
        }
        if 0 < self.n_pre {
            self.begun += &text;
            return;
        }
        let begins = text.starts_with(char::is_whitespace);
        let ends = text.ends_with(char::is_whitespace);
        let words: Vec<&str> = text.split_whitespace().collect();
        if begins && !self.begun.is_empty() && !self.begun.ends_with([' ', '\n']) {
            self.begun.push(' ');
        }
        self.begun += &words.join(" ");
        if ends && !words.is_empty() {
            self.begun.push(' ');
        }
    }

    fn close(&mut self) {
        // Cells end with their row.
        if self.table.is_some() {
            return;
        }
        let text = std::mem::take(&mut self.begun);
        if text.trim().trim_end_matches('-').is_empty() {
            return;
        }
        let place = Place::Lines(self.first, self.line.max(self.first));
        let text = match self.n_pre {
            0 => text.trim(),
            _ => text.trim_matches('\n'),
        };
        self.out.push(match self.level {
            Some(level) => Block::heading(level, text, place),
            None => Block::text(text, place),
        });
    }

    fn end_table(&mut self) {
        let Some(table) = self.table.take() else {
            return;
        };
        let first = table.first;
        let rows = table.end(&std::mem::take(&mut self.begun));
        if !rows.is_empty() {
            let place = Place::Lines(first, self.line.max(first));
            self.out.push(Block::text(rows.join("\n"), place));
        }
    }

    /// Returns the line of a byte; later ones are asked for later.
    fn line_of(&mut self, at: usize) -> u32 {
        if self.counted < at {
            let between = &self.text.as_bytes()[self.counted..at];
            self.line += between.iter().filter(|it| **it == b'\n').count() as u32;
            self.counted = at;
        }
        self.line
    }
}
