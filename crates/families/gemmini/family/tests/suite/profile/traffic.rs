//! What is moved is counted: bytes of buffers, lines of the memory system, local rows.

use super::evaluators::UNCACHED;
use super::{baseline, changed, evaluator_of, evaluator_ranked, profile, profile_by};
use autocomp_catalog::Ranking;

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
