//! Kernels in NKI as the neutral parts see them.

use autocomp_core::{Flaw, Language};

/// NKI in Python.
#[derive(Debug)]
pub struct PythonNki;

impl Language for PythonNki {
    fn id(&self) -> &'static str {
        "python-nki"
    }

    fn name(&self) -> &'static str {
        "Python with NKI"
    }

    fn extension(&self) -> &'static str {
        "py"
    }

    fn flaw(&self, source: &str, entry: &str) -> Option<Flaw> {
        let head = format!("def {entry}(");
        if !source.lines().any(|line| line.starts_with(&head)) {
            return Some(Flaw::NoEntry);
        }
        (!autocomp_trainium_sim::is_python(source)).then_some(Flaw::Incomplete)
    }

    fn comment_marks(&self) -> &'static [&'static str] {
        &["#"]
    }

    fn has_meaningful_indentation(&self) -> bool {
        true
    }

    fn normal_form(&self, source: &str) -> Option<String> {
        Some(super::normal::normal_form(source))
    }

    fn may_begin(&self, line: &str, entry: &str) -> bool {
        let line = line.trim_end();
        let names_modules = |rest: &str| {
            let first = rest.split_whitespace().next().unwrap_or_default();
            let module = first.split('.').next().unwrap_or_default();
            ["neuronxcc", "nki", "numpy", "math"].contains(&module)
        };
        line.strip_prefix("import ").is_some_and(names_modules)
            || line.strip_prefix("from ").is_some_and(names_modules)
            || line.starts_with("@nki.")
            || line.starts_with(&format!("def {entry}("))
    }

    fn may_end(&self, line: &str) -> bool {
        line.starts_with([' ', '\t']) && !line.trim().is_empty()
    }
}
