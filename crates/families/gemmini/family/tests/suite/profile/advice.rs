//! What slows a kernel down is named, where it does, and what is said to help does.

use super::evaluators::UNCACHED;
use super::invariants::check;
use super::{baseline, changed, evaluator_of, profile, profile_by};
use autocomp_gemmini_family::profile::{Cause, Profile, Removal};

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
    // It moves as widely as can be, and there are no computations to move between: nothing
    // that is known is left to do.
    assert_eq!(by_loop.remedy, None, "{paragraph}");
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
fn fences_in_the_middle_are_told() {
    let (without, _) = profile(baseline());
    let fenced = changed("        mvout(", "        fence();\n        mvout(");
    let (with, _) = profile(&fenced);
    let fence = |profile: &Profile| profile.cycles_of(Cause::Fence);
    assert!(fence(&without) < fence(&with), "{:?}", with.causes);
    assert!(without.cycles < with.cycles);
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
fn operands_that_hardly_fill_the_array_come_before_what_moving_them_costs() {
    // One channel at a time: one column of the array, and moves of one byte a row.
    let (problem, evaluator) = evaluator_of("gemmini/dwconv3x3-4x28x28x64", UNCACHED);
    let (by_channel, timeline) = profile_by(&evaluator, problem.kernel("fsm").expect("a kernel"));
    check(&by_channel, &timeline);
    assert!(by_channel.habits.narrow_moves);
    let remedy = by_channel.remedy.expect("a remedy");
    assert_eq!(remedy.cause, Cause::Mesh);
    let paragraph = &by_channel.bottleneck;
    assert_eq!(paragraph.matches("Remedy").count(), 1, "{paragraph}");
    assert!(
        paragraph.contains("Remedy: let operands fill the rows"),
        "{paragraph}"
    );
    // The expert's operands do, with zeros beside the numbers: it has nothing like that to gain,
    // and it does gain what was promised.
    let (filled, _) = profile_by(&evaluator, problem.kernel("expert").expect("a kernel"));
    assert!(!filled.habits.narrow_moves);
    assert_eq!(filled.remedy, None, "{}", filled.bottleneck);
    assert!(filled.cycles + remedy.gain <= by_channel.cycles);
}

#[test]
fn write_backs_are_told_where_they_are_the_limit() {
    // Results of 3.2 MB, of which the L2 throws every line out.
    let (problem, evaluator) = evaluator_of("gemmini/gemm-12544x256x64", UNCACHED);
    let (large, timeline) = profile_by(&evaluator, problem.kernel("fsm").expect("a kernel"));
    check(&large, &timeline);
    let roofline = &large.roofline;
    assert_eq!(
        roofline.write_back_cycles,
        large.memory.lines_written * 163 / 10
    );
    assert!(roofline.compute_cycles < roofline.write_back_cycles);
    assert!(9 * large.cycles < 10 * roofline.write_back_cycles);
    let paragraph = &large.bottleneck;
    for told in [
        ", the write-back of dirty lines 81",
        "bound by write-backs, which no kernel for the problem has less of",
        "With writes behind the L2 that are acknowledged at once it would take ",
        "with the least possible to move: at most ",
    ] {
        assert!(paragraph.contains(told), "{told}: {paragraph}");
    }
    assert_eq!(large.remedy, None);
    let without = large
        .what_if
        .iter()
        .find(|it| it.without == Removal::WriteBacks);
    assert!(without.expect("tried").cycles < large.cycles);
    // Nothing of what fits into the L2 is written back.
    let (small, _) = profile(baseline());
    assert_eq!(small.roofline.write_back_cycles, 0);
    assert!(
        !small.bottleneck.contains("write-back"),
        "{}",
        small.bottleneck
    );
}

#[test]
fn what_a_kernel_does_already_is_not_suggested() {
    let (plain, _) = profile(baseline());
    assert!(plain.habits.fences_once && plain.habits.wide_moves && !plain.habits.wide_stores);
    let fenced = changed("        mvout(", "        fence();\n        mvout(");
    let (fenced, _) = profile(&fenced);
    assert!(!fenced.habits.fences_once);
}
