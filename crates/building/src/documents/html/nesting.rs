//! Which elements are open: those whose end tags may be left out end where the standard says
//! (WHATWG, HTML, "Optional tags" and "The rules for parsing tokens in HTML content").

/// Elements without contents.
const VOID: &[&str] = &[
    "area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track",
    "wbr",
];

/// What a paragraph ends before.
const BEHIND_PARAGRAPHS: &[&str] = &[
    "address",
    "article",
    "aside",
    "blockquote",
    "details",
    "div",
    "dl",
    "fieldset",
    "figcaption",
    "figure",
    "footer",
    "form",
    "h1",
    "h2",
    "h3",
    "h4",
    "h5",
    "h6",
    "header",
    "hr",
    "li",
    "dt",
    "dd",
    "main",
    "menu",
    "nav",
    "ol",
    "p",
    "pre",
    "section",
    "summary",
    "table",
    "ul",
];

/// Elements whose contents end nothing that is around them.
const BORDERS: &[&str] = &["td", "th", "caption", "table", "template", "object", "svg"];

/// Elements that are kept in mind at most; deeper ones are counted.
const DEEPEST: usize = 512;

/// Elements that are open, the outermost first.
#[derive(Default)]
pub struct Open {
    names: Vec<String>,
    deeper: usize,
}

impl Open {
    /// Returns how many are open.
    pub fn count(&self) -> usize {
        self.names.len() + self.deeper
    }

    /// Returns whether one of these is open.
    pub fn is_in(&self, names: &[&str]) -> bool {
        self.names.iter().any(|it| names.contains(&it.as_str()))
    }

    /// Begins an element, before which others may end. Returns how many are open around it.
    pub fn start(&mut self, name: &str) -> usize {
        if self.deeper == 0 {
            self.end_before(name);
        }
        let around = self.count();
        if !VOID.contains(&name) {
            match self.names.len() < DEEPEST {
                true => self.names.push(name.to_owned()),
                false => self.deeper += 1,
            }
        }
        around
    }

    /// Ends what an element of this name cannot stand in, unless the standard has a border between.
    fn end_before(&mut self, name: &str) {
        loop {
            let ended = self.names.iter().rposition(|it| ends_before(it, name));
            let border = self.names.iter().rposition(|it| is_border(it, name));
            match (ended, border) {
                (Some(ended), Some(border)) if ended < border => return,
                (Some(ended), _) => self.names.truncate(ended),
                (None, _) => return,
            }
        }
    }

    /// Ends the innermost element of this name, and all within it; nothing, if there is none.
    pub fn end(&mut self, name: &str) {
        if 0 < self.deeper {
            self.deeper -= 1;
            return;
        }
        let is_heading = |it: &str| HEADINGS.contains(&it);
        let is_same = |it: &String| it == name || is_heading(it) && is_heading(name);
        let ended = self.names.iter().rposition(is_same);
        let border = self.names.iter().rposition(|it| is_border(it, name));
        if let Some(ended) = ended
            && border.is_none_or(|border| border <= ended)
        {
            self.names.truncate(ended);
        }
    }
}

/// Headings.
pub const HEADINGS: &[&str] = &["h1", "h2", "h3", "h4", "h5", "h6"];
/// What a row, or a part of a table, ends.
const OF_TABLES: &[&str] = &["tr", "tbody", "thead", "tfoot"];

/// Returns whether an element that is open ends where another one begins.
fn ends_before(open: &str, begun: &str) -> bool {
    match open {
        "p" => BEHIND_PARAGRAPHS.contains(&begun),
        "li" => begun == "li",
        "dt" | "dd" => matches!(begun, "dt" | "dd"),
        "option" => matches!(begun, "option" | "optgroup" | "hr"),
        "optgroup" => matches!(begun, "optgroup" | "hr"),
        "td" | "th" => matches!(begun, "td" | "th") || OF_TABLES.contains(&begun),
        "tr" => OF_TABLES.contains(&begun),
        "thead" | "tbody" | "tfoot" => matches!(begun, "thead" | "tbody" | "tfoot"),
        "head" => begun == "body",
        _ => HEADINGS.contains(&open) && HEADINGS.contains(&begun),
    }
}

/// Returns whether what happens to an element of this name stays within an open one.
fn is_border(open: &str, name: &str) -> bool {
    match name {
        "td" | "th" | "caption" => matches!(open, "table" | "template"),
        name if OF_TABLES.contains(&name) => matches!(open, "table" | "template"),
        "li" => matches!(open, "ul" | "ol") || BORDERS.contains(&open),
        "dt" | "dd" => open == "dl" || BORDERS.contains(&open),
        "option" | "optgroup" => open == "select" || BORDERS.contains(&open),
        name => open != name && BORDERS.contains(&open),
    }
}
