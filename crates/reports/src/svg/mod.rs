//! Figures as SVG: plain elements and classes, whose colours are the page's.
//!
//! Every text that goes into a figure is escaped here; numbers are ours.

pub(crate) mod axis;
mod curve;
mod tree;

pub use curve::{Curve, CurveFigure, curve_figure};
pub use tree::tree_figure;

/// Escapes a text for content and attributes of XML. Characters that XML cannot have are
/// replaced.
#[must_use]
pub fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            '\n' | '\t' => out.push(c),
            c if c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}') => out.push('\u{fffd}'),
            c => out.push(c),
        }
    }
    out
}
