//! Kernels in CUDA C++ as the neutral parts see them.

use autocomp_c::C;
use autocomp_core::{Expansion, Flaw, Language};

/// CUDA C++.
#[derive(Debug)]
pub struct CudaCpp;

impl Language for CudaCpp {
    fn id(&self) -> &'static str {
        "cuda"
    }

    fn name(&self) -> &'static str {
        "CUDA C++"
    }

    fn extension(&self) -> &'static str {
        "cu"
    }

    fn flaw(&self, source: &str, entry: &str) -> Option<Flaw> {
        C.flaw(source, entry)
    }

    fn comment_marks(&self) -> &'static [&'static str] {
        C.comment_marks()
    }

    fn expansions(&self, source: &str) -> Vec<Expansion> {
        C.expansions(source)
    }

    fn may_begin(&self, line: &str, entry: &str) -> bool {
        const STARTS: &[&str] = &[
            "__global__",
            "__device__",
            "__constant__",
            "template",
            "struct ",
            "using ",
            "constexpr ",
            "namespace ",
            "extern ",
            "__host__",
        ];
        STARTS.iter().any(|start| line.starts_with(start)) || C.may_begin(line, entry)
    }

    fn may_end(&self, line: &str) -> bool {
        C.may_end(line)
    }
}
