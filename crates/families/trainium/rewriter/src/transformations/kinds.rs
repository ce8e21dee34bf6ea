//! Every kind of change, in the order in which they are tried.

use autocomp_core::KindOfChange;

use super::super::operation::View;
use super::{
    Change, accumulate, affine, at_once, columns_outside, copies_at_once, defer_scale, descriptors,
    drop_copies, engines, fill_partitions, functions, fuse, gather_stores, hoist, inline,
    interchange, kept_tiles, matrix_sums, named_arguments, names_of_results, narrow, narrow_tiles,
    needless_masks, own_buffer, pieces, plain_indices, plain_names, precompute, psum_tiles, reduce,
    resident, shared_rows, shared_work, skip_masked, split_loop, split_products, spread_pieces,
    spread_rows, spread_transfers, sum_outside, through_psum, tiles, transposes, versions,
    windows_apart, write_into_tiles, write_out_loops,
};

/// One kind of change.
pub(in super::super) struct Transformation {
    pub(in super::super) name: &'static str,
    pub(in super::super) menu_items: &'static [&'static str],
    /// What changes, and in which kernels, without a full stop.
    pub(in super::super) does: &'static str,
    /// Every change of this kind that keeps what the kernel computes, as far as can be seen.
    pub(in super::super) changes: fn(&View<'_>) -> Vec<Change>,
}

/// What makes a kernel easier to see through without making it faster: done before anything else.
pub(in super::super) const PLAIN: &[Transformation] = &[
    Transformation {
        name: "name-arguments",
        menu_items: &["fuse-operations"],
        does: "arguments of instructions by position get their names",
        changes: named_arguments::changes,
    },
    Transformation {
        name: "write-out-calls",
        menu_items: &["hoist"],
        does: "calls of functions of the file are written out",
        changes: inline::changes,
    },
    Transformation {
        name: "leave-out-masks",
        menu_items: &["shape-transfers"],
        does: "masks that keep everything are left out",
        changes: needless_masks::changes,
    },
    Transformation {
        name: "name-windows",
        menu_items: &["shape-transfers"],
        does: "index expressions that name a window become windows",
        changes: plain_indices::changes,
    },
    Transformation {
        name: "write-out-loops",
        menu_items: &["hoist"],
        does: "loops over listed values, over at most four numbers that a condition asks for, or from another number than zero are written out or counted from zero",
        changes: write_out_loops::changes,
    },
    Transformation {
        name: "settle-conditions",
        menu_items: &["hoist"],
        does: "conditions whose value is known are settled",
        changes: plain_names::conditions,
    },
    Transformation {
        name: "name-each-result",
        menu_items: &["hoist"],
        does: "a name that is given to one result after the other becomes one for each",
        changes: names_of_results::changes,
    },
    Transformation {
        name: "spread-rows",
        menu_items: &["shape-transfers"],
        does: "a row that is combined with tiles is loaded for all partitions, where that costs nothing",
        changes: spread_rows::changes,
    },
    Transformation {
        name: "write-into-tiles",
        menu_items: &["fuse-operations"],
        does: "functions of `nl` in the second dialect become tiles and the instructions that fill them",
        changes: write_into_tiles::changes,
    },
    Transformation {
        name: "one-name-each",
        menu_items: &["hoist"],
        does: "names that repeat others go",
        changes: plain_names::names,
    },
    Transformation {
        name: "tile-for-each-result",
        menu_items: &["double-buffer"],
        does: "a tile that holds several results in turn becomes one for each",
        changes: versions::changes,
    },
];

/// All kinds, in the order in which "everywhere" composites are tried.
pub(in super::super) const ALL: &[Transformation] = &[
    Transformation {
        name: "known-function",
        menu_items: &["fuse-operations"],
        does: "sigmoid, SiLU, softplus, reciprocal root, square, quotient written out in several operations",
        changes: functions::changes,
    },
    Transformation {
        name: "fuse-operations",
        menu_items: &["fuse-operations"],
        does: "an operation with a number or column feeds another operation or a function, and nobody else reads it",
        changes: fuse::changes,
    },
    Transformation {
        name: "reduce-on-the-way",
        menu_items: &["fuse-operations"],
        does: "a sum over columns; its tile may have other readers",
        changes: reduce::changes,
    },
    Transformation {
        name: "at-once",
        menu_items: &["larger-tiles"],
        does: "in the second dialect, iterations that do the same to single columns, or to pieces side by side: one instruction on a view",
        changes: at_once::changes,
    },
    Transformation {
        name: "choose-engine",
        menu_items: &["balance-engines"],
        does: "operations that run on another engine too",
        changes: engines::changes,
    },
    Transformation {
        name: "share-work",
        menu_items: &["balance-engines"],
        does: "in the second dialect, operations on two tiles in SBUF: those of every second, third or fourth iteration of a loop run on the gpsimd engine",
        changes: shared_work::changes,
    },
    Transformation {
        name: "fill-partitions",
        menu_items: &["larger-tiles"],
        does: "iterations of a loop (in the first dialect, an affine one) whose tiles have 32 or 64 partitions: as many at once as fill 128",
        changes: fill_partitions::changes,
    },
    Transformation {
        name: "spread-in-pieces",
        menu_items: &["psum-operands"],
        does: "a row spread over the partitions for one operation, wider than a bank",
        changes: spread_pieces::changes,
    },
    Transformation {
        name: "spread-by-transfer",
        menu_items: &["shape-transfers"],
        does: "in the second dialect, a loaded row that products with ones spread over the partitions: its transfer spreads it, and nobody waits for PSUM",
        changes: spread_transfers::changes,
    },
    Transformation {
        name: "take-windows-apart",
        menu_items: &["fuse-operations"],
        does: "the largest, smallest or sum of windows, one axis after the other, with what lies between in PSUM where it fits",
        changes: windows_apart::changes,
    },
    Transformation {
        name: "through-psum",
        menu_items: &["psum-operands"],
        does: "both tiles of an operation in SBUF, one of at most 2048 float32 columns",
        changes: through_psum::changes,
    },
    Transformation {
        name: "defer-scale",
        menu_items: &["defer-scale"],
        does: "rows of weights multiplied or divided by a column before a product: the result is, where there are fewer columns",
        changes: defer_scale::changes,
    },
    Transformation {
        name: "drop-copies",
        menu_items: &["fuse-operations"],
        does: "a copy that only rounds what an operation made",
        changes: drop_copies::changes,
    },
    Transformation {
        name: "skip-masked",
        menu_items: &["other"],
        does: "tiles of which a triangular mask keeps nothing, or everything",
        changes: skip_masked::changes,
    },
    Transformation {
        name: "stay-in-psum",
        menu_items: &["psum-operands"],
        does: "products that are copied to SBUF before they are read",
        changes: psum_tiles::changes,
    },
    Transformation {
        name: "copy-at-once",
        menu_items: &["larger-tiles"],
        does: "tiles that the matrix engine makes in several iterations, up to a bank of PSUM, side by side: one copy out of it for all, and one store where all are stored side by side",
        changes: copies_at_once::changes,
    },
    Transformation {
        name: "resize-tiles",
        menu_items: &["larger-tiles"],
        does: "a number that tile sizes, strides and iterations are written with, in the whole kernel, in one loop or by its name",
        changes: tiles::changes,
    },
    Transformation {
        name: "turn-on-chip",
        menu_items: &["avoid-transposes"],
        does: "transposing loads",
        changes: transposes::changes,
    },
    Transformation {
        name: "hoist",
        menu_items: &["hoist"],
        does: "what an iteration makes of nothing that changes in the loop, calls of functions of the file included",
        changes: hoist::changes,
    },
    Transformation {
        name: "keep-resident",
        menu_items: &["keep-resident"],
        does: "loads in loops: one wide transfer, or one tile for each iteration that differs",
        changes: resident::changes,
    },
    Transformation {
        name: "load-shared-rows-once",
        menu_items: &["keep-resident"],
        does: "windows of rows that overlap from iteration to iteration: each partition gets rows that follow one another",
        changes: shared_rows::changes,
    },
    Transformation {
        name: "precompute",
        menu_items: &["keep-resident"],
        does: "tiles of an inner loop that an outer loop does not change",
        changes: precompute::changes,
    },
    Transformation {
        name: "keep-tiles",
        menu_items: &["keep-resident"],
        does: "in the second dialect, tiles that an outer loop does not change, with all that they are made from",
        changes: kept_tiles::changes,
    },
    Transformation {
        name: "gather-stores",
        menu_items: &["shape-transfers"],
        does: "stores of a loop that lie side by side in a row",
        changes: gather_stores::changes,
    },
    Transformation {
        name: "descriptors-ahead",
        menu_items: &["shape-transfers"],
        does: "in the second dialect, transfers that say no `dge_mode`: their descriptors are made before the kernel runs, so that they start at once",
        changes: descriptors::changes,
    },
    Transformation {
        name: "interchange",
        menu_items: &["loop-order"],
        does: "two affine loops without anything between them",
        changes: interchange::changes,
    },
    Transformation {
        name: "sum-outside",
        menu_items: &["loop-order"],
        does: "in the first dialect, a loop that sums products goes outside of one or two affine loops around it, with an accumulator for each sum",
        changes: sum_outside::changes,
    },
    Transformation {
        name: "columns-outside",
        menu_items: &["loop-order"],
        does: "in the first dialect, a loop over wide tiles goes inside of a loop over pieces of their columns, from each of which scans go on in the next",
        changes: columns_outside::changes,
    },
    Transformation {
        name: "pieces",
        menu_items: &["double-buffer"],
        does: "element-wise work up to a store, wider than 512 columns",
        changes: pieces::changes,
    },
    Transformation {
        name: "own-buffer",
        menu_items: &["double-buffer"],
        does: "a tile that each iteration fills first",
        changes: own_buffer::changes,
    },
    Transformation {
        name: "affine-range",
        menu_items: &["double-buffer"],
        does: "a loop that carries nothing, or little enough to be written out",
        changes: affine::changes,
    },
    Transformation {
        name: "split-loop",
        menu_items: &["double-buffer"],
        does: "an affine loop, or a nest of them, that goes to the matrix engine twice in each iteration: what the first half makes has a tile for each iteration, and accumulators of the second half no longer hold up the first",
        changes: split_loop::changes,
    },
    Transformation {
        name: "accumulate-in-psum",
        menu_items: &["accumulate-in-psum"],
        does: "sums of products in SBUF that fit a bank, in both dialects",
        changes: accumulate::changes,
    },
    Transformation {
        name: "sum-by-identity",
        menu_items: &["balance-engines"],
        does: "a sum of tiles of at most 2048 float32 columns: products with the identity add in PSUM",
        changes: matrix_sums::changes,
    },
    Transformation {
        name: "split-products",
        menu_items: &["narrow-types"],
        does: "in the first dialect, a product of float32 becomes three of tfloat32 or bfloat16 parts, if the problem tolerates the errors of as many as a result is the sum of; the evaluation has the last word",
        changes: split_products::changes,
    },
    Transformation {
        name: "narrow-types",
        menu_items: &["narrow-types"],
        does: "float32 operands of products become bfloat16, or tfloat32 where that is too coarse: the first type with which a right kernel, all of its products made so, stays within three quarters of the tolerance on the problem's data; where that cannot be tried, bfloat16 if the problem tolerates a relative error of 1/256; the evaluation has the last word",
        changes: narrow::changes,
    },
    Transformation {
        name: "narrow-tiles",
        menu_items: &["narrow-types"],
        does: "float32 tiles that are turned or multiplied, to the same types under the same conditions; the evaluation has the last word",
        changes: narrow_tiles::changes,
    },
];

/// Every kind of change, those that only make kernels plainer first.
pub(in super::super) fn kinds() -> Vec<KindOfChange> {
    let all = PLAIN.iter().chain(ALL);
    all.map(|it| KindOfChange {
        name: it.name,
        menu_items: it.menu_items,
        does: it.does,
    })
    .collect()
}
