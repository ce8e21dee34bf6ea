//! Each lane of an engine has a partition of its own: views that give it another one move data, which
//! takes a transfer or a product.

use crate::costs::{cost, refusal, timed};

const REFUSED: &str = "leading-dimension-of-tensor-must-be-partition";

/// Bodies of the second dialect whose last line has an operand that no engine reads or writes.
const SECOND: &[(&str, &str)] = &[
    (
        "one partition for all",
        "nisa.tensor_copy(dst=o, src=t.ap(pattern=[[0, 128], [1, 512]], offset=0))",
    ),
    (
        "one partition for all, by broadcast_to",
        "nisa.tensor_copy(dst=o, src=t[0:1, :].broadcast_to((128, 512)))",
    ),
    (
        "partitions from behind",
        "nisa.tensor_copy(dst=o[0:32, :], src=t.ap(pattern=[[-512, 32], [1, 512]], offset=49152))",
    ),
    (
        "every second partition",
        "nisa.tensor_copy(dst=o[0:64, :], src=t.ap(pattern=[[1024, 64], [1, 512]], offset=0))",
    ),
    (
        "every second partition, by a slice",
        "nisa.tensor_copy(dst=o[0:64, :], src=t[0:128:2, :])",
    ),
    (
        "the second operand",
        "nisa.tensor_tensor(dst=o, data1=t, data2=t.ap(pattern=[[0, 128], [1, 512]], offset=0), op=nl.add)",
    ),
    (
        "an operand of the matrix engine",
        "nisa.nc_matmul(dst=nl.ndarray((128, 512), dtype=nl.float32, buffer=nl.psum), stationary=t[:, 0:128], moving=t.ap(pattern=[[0, 128], [1, 512]], offset=0))",
    ),
    (
        "a target with every second partition",
        "nisa.tensor_copy(dst=o.ap(pattern=[[1024, 64], [1, 512]], offset=0), src=t[0:64, :])",
    ),
    (
        "a target from behind",
        "nisa.activation(dst=o.ap(pattern=[[-512, 32], [1, 512]], offset=49152), op=nl.exp, data=t[0:32, :])",
    ),
    (
        "a target that is cleared",
        "nisa.memset(dst=o.ap(pattern=[[1024, 64], [1, 512]], offset=0), value=0.0)",
    ),
];

/// Access patterns that lead out of the partition that they begin in.
const LEAVING: &[(&str, &str)] = &[
    (
        "one column further in each partition",
        "nisa.tensor_copy(dst=o[0:64, 0:64], src=t.ap(pattern=[[513, 64], [1, 64]], offset=0))",
    ),
    (
        "rows and columns exchanged",
        "nisa.tensor_copy(dst=o[0:64, 0:64], src=t.ap(pattern=[[1, 64], [512, 64]], offset=0))",
    ),
    (
        "several partitions in a row",
        "nisa.tensor_copy(dst=o[0:32, :], src=t.ap(pattern=[[512, 32], [512, 2], [1, 256]], offset=0))",
    ),
];

/// The same of the first dialect, where `i` and `j` are indices of rows and columns.
const FIRST: &[(&str, &str)] = &[
    ("one partition for all", "o[i, j] = nl.copy(t[0 * i, j])"),
    ("partitions from behind", "o[i, j] = nl.copy(t[127 - i, j])"),
    (
        "every second partition",
        "o[h, j] = nl.multiply(t[2 * h, j], 2.0)",
    ),
    (
        "one column further in each partition",
        "o[i, n] = nl.exp(t[i, i + n])",
    ),
    ("rows and columns exchanged", "o[h, m] = nl.exp(t[m, h])"),
    (
        "the second operand",
        "o[i, j] = nl.add(t[i, j], t[127 - i, j])",
    ),
    ("an operator", "o[i, j] = t[127 - i, j] * 2.0"),
    (
        "a target with every second partition",
        "o[2 * h, j] = nl.copy(t[h, j])",
    ),
    (
        "a target with one column further in each partition",
        "o[i, i + n] = nl.exp(t[i, n])",
    ),
];

const INDICES: &str = "i, j = nl.arange(128)[:, None], nl.arange(512)[None, :]
h, m, n = nl.arange(64)[:, None], nl.arange(64)[None, :], nl.arange(128)[None, :]
";

#[test]
fn engines_move_nothing_between_partitions() {
    for (name, body) in SECOND {
        let (code, line) = refusal(false, body);
        assert_eq!((code.as_str(), line), (REFUSED, 1), "{name}");
    }
    for (name, body) in LEAVING {
        let (code, line) = refusal(false, body);
        assert_eq!(
            (code.as_str(), line),
            ("tensor-access-out-of-bound", 1),
            "{name}"
        );
    }
    for (name, body) in FIRST {
        let (code, line) = refusal(true, &format!("{INDICES}{body}"));
        assert_eq!((code.as_str(), line), (REFUSED, 3), "{name}");
    }
}

#[test]
fn what_each_partition_does_with_its_own_is_free() {
    let plain = cost(false, "nisa.tensor_copy(dst=o, src=t)");
    for (name, view) in [
        ("whole", "t.ap(pattern=[[512, 128], [1, 512]], offset=0)"),
        (
            "one column",
            "t.ap(pattern=[[512, 128], [0, 512]], offset=7)",
        ),
        (
            "columns in groups",
            "t.ap(pattern=[[512, 128], [0, 2], [1, 256]], offset=0)",
        ),
    ] {
        let found = cost(false, &format!("nisa.tensor_copy(dst=o, src={view})"));
        assert!(
            (0.9..1.3).contains(&(found / plain)),
            "{name}: {found} ns, {plain} ns"
        );
    }
    timed(
        false,
        "nisa.tensor_copy(dst=o, src=t.ap(pattern=[[512, 128], [-1, 512]], offset=511))",
    );
    timed(false, "nisa.tensor_copy(dst=o[0:64, :], src=t[64:128, :])");
    timed(
        true,
        &format!("{INDICES}o[h, j] = nl.copy(t[h + 64, 511 - j])"),
    );
}

#[test]
fn moving_between_partitions_takes_time() {
    // By transfers and products it can be done, for more than a copy takes.
    let copy = cost(false, "nisa.tensor_copy(dst=o, src=t)");
    for view in [
        "t.ap(pattern=[[0, 128], [1, 512]], offset=0)",
        "t.ap(pattern=[[-512, 128], [1, 512]], offset=65024)",
    ] {
        let moved = cost(false, &format!("nisa.dma_copy(dst=o, src={view})"));
        assert!(copy < moved, "{view}: {moved} ns, {copy} ns");
    }
    let copy = cost(true, "o[...] = nl.copy(t)");
    let spread = cost(true, "o[...] = nl.copy(t[0:1, :].broadcast_to((128, 512)))");
    assert!(copy < spread, "{spread} ns, {copy} ns");
}
