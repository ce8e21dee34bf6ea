//! Profiles: every cycle has one cause, and what is said about a kernel is so.

#[path = "support/evaluators.rs"]
mod evaluators;
mod support;

use autocomp_core::Outcome;
use autocomp_eval::profile::{Cause, Profile, Removal, WhatIf};
use autocomp_eval::timeline::{Timeline, Track};
use autocomp_eval::{EvaluatorSettings, GemminiEvaluator, Profiled};
use autocomp_targets::{Catalog, Problem, Ranking};
use evaluators::{UNCACHED, evaluator_for};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::OnceLock;

fn evaluator() -> &'static (Problem, GemminiEvaluator) {
    static MADE: OnceLock<(Problem, GemminiEvaluator)> = OnceLock::new();
    MADE.get_or_init(|| evaluator_of("gemm-64x64x64", UNCACHED))
}

fn evaluator_of(problem: &str, settings: EvaluatorSettings) -> (Problem, GemminiEvaluator) {
    evaluator_ranked(problem, settings, Ranking::Warm)
}

fn evaluator_ranked(
    problem: &str,
    settings: EvaluatorSettings,
    ranking: Ranking,
) -> (Problem, GemminiEvaluator) {
    let mut catalog = Catalog::built_in().expect("built-in data");
    catalog
        .add_folder(Path::new("tests/data/problems"))
        .expect("problems of the tests");
    let mut problem = catalog.problem(problem).expect("a problem");
    problem.ranking = ranking;
    let target = catalog.target(&problem.target).expect("its target");
    let evaluator = evaluator_for(&problem, &target, &support::cache_folder(), settings);
    (problem, evaluator)
}

fn baseline() -> &'static str {
    evaluator().0.kernel("baseline").expect("a baseline")
}

fn profile(source: &str) -> (Profile, Timeline) {
    profile_by(&evaluator().1, source)
}

fn profile_by(evaluator: &GemminiEvaluator, source: &str) -> (Profile, Timeline) {
    match evaluator.profile(source).expect("works") {
        Profiled::Right { profile, timeline } => (*profile, timeline),
        Profiled::Failed(evaluation) => panic!("{:?}", evaluation.diagnostics),
    }
}

/// Returns the baseline with `from`, which must be in it, replaced.
fn changed(from: &str, to: &str) -> String {
    assert!(baseline().contains(from), "{}", baseline());
    baseline().replace(from, to)
}

/// Checks what holds for every profile.
fn check(profile: &Profile, timeline: &Timeline) {
    let sum = |parts: &mut dyn Iterator<Item = u64>| parts.sum::<u64>();
    let causes = sum(&mut profile.causes.iter().map(|it| it.cycles));
    let lines = sum(&mut profile.lines.iter().map(|it| it.cycles));
    assert_eq!((causes, lines), (profile.cycles, profile.cycles));
    let mut by_line: BTreeMap<Cause, u64> = BTreeMap::new();
    for (cause, cycles) in profile.lines.iter().flat_map(|line| &line.causes) {
        *by_line.entry(*cause).or_default() += cycles;
    }
    let named: Vec<Cause> = profile.causes.iter().map(|it| it.cause).collect();
    for cause in Cause::ALL {
        assert!(named.contains(&cause), "{cause:?} is not told");
    }
    for it in &profile.causes {
        let of_lines = by_line.get(&it.cause).copied().unwrap_or(0);
        assert_eq!(of_lines, it.cycles, "{:?}", it.cause);
    }
    assert_eq!(profile.cycles_of(Cause::Unrecorded), 0);
    assert_eq!(profile.cycles_of(Cause::Tlb), 0);
    // The track of causes covers the call without a hole or an overlap.
    let track = timeline.activities.iter();
    let mut track: Vec<(u64, u64)> = track
        .filter(|it| it.track == Track::Cause)
        .map(|it| (it.start, it.cycles))
        .collect();
    track.sort_unstable();
    let mut at = 0;
    for (start, cycles) in track {
        assert_eq!(start, at);
        at += cycles;
    }
    assert_eq!(at, profile.cycles);
    for unit in &profile.units {
        assert!((0.0..=1.0).contains(&unit.occupancy), "{unit:?}");
        assert!(unit.busy_cycles <= profile.cycles, "{unit:?}");
    }
    for full in &profile.station {
        assert!(
            full.working_cycles + full.waiting_cycles <= full.cycles,
            "{full:?}"
        );
        let transfer = full.arriving_cycles + full.outer_wait_cycles;
        assert!(transfer <= full.working_cycles, "{full:?}");
    }
    let core = &profile.core;
    let issue = sum(&mut core.lines.iter().map(|it| it.issue_cycles));
    let waits = sum(&mut core.lines.iter().map(|it| it.wait_cycles));
    let instructions = sum(&mut core.lines.iter().map(|it| it.instructions));
    assert_eq!(issue + waits, core.issue_cycles);
    let unit = profile.units.iter().find(|it| it.unit == "core");
    let waited = core.accelerator_wait_cycles + core.fence_wait_cycles;
    assert_eq!(
        unit.expect("the core").busy_cycles,
        core.issue_cycles - waited
    );
    assert_eq!(instructions, core.instructions);
    for rows in [&profile.scratchpad, &profile.accumulator] {
        let peak = rows.peak.expect("worked out");
        assert!(peak <= rows.used && rows.used <= rows.size, "{rows:?}");
        assert!(!rows.over_time.is_empty() && rows.over_time.len() <= 64);
        assert!(
            rows.over_time.iter().all(|count| *count <= peak),
            "{rows:?}"
        );
    }
    let moved = sum(&mut profile.buffers.iter().map(|it| it.bytes_in + it.bytes_out));
    assert_eq!(moved, profile.bytes_moved);
    for buffer in &profile.buffers {
        assert_eq!(buffer.times.is_none(), buffer.minimum == 0, "{buffer:?}");
    }
    let roofline = &profile.roofline;
    assert!(roofline.moving_cycles() <= profile.cycles, "{roofline:?}");
    assert!(
        roofline.macs_per_cycle <= roofline.attainable,
        "{roofline:?}"
    );
    for experiment in &profile.what_if {
        assert!(
            profile.ideal_cycles <= experiment.cycles,
            "{experiment:?} beats what no kernel can beat"
        );
        assert_eq!(
            experiment.gain,
            profile.cycles.saturating_sub(experiment.cycles)
        );
    }
    assert!(profile.what_if.is_sorted_by_key(|it| it.cycles));
    check_trace(&trace(timeline));
}

fn trace(timeline: &Timeline) -> serde_json::Value {
    let mut text = Vec::new();
    let written = timeline.write_chrome_trace("a kernel", &mut text);
    assert_eq!(written.expect("memory").cut_at, None);
    serde_json::from_slice(&text).expect("JSON")
}

/// Checks a trace against the published description of the trace event format
/// ("Trace Event Format", Google, 2016), as strictly as it can be read: the
/// fields that each phase needs, their types, order, nesting.
fn check_trace(trace: &serde_json::Value) {
    let events = trace["traceEvents"].as_array().expect("a list of events");
    assert!(["ms", "ns"].contains(&trace["displayTimeUnit"].as_str().expect("a unit")));
    let mut names: BTreeMap<u64, String> = BTreeMap::new();
    let mut ends: BTreeMap<u64, u64> = BTreeMap::new();
    let mut counters: BTreeMap<String, u64> = BTreeMap::new();
    let mut last = 0;
    for event in events {
        let number = |key: &str| {
            event[key]
                .as_u64()
                .unwrap_or_else(|| panic!("{key}: {event}"))
        };
        let name = event["name"].as_str().expect("a name");
        assert!(!name.is_empty());
        assert_eq!(number("pid"), 1);
        let arguments = event["args"].as_object().expect("arguments");
        match event["ph"].as_str().expect("a phase") {
            "M" => {
                let told = || arguments["name"].as_str().expect("a name").to_owned();
                match name {
                    "process_name" => assert!(told().contains("cycle")),
                    "thread_name" => {
                        assert!(names.insert(number("tid"), told()).is_none(), "named twice");
                    }
                    "thread_sort_index" => assert!(arguments["sort_index"].is_u64()),
                    other => panic!("metadata {other}"),
                }
            }
            "X" => {
                let (start, thread) = (number("ts"), number("tid"));
                assert!(names.contains_key(&thread), "a thread without a name");
                assert!(last <= start, "not in order of time");
                last = start;
                let end = ends.entry(thread).or_default();
                assert!(*end <= start, "overlap on one thread");
                *end = start + number("dur");
            }
            "C" => {
                let at = counters.entry(name.to_owned()).or_default();
                assert!(*at <= number("ts"), "counters go back");
                *at = number("ts");
                assert!(!arguments.is_empty() && arguments.values().all(|it| it.is_u64()));
            }
            other => panic!("phase {other}"),
        }
    }
    assert!((2..=5).contains(&counters.len()));
    let first = events.iter().find(|it| it["name"] == "thread_name");
    assert_eq!(first.expect("a track")["args"]["name"], "cause");
    assert!(!ends.is_empty());
}

/// What one experiment promises is not more than what is left to gain at all.
fn check_gains(paragraph: &str) {
    let gains: Vec<u64> = paragraph
        .split("at most ")
        .skip(1)
        .filter_map(|rest| rest.split(' ').next()?.parse().ok())
        .collect();
    let most = gains.iter().max();
    if paragraph.contains(" are left to gain.") {
        assert_eq!(gains.last(), most, "{paragraph}");
    }
    assert!(gains.iter().all(|gain| *gain <= 100), "{paragraph}");
}

#[test]
fn every_profile_adds_up() {
    let kernels: [(&str, &[&str]); 4] = [
        (
            "gemmini/gemm-256x256x256",
            &["baseline", "library", "fsm", "expert"],
        ),
        ("gemmini/tinympc-forward-5", &["baseline", "expert"]),
        ("gemmini/tinympc-backward-5", &["baseline"]),
        ("gemmini/resadd-784x256", &["baseline", "fsm", "expert"]),
    ];
    for (name, kernels) in kernels {
        let (problem, evaluator) = evaluator_of(name, UNCACHED);
        for kernel in kernels {
            let source = problem.kernel(kernel).expect("a kernel");
            let (profile, timeline) = profile_by(&evaluator, source);
            check(&profile, &timeline);
            let words = profile.bottleneck.split_whitespace().count();
            assert!(words < 300, "{words} words: {}", profile.bottleneck);
            check_gains(&profile.bottleneck);
        }
    }
}

#[test]
fn causes_and_lines_add_up_to_the_cycles_of_the_call() {
    let (profile, timeline) = profile(baseline());
    check(&profile, &timeline);
    // 64 x 64 x 64 steps, 256 at a time.
    assert_eq!(profile.cycles_of(Cause::Mesh), 1024);
}

#[test]
fn experiments_bound_what_a_change_of_the_kernel_gains() {
    let (same, _) = profile(baseline());
    let without = |removal: Removal| {
        let found = same.what_if.iter().find(|it| it.without == removal);
        found.expect("tried").cycles
    };
    // B in another bank removes what the experiment removes, and not more.
    let (apart, _) = profile(&changed("1024 + k * 64", "4096 + k * 64"));
    assert!(without(Removal::Banks) <= apart.cycles);
    assert!(without(Removal::Banks) < same.cycles);
    assert!(without(Removal::Loads) < same.cycles);
    let told = format!("at most {:.0} %", {
        let most = same.what_if.iter().map(|it| it.gain).max().unwrap_or(0);
        100.0 * most as f64 / same.cycles as f64
    });
    assert!(same.bottleneck.contains(&told), "{}", same.bottleneck);
}

#[test]
fn an_experiment_takes_what_a_call_on_such_a_machine_takes() {
    let (problem, evaluator) = evaluator_of("gemmini/gemm-256x256x256", UNCACHED);
    let source = problem.kernel("library").expect("a kernel");
    let (same, _) = profile_by(&evaluator, source);
    let tried = |it: &&WhatIf| it.without == Removal::Entries;
    let tried = same.what_if.iter().find(tried).expect("tried");
    let mut target = Catalog::built_in()
        .and_then(|catalog| catalog.target(&problem.target))
        .expect("its target");
    let machine = target.machines.get_mut(&target.default_machine);
    let machine = machine.expect("a machine");
    for fewer in ["load_entries = 8\n", "store_entries = 4\n"] {
        assert!(machine.contains(fewer), "{machine}");
        let (name, _) = fewer.split_once(" = ").expect("a setting");
        *machine = machine.replace(fewer, &format!("{name} = 16\n"));
    }
    let larger = evaluator_for(&problem, &target, &support::cache_folder(), UNCACHED);
    let (larger, _) = profile_by(&larger, source);
    assert!(larger.cycles < same.cycles);
    assert_eq!(tried.cycles, larger.cycles);
}

#[test]
fn feedback_by_experiments_is_the_paragraph_of_the_profile() {
    use autocomp_eval::Evaluator as _;
    let settings = EvaluatorSettings {
        experiments: true,
        ..UNCACHED
    };
    let (_, thorough) = evaluator_of("gemm-64x64x64", settings);
    let evaluation = thorough.evaluate(baseline()).expect("works");
    let (profile, _) = profile(baseline());
    let feedback = evaluation.feedback.expect("feedback");
    assert_eq!(feedback.bottleneck, profile.bottleneck);
    // Its verdict is the same, but it is not taken for the other's.
    let quick = evaluator().1.evaluate(baseline()).expect("works");
    assert_eq!(evaluation.measurement, quick.measurement);
    assert_ne!(evaluation.key, quick.key);
}

#[test]
fn what_the_core_executes_is_charged_with_what_it_does_not_send() {
    // A loop that takes the core long before anything is sent.
    let busy = changed(
        "  config_ex(",
        "  volatile int turns = 0;\n    while (turns < 3000) {\n        turns++;\n    }\n  config_ex(",
    );
    let (profile, _) = profile(&busy);
    let lines: Vec<&str> = busy.lines().collect();
    let line = lines
        .iter()
        .position(|line| line.contains("turns++"))
        .expect("there") as u32
        + 1;
    let near = |found: Option<u32>| found.is_some_and(|found| found.abs_diff(line) <= 1);
    let first = profile
        .lines
        .iter()
        .find(|it| it.causes.contains_key(&Cause::CoreIssue));
    assert!(near(first.expect("charged").line), "{:?}", profile.lines);
    assert!(near(profile.core.lines[0].line), "{:?}", profile.core.lines);
    assert!(
        profile.bottleneck.contains("the core has not sent"),
        "{}",
        profile.bottleneck
    );
}

#[test]
fn moves_that_are_in_the_way_are_named() {
    let (profile, _) = profile(baseline());
    let conflict = profile
        .waits
        .iter()
        .find(|it| it.cause == Cause::PortConflict);
    let conflict = conflict.expect("moves in write to the bank that is read");
    let text = |line: u32| baseline().lines().nth(line as usize - 1).unwrap_or("");
    assert!(text(conflict.on_line).contains("mvin"), "{conflict:?}");
    assert!(!text(conflict.line).contains("mvin"), "{conflict:?}");
}

#[test]
fn a_profile_is_of_the_call_that_is_ranked() {
    use autocomp_eval::Evaluator as _;
    let evaluation = evaluator().1.evaluate(baseline()).expect("works");
    let (profile, _) = profile(baseline());
    assert_eq!(evaluation.cycles().map(|it| it.0), Some(profile.cycles));
    let feedback = evaluation.feedback.as_ref().expect("feedback");
    assert_eq!(feedback.counters["mesh_cycles"], 1024.0);
    // Warm calls count unless the problem says otherwise, and are the faster ones.
    let cold = |evaluation: &autocomp_core::Evaluation| {
        let measured = evaluation.measurement.as_ref().expect("right");
        (measured.cycles, measured.cold_cycles)
    };
    let (warm, first) = cold(&evaluation);
    assert!(warm < first, "{warm} {first}");
    let (_, by_cold) = evaluator_ranked("gemm-64x64x64", UNCACHED, Ranking::Cold);
    let evaluation = by_cold.evaluate(baseline()).expect("works");
    assert_eq!(cold(&evaluation), (first, first));
    let (of_cold, _) = profile_by(&by_cold, baseline());
    assert_eq!(of_cold.cycles, first.0);
    // Without experiments less is said, but of the same cycles.
    let first = |text: &str| text.split("; ").next().unwrap_or("").to_owned();
    assert_eq!(first(&feedback.bottleneck), first(&profile.bottleneck));
}

#[test]
fn operands_in_one_bank_are_told_and_moving_them_apart_helps() {
    let (same, _) = profile(baseline());
    let conflict = same.cycles_of(Cause::BankConflict);
    assert!(
        same.bottleneck.contains("in one scratchpad bank"),
        "{}",
        same.bottleneck
    );
    // B moves from bank 0, where A lies, to bank 1.
    let apart = changed("1024 + k * 64", "4096 + k * 64");
    let (apart, _) = profile(&apart);
    assert!(500 < conflict);
    assert_eq!(apart.cycles_of(Cause::BankConflict), 0);
    assert!(apart.cycles < same.cycles);
    assert!(
        !apart.bottleneck.contains("in one scratchpad bank"),
        "{}",
        apart.bottleneck
    );
}

#[test]
fn bytes_are_counted_by_buffer_and_reloads_are_told() {
    let (profile, _) = profile(baseline());
    let moved: Vec<(&str, u64, u64, Option<f64>)> = profile
        .buffers
        .iter()
        .map(|it| (it.buffer.as_str(), it.bytes_in, it.bytes_out, it.times))
        .collect();
    let expected = [
        ("A", 4096, 0, Some(1.0)),
        ("B", 16384, 0, Some(4.0)),
        ("C", 0, 4096, Some(1.0)),
    ];
    assert_eq!(moved, expected);
    // The port takes 16 bytes in and 16 out in a cycle.
    assert_eq!(profile.roofline.memory_cycles, (4096 + 16384) / 16);
    assert_eq!(profile.roofline.ridge, 256.0 * 1280.0 / 24576.0);
    let b = &profile.buffers[1];
    assert_eq!((b.reuse, b.reuse_possible), (Some(16.0), Some(64.0)));
    let told = "most of the excess is B, moved 4.0 times";
    assert!(profile.bottleneck.contains(told), "{}", profile.bottleneck);
}

#[test]
fn traffic_of_the_memory_system_is_counted() {
    let (warm, _) = profile(baseline());
    let memory = &warm.memory;
    // Each of the 64 rows of A is a packet, each of B comes four times, each of C leaves
    // in four parts. All is in the L2, and the core needs nothing from there.
    let packets = 64 + 4 * 64 + 4 * 64;
    assert_eq!((memory.l2_hits, memory.l2_misses), (packets, 0));
    assert_eq!((memory.lines_read, memory.lines_written), (0, 0));
    assert_eq!((memory.core_requests, memory.probes), (0, 0));
    // In the first call nothing is: the 64 lines of each matrix, and some of the code.
    let (_, by_cold) = evaluator_ranked("gemm-64x64x64", UNCACHED, Ranking::Cold);
    let (cold, _) = profile_by(&by_cold, baseline());
    let memory = &cold.memory;
    assert_eq!(memory.l2_hits + memory.l2_misses, packets);
    assert!((3 * 64..packets).contains(&memory.l2_misses), "{memory:?}");
    // A beat is 16 bytes at the port, in and out, and behind the L2 a line takes 8 cycles.
    let busy = ["port-in", "port-out", "outer-memory"].map(|name| {
        let unit = cold.units.iter().find(|it| it.unit == name);
        unit.expect("a way").busy_cycles
    });
    let behind_l2 = memory.lines_read.max(memory.lines_written);
    assert_eq!(busy, [(64 + 4 * 64) * 4, 4 * 64, behind_l2 * 8]);
    assert_eq!(
        (memory.lines_read, memory.core_requests),
        (
            memory.l2_misses + cold.core.misses_behind_l2,
            cold.core.misses_in_l2 + cold.core.misses_behind_l2
        )
    );
    // A core that has written to every line of C has to hand them over.
    let write = "for (int i = 0; i < 64; i++) ((volatile int8_t *)C[i])[0] = 1;\n  config_ex(";
    let (written, _) = profile(&changed("config_ex(", write));
    let memory = &written.memory;
    assert_eq!((memory.core_requests, memory.probes), (64, 64));
    // Three matrices of 3,136 lines, of which one is written, do not fit into 512 KB.
    let (problem, evaluator) = evaluator_of("gemmini/resadd-784x256", UNCACHED);
    let source = problem.kernel("baseline").expect("a kernel");
    let (large, _) = profile_by(&evaluator, source);
    let memory = &large.memory;
    assert!((1..=3136).contains(&memory.lines_written), "{memory:?}");
}

#[test]
fn a_loop_unit_that_waits_for_its_moves_is_not_said_to_be_slow() {
    // The loop unit adds two matrices that lie behind the L2: it sends no move while as
    // many are under way as the station has entries for.
    let (problem, evaluator) = evaluator_of("gemmini/resadd-784x256", UNCACHED);
    let (by_loop, _) = profile_by(&evaluator, problem.kernel("fsm").expect("a kernel"));
    let full = by_loop.cycles_of(Cause::LoadEntries) + by_loop.cycles_of(Cause::StoreEntries);
    assert!(9 * by_loop.cycles < 10 * full, "{:?}", by_loop.causes);
    let paragraph = &by_loop.bottleneck;
    assert!(!paragraph.contains("larger loops"), "{paragraph}");
    assert!(
        paragraph.contains("limited mostly by the memory behind the L2"),
        "{paragraph}"
    );
    // What there is to gain is found by experiments, as with moves that the core sends.
    let tried: Vec<Removal> = by_loop.what_if.iter().map(|it| it.without).collect();
    assert!(tried.contains(&Removal::Loads), "{tried:?}");
    // One tile per loop: the unit has nothing to send while it is configured.
    let (_, evaluator) = evaluator_of("gemm-64x64x64", UNCACHED);
    let small = "
void solution(int8_t A[64][64], int8_t B[64][64], int8_t C[64][64]) {
  config_ex(WEIGHT_STATIONARY, NO_ACTIVATION, 1, false, false);
  config_st(64);
  gemmini_extended3_config_ld(64, 1.0f, false, 0);
  gemmini_extended3_config_ld(64, 1.0f, false, 1);
  for (int i = 0; i < 4; i++)
    for (int j = 0; j < 4; j++)
      gemmini_loop_ws(1, 1, 4, 0, 0, 0, A[16 * i], &B[0][16 * j], 0, &C[16 * i][16 * j], 64, 64, 0,
                      64, 0, 0, 0, 0, 0, NO_ACTIVATION, 0, 0, 0);
  fence();
}";
    let (small, _) = profile_by(&evaluator, small);
    assert!(0 < small.cycles_of(Cause::LoopUnit), "{:?}", small.causes);
    // What is said to do about it is what can be done where a loop unit moves.
    for it in &small.lines {
        assert_eq!(
            it.loop_unit,
            it.text.starts_with("gemmini_loop_ws"),
            "{it:?}"
        );
    }
    let remedies = [&by_loop, &small].map(|it| it.bottleneck.split_once(" Remedy: "));
    for (_, remedy) in remedies.into_iter().flatten() {
        assert!(remedy.contains("loop"), "{remedy}");
    }
}

#[test]
fn rows_between_the_blocks_of_a_wide_move_hold_nothing() {
    // Four blocks of 12 rows, 16 apart: 48 rows, though they span 60. They are moved in
    // first and read when all other rows are in use.
    let early = changed("config_ex(", "mvin(A[0], 8192, 64, 12);\n  config_ex(");
    let early = early.replace("mvin(A[0]", "config_ld(64, 1.0f, 16, 0);\n  mvin(A[0]");
    let late = "if (i + j + jj == 0) {
          mvout(C[0], 8192, 64, 12);
          fence();
        }
        mvout(";
    let gaps = early.replacen("mvout(", late, 1);
    let rows = |source: &str| profile(source).0.scratchpad;
    let (plain, with_gaps) = (rows(baseline()), rows(&gaps));
    assert_eq!(with_gaps.used, plain.used + 48);
    assert_eq!(with_gaps.peak, plain.peak.map(|peak| peak + 48));
}

#[test]
fn fences_in_the_middle_are_told() {
    let (without, _) = profile(baseline());
    let fenced = changed("        mvout(", "        fence();\n        mvout(");
    let (with, _) = profile(&fenced);
    let fence = |profile: &Profile| profile.cycles_of(Cause::Fence);
    assert!(fence(&without) < fence(&with), "{:?}", with.causes);
    assert!(without.cycles < with.cycles);
}

#[test]
fn a_wrong_kernel_has_no_profile() {
    let wrong = changed("mvout(&C[i * 16]", "mvout(&C[0 * i]");
    let result = evaluator().1.profile(&wrong).expect("works");
    let Profiled::Failed(evaluation) = result else {
        panic!("a profile of a wrong kernel");
    };
    assert_ne!(evaluation.outcome, Outcome::Ok);
}

#[test]
fn the_trace_names_lines_and_counts_rows() {
    let (profile, timeline) = profile(baseline());
    let trace = trace(&timeline);
    let events = trace["traceEvents"].as_array().expect("a list");
    let most = |name: &str, of: &str| {
        let steps = events.iter().filter(|event| event["name"] == name);
        steps.filter_map(|it| it["args"][of].as_u64()).max()
    };
    assert_eq!(most("scratchpad", "rows in use"), profile.scratchpad.peak);
    assert_eq!(most("accumulator", "rows in use"), profile.accumulator.peak);
    assert_eq!(most("array", "entries in use"), Some(16));
    let moves = events.iter().filter(|event| event["name"] == "move in B");
    let lines: Vec<_> = moves
        .map(|it| (&it["args"]["line"], &it["args"]["source"]))
        .collect();
    let line = baseline().lines().nth(16).expect("a line").trim();
    let shown: String = line.chars().take(40).collect();
    assert!(
        !lines.is_empty()
            && lines
                .iter()
                .all(|it| *it.0 == 17 && *it.1 == shown.as_str()),
        "{lines:?}"
    );
    // Whatever the core does is one line after the other, until it returns.
    let core = timeline
        .activities
        .iter()
        .filter(|it| it.track == Track::Core);
    let mut at = 0;
    for it in core {
        assert!(at <= it.start, "{it:?}");
        at = it.start + it.cycles;
    }
    assert_eq!(at, profile.core.issue_cycles);
}

#[test]
fn rows_of_a_preload_beyond_those_of_the_multiplication_are_not_multiplications() {
    // Halves of 8 rows, each with an operand of 16 rows beside it.
    let halves = changed(
        "preload(1024 + k * 64 + jj * 16, 0xc0000000 + jj * 16, 16, 16, 16, 16);\n            compute_preloaded(k * 16, 0xffffffff, 16, 16, 16, 16);",
        "for (int half = 0; half < 16; half += 8) {
              preload(1024 + k * 64 + jj * 16, 0xc0000000 + jj * 16 + half, 16, 16, 16, 8);
              compute_preloaded(k * 16 + half, 0xffffffff, 16, 8, 16, 8);
            }",
    );
    let (profile, _) = profile(&halves);
    assert_eq!(
        profile.cycles_of(Cause::Mesh),
        profile.roofline.compute_cycles
    );
    let alone = profile.cycles_of(Cause::PreloadAlone);
    assert!((1000..1300).contains(&alone), "{alone}");
    assert!(
        !profile.bottleneck.contains("useful"),
        "{}",
        profile.bottleneck
    );
}

#[test]
fn moves_that_wait_for_rows_in_use_are_told_and_other_rows_help() {
    let together = changed(
        "mvin3(&B[ko * 64 + k * 16][j * 64], 1024 + k * 64, 64, 16);
        }",
        "}",
    );
    let take_turns = |row: &str| {
        together.replace(
            "          for (int jj = 0; jj < 4; jj++) {
            preload(1024 + k * 64 ",
            &format!(
                "          mvin3(&B[ko * 64 + k * 16][j * 64], {row}, 64, 16);
          for (int jj = 0; jj < 4; jj++) {{
            preload({row} "
            ),
        )
    };
    let (same, other) = (take_turns("4096"), take_turns("4096 + k * 64"));
    assert_ne!(same, other);
    let (same, _) = profile(&same);
    let (other, _) = profile(&other);
    let waits = same.cycles_of(Cause::RowsInUse);
    assert!(same.cycles / 20 < waits, "{waits} of {}", same.cycles);
    let line = same
        .lines
        .iter()
        .max_by_key(|it| it.causes.get(&Cause::RowsInUse));
    assert!(line.expect("a line").text.starts_with("mvin3("), "{line:?}");
    let left = other.cycles_of(Cause::RowsInUse);
    assert!(left < waits / 4, "{left} of {waits}");
    assert!(
        other.cycles + waits / 2 < same.cycles,
        "{} {}",
        other.cycles,
        same.cycles
    );
}

#[test]
fn a_kernel_that_leaves_the_accelerator_alone_is_told_so() {
    let (problem, evaluator) = evaluator_of("near-32", UNCACHED);
    let alone = problem.kernel("baseline").expect("a baseline");
    let (profile, _) = profile_by(&evaluator, alone);
    assert_eq!(profile.what_if, []);
    assert_eq!(profile.roofline.macs_per_byte, None);
    for told in [
        "the core does all the work (line 2: ",
        "No kernel can take less than 12 cycles.",
    ] {
        assert!(profile.bottleneck.contains(told), "{}", profile.bottleneck);
    }
    // A little of the accelerator is no reason to promise what cannot be.
    let little = alone.replacen(
        "  for",
        "  config_ld(16, 1.0f, 4, 0);\n  mvin(0, 0, 4, 4);\n  fence();\n  for",
        1,
    );
    let (profile, timeline) = profile_by(&evaluator, &little);
    check(&profile, &timeline);
    let cycles: Vec<u64> = profile.what_if.iter().map(|it| it.cycles).collect();
    assert_eq!(cycles, [profile.ideal_cycles]);
}

#[test]
fn multipliers_with_nothing_useful_to_do_are_told() {
    // Operands of one column: the rest of the array works on zeros.
    let (problem, evaluator) = evaluator_of("gemmini/tinympc-forward-5", UNCACHED);
    let source = problem.kernel("baseline").expect("a kernel");
    let (profile, _) = profile_by(&evaluator, source);
    assert_eq!(
        profile.cycles_of(Cause::Mesh),
        4 * profile.roofline.compute_cycles
    );
    let told = "with 25 % of its multipliers at useful work";
    assert!(profile.bottleneck.contains(told), "{}", profile.bottleneck);
}

#[test]
fn the_shape_of_the_data_is_stable() {
    let (profile, _) = profile(baseline());
    let value = serde_json::to_value(&profile).expect("serialises");
    let mut keys: Vec<&str> = value
        .as_object()
        .expect("an object")
        .keys()
        .map(String::as_str)
        .collect();
    keys.sort_unstable();
    insta::assert_snapshot!(keys.join("\n"));
}
