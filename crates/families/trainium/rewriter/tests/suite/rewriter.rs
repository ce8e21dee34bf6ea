//! The rewriter on kernels of its own kind: what it changes, the kernels still compute.

mod columns;
mod first;
mod functions;
mod loops;
mod obstacles;
mod second;
mod sizes;
mod types;

use std::collections::{BTreeMap, BTreeSet};

use crate::difference::difference;
use crate::file;
use autocomp_core::{MenuItem, PlanChoice, RewriteError, Rewriter};
use autocomp_trainium_rewriter::NkiRewriter;
use autocomp_trainium_sim::timing::Machine;
use autocomp_trainium_sim::{Array, Options, evaluate, parse_inputs};
use first::KERNELS;
use proptest::prelude::*;

const HEAD: &str = "import neuronxcc.nki as nki
import neuronxcc.nki.isa as nisa
import neuronxcc.nki.language as nl


";

fn rewriter(inputs: &str) -> NkiRewriter {
    with_tolerance(inputs, 0.02)
}

fn with_tolerance(inputs: &str, tolerance: f64) -> NkiRewriter {
    let shapes = file::shapes(inputs).unwrap();
    let machine = Machine::built_in("trn1").unwrap();
    NkiRewriter::new("solution", shapes, machine, tolerance)
}

fn outputs(source: &str, inputs: &str) -> Result<Vec<Array>, String> {
    let inputs = parse_inputs(inputs, Some(7)).unwrap();
    let found = evaluate(source, "solution", &inputs, &Options::default());
    found.map(|it| it.outputs).map_err(|it| it.to_string())
}

fn tolerance(transformations: &str) -> f32 {
    if transformations.contains("narrow") {
        2e-2
    } else {
        1e-4
    }
}

#[test]
fn every_change_that_the_device_takes_keeps_the_result() {
    let mut taken: BTreeMap<String, usize> = BTreeMap::new();
    let mut wrong = Vec::new();
    let first = KERNELS
        .iter()
        .map(|(name, inputs, body)| (*name, *inputs, format!("{HEAD}{body}")));
    let second = second::KERNELS
        .iter()
        .chain(functions::KERNELS)
        .map(|(name, inputs, text)| (*name, *inputs, (*text).to_owned()));
    for (name, inputs, source) in first.chain(second) {
        let right = outputs(&source, inputs).unwrap();
        let rewriter = rewriter(inputs);
        let mut changes = rewriter.single_changes(&source).unwrap();
        // What is found once more can be seen.
        let plain = rewriter.plain(&source).unwrap();
        if plain != source {
            changes.extend(rewriter.single_changes(&plain).unwrap());
        }
        for (kind, sentence, text) in changes {
            let found = outputs(&text, inputs).unwrap_or_default();
            *taken.entry(kind.clone()).or_default() += 1;
            let off = difference(&found, &right);
            if tolerance(&kind) < off {
                wrong.push(format!("{name}, {kind}: {sentence} (off by {off})\n{text}"));
            }
        }
    }
    assert!(
        wrong.is_empty(),
        "{} wrong:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
    let kinds: Vec<&str> = taken.keys().map(String::as_str).collect();
    let all = [
        "accumulate-in-psum",
        "affine-range",
        "at-once",
        "choose-engine",
        "columns-outside",
        "copy-at-once",
        "defer-scale",
        "descriptors-ahead",
        "drop-copies",
        "fill-partitions",
        "fuse-operations",
        "gather-stores",
        "hoist",
        "interchange",
        "keep-resident",
        "keep-tiles",
        "known-function",
        "leave-out-masks",
        "load-shared-rows-once",
        "name-arguments",
        "name-each-result",
        "name-windows",
        "narrow-tiles",
        "narrow-types",
        "one-name-each",
        "own-buffer",
        "pieces",
        "precompute",
        "reduce-on-the-way",
        "resize-tiles",
        "settle-conditions",
        "share-work",
        "skip-masked",
        "split-loop",
        "split-products",
        "spread-by-transfer",
        "spread-in-pieces",
        "spread-rows",
        "stay-in-psum",
        "sum-by-identity",
        "sum-outside",
        "take-windows-apart",
        "through-psum",
        "tile-for-each-result",
        "turn-on-chip",
        "write-into-tiles",
        "write-out-calls",
        "write-out-loops",
    ];
    assert_eq!(kinds, all, "{taken:?}");
}

/// The form that all changes start from, of a kernel whose spelling hides nearly everything.
#[test]
fn spellings_of_the_second_dialect_are_written_out() {
    let (name, inputs, source) = second::KERNELS
        .iter()
        .find(|it| it.0 == "second spellings")
        .unwrap();
    let plain = rewriter(inputs).plain(source).unwrap();
    let body = plain.split("def solution").nth(1).unwrap();
    for hidden in [
        "bring(",
        "fresh(",
        "halved(",
        "parts",
        " in (",
        "if ",
        "range(1, 3)",
        "enumerate",
        " in range(2)]",
        "tensor_copy(best",
    ] {
        assert!(
            !body.contains(hidden),
            "{name}: `{hidden}` is left in\n{plain}"
        );
    }
    let right = outputs(source, inputs).unwrap();
    assert!(difference(&outputs(&plain, inputs).unwrap(), &right) <= 1e-6);
    let kinds: BTreeSet<String> = rewriter(inputs)
        .single_changes(&plain)
        .unwrap()
        .into_iter()
        .map(|it| it.0)
        .collect();
    for kind in [
        "through-psum",
        "keep-resident",
        "gather-stores",
        "choose-engine",
    ] {
        assert!(kinds.contains(kind), "{kind} is not among {kinds:?}");
    }
}

/// Functions that return tiles become instructions that write to them, with the same results.
#[test]
fn functions_of_the_second_dialect_become_instructions() {
    for (name, inputs, source) in functions::KERNELS {
        let plain = rewriter(inputs).plain(source).unwrap();
        let body = plain.split("def solution").nth(1).unwrap();
        // What is no instruction stays: a choice between two tiles.
        let calls = body
            .split("nl.")
            .skip(1)
            .filter_map(|it| it.split_once('('))
            .map(|it| it.0)
            .filter(|it| it.chars().all(|c| c.is_alphanumeric() || c == '_'));
        let known = ["affine_range", "ds", "ndarray", "where", "zeros"];
        let left: Vec<&str> = calls.filter(|it| !known.contains(it)).collect();
        assert!(left.is_empty(), "{name}: {left:?} are left in\n{plain}");
        let right = outputs(source, inputs).unwrap();
        let off = difference(&outputs(&plain, inputs).unwrap(), &right);
        assert!(off <= 1e-6, "{name}: off by {off}\n{plain}");
    }
}

fn menu() -> Vec<MenuItem> {
    let item = r#"{ "id": "fuse-operations", "text": "Merge operations." }"#;
    vec![serde_json::from_str(item).unwrap()]
}

#[test]
fn plans_are_repeatable_and_drafts_right() {
    let menu = menu();
    for (name, inputs, body) in KERNELS {
        let source = format!("{HEAD}{body}");
        let right = outputs(&source, inputs).unwrap();
        let mut seen = BTreeSet::new();
        let (one, other) = (rewriter(inputs), rewriter(inputs));
        for plan in 0..8 {
            let choice = PlanChoice {
                menu: &menu,
                iteration: 1,
                place: 0,
                plan,
                earlier: &[],
            };
            let found = match one.plan(&source, choice) {
                Ok(found) => found,
                Err(RewriteError::Nothing) if 0 < plan => break,
                Err(error) => panic!("{name}: {error}"),
            };
            let again = other.plan(&source, choice).unwrap();
            assert_eq!(found, again);
            assert!(["fuse-operations", "other"].contains(&found.menu_item.as_str()));
            let draft = one.implement(&source, &found.payload, 0).unwrap();
            assert!(
                seen.insert(draft.clone()),
                "{name}: plan {plan} repeats another: {}",
                found.text
            );
            let off = difference(&outputs(&draft, inputs).unwrap(), &right);
            assert!(
                off <= tolerance(&found.payload),
                "{name}: {}: off by {off}\n{draft}",
                found.text
            );
        }
    }
}

#[test]
fn types_are_narrowed_only_where_the_tolerance_allows_it() {
    let (_, inputs, body) = KERNELS[0];
    let source = format!("{HEAD}{body}");
    let narrowed = |tolerance| {
        let found = with_tolerance(inputs, tolerance).single_changes(&source);
        let mut found = found.unwrap().into_iter();
        found.any(|(kind, _, text)| kind == "narrow-types" && text.contains("nl.bfloat16"))
    };
    assert!(narrowed(0.01) && !narrowed(0.001));
}

/// A chain of changes with narrow types has one beside it without them.
#[test]
fn chains_are_offered_without_narrow_types_too() {
    let menu = menu();
    let (_, inputs, body) = KERNELS[0];
    let source = format!("{HEAD}{body}");
    let (mut narrow, mut wide) = (false, false);
    let rewriter = with_tolerance(inputs, 0.01);
    for plan in 0..24 {
        let choice = PlanChoice {
            menu: &menu,
            iteration: 1,
            place: 0,
            plan,
            earlier: &[],
        };
        let Ok(found) = rewriter.plan(&source, choice) else {
            break;
        };
        let Ok(draft) = rewriter.implement(&source, &found.payload, 0) else {
            continue;
        };
        let steps = found.payload.matches("\"transformation\"").count();
        let is_narrow = draft.contains("bfloat16");
        narrow |= is_narrow && 2 < steps;
        wide |= !is_narrow && 2 < steps;
    }
    assert!(narrow && wide, "{narrow} {wide}");
}

#[test]
fn rows_move_to_other_partitions_only_where_nothing_else_depends_on_the_partition() {
    let (_, _, body) = KERNELS.iter().find(|it| it.0 == "windows").unwrap();
    let inputs = "x:f32[256,130];c:f32[128,1]";
    let body = body.replace("solution(x)", "solution(x, c)");
    let offered = |body: &str| {
        let source = format!("{HEAD}{body}");
        outputs(&source, inputs).unwrap();
        let mut found = rewriter(inputs)
            .single_changes(&source)
            .unwrap()
            .into_iter();
        found.any(|it| it.0 == "load-shared-rows-once")
    };
    assert!(offered(&body));
    // A column that is the same for all iterations, but not for all partitions.
    let outside = body
        .replace("    for i in", "    column = nl.load(c)\n    for i in")
        .replace(", best, mask", ", nl.multiply(best, column), mask");
    assert!(!offered(&outside));
    let inside = body.replace(", best, mask", ", nl.multiply(best, nl.load(c)), mask");
    assert!(!offered(&inside));
}

/// A tile that is wider in later iterations has no part for each of them in one of fixed width.
#[test]
fn loops_are_split_only_where_tiles_between_have_one_size() {
    let inputs = "q:f32[128,256];k:f32[128,256]";
    let offered = |width: &str| {
        let source = format!(
            "{HEAD}@nki.jit
def solution(q, k):
    o = nl.ndarray((256, 128), dtype=nl.float32, buffer=nl.shared_hbm)
    for i in nl.affine_range(2):
        width = {width}
        left = nl.load(q[:, nl.ds(i * 128, 128)])
        scores = nl.ndarray((nl.par_dim(128), width), dtype=nl.float32, buffer=nl.sbuf)
        for j in nl.static_range(width // 128):
            right = nl.load(k[:, nl.ds(j * 128, 128)])
            scores[:, nl.ds(j * 128, 128)] = nl.multiply(nisa.nc_matmul(left, right), 0.1)
        total = nl.sum(scores, axis=[1])
        turned = nl.copy(nisa.nc_transpose(scores[:, nl.ds(0, 128)]))
        result = nl.multiply(nisa.nc_matmul(turned, left), total)
        nl.store(o[nl.ds(i * 128, 128), :], result)
    return o
"
        );
        outputs(&source, inputs).unwrap();
        let changes = rewriter(inputs).single_changes(&source).unwrap();
        let mut changes = changes.into_iter().filter(|it| it.0 == "split-loop");
        changes.any(|it| it.2.contains("scores_of_all"))
    };
    assert!(offered("256"));
    assert!(!offered("min(256, i * 128 + 128)"));
}

/// Masks go where they keep everything, and nowhere else.
#[test]
fn masks_that_keep_everything_are_left_out() {
    let (_, inputs, body) = KERNELS.iter().find(|it| it.0 == "masks").unwrap();
    let plain = rewriter(inputs).plain(&format!("{HEAD}{body}")).unwrap();
    assert!(
        !plain.contains("mask=whole") && !plain.contains("+ grid"),
        "{plain}"
    );
    assert_eq!(plain.matches("mask=part").count(), 3, "{plain}");
}

/// Both operands are split where they are made, once for all products that read them, and the parts
/// give what float32 gives; a problem that float32 itself hardly meets has no such draft.
#[test]
fn products_of_parts_are_as_good_as_products_of_float32() {
    let (_, inputs, body) = KERNELS
        .iter()
        .find(|it| it.0 == "sums in two loops")
        .unwrap();
    let source = format!("{HEAD}{body}");
    let right = outputs(&source, inputs).unwrap();
    let drafts = |tolerance| {
        let found = with_tolerance(inputs, tolerance).single_changes(&source);
        let mut found = found.unwrap();
        found.retain(|it| it.0 == "split-products");
        found
    };
    let found = drafts(0.1);
    let off: Vec<f32> = found
        .iter()
        .map(|it| difference(&outputs(&it.2, inputs).unwrap(), &right))
        .collect();
    let [fine, coarse] = off[..] else {
        panic!("{found:?}");
    };
    assert!(fine < 1e-6 && 1e-6 < coarse && coarse < 1e-4, "{off:?}");
    for split in ["kept_high[l] =", "columns_low[l] =", "kept_high[l, 0:128, "] {
        assert!(found[0].2.contains(split), "{split}: {}", found[0].2);
    }
    // The errors of all terms of a sum count: there are 256 of them.
    assert_eq!(drafts(256.0 / 32_768.0).len(), 2);
    let without_coarse = drafts(255.0 / 32_768.0);
    assert!(without_coarse.iter().all(|it| it.2.contains("tfloat32")) && without_coarse.len() == 1);
    assert_eq!(drafts(1e-6), Vec::new());
}

/// What is selected on the diagonal only is not asked for once more.
#[test]
fn a_selection_is_left_out_once() {
    let (_, inputs, source) = second::KERNELS
        .iter()
        .find(|it| it.0 == "second causal weights")
        .unwrap();
    let on_diagonal = |source: &str| {
        let found = rewriter(inputs).single_changes(source).unwrap().into_iter();
        let mut found = found.filter(|it| it.1.contains("only where the diagonal crosses"));
        found.next().map(|it| it.2)
    };
    let plain = rewriter(inputs).plain(source).unwrap();
    let once = on_diagonal(&plain).unwrap();
    assert_eq!(on_diagonal(&once), None);
}

/// A tile that is a part of what a loop gathers has no reader in the loop, and is not dropped.
#[test]
fn what_is_gathered_is_still_written() {
    let inputs = "x:f32[128,128];y:f32[128,1024]";
    let source = "import nki
import nki.isa as nisa
import nki.language as nl


def solution(x, y):
    out = nl.ndarray((128, 1024), dtype=x.dtype, buffer=nl.shared_hbm)
    left = nl.ndarray((128, 128), dtype=x.dtype, buffer=nl.sbuf)
    nisa.dma_copy(dst=left, src=x)
    right = nl.ndarray((128, 1024), dtype=y.dtype, buffer=nl.sbuf)
    nisa.dma_copy(dst=right, src=y)
    for j in range(4):
        total = nl.ndarray((128, 256), dtype=nl.float32, buffer=nl.psum)
        nisa.nc_matmul(dst=total, stationary=left, moving=right[:, j * 256:(j + 1) * 256])
        rows = nl.ndarray((128, 256), dtype=out.dtype, buffer=nl.sbuf)
        nisa.tensor_copy(dst=rows, src=total)
        nisa.dma_copy(dst=out[:, j * 256:(j + 1) * 256], src=rows)
    return out
";
    let right = outputs(source, inputs).unwrap();
    let mut gathered = 0;
    for (kind, _, first) in rewriter(inputs).single_changes(source).unwrap() {
        if kind != "gather-stores" {
            continue;
        }
        gathered += 1;
        for (kind, sentence, text) in rewriter(inputs).single_changes(&first).unwrap() {
            let off = difference(&outputs(&text, inputs).unwrap_or_default(), &right);
            assert!(off <= tolerance(&kind), "{sentence} (off by {off})\n{text}");
        }
    }
    assert_eq!(gathered, 1);
}

#[test]
fn what_is_not_touched_stays() {
    for (_, inputs, body) in KERNELS {
        let source = format!("{HEAD}{body}");
        for (kind, sentence, text) in rewriter(inputs).single_changes(&source).unwrap() {
            // An identity is a constant of NumPy.
            let own = text.strip_prefix("import numpy as np\n").unwrap_or(&text);
            assert!(own.starts_with(HEAD), "{kind}: {sentence}\n{text}");
            assert!(text.ends_with("\n") && !text.contains("\n\n\n\n"));
            if kind == "choose-engine" {
                let same = source
                    .lines()
                    .zip(text.lines())
                    .filter(|(a, b)| a == b)
                    .count();
                assert!(source.lines().count() <= same + 2, "{sentence}\n{text}");
            }
        }
    }
}

#[test]
fn eight_of_each_row_and_statistics_are_understood() {
    let source = format!(
        "{HEAD}def solution(x):
    y = nl.ndarray((128, 8), dtype=nl.uint32, buffer=nl.shared_hbm)
    z = nl.ndarray((128, 2), dtype=nl.float32, buffer=nl.shared_hbm)
    tile = nl.load(x)
    top = nisa.max8(src=tile)
    nl.store(y, nisa.nc_find_index8(data=tile, vals=top))
    parts = nisa.bn_stats(tile)
    both = nisa.bn_aggr(parts)
    nl.store(z, both)
    return y, z
"
    );
    let found = rewriter("x:f32[128,512]").not_understood(&source);
    assert_eq!(found, Vec::new());
}

/// The gpsimd engine has no such instruction, whichever way a draft comes to it.
#[test]
fn no_draft_runs_an_operation_of_two_tiles_and_a_number_on_gpsimd() {
    let first = format!(
        "{HEAD}def solution(x, c):
    y = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    tile = nl.load(x)
    column = nl.load(c)
    other = nisa.scalar_tensor_tensor(data=tile, op0=nl.multiply, operand0=column, op1=nl.add, operand1=tile)
    nl.store(y, nl.add(nl.multiply(other, column), tile))
    return y
"
    );
    let second = "import nki
import nki.isa as nisa
import nki.language as nl


def solution(x, c):
    y = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    tile = nl.ndarray((128, 512), dtype=x.dtype, buffer=nl.sbuf)
    nisa.dma_copy(dst=tile, src=x)
    column = nl.ndarray((128, 1), dtype=x.dtype, buffer=nl.sbuf)
    nisa.dma_copy(dst=column, src=c)
    other = nl.ndarray((128, 512), dtype=x.dtype, buffer=nl.sbuf)
    nisa.scalar_tensor_tensor(dst=other, data=tile, op0=nl.multiply, operand0=column, op1=nl.add, operand1=tile)
    nisa.dma_copy(dst=y, src=other)
    return y
";
    for source in [first.as_str(), second] {
        let changes = rewriter("x:f32[128,512];c:f32[128,1]").single_changes(source);
        for (_, sentence, text) in changes.unwrap() {
            let bad = text
                .lines()
                .find(|it| it.contains("scalar_tensor_tensor") && it.contains("gpsimd"));
            assert_eq!(bad, None, "{sentence}");
        }
    }
}

/// A kernel that a call makes of a function is changed like that function.
#[test]
fn kernels_that_calls_make_are_understood() {
    let (_, inputs, body) = KERNELS.iter().find(|it| it.0 == "softmax").unwrap();
    let rewriter = rewriter(inputs);
    let changes = |source: &str| {
        assert_eq!(rewriter.not_understood(source), []);
        let found = rewriter.single_changes(source).unwrap();
        let found: BTreeSet<String> = found.into_iter().map(|it| it.0).collect();
        assert!(!found.is_empty());
        found
    };
    let usual = changes(&format!("{HEAD}{body}"));
    let function = body.replace("def solution", "def function");
    for made in [
        "solution = nki.jit(function)",
        "solution = nki.jit(mode=\"trace\")(function)",
        "made = nki.jit(function)\n\n\ndef solution(x):\n    \"\"\"Runs it.\"\"\"\n    return made(x)",
    ] {
        let source = format!("{HEAD}{function}\n{made}\n");
        outputs(&source, inputs).unwrap();
        assert_eq!(changes(&source), usual, "{made}");
    }
    // What is no kernel is none.
    let source = format!("{HEAD}{function}\nsolution = nl.exp(function)\n");
    assert!(rewriter.single_changes(&source).is_err());
}

#[test]
fn what_is_not_understood_is_named() {
    let inputs = "x:f32[128,512]";
    let source = format!(
        "{HEAD}def solution(x):
    y = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    tile = nl.load(x)
    strange = [print(i) for i in range(2)]
    nl.store(y, nl.exp(tile))
    return y
"
    );
    let named = |source: &str| {
        let found = rewriter(inputs).not_understood(source).into_iter();
        let found = found.map(|it| format!("line {}: {}", it.line, it.reason));
        found.collect::<Vec<String>>()
    };
    let strange = "line 9: what `[print(i) for i in range(2)]` makes is not known";
    assert_eq!(named(&source), [strange]);
    let missing = source.replace("def solution", "def other");
    assert_eq!(named(&missing), ["line 1: there is no function `solution`"]);
    let broken = source.replace("return y", "return (y");
    assert_eq!(named(&broken).len(), 1);
    let payload = rewriter(inputs).implement(&source, "{}", 0);
    assert!(matches!(payload, Err(RewriteError::Payload(_))));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, ..ProptestConfig::default() })]
    #[test]
    fn no_text_makes_it_panic(which in 0..KERNELS.len(), from in 0usize..900, length in 0usize..40, new in "[a-z0-9*+.,:()\\[\\] \n]{0,12}") {
        let (_, inputs, body) = KERNELS[which];
        let mut source = format!("{HEAD}{body}");
        let from = from.min(source.len());
        let to = (from + length).min(source.len());
        source.replace_range(from..to, &new);
        let _ = rewriter(inputs).single_changes(&source);
    }
}
