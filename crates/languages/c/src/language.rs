//! C behind the trait of languages.

use crate::text::{blank, defines, is_balanced, macros};
use autocomp_core::{Expansion, Flaw, Language};

/// C as kernels are written in it.
#[derive(Debug)]
pub struct C;

impl Language for C {
    fn id(&self) -> &'static str {
        "c"
    }

    fn name(&self) -> &'static str {
        "C"
    }

    fn extension(&self) -> &'static str {
        "c"
    }

    fn flaw(&self, source: &str, entry: &str) -> Option<Flaw> {
        let blanked = blank(source);
        if !defines(&blanked, entry) {
            return Some(Flaw::NoEntry);
        }
        (!is_balanced(&blanked)).then_some(Flaw::Incomplete)
    }

    fn comment_marks(&self) -> &'static [&'static str] {
        &["//", "/*"]
    }

    fn expansions(&self, source: &str) -> Vec<Expansion> {
        macros(source)
    }

    fn normal_form(&self, source: &str) -> Option<String> {
        crate::normal::normal_form(source)
    }

    fn may_begin(&self, line: &str, entry: &str) -> bool {
        const STARTS: &[&str] = &[
            "#", "//", "/*", "static ", "void ", "typedef ", "inline ", "const ", "extern ",
        ];
        let is_directive = |line: &str| {
            [
                "define", "include", "pragma", "undef", "if", "ifdef", "ifndef",
            ]
            .iter()
            .any(|word| line.trim_start_matches(['#', ' ']).starts_with(word))
        };
        let begins = STARTS.iter().any(|start| line.starts_with(start));
        // A heading of Markdown starts with the same sign as a directive.
        begins && (!line.starts_with('#') || is_directive(line))
            || line.contains(&format!("{entry}(")) && line.contains("_t ")
    }

    fn may_end(&self, line: &str) -> bool {
        line.trim_end().ends_with(['}', ';'])
    }
}
