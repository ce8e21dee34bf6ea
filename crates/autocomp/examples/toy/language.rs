//! The toy language: `define NAME`, then lines of `step N`; `;` begins a comment.

use autocomp_core::{Flaw, Language};

/// The language of toy kernels.
#[derive(Debug)]
pub struct Steps;

impl Language for Steps {
    fn id(&self) -> &'static str {
        "steps"
    }

    fn name(&self) -> &'static str {
        "Steps"
    }

    fn extension(&self) -> &'static str {
        "steps"
    }

    fn flaw(&self, source: &str, entry: &str) -> Option<Flaw> {
        let wanted = format!("define {entry}");
        if !source.lines().any(|line| line.trim() == wanted) {
            return Some(Flaw::NoEntry);
        }
        steps(source).is_none().then_some(Flaw::Incomplete)
    }

    fn comment_marks(&self) -> &'static [&'static str] {
        &[";"]
    }

    fn may_begin(&self, line: &str, entry: &str) -> bool {
        line.trim() == format!("define {entry}")
    }

    fn may_end(&self, line: &str) -> bool {
        line.trim_start().starts_with("step ")
    }
}

/// Returns the steps of a kernel with their lines; none if a line is something else.
pub fn steps(source: &str) -> Option<Vec<(u32, u64)>> {
    let mut steps = Vec::new();
    for (idx, line) in source.lines().enumerate() {
        let line = line.split(';').next().unwrap_or_default().trim();
        if line.is_empty() || line.starts_with("define ") {
            continue;
        }
        let count = line.strip_prefix("step ")?.trim().parse().ok()?;
        steps.push((idx as u32 + 1, count));
    }
    Some(steps)
}
