//! C as lines with margins.

/// Lines with their margins.
#[derive(Clone, Debug, Default)]
pub(super) struct Text {
    pub lines: Vec<String>,
    depth: usize,
}

impl Text {
    pub(super) fn line(&mut self, text: &str) {
        self.lines
            .push(format!("{}{text}", "  ".repeat(self.depth)));
    }

    pub(super) fn open(&mut self, head: &str) {
        match head {
            "" => self.line("{"),
            head => self.line(&format!("{head} {{")),
        }
        self.depth += 1;
    }

    pub(super) fn close(&mut self) {
        self.depth = self.depth.saturating_sub(1);
        self.line("}");
    }

    pub(super) fn take(&mut self, lines: &[String]) {
        lines.iter().for_each(|line| self.line(line));
    }
}
