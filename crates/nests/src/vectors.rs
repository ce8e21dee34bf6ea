//! How vectors are written in C, and which instructions on them are asked for by name.
//!
//! Everything that is said about them in C stands in `gnu`, which x86, Neon and RISC-V
//! vectors share: compilers choose the instructions. What they do not find by themselves is
//! a row in the table of `dots`.

mod dots;
pub(super) mod gnu;

pub use dots::Dots;

use std::collections::BTreeSet;
use std::ops::RangeInclusive;

/// Lanes that a vector may have.
pub(super) const WIDTHS: RangeInclusive<u32> = 4..=128;

/// C that stands in front of a kernel: types of vectors, and functions on them.
#[derive(Clone, Debug, Default)]
pub(super) struct Preamble {
    types: BTreeSet<(u32, String)>,
    narrow: BTreeSet<(u32, String)>,
    functions: BTreeSet<(u32, &'static str)>,
    strided: BTreeSet<(u32, String)>,
    /// Groups of registers that powers are computed in.
    powers: BTreeSet<String>,
}

/// Text of the function that loads elements which lie equally far apart.
const STRIDED: &str = include_str!("functions/strided.c");

/// Text of the function on a group of registers that computes powers.
const POWERS: &str = include_str!("functions/powers.c");

/// What keeps products and sums of a function apart. On RISC-V a number that is added takes a vector
/// if it is added to a product.
const UNFUSED: &str = "#ifdef __riscv_vector\n#pragma clang fp contract(off)\n#endif\n";

/// Text of the functions on vectors; `LANES` stands for their number.
const FUNCTIONS: &[(&str, &str, &[&str])] = &[
    ("chosen", include_str!("functions/chosen.c"), &[]),
    ("larger", include_str!("functions/larger.c"), &["chosen"]),
    ("smaller", include_str!("functions/smaller.c"), &["chosen"]),
    ("step", include_str!("functions/step.c"), &[]),
    (
        "reciprocal",
        include_str!("functions/reciprocal.c"),
        &["larger", "smaller"],
    ),
    ("sqrtf", include_str!("functions/sqrtf.c"), &[]),
    ("fabsf", include_str!("functions/fabsf.c"), &[]),
    ("rintf", include_str!("functions/rintf.c"), &[]),
    ("floorf", include_str!("functions/floorf.c"), &[]),
    ("ceilf", include_str!("functions/ceilf.c"), &[]),
    ("truncf", include_str!("functions/truncf.c"), &[]),
    (
        "expf",
        include_str!("functions/expf.c"),
        &["larger", "smaller", "step"],
    ),
    (
        "tanhf",
        include_str!("functions/tanhf.c"),
        &["smaller", "step", "expf", "fabsf", "reciprocal"],
    ),
    (
        "erff",
        include_str!("functions/erff.c"),
        &["larger", "smaller", "step", "reciprocal"],
    ),
];

impl Preamble {
    /// Returns the name of the type of `lanes` elements of type `kind`.
    pub(super) fn vector(&mut self, lanes: u32, kind: &str) -> String {
        self.types.insert((lanes, kind.to_owned()));
        type_name(lanes, kind)
    }

    /// Returns the name of the type of narrower elements in memory.
    pub(super) fn narrow(&mut self, lanes: u32, kind: &str) -> String {
        self.narrow.insert((lanes, kind.to_owned()));
        narrow_name(lanes, kind)
    }

    /// Returns the name of a function on vectors of floats.
    pub(super) fn function(&mut self, lanes: u32, name: &str) -> Option<String> {
        let (name, _, needed) = FUNCTIONS.iter().find(|(known, ..)| *known == name)?;
        self.types.insert((lanes, "float".into()));
        self.types.insert((lanes, "int32_t".into()));
        for needed in *needed {
            self.function(lanes, needed)?;
        }
        self.functions.insert((lanes, name));
        Some(format!("each_{name}_{lanes}"))
    }

    /// Returns the name of the function that loads elements of type `kind` which lie equally far
    /// apart: it takes the place of the first one, and how many elements there are between.
    pub(super) fn strided(&mut self, lanes: u32, kind: &str) -> String {
        self.vector(lanes, kind);
        self.strided.insert((lanes, kind.to_owned()));
        format!("each_{kind}_{lanes}_apart")
    }

    /// Takes up functions on groups of registers that compute powers.
    pub(super) fn by_length(&mut self, groups: BTreeSet<String>) {
        self.powers.extend(groups);
    }

    /// Returns everything that was asked for as C; whether products and sums are fused where each
    /// number takes a vector for that.
    pub(super) fn text(&self, fused: bool) -> String {
        let mut text = String::new();
        for (lanes, kind) in &self.types {
            let name = type_name(*lanes, kind);
            text += &gnu::defined(&name, kind, *lanes, bytes_of(kind));
        }
        for (lanes, kind) in &self.narrow {
            let bytes = lanes * bytes_of(kind);
            text += &gnu::defined_narrow(&narrow_name(*lanes, kind), kind, bytes);
        }
        for (lanes, kind) in &self.strided {
            let numbers: Vec<String> = (0..*lanes).map(|it| it.to_string()).collect();
            let elements: Vec<String> = (0..*lanes)
                .map(|it| format!("first[{it} * stride]"))
                .collect();
            text += &STRIDED
                .replace("VECTOR", &type_name(*lanes, kind))
                .replace("KIND", kind)
                .replace("LANES", &lanes.to_string())
                .replace("NUMBERS", &numbers.join(", "))
                .replace("ELEMENTS", &elements.join(", "));
        }
        for group in &self.powers {
            text += &POWERS.replace("GROUP", group);
        }
        // In the order of the list, so that each stands behind what it needs.
        for (name, body, _) in FUNCTIONS {
            for (lanes, _) in self.functions.iter().filter(|(_, wanted)| wanted == name) {
                let body = body.replace("LANES", &lanes.to_string());
                text += &match fused {
                    true => body.replace(UNFUSED, ""),
                    false => body,
                };
            }
        }
        text
    }
}

fn narrow_name(lanes: u32, kind: &str) -> String {
    format!("narrow_{kind}_{lanes}")
}

fn type_name(lanes: u32, kind: &str) -> String {
    match kind {
        "float" => format!("vector_f{lanes}"),
        "int8_t" => format!("vector_b{lanes}"),
        "uint8_t" => format!("vector_c{lanes}"),
        "int16_t" => format!("vector_h{lanes}"),
        "uint16_t" => format!("vector_u{lanes}"),
        "_Float16" => format!("vector_e{lanes}"),
        _ => format!("vector_i{lanes}"),
    }
}

/// Returns the size of an element.
pub(super) fn bytes_of(kind: &str) -> u32 {
    match kind {
        "int8_t" | "uint8_t" => 1,
        "int16_t" | "uint16_t" | "_Float16" => 2,
        _ => 4,
    }
}

/// Returns whether a type has fewer than 32 bits.
pub(super) fn is_narrow(kind: &str) -> bool {
    ["int8_t", "uint8_t", "int16_t", "uint16_t", "_Float16"].contains(&kind)
}

/// Returns the type of 32 bits that vectors compute elements of a type in.
pub(super) fn computed_in(kind: &str) -> &'static str {
    match kind {
        "float" | "_Float16" => "float",
        _ => "int32_t",
    }
}
