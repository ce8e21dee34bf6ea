//! Whether a signature and the buffers of a problem say the same.
//!
//! Arguments are passed by position, so a signature of another order or other extents
//! would compile and compare something else than what is described.

use super::Buffer;
use crate::data_type::DataType;

/// Words that say nothing about a parameter's elements.
const QUALIFIERS: [&str; 5] = ["const", "volatile", "restrict", "__restrict", "static"];

/// One parameter, as far as it is plain: `const int8_t A[16][64]`.
struct Parameter<'s> {
    element: &'s str,
    name: &'s str,
    /// Between each pair of brackets.
    extents: Vec<&'s str>,
}

impl<'s> Parameter<'s> {
    fn parse(text: &'s str) -> Option<Self> {
        let (declared, dimensions) = match text.find('[') {
            Some(at) => (&text[..at], &text[at..]),
            None => (text, ""),
        };
        let mut words = declared
            .split(|c: char| c.is_whitespace() || c == '*')
            .filter(|word| !word.is_empty() && !QUALIFIERS.contains(word));
        let (element, name) = (words.next()?, words.next()?);
        let extents = dimensions.split_terminator(']');
        let extents: Option<Vec<&str>> = extents
            .map(|it| Some(it.trim_start().strip_prefix('[')?.trim()))
            .collect();
        let extents = extents?;
        // Words in front are another type, such as `unsigned char`.
        words.next().is_none().then_some(Self {
            element,
            name,
            extents,
        })
    }

    /// Returns its extents if all are numbers; a missing first one is `wanted`.
    fn numbers(&self, wanted: &[u64]) -> Option<Vec<u64>> {
        let extents = self.extents.iter().enumerate();
        let numbers = extents.map(|(idx, text)| match (idx, *text) {
            (0, "") => wanted.first().copied(),
            (_, text) => text.parse().ok(),
        });
        numbers.collect()
    }
}

/// Returns in what the parameters of `signature`, which is that of `entry`, contradict
/// `buffers`. What is not plainly written is left to the compiler.
pub(super) fn contradiction(signature: &str, entry: &str, buffers: &[Buffer]) -> Option<String> {
    let (_, rest) = signature.split_once(&format!("{entry}("))?;
    let (parameters, _) = rest.rsplit_once(')')?;
    if parameters.contains('(') {
        return None;
    }
    let parameters: Vec<&str> = parameters.split(',').map(str::trim).collect();
    if parameters.len() != buffers.len() {
        let (found, wanted) = (parameters.len(), buffers.len());
        return Some(format!(
            "parameters in the signature: {found}, buffers: {wanted}"
        ));
    }
    let pairs = parameters.iter().zip(buffers).enumerate();
    pairs
        .filter_map(|(idx, (text, buffer))| Some((idx, Parameter::parse(text)?, buffer)))
        .find_map(|(idx, parameter, buffer)| {
            let wrong = mismatch(&parameter, buffer)?;
            Some(format!("parameter {} of the signature {wrong}", idx + 1))
        })
}

fn mismatch(parameter: &Parameter<'_>, buffer: &Buffer) -> Option<String> {
    let Buffer {
        name, dtype, shape, ..
    } = buffer;
    if parameter.name != name {
        let found = parameter.name;
        return Some(format!(
            "is `{found}`, but the buffer at this place is `{name}`"
        ));
    }
    // What is not one of these may be a type of the target's own.
    let known = |dtype: DataType| match dtype {
        DataType::Int8 => Some("int8_t"),
        DataType::UInt8 => Some("uint8_t"),
        DataType::Int32 => Some("int32_t"),
        DataType::Float32 => Some("float"),
        DataType::Float16 | DataType::BFloat16 => None,
    };
    let others = [
        DataType::Int8,
        DataType::UInt8,
        DataType::Int32,
        DataType::Float32,
    ];
    let mut others = others
        .into_iter()
        .filter(|other| other != dtype)
        .filter_map(known);
    if let Some(type_name) = known(*dtype)
        && others.any(|other| other == parameter.element)
    {
        let found = parameter.element;
        return Some(format!(
            "has elements of type `{found}`, those of buffer `{name}` are `{type_name}`"
        ));
    }
    let numbers = parameter.numbers(shape).filter(|it| !it.is_empty())?;
    let same = match numbers.len() == shape.len() {
        true => numbers == *shape,
        // Written flat or split otherwise: as many elements have to come out.
        false => numbers.iter().product::<u64>() == shape.iter().product(),
    };
    (!same).then(|| format!("has the extents {numbers:?}, buffer `{name}` has {shape:?}"))
}

#[cfg(test)]
mod tests {
    use super::contradiction;
    use crate::data_type::DataType;
    use crate::problem::{Buffer, Role};

    fn said(parameters: &str) -> Option<String> {
        let buffer = |name: &str, dtype, shape: &[u64]| Buffer {
            name: name.to_owned(),
            dtype,
            shape: shape.to_vec(),
            role: Role::Input,
            alignment: 64,
            used: None,
        };
        let buffers = [
            buffer("A", DataType::Int8, &[16, 64]),
            buffer("x", DataType::Float32, &[4]),
        ];
        contradiction(
            &format!("void solution({parameters})"),
            "solution",
            &buffers,
        )
    }

    #[test]
    fn what_means_the_same_may_be_written_in_many_ways() {
        for parameters in [
            "int8_t A[16][64], float x[4]",
            "const int8_t A[ 16 ][64],float*x",
            "elem_t A[][64], const float * restrict x",
            "int8_t A[1024], float x[2][2]",
            "signed char A[16][64], float x[N]",
            "int8_t (*A)[64], float x[4]",
        ] {
            assert_eq!(said(parameters), None, "{parameters}");
        }
    }

    #[test]
    fn what_means_something_else_is_told() {
        for (parameters, expected) in [
            (
                "int8_t A[16][64]",
                "parameters in the signature: 1, buffers: 2",
            ),
            (
                "float x[4], int8_t A[16][64]",
                "1 of the signature is `x`, but the buffer at this place is `A`",
            ),
            (
                "int8_t A[16][64], int32_t x[4]",
                "2 of the signature has elements of type `int32_t`, those of buffer `x` are `float`",
            ),
            (
                "int8_t A[64][16], float x[4]",
                "1 of the signature has the extents [64, 16], buffer `A` has [16, 64]",
            ),
            ("int8_t A[16][64], float x[8]", "has the extents [8]"),
            ("int8_t A[512], float x[4]", "has the extents [512]"),
        ] {
            let found = said(parameters).unwrap_or_default();
            assert!(found.contains(expected), "{parameters}: {found}");
        }
    }
}
