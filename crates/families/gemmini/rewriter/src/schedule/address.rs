//! Writes addresses in arrays as C.

use super::blocks_of;
use crate::lift::{Lifted, Operand};

/// A part of an address: an expression, and the bytes that one of it stands for.
pub(super) type Part = (String, i64);

/// Returns the address of an element of an operand, as C.
///
/// Where the parts are those of the array's own dimensions they become its
/// indices; otherwise they are added to its first element.
pub(super) fn address(lifted: &Lifted, operand: Operand, parts: &[Part]) -> String {
    let memory = &lifted.memories[operand.array];
    let name = &memory.name;
    let pitches: Vec<i64> = (0..memory.extents.len())
        .map(|at| memory.extents[at + 1..].iter().product::<i64>() * memory.element)
        .collect();
    let parts: Vec<&Part> = parts
        .iter()
        .filter(|(text, bytes)| text != "0" && *bytes != 0)
        .collect();
    let mut indices = vec![Vec::new(); pitches.len()];
    let mut fits = !pitches.is_empty();
    let mut rest = operand.offset;
    for (index, pitch) in indices.iter_mut().zip(&pitches) {
        let whole = rest / pitch.max(&1);
        rest -= whole * pitch;
        if whole != 0 {
            index.push(whole.to_string());
        }
    }
    fits &= rest == 0;
    for (text, bytes) in &parts {
        // The dimension whose elements are these bytes apart; the last one takes any number.
        let exact = pitches.iter().position(|pitch| pitch == bytes);
        match (exact, pitches.last()) {
            (Some(at), _) => indices[at].push(text.clone()),
            _ => fits = false,
        }
    }
    // A dimension may be walked beyond its end only if nothing lies inside it.
    let is_row_walk = pitches.len() <= 2;
    let is_named = parts.iter().all(|(_, bytes)| {
        is_row_walk || pitches.first() == Some(bytes) || pitches.last() == Some(bytes)
    });
    if fits && (is_named || parts.len() == pitches.len()) {
        let indices: String = indices
            .iter()
            .map(|index| match index.len() {
                0 => "[0]".to_owned(),
                _ => format!("[{}]", index.join(" + ")),
            })
            .collect();
        return format!("&{name}{indices}");
    }
    let first = "[0]".repeat(memory.extents.len());
    let mut text = format!("&{name}{first}");
    if operand.offset != 0 {
        text.push_str(&format!(" + {}", operand.offset / memory.element));
    }
    for (part, bytes) in parts {
        let elements = bytes / memory.element;
        let part = if part.contains(' ') {
            format!("({part})")
        } else {
            part.clone()
        };
        match elements {
            1 => text.push_str(&format!(" + {part}")),
            _ => text.push_str(&format!(" + {part} * {elements}")),
        }
    }
    text
}

/// Returns `count` things of `noun`, in words.
pub(super) fn counted(count: i64, noun: &str) -> String {
    if count == 1 {
        format!("1 {noun}")
    } else {
        format!("{count} {noun}s")
    }
}

/// A dimension that a loop goes over in blocks of whole tiles. The loop counts tiles.
#[derive(Clone, Copy, Debug)]
pub(super) struct Blocks<'name> {
    pub(super) variable: &'name str,
    /// The first element.
    pub(super) from: i64,
    /// Elements in all.
    pub(super) extent: i64,
    /// Elements of a block.
    pub(super) size: i64,
    /// Elements of a tile.
    pub(super) tile: i64,
}

impl Blocks<'_> {
    /// Returns the number of blocks.
    pub(super) fn count(&self) -> i64 {
        blocks_of(self.extent, self.size)
    }

    /// Returns the elements of the last block.
    pub(super) fn last(&self) -> i64 {
        self.extent - (self.count() - 1) * self.size
    }

    /// Returns the tiles of a block, by which the loop's variable grows.
    pub(super) fn step(&self) -> i64 {
        blocks_of(self.size, self.tile)
    }

    /// Returns the number of the first tile, at which the loop's variable starts.
    fn start(&self) -> i64 {
        self.from / self.tile
    }

    /// Returns the number behind the last tile, which the loop's variable stays below.
    pub(super) fn end(&self) -> i64 {
        self.start() + blocks_of(self.extent, self.tile)
    }

    /// Returns the loop's header, or nothing if there is one block only.
    pub(super) fn header(&self) -> Option<String> {
        let (name, start, end) = (self.variable, self.start(), self.end());
        let step = match self.step() {
            1 => format!("{name}++"),
            step => format!("{name} += {step}"),
        };
        (1 < self.count()).then(|| format!("for (int {name} = {start}; {name} < {end}; {step}) {{"))
    }

    /// Returns the first element of a block.
    pub(super) fn at(&self) -> String {
        match (self.count(), self.tile) {
            (1, _) => self.from.to_string(),
            (_, 1) => self.variable.to_owned(),
            (_, tile) => format!("{} * {tile}", self.variable),
        }
    }

    /// Returns the number of a block that begins with element 0, or 0 if there is one block only.
    pub(super) fn number(&self) -> String {
        match (self.count(), self.step()) {
            (1, _) => "0".to_owned(),
            (_, 1) => self.variable.to_owned(),
            (_, step) => format!("{} / {step}", self.variable),
        }
    }

    /// Returns a value that is `full` in all blocks and `last` in the last.
    pub(super) fn choose(&self, full: i64, last: i64) -> String {
        match self.is_last() {
            Some(condition) if full != last => format!("{condition} ? {last} : {full}"),
            _ => last.to_string(),
        }
    }

    /// Returns a value that is `last` in the last block and 0 elsewhere.
    pub(super) fn in_last(&self, last: i64) -> String {
        self.choose(0, last)
    }

    /// Returns a value that is `first` in the first block and 0 elsewhere.
    pub(super) fn in_first(&self, first: i64) -> String {
        match (first, self.is_first()) {
            (0, _) | (_, None) => first.to_string(),
            (_, Some(condition)) => format!("{condition} ? {first} : 0"),
        }
    }

    /// Returns the tiles of a block.
    pub(super) fn tiles(&self) -> String {
        self.choose(
            blocks_of(self.size, self.tile),
            blocks_of(self.last(), self.tile),
        )
    }

    /// Returns the elements that the last tile of a block lacks.
    pub(super) fn missing(&self) -> String {
        let lack = |size: i64| blocks_of(size, self.tile) * self.tile - size;
        self.choose(lack(self.size), lack(self.last()))
    }

    /// Returns a condition that holds in the first block; nothing if always.
    pub(super) fn is_first(&self) -> Option<String> {
        (1 < self.count()).then(|| format!("{} == {}", self.variable, self.start()))
    }

    /// Returns a condition that holds in the last block; nothing if always.
    pub(super) fn is_last(&self) -> Option<String> {
        let start = self.start() + (self.count() - 1) * self.step();
        (1 < self.count()).then(|| format!("{} == {start}", self.variable))
    }
}

/// Returns `address` where all conditions hold, and 0 elsewhere.
pub(super) fn only_if(conditions: &[Option<String>], address: String) -> String {
    let conditions: Vec<&str> = conditions.iter().flatten().map(String::as_str).collect();
    if conditions.is_empty() {
        address
    } else {
        format!("{} ? {address} : 0", conditions.join(" && "))
    }
}

/// The widest that comments are.
const WIDTH: usize = 92;

/// Lines of code with their indentation.
#[derive(Debug, Default)]
pub(super) struct Code {
    pub(super) text: String,
    depth: usize,
}

impl Code {
    /// Adds a line; an opening brace at its end indents what follows.
    pub(super) fn line(&mut self, line: &str) {
        if line.starts_with('}') {
            self.depth -= 1;
        }
        self.text.push_str(&"  ".repeat(self.depth + 1));
        self.text.push_str(line);
        self.text.push('\n');
        if line.ends_with('{') {
            self.depth += 1;
        }
    }

    /// Returns how a call writes `value`: a choice by a variable of its own, which is declared
    /// before.
    pub(super) fn named(&mut self, name: &str, value: String) -> String {
        if value.contains('?') {
            self.line(&format!("int {name} = {value};"));
            name.to_owned()
        } else {
            value
        }
    }

    /// Adds a comment, over as many lines as it takes.
    pub(super) fn comment(&mut self, text: &str) {
        let mut line = "//".to_owned();
        for word in text.split(' ') {
            if WIDTH < line.len() + word.len() {
                self.line(&std::mem::replace(&mut line, "//".to_owned()));
            }
            line.push(' ');
            line.push_str(word);
        }
        self.line(&line);
    }

    /// Opens the loops that there are.
    pub(super) fn open(&mut self, loops: &[Blocks<'_>]) {
        for header in loops.iter().filter_map(Blocks::header) {
            self.line(&header);
        }
    }

    /// Closes everything that is open.
    pub(super) fn close(&mut self) {
        while 0 < self.depth {
            self.line("}");
        }
    }
}
