//! The form in which a reference in Python is told of a problem and gets and gives elements.

use super::FILE;
use autocomp_catalog::{Argument, Buffer, DataType, Problem};
use autocomp_eval::EvalError;
use autocomp_eval::comparison::place;
use autocomp_eval::inputs::Case;
use serde::Serialize;
use std::collections::BTreeMap;

/// What the caller of a reference is told of a problem.
#[derive(Serialize)]
pub(super) struct Told<'p> {
    buffers: Vec<ToldBuffer<'p>>,
    arguments: BTreeMap<&'p str, serde_json::Value>,
}

#[derive(Serialize)]
struct ToldBuffer<'p> {
    name: &'p str,
    dtype: &'static str,
    /// The form in which numbers are exchanged, as Python's `struct` calls it.
    code: char,
    shape: &'p [u64],
    least: f64,
    most: f64,
    /// Bytes of an input.
    sent: usize,
    is_read: bool,
    is_written: bool,
}

/// Returns the buffers that a reference returns, in their order.
pub(super) fn outputs(problem: &Problem) -> impl Iterator<Item = &Buffer> {
    problem.buffers.iter().filter(|buffer| buffer.is_written())
}

/// Returns how Python's `struct` calls the form in which the elements of a type are exchanged:
/// floating point shorter than single precision as numbers of double precision, which hold its
/// values, so that what is computed is rounded once.
fn code(dtype: DataType) -> char {
    match dtype {
        DataType::Int8 => 'b',
        DataType::UInt8 => 'B',
        DataType::Int16 => 'h',
        DataType::UInt16 => 'H',
        DataType::Int32 => 'i',
        DataType::UInt32 => 'I',
        DataType::Bool => '?',
        DataType::Float32 => 'f',
        DataType::Float16
        | DataType::BFloat16
        | DataType::Float8E4M3
        | DataType::Float8E4M3Fn
        | DataType::Float8E5M2 => 'd',
    }
}

/// Returns how many bytes the elements of a buffer take as they are exchanged.
pub(super) fn sent_bytes(buffer: &Buffer) -> usize {
    match code(buffer.dtype) {
        'd' => buffer.elements() * size_of::<f64>(),
        _ => buffer.bytes(),
    }
}

/// First byte of a case.
const CASE: u8 = 1;

/// Appends the inputs of a case as a reference is told of them.
pub(super) fn push_case(problem: &Problem, case: &Case, bytes: &mut Vec<u8>) {
    bytes.push(CASE);
    for (buffer, content) in problem.buffers.iter().zip(&case.before) {
        if let Some(content) = content.as_deref().filter(|_| buffer.is_read()) {
            push_sent(buffer.dtype, content, bytes);
        }
    }
}

/// Appends elements in the form in which they are exchanged.
fn push_sent(dtype: DataType, content: &[u8], bytes: &mut Vec<u8>) {
    if code(dtype) != 'd' {
        bytes.extend_from_slice(content);
        return;
    }
    for element in content.chunks(dtype.bytes()) {
        bytes.extend(dtype.value(element).to_le_bytes());
    }
}

/// Returns what the buffers that are written hold, from their elements as they are exchanged.
pub(super) fn received(
    problem: &Problem,
    set: &str,
    mut content: &[u8],
) -> Result<Vec<Option<Vec<u8>>>, EvalError> {
    let mut after = Vec::new();
    for buffer in &problem.buffers {
        if !buffer.is_written() {
            after.push(None);
            continue;
        }
        let (own, rest) = content.split_at(sent_bytes(buffer));
        content = rest;
        let own = match code(buffer.dtype) {
            'd' => {
                let mut bytes = Vec::with_capacity(buffer.bytes());
                for number in own.as_chunks().0 {
                    buffer.dtype.push(f64::from_le_bytes(*number), &mut bytes);
                }
                bytes
            }
            _ => own.to_vec(),
        };
        let mut elements = own.chunks(buffer.dtype.bytes());
        if let Some(at) = elements.position(|it| buffer.dtype.value(it).is_nan()) {
            return Err(EvalError::Input {
                message: format!(
                    "{FILE} of {} gives no number for {} on input set `{set}`",
                    problem.name,
                    place(buffer, at)
                ),
                remedies: vec![
                    "let it give a number for every element of its inputs, or fill them otherwise"
                        .into(),
                ],
            });
        }
        after.push(Some(own));
    }
    Ok(after)
}

/// Returns what the buffers that are written hold, which was kept as `bytes`; nothing if it
/// does not fit.
pub fn parts(problem: &Problem, bytes: &[u8]) -> Option<Vec<Option<Vec<u8>>>> {
    let mut rest = bytes;
    let mut after = Vec::new();
    for buffer in &problem.buffers {
        after.push(if buffer.is_written() {
            let (content, others) = rest.split_at_checked(buffer.bytes())?;
            rest = others;
            Some(content.to_vec())
        } else {
            None
        });
    }
    rest.is_empty().then_some(after)
}

pub(super) fn told(problem: &Problem) -> Told<'_> {
    let buffers = problem.buffers.iter().map(|buffer| {
        let (least, most) = buffer.dtype.limits().unwrap_or_default();
        ToldBuffer {
            name: &buffer.name,
            dtype: buffer.dtype.name(),
            code: code(buffer.dtype),
            shape: &buffer.shape,
            least,
            most,
            sent: sent_bytes(buffer),
            is_read: buffer.is_read(),
            is_written: buffer.is_written(),
        }
    });
    let arguments = problem.arguments.iter();
    Told {
        buffers: buffers.collect(),
        arguments: arguments
            .map(|(name, value)| (name.as_str(), constant(value)))
            .collect(),
    }
}

/// Returns a value as JSON has it: a type by its name.
fn constant(value: &Argument) -> serde_json::Value {
    match value {
        Argument::Bool(value) => (*value).into(),
        Argument::Integer(value) => (*value).into(),
        Argument::Number(value) => (*value).into(),
        Argument::Text(text) => text.as_str().into(),
        Argument::Several(items) => items.iter().map(constant).collect(),
        Argument::Type(of) => of.dtype.name().into(),
        Argument::Buffer(of) => of.buffer.as_str().into(),
    }
}
