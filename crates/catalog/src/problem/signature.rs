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
pub fn contradiction(signature: &str, entry: &str, buffers: &[Buffer]) -> Option<String> {
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
    // What is not one of these may be a type of the target's own, as is one that holds bits of
    // floating-point numbers.
    let is_short = |dtype: DataType| dtype.limits().is_none() && dtype != DataType::Float32;
    let type_name = dtype.c_name();
    let known = DataType::ALL.map(DataType::c_name);
    if !is_short(*dtype) && known.contains(&parameter.element) && parameter.element != type_name {
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
