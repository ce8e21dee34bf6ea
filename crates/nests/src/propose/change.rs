//! The kinds of changes between schedules, one for each item of the menu.

use autocomp_core::KindOfChange;

/// What may change from one schedule to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Change {
    Vectorize,
    StripMining,
    RegisterTiling,
    DotProducts,
    Packing,
    CacheTiling,
    LoopInterchange,
    Unroll,
    UnrollAndJam,
    MoreSums,
    TransposeInRegisters,
    PrivateCopies,
    Other,
}

impl Change {
    /// Every kind.
    pub(crate) const ALL: &[Self] = &[
        Self::Vectorize,
        Self::StripMining,
        Self::RegisterTiling,
        Self::DotProducts,
        Self::Packing,
        Self::CacheTiling,
        Self::LoopInterchange,
        Self::Unroll,
        Self::UnrollAndJam,
        Self::MoreSums,
        Self::TransposeInRegisters,
        Self::PrivateCopies,
        Self::Other,
    ];

    /// Returns the name, which is that of the menu's item, and what it does.
    pub(crate) const fn kind(self) -> KindOfChange {
        match self {
            Self::Vectorize => KindOfChange {
                name: "vectorize",
                menu_items: &["vectorize"],
                does: "computes several elements at once",
            },
            Self::StripMining => KindOfChange {
                name: "strip-mining",
                menu_items: &["strip-mining"],
                does: "computes as many elements at once as a group of registers holds",
            },
            Self::RegisterTiling => KindOfChange {
                name: "register-tiling",
                menu_items: &["register-tiling"],
                does: "keeps the sums of several rows and vectors of a product in registers",
            },
            Self::DotProducts => KindOfChange {
                name: "int8-dot-products",
                menu_items: &["int8-dot-products"],
                does: "sums groups of products of bytes with one instruction",
            },
            Self::Packing => KindOfChange {
                name: "packing",
                menu_items: &["packing"],
                does: "copies operands of a product into panels in the order in which tiles read them",
            },
            Self::CacheTiling => KindOfChange {
                name: "cache-tiling",
                menu_items: &["cache-tiling"],
                does: "works on blocks that stay in a cache",
            },
            Self::LoopInterchange => KindOfChange {
                name: "loop-interchange",
                menu_items: &["loop-interchange"],
                does: "runs over rows outside and columns inside, or the other way round",
            },
            Self::Unroll => KindOfChange {
                name: "unroll",
                menu_items: &["unroll"],
                does: "writes out iterations of the innermost loop",
            },
            Self::UnrollAndJam => KindOfChange {
                name: "unroll-and-jam",
                menu_items: &["unroll-and-jam"],
                does: "does several iterations of an outer loop side by side",
            },
            Self::MoreSums => KindOfChange {
                name: "more-sums",
                menu_items: &["more-sums"],
                does: "keeps several partial sums, so that none waits for the one before",
            },
            Self::TransposeInRegisters => KindOfChange {
                name: "transpose-in-registers",
                menu_items: &["transpose-in-registers"],
                does: "moves square tiles and turns them in registers",
            },
            Self::PrivateCopies => KindOfChange {
                name: "private-copies",
                menu_items: &["private-copies"],
                does: "counts in several tables by turns and adds them up at the end",
            },
            Self::Other => KindOfChange {
                name: "other",
                menu_items: &["other"],
                does: "leaves a loop as it is written, or begins with another form of the kernel",
            },
        }
    }

    /// Returns the identifier of the menu's item.
    pub(crate) const fn id(self) -> &'static str {
        self.kind().name
    }
}
