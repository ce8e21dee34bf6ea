//! Kernel files that belong to no problem: what their first lines and imports tell.

use autocomp_trainium_rewriter::InputShape;
use autocomp_trainium_sim::{Failure, Input, parse_inputs};

/// Returns the inputs that the first line names: `# inputs: a:bf16[512,4096];g:f32[4096]`.
#[allow(dead_code, reason = "only some take inputs from the file")]
pub(crate) fn inputs(source: &str) -> Option<&str> {
    source.lines().next()?.strip_prefix("# inputs: ")
}

/// Returns the machine that runs the dialect of a kernel.
#[allow(dead_code, reason = "the tests name their machine")]
pub(crate) fn machine(source: &str) -> &'static str {
    match source.contains("neuronxcc") {
        true => "trn1",
        false => "trn2",
    }
}

/// Returns the shapes of inputs; numbers and texts have none.
///
/// # Errors
/// What is no list of inputs.
pub(crate) fn shapes(inputs: &str) -> Result<Vec<InputShape>, Box<Failure>> {
    let inputs = parse_inputs(inputs, None)?.into_iter();
    let shapes = inputs.filter_map(|(name, input)| match input {
        Input::Array(it) => Some(InputShape {
            name,
            dtype: it.dtype,
            shape: it.shape,
        }),
        _ => None,
    });
    Ok(shapes.collect())
}
