//! What is live on the chip fits, is spilled at a cost, or is refused.

use autocomp_trainium_sim::timing::{Machine, Passes, time};
use autocomp_trainium_sim::{Evaluation, Failure, Options, evaluate, parse_inputs};

const FIRST: &str = "import neuronxcc.nki as nki\nimport neuronxcc.nki.language as nl\nimport neuronxcc.nki.isa as nisa\nimport neuronxcc.nki.compiler as ncc\ndef solution(a, w):\n  o = nl.ndarray((128, 512), dtype=nl.float32, buffer=nl.shared_hbm)\n";
const SECOND: &str = "import nki\nimport nki.language as nl\nimport nki.isa as nisa\nimport numpy as np\ndef solution(a, w):\n  o = nl.ndarray((128, 512), dtype=nl.float32, buffer=nl.shared_hbm)\n";
/// The line that the body of a kernel begins at.
const BODY: u32 = 7;

fn run(head: &str, body: &str) -> Result<Evaluation, Box<Failure>> {
    let body: String = body.lines().map(|line| format!("  {line}\n")).collect();
    let source = format!("{head}{body}  nl.store(o, nl.load(w))\n  return o\n");
    let inputs = parse_inputs("a:f32[128,60000];w:f32[128,512]", None).expect("inputs");
    let options = Options {
        functional: false,
        generation: if head.contains("neuronxcc") { 2 } else { 3 },
        ..Options::default()
    };
    evaluate(&source, "solution", &inputs, &options)
}

fn refused(head: &str, body: &str, code: &str, line: u32, said: &[&str]) {
    let failure = run(head, body).expect_err(body);
    let found = (failure.code.as_str(), failure.line + 1 - BODY);
    assert_eq!(found, (code, line), "{failure}\n{body}");
    for part in said {
        assert!(failure.message.contains(part), "{part}: {failure}");
    }
    assert!(!failure.remedy.is_empty(), "{failure}");
}

fn runs(head: &str, body: &str) -> Evaluation {
    run(head, body).unwrap_or_else(|failure| panic!("{failure}\n{body}"))
}

const STORE: &str = "nl.store(o, t[:, 0:512])";

#[test]
fn operands_of_one_instruction_must_be_there_together() {
    // A tile wider than a partition, however it is made.
    refused(
        FIRST,
        "t = nl.load(a)",
        "sbuf-overflow",
        1,
        &["240000", "180224"],
    );
    refused(
        FIRST,
        "t = nl.zeros((128, 50000), dtype=nl.float32)",
        "sbuf-overflow",
        1,
        &["200000"],
    );
    // Two tiles that fit one by one.
    let wide = "t = nl.load(a[:, 0:40000])\nr = nl.multiply(t, 2.0)\nnl.store(o, r[:, 0:512])";
    refused(
        FIRST,
        wide,
        "sbuf-overflow",
        2,
        &["320000", "160000", "line 7", "line 8"],
    );
    let three = "t = nl.load(a[:, 0:16000])\nu = nl.load(a[:, 16000:32000])\nr = nl.add(t, u)\nnl.store(o, r[:, 0:512])";
    refused(FIRST, three, "sbuf-overflow", 3, &["192000"]);
    runs(
        FIRST,
        &three.replace("16000", "15000").replace("32000", "30000"),
    );
    // In place, one tile is enough.
    let place = "t = nl.load(a[:, 0:40000])\nt[...] = nl.multiply(t, 2.0)\n";
    runs(FIRST, &format!("{place}{STORE}"));
    let second = "t = nl.ndarray((128, 40000), dtype=nl.float32, buffer=nl.sbuf)\nnisa.dma_copy(dst=t, src=a[:, 0:40000])\nr = nl.ndarray((128, 40000), dtype=nl.float32, buffer=nl.sbuf)\nnisa.tensor_scalar(dst=r, data=t, op0=nl.multiply, operand0=2.0)\nnisa.dma_copy(dst=o, src=r[:, 0:512])";
    refused(
        SECOND,
        second,
        "sbuf-overflow",
        4,
        &["320000", "line 7", "line 9"],
    );
    runs(
        SECOND,
        &second
            .replace("dst=r, data=t", "dst=t, data=t")
            .replace("src=r", "src=t"),
    );
    refused(SECOND, "t = nl.load(a)", "sbuf-overflow", 1, &["240000"]);
    // Narrow types take half.
    runs(
        SECOND,
        &second
            .replace("40000", "48000")
            .replace("float32", "bfloat16"),
    );
}

#[test]
fn what_is_live_and_does_not_fit_is_spilled_at_a_cost() {
    for (head, machine) in [(FIRST, "trn1"), (SECOND, "trn2")] {
        let machine = Machine::built_in(machine).expect("a machine");
        let load = |count: usize, each: &str| {
            let mut body = String::new();
            for i in 0..count {
                let low = i * 10000;
                body += &match head {
                    FIRST => {
                        format!("t{i} = nl.load(a[:, {low}:{low} + 10000])\nu{i} = nl.exp(t{i})\n")
                    }
                    _ => format!(
                        "t{i} = nl.load(a[:, {low}:{low} + 10000])\nu{i} = nl.ndarray((128, 10000), dtype=nl.float32, buffer=nl.sbuf)\nnisa.activation(dst=u{i}, op=nl.exp, data=t{i})\n"
                    ),
                };
                body += &each.replace('#', &i.to_string());
            }
            body
        };
        let store = "nl.store(o, u#[:, 0:512])\n";
        let at_once = load(6, store);
        let later: String = (0..6).map(|i| store.replace('#', &i.to_string())).collect();
        let later = load(6, "") + &later;
        let cost = |body: &str| {
            let evaluation = runs(head, body);
            time(&evaluation.trace, &machine, Passes::of(&evaluation))
        };
        let (fits, spills) = (cost(&at_once), cost(&later));
        assert_eq!(fits.spill_bytes, 0);
        assert!(spills.spill_bytes > 0, "{head}");
        assert!(fits.latency_ns < spills.latency_ns, "{head}");
    }
}

/// What a kernel places itself stays, and leaves less room to all else.
#[test]
fn one_placed_tile_keeps_nothing_else_on_the_chip() {
    let heads = [
        (FIRST, "trn1", "buffer=ncc.sbuf.mod_alloc(base_addr=0)"),
        (SECOND, "trn2", "buffer=nl.sbuf, address=(0, 0)"),
    ];
    for (head, machine, placed) in heads {
        let machine = Machine::built_in(machine).expect("a machine");
        let mut body = String::new();
        for i in 0..6 {
            let low = i * 10000;
            body += &format!("t{i} = nl.load(a[:, {low}:{low} + 10000])\n");
        }
        for i in 0..6 {
            body += &format!("nl.store(o, t{i}[:, 0:512])\n");
        }
        let spilled = |body: &str| {
            let evaluation = runs(head, body);
            time(&evaluation.trace, &machine, Passes::of(&evaluation)).spill_bytes
        };
        let without = spilled(&body);
        let tile = |columns: u32| {
            let make = format!("p = nl.ndarray((128, {columns}), dtype=nl.float32, {placed})\n");
            make + &match head {
                FIRST => format!("p[...] = nl.load(a[:, 0:{columns}])\n"),
                _ => format!("nisa.dma_copy(dst=p, src=a[:, 0:{columns}])\n"),
            } + &body
                + "nl.store(o[:, 0:1], p[:, 0:1])\n"
        };
        assert!(0 < without, "{head}");
        let (small, large) = (spilled(&tile(1)), spilled(&tile(12000)));
        assert!(
            without <= small && small < large,
            "{without} {small} {large}"
        );
    }
}

#[test]
fn sums_under_way_stay_in_the_accumulators() {
    let sums = |count: usize| {
        format!(
            "t = nl.load(w)\np = nl.zeros(({count}, nl.par_dim(128), 512), dtype=nl.float32, buffer=nl.psum)\nfor k in nl.affine_range(2):\n  for m in nl.affine_range({count}):\n    p[m] += nisa.nc_matmul(t[:, 0:128], t)\nfor m in nl.affine_range({count}):\n  nl.store(o, p[m])"
        )
    };
    // The outputs of all are stored to one place, which is refused elsewhere.
    let sums =
        |count| sums(count).replace("for m in nl.affine_range(", "for m in nl.sequential_range(");
    runs(FIRST, &sums(8));
    refused(
        FIRST,
        &sums(9),
        "psum-overflow",
        5,
        &["18432", "9 of 2048", "line 8"],
    );
    let second = |count: usize| {
        format!(
            "t = nl.load(w)\ns = nl.ndarray((128, 512), dtype=nl.float32, buffer=nl.sbuf)\np = [nl.ndarray((128, 512), dtype=nl.float32, buffer=nl.psum) for m in range({count})]\nfor k in range(2):\n  for m in range({count}):\n    nisa.nc_matmul(dst=p[m], stationary=t[:, 0:128], moving=t)\nfor m in range({count}):\n  nisa.tensor_copy(dst=s, src=p[m])\n  nisa.dma_copy(dst=o, src=s)"
        )
    };
    runs(SECOND, &second(8));
    refused(
        SECOND,
        &second(12),
        "psum-overflow",
        6,
        &["PSUM", "2048", "line 9"],
    );
    // Sums one after the other need one bank each time.
    let turns = second(12).replace(
        "for k in range(2):\n  for m in range(12):",
        "for m in range(12):\n  for k in range(2):",
    );
    let live = runs(SECOND, &turns);
    // Twelve finished sums are more than there is room for: four of them go to SBUF and cost a copy.
    let freed = turns.replace(
        "\nfor m in range(12):\n  nisa.tensor_copy",
        "\n  nisa.tensor_copy",
    );
    let freed = runs(SECOND, &freed);
    let machine = Machine::built_in("trn2").expect("a machine");
    let busy = |evaluation: &Evaluation| {
        let all = autocomp_trainium_sim::timing::totals(
            &evaluation.trace,
            &machine,
            Passes::of(evaluation),
        );
        all[1] + all[2]
    };
    assert_eq!(live.trace.len(), freed.trace.len());
    assert!(
        busy(&freed) < busy(&live),
        "{} {}",
        busy(&freed),
        busy(&live)
    );
}

#[test]
fn products_write_one_bank_and_add_to_products() {
    let bank = "t = nl.load(w)\np = nl.ndarray((128, 1024), dtype=nl.float32, buffer=nl.psum)\n";
    let product = |low: usize, high: usize| {
        format!(
            "{bank}nisa.nc_matmul(dst=p[:, {low}:{high}], stationary=t[:, 0:128], moving=t[:, 0:{high} - {low}])"
        )
    };
    runs(SECOND, &product(512, 1024));
    runs(SECOND, &product(600, 900));
    refused(
        SECOND,
        &product(256, 768),
        "psum-bank-crossed",
        3,
        &["1024", "3072", "line 8"],
    );
    refused(SECOND, &product(511, 513), "psum-bank-crossed", 3, &[]);
    let first = "t = nl.load(w)\np = nl.zeros((128, 3, 300), dtype=nl.float32, buffer=nl.psum)\nfor i in range(3):\n  p[:, i, :] = nisa.nc_matmul(t[:, 0:128], t[:, 0:300])";
    refused(FIRST, first, "psum-bank-crossed", 4, &["1200"]);
    let add = |fill: &str, how: &str| {
        format!(
            "{bank}{fill}\nfor k in range(2):\n  nisa.nc_matmul(dst=p[:, 0:512], stationary=t[:, 0:128], moving=t{how})"
        )
    };
    runs(SECOND, &add("", ""));
    runs(
        SECOND,
        &add(
            "nisa.memset(dst=p[:, 0:512], value=0.0)",
            ", accumulate=k > 0",
        ),
    );
    runs(
        SECOND,
        &add(
            "nisa.memset(dst=p[:, 512:1024], value=0.0)",
            ", accumulate=k > 0",
        ),
    );
    let memset = "nisa.memset(dst=p[:, 0:512], value=0.0)";
    // The compiler decides whether the first product is added to the zeros.
    runs(SECOND, &add(memset, ""));
    refused(
        SECOND,
        &add("nisa.memset(dst=p[:, 0:512], value=1.0)", ""),
        "sum-not-begun-by-a-product",
        5,
        &["line 9"],
    );
    refused(
        SECOND,
        &add(memset, ", accumulate=True"),
        "sum-not-begun-by-a-product",
        5,
        &["line 9"],
    );
    let copy = "nisa.tensor_copy(dst=p[:, 0:512], src=t)";
    refused(
        SECOND,
        &add(copy, ", accumulate=True"),
        "sum-not-begun-by-a-product",
        5,
        &["line 9"],
    );
}

#[test]
fn addresses_are_within_the_memory() {
    let tensor = |allocator: &str| {
        format!(
            "t = nl.ndarray((4, nl.par_dim(128), 1000), dtype=nl.float32, buffer={allocator})\nfor i in nl.sequential_range(4):\n  t[i] = nl.load(a[:, 0:1000])\n  nl.store(o, t[i, :, 0:512])"
        )
    };
    runs(FIRST, &tensor("ncc.sbuf.mod_alloc(base_addr=0)"));
    runs(
        FIRST,
        &tensor("ncc.sbuf.mod_alloc(base_addr=180608, num_free_tiles=(4,))"),
    );
    runs(
        FIRST,
        &tensor("ncc.sbuf.alloc(lambda idx, pdim_size, fdim_size: (0, idx[0] % 2 * fdim_size))"),
    );
    let beyond = [
        "ncc.sbuf.mod_alloc(base_addr=400000)",
        "ncc.sbuf.mod_alloc(base_addr=180612, num_free_tiles=(4,))",
        "ncc.sbuf.mod_alloc(base_addr=0, base_partition=64)",
        "ncc.sbuf.mod_alloc(base_addr=0, num_par_tiles=(4,))",
        "ncc.sbuf.alloc(lambda idx, pdim_size, fdim_size: (0, idx[0] * 70000))",
    ];
    for allocator in beyond {
        refused(
            FIRST,
            &tensor(allocator),
            "allocation-out-of-bounds",
            1,
            &["out of bound"],
        );
    }
    let sum = |allocator: &str| {
        format!(
            "t = nl.load(w)\np = nl.ndarray((9, nl.par_dim(128), 512), dtype=nl.float32, buffer={allocator})\nfor i in nl.sequential_range(9):\n  p[i] = nisa.nc_matmul(t[:, 0:128], t)\n  nl.store(o, p[i])"
        )
    };
    runs(
        FIRST,
        &sum("ncc.psum.mod_alloc(base_bank=0, num_bank_tiles=(8,))"),
    );
    runs(FIRST, &sum("ncc.psum.mod_alloc(base_bank=7)"));
    runs(
        FIRST,
        &sum("ncc.psum.alloc(lambda idx, pdim_size, fdim_size: (idx[0] % 3, 0, 0))"),
    );
    for allocator in [
        "ncc.psum.mod_alloc(base_bank=8)",
        "ncc.psum.mod_alloc(base_bank=0, num_bank_tiles=(9,))",
        "ncc.psum.mod_alloc(base_bank=7, base_addr=4)",
    ] {
        refused(
            FIRST,
            &sum(allocator),
            "allocation-out-of-bounds",
            2,
            &["out of bound"],
        );
    }
    // Half a bank further the product would cross into the next.
    refused(
        FIRST,
        &sum("ncc.psum.mod_alloc(base_bank=0, base_addr=1024)"),
        "psum-bank-crossed",
        4,
        &[],
    );
    for allocator in [
        "ncc.sbuf.alloc(64)",
        "ncc.sbuf.mod_alloc(64)",
        "ncc.sbuf.alloc(lambda idx, pdim_size, fdim_size: fdim_size)",
    ] {
        let failure = run(FIRST, &tensor(allocator)).expect_err(allocator);
        assert!(
            ["argument-type", "mod_alloc"].contains(&failure.code.as_str()),
            "{failure}"
        );
    }
}

#[test]
fn tiles_that_are_live_together_have_addresses_of_their_own() {
    let two = |one: &str, other: &str| {
        format!(
            "t = nl.ndarray((4, nl.par_dim(128), 512), dtype=nl.float32, buffer=ncc.sbuf.mod_alloc({one}))\nu = nl.ndarray((4, nl.par_dim(128), 512), dtype=nl.float32, buffer=ncc.sbuf.mod_alloc({other}))\nfor i in nl.sequential_range(4):\n  t[i] = nl.load(w)\n  u[i] = nl.load(w)\n  t[i] = nl.add(t[i], u[i])\n  nl.store(o, t[i])"
        )
    };
    runs(FIRST, &two("base_addr=0", "base_addr=2048"));
    runs(
        FIRST,
        &two(
            "base_addr=0, num_free_tiles=(2,)",
            "base_addr=4096, num_free_tiles=(2,)",
        ),
    );
    refused(
        FIRST,
        &two("base_addr=0", "base_addr=0"),
        "allocation-overlap",
        6,
        &["line 7", "line 8", "line 11"],
    );
    refused(
        FIRST,
        &two("base_addr=0", "base_addr=1024"),
        "allocation-overlap",
        6,
        &[],
    );
    refused(
        FIRST,
        &two("base_addr=0, num_free_tiles=(2,)", "base_addr=2048"),
        "allocation-overlap",
        6,
        &[],
    );
    // One after the other they may share.
    let turns = "t = nl.ndarray((128, 512), dtype=nl.float32, buffer=ncc.sbuf.mod_alloc(base_addr=0))\nu = nl.ndarray((128, 512), dtype=nl.float32, buffer=ncc.sbuf.mod_alloc(base_addr=0))\nfor i in nl.sequential_range(4):\n  t[...] = nl.load(w)\n  nl.store(o, t)\n  u[...] = nl.load(w)\n  nl.store(o, u)";
    runs(FIRST, turns);
    // Other partitions are another place.
    let halves = "t = nl.ndarray((64, 512), dtype=nl.float32, buffer=ncc.sbuf.mod_alloc(base_addr=0))\nu = nl.ndarray((64, 512), dtype=nl.float32, buffer=ncc.sbuf.mod_alloc(base_addr=0, base_partition=64))\nt[...] = nl.load(w[0:64, :])\nu[...] = nl.load(w[64:128, :])\nnl.store(o[0:64, :], t)\nnl.store(o[64:128, :], u)";
    runs(FIRST, halves);
    refused(
        FIRST,
        &halves.replace("base_partition=64", "base_partition=32"),
        "allocation-overlap",
        5,
        &[],
    );
    // Blocks of one tensor that share a place while both are needed.
    let ahead = "t = nl.ndarray((4, nl.par_dim(128), 512), dtype=nl.float32, buffer=ncc.sbuf.mod_alloc(base_addr=0, num_free_tiles=(2,)))\nt[0] = nl.load(w)\nfor i in nl.sequential_range(3):\n  t[i + 1] = nl.load(w)\n  nl.store(o, t[i])";
    runs(FIRST, ahead);
    refused(
        FIRST,
        &ahead.replace("(2,)", "(1,)"),
        "allocation-overlap",
        5,
        &[],
    );
}
