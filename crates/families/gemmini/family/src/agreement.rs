//! What a target says of its machine in other files, held against the machine's file.
//!
//! A target that inherits takes over files of its parent. What kernels are compiled with and
//! what prompts name must be what the machine has.

use autocomp_catalog::Target;
use autocomp_eval::EvalError;
use autocomp_gemmini::{Elements, GemminiConfig};

/// The header with the sizes of an instance.
const HEADER: &str = "gemmini_params.h";

/// Returns the sizes that kernels may name, as a machine has them.
pub(crate) fn sizes(machine: &GemminiConfig) -> [(&'static str, u64); 7] {
    [
        ("DIM", machine.dim.into()),
        ("BANK_NUM", machine.spad_banks.into()),
        ("BANK_ROWS", machine.spad_bank_rows().into()),
        ("ACC_ROWS", machine.acc_rows().into()),
        ("MAX_BYTES", machine.dma_max_bytes.into()),
        ("MAX_BLOCK_LEN", machine.max_block_len().into()),
        ("MAX_BLOCK_LEN_ACC", machine.max_block_len_acc().into()),
    ]
}

/// Checks that `runtime/gemmini_params.h` and `constants.toml` of `target` say what its
/// machine called `name` has.
///
/// # Errors
/// [`EvalError::Input`] with each name that is contradicted, and its right value.
pub(crate) fn check(target: &Target, name: &str, machine: &GemminiConfig) -> Result<(), EvalError> {
    let header = target.runtime.get(HEADER);
    let header = header.map(|bytes| String::from_utf8_lossy(bytes).into_owned());
    let header = header.unwrap_or_default();
    let mut wrong = Vec::new();
    for (constant, value) in sizes(machine) {
        let defined = defined(&header, constant);
        let told = target.constants.iter().find(|it| it.name == constant);
        let told = told.map(|it| it.value.as_str());
        for (file, said) in [
            ("runtime/gemmini_params.h", defined),
            ("constants.toml", told),
        ] {
            if let Some(said) = said.filter(|said| number(said).is_some_and(|it| it != value)) {
                wrong.push(format!(
                    "{constant} is {said} in {file} and {value} on the machine"
                ));
            }
        }
    }
    let is_float = machine.elements == Elements::Float32;
    if !header.is_empty() && defined(&header, "ELEM_T_IS_FLOAT").is_some() != is_float {
        let elements = if is_float { "floats" } else { "bytes" };
        wrong.push(format!(
            "runtime/gemmini_params.h has other elements than the machine, which has {elements}"
        ));
    }
    if wrong.is_empty() {
        return Ok(());
    }
    Err(EvalError::Input {
        message: format!(
            "target {} contradicts its machine `{name}`: {}",
            target.name,
            wrong.join("; ")
        ),
        remedies: vec![
            "give the target a `runtime/gemmini_params.h` and a `constants.toml` of its own with the values \
             of the machine (a target that inherits takes over its parent's), or correct the machine's file"
                .into(),
        ],
    })
}

/// Returns what the first `#define` of `name` in a header says, without comments.
fn defined<'h>(header: &'h str, name: &str) -> Option<&'h str> {
    header.lines().find_map(|line| {
        let rest = line.trim_start().strip_prefix("#define")?.trim_start();
        let value = rest.strip_prefix(name)?;
        if !value.is_empty() && !value.starts_with([' ', '\t']) {
            return None;
        }
        Some(value.split("/*").next().unwrap_or(value).trim())
    })
}

fn number(text: &str) -> Option<u64> {
    text.trim_matches(['(', ')']).parse().ok()
}
