//! Which remedy helps a kernel with intrinsics as they were called and called with before release
//! 1.0 of their specification ("RISC-V Vector C Intrinsics", 1.0: naming scheme, policies, `vxrm`).

use crate::texts::TEXTS;
use autocomp_bare_metal::Misuse;
use std::fmt::Display;

/// What the names of all intrinsics begin with.
const PREFIX: &str = "__riscv_";

/// Beginnings of the operations that round to integers, which have the mode as an argument.
const ROUNDING: [&str; 8] = [
    "vnclip", "vsmul", "vaadd", "vasub", "vssra", "vssrl", "vnclipu", "vaaddu",
];

/// Returns what helps a kernel that misuses intrinsics or has assembly.
pub(crate) fn remedy(misuse: Misuse<'_>) -> Option<String> {
    let remedies = &TEXTS.remedies;
    match misuse {
        Misuse::Assembly => Some(remedies.of("assembly").to_owned()),
        Misuse::Undeclared(name) => undeclared(name),
        Misuse::TooManyArguments(name) => {
            let operation = name.strip_prefix(PREFIX)?;
            let keeping = match operation.strip_suffix("_m") {
                Some(plain) => format!("`{PREFIX}{plain}_mu` or `{PREFIX}{plain}_tumu`"),
                None => format!("`{name}_tu`"),
            };
            let values: [(&str, &dyn Display); 2] = [("name", &name), ("keeping", &keeping)];
            Some(remedies.filled("too-many-arguments", &values))
        }
        Misuse::TooFewArguments(name) => {
            let operation = name.strip_prefix(PREFIX)?;
            let rounds = ROUNDING.iter().any(|it| operation.starts_with(it));
            let which = if rounds {
                "rounding"
            } else {
                "too-few-arguments"
            };
            Some(remedies.filled(which, &[("name", &name)]))
        }
    }
}

fn undeclared(name: &str) -> Option<String> {
    let said = |which: &str, name: &str| TEXTS.remedies.filled(which, &[("name", &name)]);
    if let Some(operation) = name.strip_prefix(PREFIX) {
        let of_old = is_of_segments(operation) && !operation.contains('x');
        return Some(match of_old {
            true => tuples(name),
            false => said("unknown", name),
        });
    }
    if !is_intrinsic(name) {
        return None;
    }
    let name = format!("{PREFIX}{name}");
    Some(match is_of_segments(&name[PREFIX.len()..]) {
        true => tuples(&name),
        false => said("prefix", &name),
    })
}

/// Says how segments are loaded and stored by the intrinsic that was called `name`.
fn tuples(name: &str) -> String {
    let fields = name.split("seg").nth(1).unwrap_or_default();
    let fields: String = fields.chars().take_while(char::is_ascii_digit).collect();
    let values: [(&str, &dyn Display); 2] = [("name", &name), ("fields", &fields)];
    TEXTS.remedies.filled("tuples", &values)
}

fn is_of_segments(operation: &str) -> bool {
    [
        "vlseg", "vsseg", "vlsseg", "vssseg", "vluxseg", "vloxseg", "vsuxseg", "vsoxseg",
    ]
    .iter()
    .any(|it| operation.starts_with(it))
}

/// Returns whether a name is an intrinsic's without the beginning of all: an operation and a
/// type with its multiple of registers, or a mask.
fn is_intrinsic(name: &str) -> bool {
    let mut words = name.split('_');
    let is_operation = words.next().is_some_and(|first| {
        1 < first.len()
            && first.starts_with('v')
            && first.bytes().all(|it| it.is_ascii_alphanumeric())
    });
    is_operation && words.any(is_type)
}

/// Returns whether a word of a name is a type, as `e32m8`, `f16mf2`, `i32m1x2` or `b4`.
fn is_type(word: &str) -> bool {
    if let Some(ratio) = word.strip_prefix('b') {
        return ["1", "2", "4", "8", "16", "32", "64"].contains(&ratio);
    }
    let bits = word
        .strip_prefix("bf")
        .or(word.strip_prefix(['e', 'i', 'u', 'f']));
    let Some((bits, multiple)) = bits.and_then(|rest| rest.split_once('m')) else {
        return false;
    };
    let multiple = multiple.split('x').next().unwrap_or_default();
    ["8", "16", "32", "64"].contains(&bits)
        && ["1", "2", "4", "8", "f2", "f4", "f8"].contains(&multiple)
}
