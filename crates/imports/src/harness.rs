//! Test programs of the original Autocomp in C (`harnesses/TYPE/testN.c`), made problems: their
//! shapes, the inputs they draw, and what they compare with.
//!
//! A program compares with what a function of the vendor's library leaves in `gold`. Of these,
//! the products of matrices and the convolutions that the original's programs call are known
//! here, each with its definition in plain C.

mod comments;
mod expression;
mod preprocessor;
mod reference;
mod statements;
mod whole;

use preprocessor::Preprocessed;
use reference::{Computed, Operand, computed};
use statements::{Array, Fill, arrays, fills};
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// Products of a definition at most: it is computed several times before a problem counts as made.
const MOST_PRODUCTS: u64 = 1 << 33;

/// A problem made of a test program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HarnessProblem {
    /// Names and texts of its files.
    pub files: BTreeMap<String, String>,
    /// Declaration of its function.
    pub signature: String,
    /// What does not map, one line each.
    pub remarks: Vec<String>,
}

/// A parameter of the function that is tested.
struct Tensor {
    name: String,
    /// As problems name it.
    dtype: &'static str,
    shape: Vec<u64>,
    fill: Option<Fill>,
}

/// Reads a test program whose kernels are for `target`, a name that the caller knows.
///
/// # Errors
/// What is not understood, in words that follow the file's name.
pub fn read_harness(source: &str, target: &str) -> Result<HarnessProblem, String> {
    let mut read = Preprocessed::of(source)?;
    let arrays = arrays(&read)?;
    let fills = fills(&read, &arrays);
    let output = read.expanded("OUTPUT_MATRIX_NAME")?;
    let Computed {
        inputs,
        output,
        what,
        macs,
        axes,
        body,
    } = computed(&read, &output)?;
    if MOST_PRODUCTS < macs {
        return Err(format!(
            "its definition takes {macs} products, and more than {MOST_PRODUCTS} would take minutes to compute"
        ));
    }
    if fills.contains_key("gold") {
        return Err("it writes `gold` itself".into());
    }
    let gold = Operand {
        name: "gold".into(),
        shape: output.shape.clone(),
        ..output
    };
    for operand in inputs.iter().chain([&output, &gold]) {
        check_declared(operand, &arrays)?;
    }
    let mut remarks = Vec::new();
    let mut tensors = Vec::new();
    let n_inputs = inputs.len();
    for (idx, operand) in inputs.into_iter().chain([output]).enumerate() {
        let Operand { name, dtype, shape } = operand;
        let fill = fills.get(&name).cloned().flatten();
        if idx < n_inputs && fill.is_none() {
            remarks.push(format!(
                "how it fills `{name}` is not understood: values of either sign are drawn"
            ));
        }
        tensors.push(Tensor {
            name,
            dtype,
            shape,
            fill,
        });
    }
    let parameters: Vec<String> = tensors.iter().map(parameter).collect();
    let signature = format!("void solution({})", parameters.join(", "));
    let mut files = BTreeMap::new();
    let description = Description {
        target,
        what: &what,
        signature: &signature,
        macs,
        axes: &axes,
    };
    files.insert("problem.toml".into(), description.text(&tensors));
    files.insert(
        "reference.c".into(),
        format!(
            "// What the test program of the original compares with.\n{signature} {{\n{body}}}\n"
        ),
    );
    let names: String = read
        .names()?
        .into_iter()
        .map(|(name, value)| format!("{name} = \"{value}\"\n"))
        .collect();
    files.insert("harness.toml".into(), names);
    Ok(HarnessProblem {
        files,
        signature,
        remarks,
    })
}

/// Checks that an array is declared as the call takes it.
fn check_declared(operand: &Operand, arrays: &BTreeMap<String, Array>) -> Result<(), String> {
    let Operand { name, dtype, shape } = operand;
    let declared = arrays
        .get(name)
        .ok_or_else(|| format!("it declares no array `{name}`"))?;
    let own = match declared.kind.as_str() {
        "elem_t" | "int8_t" => "int8",
        "acc_t" | "int32_t" => "int32",
        other => return Err(format!("elements of type `{other}` are not known")),
    };
    if own != *dtype {
        return Err(format!(
            "elements of `{name}` are {own}, and the call takes {dtype}"
        ));
    }
    if declared.shape != *shape {
        let [own, taken] = [&declared.shape, shape].map(|shape| {
            let extents: Vec<String> = shape.iter().map(u64::to_string).collect();
            extents.join("x")
        });
        return Err(format!(
            "`{name}` is declared as {own}, and the call takes {taken}"
        ));
    }
    Ok(())
}

fn is_part(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

fn is_name(text: &str) -> bool {
    text.chars().all(is_part) && !text.is_empty() && !text.starts_with(|c: char| c.is_ascii_digit())
}

/// What stands in a description beside its buffers.
struct Description<'a> {
    target: &'a str,
    what: &'a str,
    signature: &'a str,
    macs: u64,
    axes: &'a [(&'static str, Vec<String>)],
}

impl Description<'_> {
    fn text(&self, tensors: &[Tensor]) -> String {
        let bytes: u64 = tensors.iter().map(bytes).sum();
        let mut text = format!(
            "target = \"{}\"\ndescription = \"{}\"\nentry = \"solution\"\nsignature = \"{}\"\ntolerance = {{ kind = \"exact\" }}\n\n[work]\nmacs = {}\nbytes = {bytes}\n",
            self.target, self.what, self.signature, self.macs
        );
        let last = tensors.len() - 1;
        for (
            idx,
            Tensor {
                name, dtype, shape, ..
            },
        ) in tensors.iter().enumerate()
        {
            let role = if idx == last { "output" } else { "input" };
            // Writing to a text cannot fail.
            let _ = write!(
                text,
                "\n[[buffer]]\nname = \"{name}\"\ndtype = \"{dtype}\"\nshape = {shape:?}\nrole = \"{role}\"\n"
            );
        }
        for (name, of) in self.axes {
            let _ = write!(text, "\n[[axis]]\nname = \"{name}\"\nof = {of:?}\n");
        }
        let inputs = &tensors[..last];
        let drawn = |name: &str, fill: &dyn Fn(&Tensor) -> String| {
            let fills = inputs
                .iter()
                .map(|it| format!("fill.{} = {}\n", it.name, fill(it)));
            format!(
                "\n[[input_set]]\nname = \"{name}\"\nfresh = true\n{}",
                fills.collect::<String>()
            )
        };
        text += &drawn("signed", &|it| signed(it.dtype));
        text += &drawn("original", &|it| match &it.fill {
            Some(fill) => fill.to_string(),
            None => signed(it.dtype),
        });
        text
    }
}

/// Values of either sign, small enough for sums that stay within int8 for the most part.
fn signed(dtype: &str) -> String {
    let most = if dtype == "int8" { 2 } else { 50 };
    format!("{{ kind = \"uniform\", low = -{most}, high = {most} }}")
}

fn bytes(tensor: &Tensor) -> u64 {
    let width = if tensor.dtype == "int8" { 1 } else { 4 };
    width * tensor.shape.iter().product::<u64>()
}

fn parameter(tensor: &Tensor) -> String {
    let extents: String = tensor.shape.iter().map(|it| format!("[{it}]")).collect();
    format!("{}_t {}{extents}", tensor.dtype, tensor.name)
}
