//! C as lines with margins.

/// Lines with their margins.
#[derive(Clone, Debug, Default)]
pub struct Text {
    /// The lines.
    pub lines: Vec<String>,
    depth: usize,
}

impl Text {
    /// Adds a line.
    pub fn line(&mut self, text: &str) {
        self.lines
            .push(format!("{}{text}", "  ".repeat(self.depth)));
    }

    /// Begins a block, with what stands in front of its brace.
    pub fn open(&mut self, head: &str) {
        match head {
            "" => self.line("{"),
            head => self.line(&format!("{head} {{")),
        }
        self.depth += 1;
    }

    /// Ends the block.
    pub fn close(&mut self) {
        self.depth = self.depth.saturating_sub(1);
        self.line("}");
    }

    /// Adds lines.
    pub fn take(&mut self, lines: &[String]) {
        lines.iter().for_each(|line| self.line(line));
    }
}
