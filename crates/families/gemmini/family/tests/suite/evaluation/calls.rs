//! The timed calls of a kernel: none helps another one, and who helps in timing them
//! makes no difference.

use super::evaluators::{UNCACHED, evaluator_for};
use super::{SETTINGS, baseline, catalog, ending, evaluator, small, support, without_tiers};
use autocomp_catalog::Ranking;
use autocomp_core::Outcome;
use autocomp_eval::{Evaluator, EvaluatorSettings};
use autocomp_gemmini_family::GemminiEvaluator;

#[test]
fn kernels_that_look_at_results_or_clocks_are_timed_as_if_nobody_helped() {
    // As many instructions whatever `n` is, but another line of the caches.
    let look = "static char table[64][64];\nstatic void look(int n) { ((volatile char *)table[n & 63])[0] = 1; }";
    // Nothing but C differs in the end, not even what is left in registers.
    let zero = "static int zero(int n) { return n; }\nstatic int (*volatile last)(int) = zero;";
    let code = "static uint32_t code[2] = {0x00150513, 0x00008067};";
    let kernels = [
        ("does neither", baseline()),
        (
            "looks where results say",
            ending(
                look,
                "fence();\nfor (int i = 0; i < 64; i++) look(C[i][i] & 7);",
            ),
        ),
        (
            "the same by way of memory of its own",
            ending(
                &format!("{look}\nstatic int8_t kept[16][16] __attribute__((aligned(64)));"),
                "config_st(16);\nmvout(kept, 0x80000000, 16, 16);\nfence();\nfor (int i = 0; i < 16; i++) look(kept[i][i] & 7);",
            ),
        ),
        (
            "looks where the clock says",
            ending(look, "fence();\nlook(read_cycles());"),
        ),
        (
            "looks where a counter says",
            ending(
                look,
                "fence();\ncounter_configure(0, 45);\nmvin(A, 0, 16, 16);\nfence();\nlook(counter_read(0) & 63);",
            ),
        ),
        (
            "is right unless it is timed",
            ending(
                zero,
                "fence();\nint8_t other, *volatile to[2] = {&other, &C[0][0]};\n\
                 uint64_t begin = read_cycles(), x = begin;\nfor (int i = 0; i < 100; i++) x /= (x & 3) + 1;\n\
                 *to[(1500 + (x >> 63) - (read_cycles() - begin)) >> 63] = 99;\nlast(0);",
            ),
        ),
        (
            "is right unless a counter counts cycles",
            ending(
                zero,
                "fence();\nint8_t other, *volatile to[2] = {&other, &C[0][0]};\n\
                 counter_configure(0, 1);\nmvin(A, 0, 16, 16);\nfence();\n*to[(0 - counter_read(0)) >> 31] = 99;\nlast(0);",
            ),
        ),
        (
            "changes code in its data",
            ending(
                &format!("{look}\n{code}"),
                "int (*volatile f)(int) = (int (*)(int))code;\nlook(f(3));\n((volatile uint32_t *)code)[0] ^= 7 << 20;\nlook(f(3) & 31);",
            ),
        ),
        (
            "has what it loads written over",
            ending(
                look,
                "fence();\nmvout(C, 0x80000000, 16, 16);\nlook(C[0][0] & 7);",
            ),
        ),
        (
            "crashes the second time",
            ending("static int calls;", "if (calls++) *(volatile int *)0 = 1;"),
        ),
    ];
    let cache = support::cache_folder();
    let with = |threads| EvaluatorSettings {
        use_cache: false,
        threads,
        ..SETTINGS
    };
    let evaluate = |evaluator: &GemminiEvaluator, kernel: &str| {
        without_tiers(&evaluator.evaluate(kernel).expect("works"))
    };
    let alone = evaluator(&cache, with(1));
    let mut outcomes = Vec::new();
    let helped = evaluator(&cache, with(2));
    for (name, kernel) in &kernels {
        let expected = evaluate(&alone, kernel);
        assert_eq!(evaluate(&helped, kernel), expected, "{name}");
        outcomes.push(expected.outcome);
    }
    use Outcome::{Crashed, Illegal, Ok, Wrong};
    assert_eq!(
        outcomes,
        [Ok, Ok, Ok, Ok, Ok, Wrong, Wrong, Wrong, Illegal, Crashed]
    );
}

#[test]
fn the_size_of_the_code_is_a_figure() {
    let cache = support::cache_folder();
    let evaluator = evaluator(&cache, SETTINGS);
    let bytes = ["", "if (0 < k) k += 2 * j;"].map(|end| {
        let end = format!("volatile int j = 1, k = 0;\n{end}");
        let evaluation = evaluator.evaluate(&ending("", &end)).expect("works");
        evaluation.measurement.expect("a right kernel").figures["code_bytes"]
    });
    assert!((4..100).contains(&(bytes[1] - bytes[0])), "{bytes:?}");
}

#[test]
fn a_warm_call_takes_as_long_whether_the_cold_one_before_it_took_time_or_not() {
    let cache = support::cache_folder();
    let evaluator = evaluator(&cache, SETTINGS);
    // A kernel that reads the clock is called cold and then warm, in one machine.
    let cycles = ["", "read_cycles();"].map(|end| {
        let evaluation = evaluator.evaluate(&ending("", end)).expect("works");
        let measurement = evaluation.measurement.expect("a right kernel");
        [measurement.figures["cold_cycles"], measurement.cost.value]
    });
    let [alone, together] = cycles;
    assert!(alone[1] + 500 < alone[0], "{cycles:?}");
    // Reading the clock takes some cycles of its own, and a line of code at first.
    for (idx, more) in [200, 20].into_iter().enumerate() {
        let (alone, together) = (alone[idx], together[idx]);
        assert!(alone < together && together < alone + more, "{cycles:?}");
    }
}

/// Returns the baseline with `condition` before it, which decides whether it takes its
/// time first.
fn dawdling(declarations: &str, condition: &str) -> String {
    let dawdle = "static void dawdle(void) { for (volatile int i = 0; i < 9999; i++) {} }";
    let begin = baseline().replacen(
        "{",
        &format!("{{\n{condition}\nif (dawdles) dawdle();\n"),
        1,
    );
    format!("{declarations}\n{dawdle}\n{begin}")
}

#[test]
fn no_call_does_what_another_one_needs() {
    // Less than the loop takes, more than all else.
    const DAWDLE: u64 = 100_000;
    let identity = "int dawdles = 0;\nfor (int k = 0; k < 64; k++) dawdles |= B[k][k] != 1 || B[k][k ^ 1] != 0;";
    let kernels = [
        ("always", dawdling("", "int dawdles = 1;")),
        (
            "in the first call only",
            dawdling("static int calls;", "int dawdles = !calls++;"),
        ),
        ("unless B is special", dawdling("", identity)),
        (
            "in the first call only, and reads the clock",
            dawdling(
                "static int calls;",
                "read_cycles();\nint dawdles = !calls++;",
            ),
        ),
        // What calls leave in the accelerator.
        (
            "unless the accelerator is configured",
            dawdling(
                "static const int8_t ones[16] = {1};\nstatic int8_t seen[2][64];",
                "mvin(ones, 0, 16, 2);\nmvout(seen, 0, 16, 2);\nfence();\n\
                 int dawdles = !((volatile int8_t *)seen[1])[0];",
            ),
        ),
        (
            "unless a counter counts bytes",
            dawdling(
                "",
                "int dawdles = !counter_read(3);\ncounter_configure(3, 48);",
            ),
        ),
        (
            "unless bytes were counted before",
            dawdling(
                "",
                "counter_configure(3, 48);\nint dawdles = !counter_read(3);",
            ),
        ),
        (
            "by how often code of its own that has changed is still old",
            dawdling(
                "static volatile uint32_t code[2] = {0x00100513, 0x00008067};\n\
                 static volatile uint32_t first[3] = {0x00100513, 0x00100513, 0x00200513};\n\
                 static volatile int lines[3] = {2, 2, 64}, turns[3] = {2, 2, 2000};",
                "int (*volatile f)(void) = (int (*)(void))code;\nint old = 0, sum = 0;\n\
                 for (volatile int i = 0; i < 3; i++) {\ncode[0] = first[i];\nint n = lines[i], m = turns[i];\n\
                 for (int j = 0; j < n; j++) sum += *(volatile int8_t *)A[j] + *(volatile int8_t *)B[j];\n\
                 old = 0;\nfor (int j = 0; j < m; j++) old += 2 - f();\n}\n\
                 int dawdles = old < 300 || old == 2000;",
            ),
        ),
        (
            "unless the clock has run for long",
            dawdling("", "int dawdles = read_cycles() < 5000;"),
        ),
    ];
    let mut gained = Vec::new();
    for ranking in [Ranking::Warm, Ranking::Cold] {
        let (mut problem, target) = small();
        problem.ranking = ranking;
        let cache = support::cache_folder();
        let settings = EvaluatorSettings {
            threads: 2,
            ..UNCACHED
        };
        let evaluator = evaluator_for(&problem, &target, &cache, settings);
        for (name, kernel) in &kernels {
            let evaluation = evaluator.evaluate(kernel).expect("works");
            let Some(measurement) = evaluation.measurement else {
                let found = &evaluation.diagnostics[0].code;
                assert_eq!(found, "state-between-calls", "{name}");
                continue;
            };
            let ranked = match ranking {
                Ranking::Warm => measurement.cost.value,
                Ranking::Cold => measurement.figures["cold_cycles"],
            };
            if ranked < DAWDLE {
                gained.push((ranking, *name));
            }
        }
    }
    assert!(gained.is_empty(), "{gained:?}");
}

#[test]
fn a_kernel_that_prepares_when_the_clock_says_that_a_call_is_cold_gains_nothing() {
    let catalog = catalog();
    let problem = catalog.problem("gemmini/resadd-784x256");
    let problem = problem.expect("a problem");
    let target = catalog.target(&problem.targets[0]).expect("its target");
    let evaluator = evaluator_for(&problem, &target, &support::cache_folder(), UNCACHED);
    let expert = problem.kernel("expert").expect("a kernel");
    let work = expert.replacen("void solution", "static void work", 1);
    // Lines of A are in memory at first and in the L2 then; instructions are some 50.
    let cycles = [800, u64::MAX].map(|cold| {
        let kernel = format!(
            "{work}\nvoid solution(int8_t A[784][256], int8_t B[784][256], int8_t C[784][256]) {{\n\
             uint64_t begin = read_cycles(), sum = 0;\n\
             for (int i = 0; i < 16; i++) sum += (uint8_t)*(volatile int8_t *)A[i];\n\
             uint64_t took = read_cycles() - begin + sum / 9999;\n\
             int calls = {cold}ul < took ? 4 : 1;\n\
             for (volatile int call = 0; call < calls; call++) work(A, B, C);\n}}\n"
        );
        let evaluation = evaluator.evaluate(&kernel).expect("works");
        evaluation.measurement.expect("a right kernel").cost.value
    });
    let [prepares, does_not] = cycles;
    assert!(does_not <= prepares + prepares / 100, "{cycles:?}");
}

#[test]
fn a_single_input_set_is_enough_to_find_what_is_kept() {
    let kept = "static uint64_t kept[512];\nstatic int called;";
    let kernel = baseline().replacen(
        "{",
        "{\nif (called) { for (int i = 0; i < 512; i++) ((uint64_t *)C)[i] = kept[i]; return; }\n",
        1,
    );
    let (body, _) = kernel.rsplit_once('}').expect("a kernel");
    let keeps = format!(
        "{kept}\n{body}\nfence();\nfor (int i = 0; i < 512; i++) kept[i] = ((uint64_t *)C)[i];\ncalled = 1;\n}}\n"
    );
    let (mut problem, target) = small();
    problem.input_sets.truncate(1);
    for symmetric in [true, false] {
        if !symmetric {
            problem.axes.clear();
        }
        let evaluator = evaluator_for(&problem, &target, &support::cache_folder(), UNCACHED);
        let right = evaluator.evaluate(&baseline()).expect("works");
        assert_eq!(right.outcome, Outcome::Ok);
        let evaluation = evaluator.evaluate(&keeps).expect("works");
        assert_eq!(evaluation.outcome, Outcome::Wrong);
        assert_eq!(evaluation.diagnostics[0].code, "state-between-calls");
    }
}

#[test]
fn a_slow_kernel_has_all_of_its_limit_for_every_call() {
    let evaluator = evaluator(
        &support::cache_folder(),
        EvaluatorSettings {
            use_cache: false,
            max_instructions: Some(20_000),
            ..SETTINGS
        },
    );
    // Eight cycles for each instruction are allowed; a move of a kilobyte takes 64.
    let moves = |count: u32| {
        let text = format!("for (int n = 0; n < {count}; n++) mvin2(A, 8192, 64, 16);\nfence();");
        evaluator.evaluate(&ending("", &text)).expect("works")
    };
    let slow = moves(1500);
    assert_eq!(slow.outcome, Outcome::Ok, "{:?}", slow.diagnostics);
    let too_slow = moves(3000);
    assert_eq!(too_slow.outcome, Outcome::TimedOut);
    assert_eq!(too_slow.diagnostics[0].code, "time-limit");
}
