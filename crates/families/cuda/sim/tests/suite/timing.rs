//! What kernels are estimated to take, and why.

use crate::kernels::{kernel_of, read};
use autocomp_cuda_sim::decode::buffer_address;
use autocomp_cuda_sim::machine::{DeviceMemory, Launch};
use autocomp_cuda_sim::timing::{Estimate, L2, Machine, Sampling, estimate};

const H100: &str = include_str!("../../../../../../targets/cuda-sm90/machines/h100-sxm.toml");

pub fn h100() -> Machine {
    Machine::parse(H100).unwrap_or_else(|error| panic!("{error}"))
}

/// Estimates a body on two buffers of 4 MiB, with an L2 that holds nothing.
pub fn time(body: &str, shape: (u32, u32)) -> Estimate {
    time_after(body, shape, &mut L2::cold())
}

/// The same, with what earlier launches have left in the L2.
pub fn time_after(body: &str, shape: (u32, u32), l2: &mut L2) -> Estimate {
    time_on(&h100(), body, shape, l2)
}

/// The same on another machine.
pub fn time_on(
    machine: &Machine,
    body: &str,
    (blocks, threads): (u32, u32),
    l2: &mut L2,
) -> Estimate {
    let (module, kernel) = read(&kernel_of(body)).unwrap_or_else(|error| panic!("{error}"));
    let mut memory = DeviceMemory::new(&module);
    let buffers = [(); 2].map(|()| memory.add_buffer(vec![0; 4 << 20], true));
    let launch = Launch {
        kernel: kernel.name.clone(),
        grid: [blocks, 1, 1],
        block: [threads, 1, 1],
        dynamic_shared: 0,
        allowed_shared: 0,
        arguments: buffers
            .iter()
            .flat_map(|it| buffer_address(*it).to_le_bytes())
            .collect(),
    };
    let sampling = Sampling {
        blocks: 4,
        seed: 1,
        most_steps: 10_000_000,
        alone: false,
    };
    estimate(&launch, &kernel, &mut memory, machine, sampling, l2)
        .unwrap_or_else(|error| panic!("{error:?}"))
}

/// Returns the nanoseconds of a part.
pub fn part(estimate: &Estimate, name: &str) -> f64 {
    let part = estimate.parts.iter().find(|it| it.name == name);
    part.unwrap_or_else(|| panic!("there is no part {name}")).ns
}

/// Puts into `%d5` the address in `y` of the word of the thread among all of the launch.
pub const OWN_WORD: &str = "
 mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ntid.x;
 mad.lo.u32 %r3, %r1, %r2, %t;
 mul.wide.u32 %d4, %r3, 4; add.u64 %d5, %y, %d4;
";

/// Runs `body` as often as `%r4` says.
pub fn repeated(body: &str) -> String {
    format!(
        " mov.u32 %r5, 0;
again: {body}
 add.u32 %r5, %r5, 1; setp.lt.u32 %p5, %r5, %r4; @%p5 bra again;"
    )
}

#[test]
fn atomic_operations_on_one_word_follow_each_other() {
    let add = |address: &str, kind: &str, value: &str| {
        time(
            &format!(
                "{OWN_WORD} mov.f32 %f1, 0f3f800000; mov.u32 %r6, 1; red.global.add.{kind} [{address}], {value};"
            ),
            (1024, 256),
        )
    };
    let operations = 1024.0 * 256.0;
    // H100, `global_atomic` of micro.tsv: 0.562 and 1.339 in a nanosecond.
    let floats = part(&add("%y", "f32", "%f1"), "atomics");
    assert!(
        (floats * 0.562 / operations - 1.0).abs() < 0.01,
        "{floats} ns"
    );
    let words = part(&add("%y", "u32", "%r6"), "atomics");
    assert!(
        (words * 1.339 / operations - 1.0).abs() < 0.01,
        "{words} ns"
    );
    // 324 in a nanosecond.
    let own = part(&add("%d5", "u32", "%r6"), "atomics");
    assert!((own * 324.0 / operations - 1.0).abs() < 0.05, "{own} ns");
}

#[test]
fn a_word_that_one_block_changes_is_not_as_hot_as_all_blocks_together() {
    let body = format!(
        "{OWN_WORD} mul.wide.u32 %d6, %r1, 4; add.u64 %d7, %y, %d6; mov.u32 %r6, 1;
 red.global.add.u32 [%d7], %r6;"
    );
    let found = time(&body, (1024, 256));
    // 256 of them, one after the other; all of them take longer than that at the L2.
    assert!(
        part(&found, "atomics") < 4096.0,
        "{} ns",
        part(&found, "atomics")
    );
}

/// A loop over an array of `bytes` bytes of each thread, twice.
fn over_an_array(bytes: u32) -> String {
    format!(
        " .local .align 16 .b8 array[{bytes}];
 mov.u64 %d8, array; mov.u32 %r4, {}; mov.u32 %r7, 0;
{}",
        bytes / 2,
        repeated(&format!(
            " shl.b32 %r6, %r5, 2; rem.u32 %r6, %r6, {bytes}; cvt.u64.u32 %d9, %r6;
 add.u64 %d9, %d8, %d9; st.local.u32 [%d9], %r5; ld.local.u32 %r8, [%d9]; add.u32 %r7, %r7, %r8;"
        ))
    )
}

#[test]
fn arrays_of_threads_that_do_not_fit_the_l1_go_to_the_l2() {
    let small = time(&over_an_array(64), (4, 256));
    assert!(small.counts.l2_write_sectors < 0.5);
    // 256 threads with 2 KiB each are more than the L1 has.
    let large = time(&over_an_array(2048), (4, 256));
    assert!(
        256.0 * 2048.0 / 32.0 <= large.counts.l2_write_sectors,
        "{} sectors",
        large.counts.l2_write_sectors
    );
}

/// Loads as often as `turns` says in block 7, once in all others.
fn heavy_block(turns: u32) -> String {
    format!(
        "{OWN_WORD} setp.eq.u32 %p1, %r1, 7; selp.u32 %r4, {turns}, 1, %p1;
{}",
        repeated(
            " mad.lo.u32 %r6, %r5, 4096, %r3; and.b32 %r6, %r6, 1048575;
 mul.wide.u32 %d8, %r6, 4; add.u64 %d9, %x, %d8; ld.global.u32 %r7, [%d9];"
        )
    )
}

#[test]
fn a_block_with_most_of_the_work_stands_for_itself_only() {
    let blocks = 2000;
    let found = time(&heavy_block(200), (blocks, 256));
    // Each turn of a block reads 1 KiB.
    let read = f64::from(blocks - 1 + 200) * 1024.0;
    let ratio = found.l2_bytes / read;
    // By the steps that blocks take, of which the loads are a part only; by their number it
    // would be 37 times as much.
    assert!((0.8..3.0).contains(&ratio), "{ratio} of what is read");
    // But the launch ends with it.
    let latency = part(&found, "latency");
    let even = part(&time(&heavy_block(1), (blocks, 256)), "latency");
    assert!(2.5 * even < latency, "{latency} and {even} ns");
}

/// Of 142 blocks, three do nothing, one goes along a chain of loads, and the others add `turns`
/// times: neither the least nor the most work is that of the chain.
fn hidden_chain(turns: u32) -> Estimate {
    let chain = "mul.wide.u32 %d8, %r7, 4; add.u64 %d9, %x, %d8; ld.global.u32 %r7, [%d9];
         add.u32 %r7, %r7, %r5; mul.lo.u32 %r7, %r7, 64;";
    time(
        &format!(
            "{OWN_WORD} mov.u32 %r7, 0; setp.lt.u32 %p1, %r1, 3; @%p1 bra end;
             mov.u32 %r4, 400; setp.ne.u32 %p1, %r1, 77; @%p1 bra others;
             setp.ne.u32 %p1, %t, 0; @%p1 bra end; {} bra end;
             others: mov.u32 %r4, {turns}; mov.u32 %r5, 0;
             more: mad.lo.u32 %r7, %r7, %r7, %r3; add.u32 %r5, %r5, 1;
             setp.lt.u32 %p5, %r5, %r4; @%p5 bra more; end:",
            repeated(chain)
        ),
        (142, 128),
    )
}

#[test]
fn the_slowest_block_is_seen_whatever_the_others_do() {
    let [little, much] = [1, 200].map(hidden_chain);
    assert!(
        40_000.0 < little.ns && 0.99 * little.ns < much.ns,
        "{} and {} ns",
        little.ns,
        much.ns
    );
}

#[test]
fn an_sm_with_more_blocks_that_work_decides() {
    // Of 264 blocks, two on each SM, those of every second SM have work for the multipliers.
    let body = |mask: u32| {
        format!(
            "{OWN_WORD} and.b32 %r6, %r1, {mask}; setp.eq.u32 %p1, %r6, 0; selp.u32 %r4, 100, 1, %p1;
{}",
            repeated(" mad.lo.u32 %r7, %r7, %r7, %r3;")
        )
    };
    let half = part(&time(&body(1), (264, 1024)), "int");
    let all = part(&time(&body(0), (264, 1024)), "int");
    assert!((half / all - 1.0).abs() < 0.15, "{half} and {all} ns");
}

#[test]
fn banks_take_as_long_as_they_were_measured() {
    // Body, cycles of shared memory and of the L1 for one warp: `shared_bank` and `l1_lines` of
    // micro.tsv, `shared_wavefronts` of the sgemm rows of counters.tsv.
    let address = |words: u32, kind: &str| {
        format!(" mul.lo.u32 %r1, %t, {words}; shl.b32 %r1, %r1, 2; {kind}")
    };
    let shared = |words, load: &str| address(words, &format!("and.b32 %r1, %r1, 1008; {load}"));
    let global = |words, load: &str| {
        address(
            words,
            &format!("cvt.u64.u32 %d1, %r1; add.u64 %d2, %x, %d1; {load}"),
        )
    };
    let four = "ld.shared.v4.u32 {%r2, %r3, %r4, %r5}, [%r1];";
    let cases = [
        (shared(4, four), 4, 0.0),
        (shared(0, four), 2, 0.0),
        (address(8, "ld.shared.u32 %r2, [%r1];"), 8, 0.0),
        (address(7, "ld.shared.u32 %r2, [%r1];"), 1, 0.0),
        (" shfl.sync.bfly.b32 %r2, %r3, 1, 31, -1;".into(), 1, 0.0),
        (global(1, "ld.global.u32 %r2, [%d2];"), 0, 1.0),
        (global(2, "ld.global.u32 %r2, [%d2];"), 0, 2.0),
        (global(32, "ld.global.u32 %r2, [%d2];"), 0, 32.0),
        (
            global(32, "ld.global.v4.u32 {%r2, %r3, %r4, %r5}, [%d2];"),
            0,
            32.0,
        ),
    ];
    for (body, wavefronts, l1) in cases {
        let counts = time(&body, (1, 32)).counts;
        assert_eq!(counts.shared_wavefronts as u64, wavefronts, "{body}");
        assert!(
            (counts.l1_cycles - l1).abs() < 1e-9,
            "{body}: {}",
            counts.l1_cycles
        );
    }
}

#[test]
fn what_the_compiler_of_the_device_joins_is_one() {
    // Four words one behind the other, with other loads between: one load of 16 bytes.
    let words = " mov.u32 %r1, 0;
 ld.shared.u32 %r2, [%r1]; ld.shared.u32 %r6, [%r1+512]; ld.shared.u32 %r3, [%r1+4];
 ld.shared.u32 %r4, [%r1+8]; ld.shared.u32 %r5, [%r1+12];";
    assert_eq!(time(words, (1, 32)).counts.shared_wavefronts as u64, 3);
    // Two halves of a copy of 16 bytes: one store of whole sectors.
    let copy = " shl.b64 %d1, %t4, 2; add.u64 %d2, %y, %d1; mov.u64 %d3, 1;
 st.global.u64 [%d2+8], %d3; st.global.u64 [%d2], %d3;";
    let counts = time(copy, (1, 32)).counts;
    assert_eq!(
        (counts.requests as u64, counts.l2_write_sectors as u64),
        (1, 16)
    );
}

#[test]
fn sectors_that_are_written_in_part_take_the_l2_twice() {
    let store = |shift: u32| {
        let body = format!(
            "{OWN_WORD} shl.b32 %r3, %r3, {shift}; and.b32 %r3, %r3, 1048575;
 mul.wide.u32 %d4, %r3, 4; add.u64 %d5, %y, %d4; st.global.u32 [%d5], %r3;"
        );
        part(&time(&body, (1024, 256)), "l2_writes")
    };
    // Eight times as many sectors, each of them for one word.
    let ratio = store(3) / store(0);
    assert!((ratio - 16.0).abs() < 0.1, "{ratio}");
}

#[test]
fn blocks_that_use_more_memory_stand_for_themselves() {
    // One block of 16 reads 64 times as many sectors, in as many instructions.
    let uneven = |stride: u32| {
        format!(
            "{OWN_WORD} and.b32 %r6, %r1, 15; setp.eq.u32 %p1, %r6, 5; selp.b32 %r7, {stride}, 4, %p1;
             mul.lo.u32 %r8, %t, %r7; cvt.u64.u32 %d6, %r8; add.u64 %d7, %x, %d6; mov.u32 %r4, 16; {}",
            repeated("ld.volatile.global.u32 %r9, [%d7]; add.u64 %d7, %d7, 256;")
        )
    };
    let sectors = |stride: u32| {
        let estimate = time(&uneven(stride), (512, 128));
        part(&estimate, "l2")
    };
    // 480 blocks of 16 sectors and 32 of 128 for each turn, where all have 16 otherwise.
    let ratio = sectors(128) / sectors(4);
    let expected = (480.0 * 16.0 + 32.0 * 128.0 * 2.0) / (512.0 * 16.0);
    assert!((ratio / expected - 1.0).abs() < 0.25, "{ratio} {expected}");
}

#[test]
fn fences_wait_for_the_l2() {
    let with = |fence: &str| time(&format!("mov.u32 %r4, 100; {}", repeated(fence)), (1, 32)).ns;
    let machine = Machine::parse(H100).unwrap_or_else(|error| panic!("{error}"));
    let cycle = 1000.0 / machine.clock_mhz;
    assert!(100.0 * machine.l2_latency * cycle < with("membar.gl;") - with(""));
}

#[test]
fn blocks_that_wait_for_each_other_take_their_time() {
    // One lock for all blocks.
    let lock = |again: &str| {
        format!(
            "setp.ne.u32 %p1, %t, 0; @%p1 bra end;
             again2: atom.global.cas.b32 %r2, [%x], 0, 1; setp.ne.u32 %p2, %r2, 0; {again}
             membar.gl; ld.volatile.global.u32 %r3, [%y]; add.u32 %r3, %r3, 1; st.volatile.global.u32 [%y], %r3;
             membar.gl; atom.global.exch.b32 %r2, [%x], 0; end:"
        )
    };
    let (waits, once) = (
        time(&lock("@%p2 bra again2;"), (512, 32)),
        time(&lock(""), (512, 32)),
    );
    assert_eq!((waits.waits, once.waits), (511, 0));
    assert!(
        511.0 * 300.0 < waits.ns && once.ns < 30_000.0,
        "{} {}",
        waits.ns,
        once.ns
    );
    // In a look-back, each block says its own part first, and waits then.
    let chain = |first: &str| {
        format!(
            "setp.ne.u32 %p1, %t, 0; @%p1 bra end; mov.u32 %r1, %ctaid.x; mul.wide.u32 %d4, %r1, 4;
             add.u64 %d5, %x, %d4; {first} setp.eq.u32 %p3, %r1, 0; @%p3 bra done;
             again2: ld.volatile.global.u32 %r2, [%d5+-4]; setp.eq.u32 %p2, %r2, 0; @%p2 bra again2;
             done: membar.gl; st.volatile.global.u32 [%d5], 2; end:"
        )
    };
    let first = "st.volatile.global.u32 [%d5], 1;";
    assert_eq!(time(&chain(""), (512, 32)).waits, 511);
    // What a block does between its wait and its word is waited for by all behind it.
    let work = "mov.u32 %r4, 40; mov.u32 %r7, 0;".to_owned()
        + &repeated(
            "mul.wide.u32 %d8, %r7, 4; add.u64 %d9, %y, %d8; ld.volatile.global.u32 %r7, [%d9];",
        );
    let works = chain("").replace("done: ", &format!("done: {work}"));
    let one = time(&works, (1, 32)).ns - time(&chain(""), (1, 32)).ns;
    let all = time(&works, (512, 32)).ns - time(&chain(""), (512, 32)).ns;
    assert!(0.8 * 512.0 * one < all, "{one} and {all} ns");
    assert_eq!(time(&chain(first), (512, 32)).waits, 1);
    // A maximum by compare-and-swap is tried anew with what another one has left.
    let maximum = "setp.ne.u32 %p1, %t, 0; @%p1 bra end; mov.u32 %r1, %ctaid.x; ld.volatile.global.u32 %r2, [%x];
        again2: mov.u32 %r5, %r2; max.u32 %r3, %r5, %r1;
        atom.global.cas.b32 %r2, [%x], %r5, %r3; setp.ne.u32 %p2, %r2, %r5; @%p2 bra again2; end:";
    assert_eq!(time(maximum, (512, 32)).waits, 0);
    // A number of its own is no wait.
    let ticket = "atom.global.add.u32 %r2, [%x], 1; setp.eq.u32 %p2, %r2, 9; @%p2 bra end; st.global.u32 [%y], %r2; end:";
    assert_eq!(time(ticket, (512, 32)).waits, 0);
}

#[test]
fn halves_that_change_places_are_instructions() {
    let of = |first: &str| {
        let turned = format!("mov.b32 {{%h1, %h2}}, %r9; mov.b32 %r9, {first};");
        let body = format!(
            "mov.u32 %r9, 7; mov.u32 %r4, 50; {}",
            repeated(&turned.repeat(8))
        );
        part(&time(&body, (1, 128)), "alu")
    };
    let (same, turned) = (of("{%h1, %h2}"), of("{%h2, %h1}"));
    assert!(100.0 < turned - same, "{same} {turned}");
}

#[test]
fn values_that_registers_do_not_hold_are_spilled() {
    let sums = |count: u32| {
        let names = (0..count).map(|it| format!("%s{it}")).collect::<Vec<_>>();
        let each = |text: &dyn Fn(&String) -> String| names.iter().map(text).collect::<String>();
        format!(
            ".reg .f32 %s<400>; {} mov.u32 %r4, 20; {} {}",
            each(&|name| format!("ld.volatile.global.f32 {name}, [%x];")),
            repeated(&each(&|name| format!(
                "fma.rn.f32 {name}, {name}, {name}, {name};"
            ))),
            each(&|name| format!("st.volatile.global.f32 [%y], {name};")),
        )
    };
    let (few, many) = (time(&sums(200), (132, 256)), time(&sums(400), (132, 256)));
    assert_eq!(few.wanted_registers, few.registers);
    assert_eq!(many.registers, 255);
    assert!(400 < many.wanted_registers);
    assert!(5.0 * part(&few, "l1") < part(&many, "l1"));
}

#[test]
fn atomic_operations_on_a_line_follow_each_other() {
    // Each thread adds to a word of its lane: of one line, of one sector, or of 32 lines.
    let with = |shift: u32, mask: u32| {
        let body = format!(
            "and.b32 %r6, %t, {mask}; shl.b32 %r6, %r6, {shift}; cvt.u64.u32 %d6, %r6; add.u64 %d7, %x, %d6;
             mov.u32 %r4, 64; {}",
            repeated("red.global.add.u32 [%d7], %r5;")
        );
        part(&time(&body, (132, 128)), "atomics")
    };
    let (line, sector, lines) = (with(2, 31), with(2, 7), with(7, 31));
    // Eight words of a sector at once, four sectors of a line one after the other; of a sector
    // that four threads of a warp share a word of, four as well.
    assert!((line / sector - 1.0).abs() < 0.01, "{line} {sector}");
    assert!(lines < 0.5 * line, "{lines} {line}");
}

#[test]
fn counting_in_shared_memory_is_one_instruction() {
    let with = |value: &str| {
        let body = format!(
            "mov.u32 %r6, 1; mov.u32 %r7, 2; mov.u32 %r4, 10; {}",
            repeated(&format!("atom.shared.add.u32 %r8, [s], {value};"))
        );
        time(&body, (1, 32)).counts.shared_wavefronts
    };
    assert!((with("%r6") - 10.0).abs() < 0.5);
    assert!((with("%r7") - 320.0).abs() < 0.5);
}
