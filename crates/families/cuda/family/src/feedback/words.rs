//! What parts of the time are called, and what helps.

/// Stands for what a launch costs however little it does.
pub(super) const LAUNCH: &str = "launch";

/// Says in words what limits a launch.
pub(super) fn words(name: &str) -> &'static str {
    match name {
        "issue" => "issuing instructions",
        "fma" => "the multiply-add units",
        "alu" => "logic, shifts, comparisons, minima and additions of integers",
        "int" => "integer multiplications",
        "special" => "special functions, divisions and conversions",
        "double" => "double precision, of which the GPU has little",
        "tensor" => "the matrix units",
        "shared" => {
            "shared memory: its banks give 128 bytes a cycle, less where threads meet in a bank"
        }
        "l1" => "the L1: sectors and lines that warps touch",
        "latency" => {
            "waiting: too few warps, or too few independent loads and operations, for the latencies"
        }
        "l2" => "traffic between the SMs and the L2",
        "l2_writes" => "writes to the L2: a sector that is written in part takes the place of two",
        "atomics" => "atomic operations: those on one word follow each other",
        "blocks" => "starting blocks",
        "turns" => "blocks that wait for each other, one after the other",
        "alone" => "a block that goes on alone when the others have come",
        LAUNCH => "the launch itself",
        _ => "the memory of the device",
    }
}

/// Says what helps where a part limits a launch.
pub(super) fn remedy(name: &str) -> &'static str {
    match name {
        "issue" => {
            "fewer instructions for each result: blocks of results in registers, vectors of four, \
             unrolled loops, addresses computed once"
        }
        "fma" => "matrix units for half precision, or less to compute",
        "alu" => {
            "indices and conditions computed once, several of them for one vector, three operands \
             of logic at once (`lop3`)"
        }
        "int" => "indices stepped by additions, sizes that are powers of two or known beforehand",
        "special" => "reciprocals computed once, products in place of divisions",
        "double" => "single precision where the tolerance allows (`1.0f`, `sqrtf`)",
        "tensor" => "larger tiles for each warp, so that operands are loaded less often",
        "shared" => {
            "rows padded by a word against conflicts, vectors of four, results in registers"
        }
        "l1" => {
            "neighbouring threads at neighbouring addresses, vectors of four, tiles in shared memory"
        }
        "latency" => {
            "several loads before their first use, more independent sums, more and smaller blocks, \
             fewer registers"
        }
        "l2" => "tiles in shared memory, so that each element is fetched once for a block",
        "l2_writes" => "whole sectors written by neighbouring threads, results written once",
        "atomics" => {
            "sums in registers, by shuffles and in shared memory first, one atomic for a block"
        }
        "blocks" => "fewer blocks, each with more to do",
        "turns" => "blocks that do not wait: parts that a second launch joins",
        "alone" => "all threads of that block at work, several loads at once, or a second launch",
        LAUNCH => "launches made one; where there is one only, little is left to gain",
        _ => "each element read and written once: launches made one, tiles, narrower types",
    }
}

/// Returns the name that a kernel has in its source: its name in PTX says types, too.
pub(super) fn source_name(mangled: &str) -> &str {
    let Some(rest) = mangled.strip_prefix("_Z") else {
        return mangled;
    };
    // Of a name within others the last one counts.
    let mut rest = rest.trim_start_matches(['N', 'L']);
    let mut name = mangled;
    loop {
        let digits = rest.len()
            - rest
                .trim_start_matches(|it: char| it.is_ascii_digit())
                .len();
        let Ok(length) = rest[..digits].parse::<usize>() else {
            return name;
        };
        let Some(next) = rest[digits..].get(..length) else {
            return name;
        };
        name = next;
        rest = rest[digits + length..].trim_start_matches('L');
    }
}
