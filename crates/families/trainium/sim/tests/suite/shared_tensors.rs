//! Tensors that two cores share: where they are made, what a meeting brings over of them, what is
//! returned of them.

use autocomp_trainium_sim::{Dtype, Options, evaluate, parse_inputs};

use crate::cores::{OWN_HALF, input, kernel, outputs, refused, run};

/// Twice the input.
fn twice() -> Vec<f32> {
    input().iter().map(|it| 2.0 * it).collect()
}

/// A kernel of two cores with the body `body` that gets a tensor `o` in `buffer` made outside of it.
fn outside(buffer: &str, body: &str) -> String {
    kernel(body)
        .replace("def kernel(a):", "def kernel(a, o):")
        .replace("  o = nl.ndarray((8, 8), dtype=nl.float32, buffer=nl.shared_hbm)\n", "")
        .replace(
            "  return kernel[2](a)\n",
            &format!("  o = nl.ndarray((8, 8), dtype=nl.float32, buffer=nl.{buffer})\n  kernel[2](a, o)\n  return o\n"),
        )
}

#[test]
fn what_is_made_outside_of_the_kernel_is_one_for_both_cores() {
    let double = "nisa.tensor_scalar(dst=y, data=x, op0=nl.multiply, operand0=2.0)\n";
    for buffer in ["shared_hbm", "hbm"] {
        let halves = outside(
            buffer,
            &format!(
                "{OWN_HALF}{double}nisa.dma_copy(dst=o[nl.ds(4 * p, 4), :], src=y)\nnisa.core_barrier(o, (0, 1))\nnisa.dma_copy(dst=x, src=o[nl.ds(4 * (1 - p), 4), :])\n"
            ),
        );
        let found = run(&halves, "a:f32[8,8]").unwrap_or_else(|it| panic!("{it}\n{halves}"));
        assert_eq!(found.outputs[0].data, twice(), "{buffer}");
        let both = outside(
            buffer,
            &format!("{OWN_HALF}{double}nisa.dma_copy(dst=o[0:4, :], src=y)\n"),
        );
        let found = run(&both, "a:f32[8,8]").unwrap_err();
        assert_eq!(found.code, "cores-race", "{buffer}: {found}");
    }
}

/// A tensor of an earlier kernel is written in a later one, and the two kernels make as many again.
#[test]
fn what_an_earlier_kernel_made_stays_shared() {
    let body = format!(
        "{OWN_HALF}nisa.dma_copy(dst=o[nl.ds(4 * p, 4), :], src=x)\nif before is not None:\n  nisa.tensor_scalar(dst=y, data=x, op0=nl.multiply, operand0=2.0)\n  nisa.dma_copy(dst=before[nl.ds(4 * p, 4), :], src=y)\n"
    );
    let source = kernel(&body)
        .replace("def kernel(a):", "def kernel(a, before):")
        .replace(
            "  return kernel[2](a)\n",
            "  first = kernel[2](a, None)\n  kernel[2](a, None)\n  kernel[2](a, first)\n  return first\n",
        );
    let found = run(&source, "a:f32[8,8]").unwrap_or_else(|it| panic!("{it}\n{source}"));
    assert_eq!(found.outputs[0].data, twice());
}

#[test]
fn both_cores_return_the_same() {
    let write = "nisa.memset(dst=x, value=1)\n";
    let another = refused(&format!(
        "q = nl.ndarray((8, 8), dtype=nl.float32, buffer=nl.shared_hbm)\n{write}r = q if p == 1 else o\nnisa.dma_copy(dst=r[0:4, :], src=x)\nreturn r\n"
    ));
    let another_part = refused(&format!(
        "{write}nisa.dma_copy(dst=o[nl.ds(4 * p, 4), :], src=x)\nreturn o[nl.ds(4 * p, 4), :]\n"
    ));
    // A tensor that each core has for itself, stored after the kernel to one that both return.
    let other_numbers = kernel(
        "h = nl.ndarray((4, 8), dtype=nl.float32, buffer=nl.hbm)\nnisa.memset(dst=x, value=1)\nif p == 1:\n  nisa.memset(dst=x, value=2)\nnisa.dma_copy(dst=h, src=x)\nreturn o, h\n",
    )
    .replace(
        "  return kernel[2](a)\n",
        "  o, h = kernel[2](a)\n  nisa.dma_copy(dst=o[0:4, :], src=h)\n  return o\n",
    );
    let other_numbers = run(&other_numbers, "a:f32[8,8]").unwrap_err().to_string();
    let wanted = [
        "line 10: core 0 returns the tensor made at line 7 where core 1 returns that made at line 10",
        "line 7: core 0 returns another part of the tensor made at line 7 than core 1",
        "line 7: element 0 of the tensor made at line 7 is 1 on core 0 and 2 on core 1",
    ];
    let found = [another, another_part, other_numbers];
    for (found, wanted) in found.iter().zip(wanted) {
        assert!(
            found.starts_with(wanted) && found.contains("[cores-out-of-step]"),
            "{found}"
        );
    }
}

/// Half of the bytes of an element are known on one core when the other writes the other half.
#[test]
fn a_meeting_brings_over_elements_that_are_known_in_part() {
    let body = "s = nl.ndarray((8, 4), dtype=nl.float32, buffer=nl.shared_hbm)\nw = nl.ndarray((8, 8), dtype=nl.float32, buffer=nl.sbuf)\nh = nl.ndarray((8, 8), dtype=nl.bfloat16, buffer=nl.sbuf)\nnisa.dma_copy(dst=w, src=a)\nnisa.tensor_copy(dst=h, src=w)\nv = s.view(nl.bfloat16)\n";
    let all = "  nisa.dma_copy(dst=h, src=v)\n  nisa.tensor_copy(dst=w, src=h)\n  nisa.dma_copy(dst=o, src=w)\n";
    let rounded: Vec<f32> = input()
        .iter()
        .map(|it| Dtype::Bfloat16.round(*it))
        .collect();
    // The first brings columns 0 to 2, or those that the second does not write between its own.
    for (first, second) in [("0:3", "3:8"), ("0:8:4", "1:8:4")] {
        let rest = match second {
            "3:8" => "",
            _ => {
                "  nisa.dma_copy(dst=v[:, 2:8:4], src=h[:, 2:8:4])\n  nisa.dma_copy(dst=v[:, 3:8:4], src=h[:, 3:8:4])\n"
            }
        };
        let found = outputs(&format!(
            "{body}if p == 1:\n  nisa.dma_copy(dst=v[:, {first}], src=h[:, {first}])\nnisa.core_barrier(s, (0, 1))\nif p == 0:\n  nisa.dma_copy(dst=v[:, {second}], src=h[:, {second}])\n{rest}{all}"
        ));
        assert_eq!(found, rounded, "{first} {second}");
    }
    // Core 0 knows halves of elements that lie between those which core 1 writes.
    let found = outputs(&format!(
        "{body}if p == 0:\n  nisa.dma_copy(dst=v[:, 2:5], src=h[:, 2:5])\nif p == 1:\n  nisa.dma_copy(dst=v[:, 0:2], src=h[:, 0:2])\n  nisa.dma_copy(dst=v[:, 6:8], src=h[:, 6:8])\nnisa.core_barrier(s, (0, 1))\nif p == 0:\n  nisa.dma_copy(dst=v[:, 5:6], src=h[:, 5:6])\n{all}"
    ));
    assert_eq!(found, rounded);
}

/// The work of a meeting is that of what was touched, however far apart it lies.
#[test]
fn a_meeting_takes_no_work_for_what_lies_between() {
    let work = |columns: usize| {
        let source = kernel(&format!(
            "s = nl.ndarray((4, {columns}), dtype=nl.float32, buffer=nl.shared_hbm)\n{OWN_HALF}for i in range(20):\n  nisa.dma_copy(dst=s[:, nl.ds(8 * p, 8)], src=x)\n  nisa.core_barrier(s, (0, 1))\nnisa.dma_copy(dst=o[nl.ds(4 * p, 4), :], src=x)\n"
        ));
        let found = run(&source, "a:f32[8,8]").unwrap_or_else(|it| panic!("{it}\n{source}"));
        assert_eq!(found.outputs[0].data, input());
        found.work
    };
    let (near, far) = (work(8192), work(1 << 20));
    assert!(far < 2 * near, "{near} {far}");
}

/// A kernel meets on what still is, not on all that earlier ones made, so that many of them take
/// memory for each of them once.
#[test]
fn tensors_that_nobody_has_any_more_are_forgotten() {
    let source = kernel(&format!(
        "{OWN_HALF}nisa.dma_copy(dst=o[nl.ds(4 * p, 4), :], src=x)\n"
    ))
    .replace("  return kernel[2](a)\n", "BETWEEN  return o\n");
    let between_launches = "  for i in range(2000):\n    o = kernel[2](a)\n";
    let before_them = "  for i in range(300):\n    t = nl.ndarray((1024, 4096), dtype=nl.float32, buffer=nl.hbm)\n    fill(a, t)\n  o = kernel[2](a)\n";
    let fill = "@nki.jit\ndef fill(a, t):\n  x = nl.ndarray((8, 8), dtype=nl.float32, buffer=nl.sbuf)\n  nisa.dma_copy(dst=x, src=a)\n  nisa.dma_copy(dst=t[0:8, 0:8], src=x)\n";
    let inputs = parse_inputs("a:f32[8,8]", Some(7)).unwrap();
    for (between, byte_limit) in [(between_launches, 32 << 20), (before_them, 256 << 20)] {
        let options = Options {
            generation: 3,
            byte_limit,
            ..Options::default()
        };
        let source = source
            .replace("BETWEEN", between)
            .replace("def solution", &format!("{fill}def solution"));
        let found = evaluate(&source, "solution", &inputs, &options);
        assert_eq!(found.unwrap().outputs[0].data, input());
    }
}
