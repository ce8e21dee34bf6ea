//! HTML, however broken: what people see of a page, without its menus.

use super::Place;
use super::block::Block;

/// Elements whose contents people do not see, or that stand on every page.
const SKIPPED: &[&str] = &[
    "script", "style", "noscript", "template", "svg", "nav", "iframe", "object", "select",
    "button", "textarea",
];

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
    /// The rows of the table that is read, and where it began.
    table: Option<(u32, Vec<String>)>,
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
        let is_end = rest.starts_with("</");
        let name = &rest[1 + usize::from(is_end)..];
        let length = name.find(|c: char| !c.is_ascii_alphanumeric());
        let name = name[..length.unwrap_or(name.len())].to_ascii_lowercase();
        if name.is_empty() {
            self.add("<", at);
            return 1;
        }
        let Some(end) = end_of_tag(rest) else {
            return rest.len();
        };
        let attributes = &rest[..end];
        if !is_end && (SKIPPED.contains(&name.as_str()) || is_hidden(attributes)) {
            if rest[..end].ends_with("/>") || is_void(&name) {
                return end;
            }
            return end + after_element(&rest[end..], &name);
        }
        self.element(&name, is_end, at);
        end
    }

    fn element(&mut self, name: &str, is_end: bool, at: usize) {
        match name {
            "h1" | "h2" | "h3" | "h4" | "h5" | "h6" => {
                self.close();
                self.level = (!is_end).then(|| name.as_bytes()[1] - b'0');
            }
            "table" => {
                self.close();
                self.end_table();
                if !is_end {
                    self.table = Some((self.line_of(at), Vec::new()));
                }
            }
            "tr" if self.table.is_some() => {
                let row = self.take_row();
                if let Some((_, rows)) = &mut self.table
                    && !row.is_empty()
                {
                    rows.push(row);
                }
            }
            "td" | "th" if self.table.is_some() && !is_end && !self.begun.trim().is_empty() => {
                self.begun += " | ";
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

    /// Adds text with its entities at a place.
    fn add(&mut self, raw: &str, at: usize) {
        if self.begun.trim().is_empty() && !raw.trim().is_empty() {
            let blank = raw.len() - raw.trim_start().len();
            self.first = self.line_of(at + blank);
        }
        let text = entities(raw);
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

    fn take_row(&mut self) -> String {
        let row = std::mem::take(&mut self.begun);
        row.split_whitespace().collect::<Vec<_>>().join(" ")
    }

    fn end_table(&mut self) {
        let row = self.take_row();
        let Some((first, mut rows)) = self.table.take() else {
            self.begun = row;
            return;
        };
        if !row.is_empty() {
            rows.push(row);
        }
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

/// Returns the length of a tag; a `>` in quotes does not end it.
fn end_of_tag(text: &str) -> Option<usize> {
    let mut quote = None;
    for (at, byte) in text.bytes().enumerate() {
        match (quote, byte) {
            (None, b'>') => return Some(at + 1),
            (None, b'"' | b'\'') => quote = Some(byte),
            (Some(mark), byte) if mark == byte => quote = None,
            _ => {}
        }
        // A quote that nobody closes.
        if 20_000 < at {
            return text.find('>').map(|at| at + 1);
        }
    }
    text.find('>').map(|at| at + 1)
}

fn is_void(name: &str) -> bool {
    matches!(
        name,
        "br" | "hr" | "img" | "input" | "meta" | "link" | "wbr" | "col"
    )
}

/// Returns whether people do not see an element with these attributes.
fn is_hidden(tag: &str) -> bool {
    let tag = tag.to_ascii_lowercase();
    let plain: String = tag.chars().filter(|c| !c.is_whitespace()).collect();
    tag.contains(" hidden")
        || plain.contains("display:none")
        || plain.contains("visibility:hidden")
        || plain.contains("font-size:0")
        || is_clear(&plain)
        || is_outside(&plain)
        || is_white(&plain)
        || UNSEEN.iter().any(|it| tag.contains(it))
}

/// Classes of what is meant for those who are read to.
const UNSEEN: [&str; 4] = [
    "sr-only",
    "visually-hidden",
    "visuallyhidden",
    "screen-reader-text",
];

/// Returns what stands behind each place of `name` in a style.
fn values<'a>(style: &'a str, name: &'a str) -> impl Iterator<Item = &'a str> {
    let places = style.match_indices(name);
    let whole = places.filter(|(at, _)| {
        let before = style[..*at].chars().next_back();
        !before.is_some_and(|c| c.is_ascii_alphanumeric() || c == '-')
    });
    whole.map(|(at, _)| &style[at + name.len()..])
}

fn is_clear(style: &str) -> bool {
    values(style, "opacity:").any(|it| {
        let end = it.find(|c: char| !c.is_ascii_digit() && c != '.');
        let number = it[..end.unwrap_or(it.len())].parse::<f32>();
        number.is_ok_and(|it| it < 0.05)
    })
}

/// Returns whether it stands a hundred points or more outside.
fn is_outside(style: &str) -> bool {
    ["left:-", "top:-", "right:-", "text-indent:-"]
        .iter()
        .flat_map(|name| values(style, name))
        .any(|it| 3 <= it.chars().take_while(char::is_ascii_digit).count())
}

/// Returns whether it is white on what it stands on.
fn is_white(style: &str) -> bool {
    let is_white = |it: &str| {
        ["white", "#fff;", "#fff\"", "#ffffff", "rgb(255,255,255)"]
            .iter()
            .any(|white| it.starts_with(white))
    };
    values(style, "color:").any(is_white) && !style.contains("background")
}

/// Returns how far behind its beginning an element ends, others of its name within it counted.
fn after_element(text: &str, name: &str) -> usize {
    let mut depth = 1_u32;
    let mut at = 0;
    while let Some(found) = text[at..].find('<') {
        at += found;
        let rest = &text[at + 1..];
        let is_end = rest.starts_with('/');
        let behind = &rest[usize::from(is_end)..];
        let is_name = behind
            .get(..name.len())
            .is_some_and(|it| it.eq_ignore_ascii_case(name))
            && behind[name.len()..].starts_with(|c: char| !c.is_ascii_alphanumeric());
        at += 1;
        if is_name {
            depth = if is_end { depth - 1 } else { depth + 1 };
            if depth == 0 {
                return text[at..].find('>').map_or(text.len(), |end| at + end + 1);
            }
        }
    }
    text.len()
}

/// Entities that documents use most.
const ENTITIES: &[(&str, &str)] = &[
    ("amp", "&"),
    ("lt", "<"),
    ("gt", ">"),
    ("quot", "\""),
    ("apos", "'"),
    ("nbsp", " "),
    ("ndash", "–"),
    ("mdash", "—"),
    ("hellip", "…"),
    ("times", "×"),
    ("le", "≤"),
    ("ge", "≥"),
    ("ne", "≠"),
    ("micro", "µ"),
    ("middot", "·"),
    ("rarr", "→"),
    ("larr", "←"),
    ("lsquo", "‘"),
    ("rsquo", "’"),
    ("ldquo", "“"),
    ("rdquo", "”"),
    ("copy", "©"),
    ("reg", "®"),
    ("deg", "°"),
    ("plusmn", "±"),
    ("para", ""),
];

/// Returns a text with characters in place of entities.
fn entities(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('&') {
        out += &rest[..at];
        let behind = &rest[at + 1..];
        let end = behind.bytes().take(12).position(|it| it == b';');
        let name = end.and_then(|end| behind.get(..end));
        let character = name.and_then(|name| {
            if let Some(number) = name.strip_prefix('#') {
                let number = match number.strip_prefix(['x', 'X']) {
                    Some(digits) => u32::from_str_radix(digits, 16).ok()?,
                    None => number.parse().ok()?,
                };
                return char::from_u32(number).map(String::from);
            }
            let known = ENTITIES.iter().find(|(it, _)| *it == name);
            known.map(|it| it.1.to_owned())
        });
        match (character, name) {
            (Some(character), Some(name)) => {
                out += &character;
                rest = &behind[name.len() + 1..];
            }
            _ => {
                out.push('&');
                rest = behind;
            }
        }
    }
    out + rest
}
