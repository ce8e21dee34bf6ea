//! Lines of the live view: texts of which some stand out, cut to the width of the terminal.

use crate::output::{NAME, QUIET, Style, harmless_text};

/// Columns of the titles before the figures.
const TITLE: usize = 12;
/// Columns of a bar.
const BAR: usize = 20;

/// One line, in parts.
#[derive(Debug, Default)]
pub struct Line(Vec<(Option<Style>, String)>);

impl Line {
    /// Begins a line.
    pub fn new() -> Self {
        Self::default()
    }

    /// Begins a line that says what is in it.
    pub fn titled(title: &str) -> Self {
        Self::new().styled(QUIET, format!("{title:<TITLE$}"))
    }

    /// Goes on with a text that does not stand out.
    pub fn plain(mut self, text: impl Into<String>) -> Self {
        self.0.push((None, text.into()));
        self
    }

    /// Goes on with a text that stands out, where colours are allowed.
    pub fn styled(mut self, style: Style, text: impl Into<String>) -> Self {
        self.0.push((Some(style), text.into()));
        self
    }

    /// Returns the line in at most `width` columns. What was written by others commands no
    /// terminal.
    pub fn text(&self, width: usize, coloured: bool) -> String {
        let parts: Vec<(Option<Style>, String)> = self
            .0
            .iter()
            .map(|(style, text)| (*style, harmless_text(text)))
            .collect();
        let length: usize = parts.iter().map(|it| it.1.chars().count()).sum();
        let is_cut = width < length;
        let mut left = if is_cut {
            width.saturating_sub(1)
        } else {
            length
        };
        let mut out = String::new();
        for (style, text) in &parts {
            let kept: String = text.chars().take(left).collect();
            left -= kept.chars().count();
            if kept.is_empty() {
                continue;
            }
            match style {
                Some(style) => out.push_str(&style.paint(&kept, coloured)),
                None => out.push_str(&kept),
            }
        }
        if is_cut {
            out.push('…');
        }
        out
    }
}

/// Returns a line with a bar that is full to a share, and figures behind it.
pub fn bar(title: &str, share: f64, figures: String) -> Line {
    let full = (share.clamp(0.0, 1.0) * BAR as f64).round() as usize;
    Line::titled(title)
        .styled(NAME, "█".repeat(full))
        .styled(QUIET, "░".repeat(BAR - full))
        .plain(format!(" {figures}"))
}
