//! Texts that are no PTX.

use crate::kernels::{LIMITS, kernel_of};
use autocomp_cuda_sim::decode::buffer_address;
use autocomp_cuda_sim::machine::{DeviceMemory, Launch, Order, Run};

const TEXT: &str = "
 mov.u32 %r1, %ctaid.x; mad.lo.u32 %r2, %r1, 64, %t; mul.wide.u32 %d1, %r2, 4; add.u64 %d2, %y, %d1;
 cp.async.cg.shared.global [%r1], [%x], 16; cp.async.commit_group; cp.async.wait_group 0;
 ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r3}, [%r4];
 { .reg .pred p; setp.lt.and.f32 p|%p2, %f1, 0f3F800000, %p1; @!p bra there; }
 bar.sync 0; shfl.sync.bfly.b32 %r5|%p3, %r2, 1, 31, -1; vote.sync.ballot.b32 %r6, %p1, -1;
 there: atom.global.cas.b32 %r7, [%x+8], 1, 2; st.global.v2.u32 [%d2], {%r1, %r2};
 cvt.rn.f16x2.f32 %r8, %f1, %f2; bfe.s64 %d3, %d2, 4, 70; div.s64 %d4, %d2, 0; ex2.approx.ftz.f32 %f3, %f4;
 mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%f5, %f6, %f7, %f8}, {%r2, %r2, %r2, %r2}, {%r3, %r3}, {%f5, %f6, %f7, %f8};
";

/// Reads and runs a text, whatever it is.
fn take(text: &str) {
    let Ok(module) = autocomp_cuda_sim::parse(text, "kernel.cu") else {
        return;
    };
    let Ok(kernels) = autocomp_cuda_sim::decode(&module) else {
        return;
    };
    for kernel in kernels {
        let mut memory = DeviceMemory::new(&module);
        let buffers = [
            memory.add_buffer(vec![0; 256], true),
            memory.add_buffer(vec![0; 512], false),
        ];
        let launch = Launch {
            kernel: kernel.name.clone(),
            grid: [2, 1, 1],
            block: [48, 1, 1],
            dynamic_shared: 16,
            allowed_shared: 0,
            arguments: buffers
                .iter()
                .flat_map(|it| buffer_address(*it).to_le_bytes())
                .collect(),
        };
        let run = Run {
            order: Order::Forward,
            is_watched: true,
            together: 1,
            most_steps: 2000,
            limits: LIMITS,
        };
        let _ = launch.run(&kernel, &mut memory, run);
    }
}

#[test]
fn changed_texts_never_panic() {
    let text = kernel_of(TEXT);
    take(&text);
    let words: Vec<&str> = text.split_inclusive([' ', ',', ';', '.']).collect();
    let mut state = 7_u64;
    let mut draw = |below: usize| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        (state >> 33) as usize % below
    };
    for _ in 0..1500 {
        let mut changed = words.clone();
        for _ in 0..=draw(3) {
            let (at, from) = (draw(changed.len()), draw(words.len()));
            match draw(3) {
                0 => {
                    changed.remove(at);
                }
                1 => changed[at] = words[from],
                _ => changed.insert(at, words[from]),
            }
        }
        take(&changed.concat());
    }
}

#[test]
fn nonsense_has_its_line() {
    let error = autocomp_cuda_sim::parse("\n.visible .entry k()\n{ ret 5 }", "kernel.cu");
    assert_eq!(error.map(|_| ()).map_err(|it| it.line), Err(3));
    let text = kernel_of("wgmma.fence.sync.aligned;");
    let module = autocomp_cuda_sim::parse(&text, "kernel.cu").unwrap_or_else(|it| panic!("{it}"));
    let error = autocomp_cuda_sim::decode(&module).map(|_| ());
    assert!(error.is_err_and(|it| it.is_unsupported && it.message.contains("wgmma.fence")));
}
