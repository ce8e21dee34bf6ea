//! The kinds of changes between schedules, by items of the menu.

use autocomp_core::KindOfChange;

/// What may change from one schedule to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Change {
    VectorizeLoads,
    RegisterTiling,
    MoreWork,
    WarpPerRow,
    WarpShuffle,
    FewerPasses,
    SplitReduction,
    FastFunctions,
    Coalesce,
    SharedTiling,
    DoubleBuffer,
    AsyncCopies,
    TensorCores,
    PadShared,
    Privatise,
    GridStride,
    Threads,
    FuseLaunches,
    Other,
}

impl Change {
    /// Every kind.
    pub(crate) const ALL: &[Self] = &[
        Self::VectorizeLoads,
        Self::RegisterTiling,
        Self::MoreWork,
        Self::WarpPerRow,
        Self::WarpShuffle,
        Self::FewerPasses,
        Self::SplitReduction,
        Self::FastFunctions,
        Self::Coalesce,
        Self::SharedTiling,
        Self::DoubleBuffer,
        Self::AsyncCopies,
        Self::TensorCores,
        Self::PadShared,
        Self::Privatise,
        Self::GridStride,
        Self::Threads,
        Self::FuseLaunches,
        Self::Other,
    ];

    /// Returns the name, which is that of the menu's item, and what it does.
    pub(crate) const fn kind(self) -> KindOfChange {
        let (names, does): (&'static [&'static str], &'static str) = match self {
            Self::VectorizeLoads => (
                &["vectorize-loads"],
                "loads and stores 8 or 16 bytes at once where elements lie side by side, whatever is left over one by one",
            ),
            Self::RegisterTiling => (
                &["register-tiling"],
                "lets a thread compute several neighbouring results, so that what it loads serves several",
            ),
            Self::MoreWork => (
                &["more-independent-work"],
                "lets a thread do several elements a block apart, so that it waits for several loads at once",
            ),
            Self::WarpPerRow => (
                &["warp-per-row"],
                "gives each row to a part of a warp, a warp or a block instead of a thread",
            ),
            Self::WarpShuffle => (
                &["warp-shuffle"],
                "adds up or finds extremes by shuffles in a warp and one step through shared memory instead of a tree with barriers",
            ),
            Self::FewerPasses => (
                &["fewer-passes"],
                "keeps a row, or functions of its elements, in registers between the loops over it",
            ),
            Self::SplitReduction => (
                &["split-reduction"],
                "shares a long sum among several blocks, whose results a second launch joins",
            ),
            Self::FastFunctions => (
                &["fast-functions"],
                "takes faster functions, and multiplies by a reciprocal instead of dividing",
            ),
            Self::Coalesce => (
                &["coalesce"],
                "turns a tile in shared memory, so that a warp reads and writes elements side by side",
            ),
            Self::SharedTiling => (
                &["shared-tiling"],
                "loads tiles of both operands of a product into shared memory, for all threads of a block",
            ),
            Self::DoubleBuffer => (
                &["double-buffer"],
                "keeps two tiles in shared memory, and loads the next while computing on the last",
            ),
            Self::AsyncCopies => (
                &["async-copies"],
                "copies tiles to shared memory past the registers, one to three tiles ahead",
            ),
            Self::TensorCores => (
                &["tensor-cores"],
                "multiplies halves, bfloat16 and signed bytes by the matrix units (mma.sync, ldmatrix), with sums of 32 bits",
            ),
            Self::PadShared => (
                &["pad-shared"],
                "pads rows of a shared tile, so that threads of a warp do not meet in a bank",
            ),
            Self::Privatise => (
                &["privatise"],
                "counts in one or several copies in shared memory, which are added to memory at the end",
            ),
            Self::GridStride => (
                &["grid-stride"],
                "launches as many blocks as run at once, whose threads go over all elements by turns",
            ),
            Self::Threads => (
                &["occupancy"],
                "changes how many threads a block has, and how they lie along the coordinates",
            ),
            Self::FuseLaunches => (
                &["fuse-launches"],
                "does in one launch, or anew in two, what several launches add up",
            ),
            Self::Other => (&["other"], "leaves a launch as it is written"),
        };
        KindOfChange {
            name: names[0],
            menu_items: names,
            does,
        }
    }

    /// Returns the identifier of the menu's item.
    pub(crate) const fn id(self) -> &'static str {
        self.kind().name
    }
}
