//! Kinds of programs of workers.

/// How a source is compiled.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// All optimizations, products and sums may be fused.
    Kernel,
    /// Arithmetic as it is written.
    Reference,
    /// The same without floating point, which does not build, and with plain characters that
    /// have no sign, as on RISC-V: its results are those of every processor.
    IntegerReference,
    /// One that was built as such before: vectors of integers give the same results.
    KnownIntegerReference,
}

impl Kind {
    /// Returns the flags of the compiler for it.
    pub(crate) fn flags(self) -> &'static [&'static str] {
        match self {
            Self::Kernel => &["-O3", "-ffp-contract=fast"],
            Self::Reference => &["-O2", "-ffp-contract=off"],
            Self::IntegerReference => &["-O2", "-funsigned-char", "-mgeneral-regs-only"],
            Self::KnownIntegerReference => &["-O2", "-funsigned-char"],
        }
    }
}
