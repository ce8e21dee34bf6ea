//! Whether a signature and the buffers of a problem say the same.
//!
//! Arguments are passed by position, so a signature of another order or other extents
//! would compile and compare something else than what is described.

use super::Buffer;
use crate::data_type::DataType;

/// Words that say nothing about a parameter's elements.
const QUALIFIERS: [&str; 5] = ["const", "volatile", "restrict", "__restrict", "static"];

/// One parameter, as far as it is plain: `const int8_t A[16][64]`.
pub(super) struct Parameter<'s> {
    /// Its type, in one word or several: `float`, `unsigned int`.
    pub(super) element: String,
    pub(super) name: &'s str,
    /// Stars in front of the name.
    stars: usize,
    /// Between each pair of brackets.
    pub(super) extents: Vec<&'s str>,
}

impl<'s> Parameter<'s> {
    pub(super) fn parse(text: &'s str) -> Option<Self> {
        if text.contains('(') {
            return None;
        }
        let (declared, dimensions) = match text.find('[') {
            Some(at) => (&text[..at], &text[at..]),
            None => (text, ""),
        };
        let words = declared
            .split(|c: char| c.is_whitespace() || c == '*')
            .filter(|word| !word.is_empty() && !QUALIFIERS.contains(word));
        let mut words: Vec<&str> = words.collect();
        let name = words.pop().filter(|_| !words.is_empty())?;
        let element = words.join(" ");
        let extents = dimensions.split_terminator(']');
        let extents: Option<Vec<&str>> = extents
            .map(|it| Some(it.trim_start().strip_prefix('[')?.trim()))
            .collect();
        Some(Self {
            element,
            name,
            stars: declared.matches('*').count(),
            extents: extents?,
        })
    }

    /// Returns how many indices lead to an element: none for a plain value.
    pub(super) fn dimensions(&self) -> usize {
        self.stars + self.extents.len()
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

/// Returns the texts of the parameters of a signature, given with the name of its function.
pub(super) fn parameters<'s>((signature, entry): (&'s str, &str)) -> Option<Vec<&'s str>> {
    let (_, rest) = signature.split_once(&format!("{entry}("))?;
    let (all, _) = rest.rsplit_once(')')?;
    let mut depth = 0;
    let split = all.split(|c: char| {
        match c {
            '(' => depth += 1,
            ')' => depth -= 1,
            _ => {}
        }
        c == ',' && depth == 0
    });
    Some(split.map(str::trim).collect())
}

/// Returns the name that a parameter declares, the last word in front of its extents; empty for
/// the address of a function or of an array.
pub(super) fn name_of(parameter: &str) -> &str {
    let declared = parameter.split('[').next().unwrap_or_default();
    let name = declared
        .split(|c: char| c.is_whitespace() || c == '*')
        .rfind(|it| !it.is_empty());
    name.filter(|it| !it.contains(['(', ')']))
        .unwrap_or_default()
}

/// Returns in what the parameters of `signature`, which is that of `entry`, contradict
/// `buffers` and the names of `arguments`, which may stand anywhere between them. What is not
/// plainly written is left to the compiler.
pub fn contradiction(
    (signature, entry): (&str, &str),
    buffers: &[Buffer],
    arguments: &[&str],
) -> Option<String> {
    let all = parameters((signature, entry))?;
    let (of_buffers, passed): (Vec<_>, Vec<_>) = all
        .into_iter()
        .enumerate()
        .partition(|(_, text)| !arguments.contains(&name_of(text)));
    if of_buffers.len() != buffers.len() {
        let (found, wanted) = (of_buffers.len() + passed.len(), buffers.len());
        let others = match passed.len() {
            0 => String::new(),
            others => format!(", arguments among them: {others}"),
        };
        return Some(format!(
            "parameters in the signature: {found}, buffers: {wanted}{others}"
        ));
    }
    let pairs = of_buffers.into_iter().zip(buffers);
    pairs
        .filter_map(|((idx, text), buffer)| Some((idx, Parameter::parse(text)?, buffer)))
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
    if !is_short(*dtype)
        && known.contains(&parameter.element.as_str())
        && parameter.element != type_name
    {
        let found = &parameter.element;
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
