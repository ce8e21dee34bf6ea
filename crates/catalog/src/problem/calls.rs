//! How functions in C get `[arguments]`: as parameters of the signature, beside the buffers.

use super::signature::{Parameter, name_of, parameters};
use super::{Argument, Problem};

/// Name of the function that gives a kernel its arguments.
const WRAPPER: &str = "call_with_arguments";

/// Numbers that a type holds: `None` for floating point.
type Limits = Option<(i64, i64)>;

/// Types of parameters in C that numbers are given for, beside those of [`whole`].
const TYPES: [(&str, Limits); 12] = [
    ("int8_t", Some((i8::MIN as i64, i8::MAX as i64))),
    ("int16_t", Some((i16::MIN as i64, i16::MAX as i64))),
    ("int32_t", Some((i32::MIN as i64, i32::MAX as i64))),
    ("int64_t", Some((i64::MIN, i64::MAX))),
    ("uint8_t", Some((0, u8::MAX as i64))),
    ("uint16_t", Some((0, u16::MAX as i64))),
    ("uint32_t", Some((0, u32::MAX as i64))),
    ("uint64_t", Some((0, i64::MAX))),
    ("size_t", Some((0, i64::MAX))),
    ("bool", Some((0, 1))),
    ("float", None),
    ("double", None),
];

/// Returns what C's own types of whole numbers hold, whose words may stand in any order. A `char`
/// has a sign on some processors only.
fn whole(kind: &str) -> Option<(i64, i64)> {
    const WORDS: [&str; 6] = ["signed", "unsigned", "char", "short", "int", "long"];
    let words: Vec<&str> = kind.split_whitespace().collect();
    let counts = WORDS.map(|word| words.iter().filter(|it| **it == word).count());
    if words.is_empty() || words.len() != counts.iter().sum::<usize>() {
        return None;
    }
    let [signed, unsigned, char, short, int, long] = counts;
    let (least, most) = match (char, short, int, long) {
        (1, 0, 0, 0) if signed == 0 => (0, i64::from(i8::MAX)),
        (1, 0, 0, 0) => (i64::from(i8::MIN), i64::from(i8::MAX)),
        (0, 1, 0..=1, 0) => (i64::from(i16::MIN), i64::from(i16::MAX)),
        (0, 0, 0..=1, 0) => (i64::from(i32::MIN), i64::from(i32::MAX)),
        (0, 0, 0..=1, 1..=2) => (i64::MIN, i64::MAX),
        _ => return None,
    };
    match (signed, unsigned) {
        (0..=1, 0) => Some((least, most)),
        (0, 1) => Some((0, most.saturating_mul(2).saturating_add(1))),
        _ => None,
    }
}

fn limits(kind: &str) -> Option<Limits> {
    let known = TYPES.iter().find(|it| it.0 == kind);
    known.map(|it| it.1).or_else(|| Some(Some(whole(kind)?)))
}

/// Returns the value as an initializer of a `kind` in C; nothing if the type does not hold it.
/// Numbers with a point are rounded to those of the type, whole ones have to be among them.
fn literal(value: &Argument, kind: &str) -> Option<String> {
    match (value, limits(kind)?) {
        (Argument::Bool(value), Some((0, 1))) => Some(i32::from(*value).to_string()),
        (Argument::Integer(value), Some((least, most))) if kind != "bool" => {
            let is_held = (least..=most).contains(value);
            // The least number has no literal.
            let below = i128::from(*value) + 1;
            is_held.then(|| match *value {
                ..0 => format!("({below}LL - 1)"),
                _ => format!("{value}LL"),
            })
        }
        (Argument::Integer(value), None) => {
            let there = match kind {
                "double" => *value as f64,
                _ => f64::from(*value as f32),
            };
            // Of all whole numbers of 64 bits, only those near the greatest become one more.
            (there as i128 == i128::from(*value)).then(|| format!("{value}.0"))
        }
        (Argument::Number(value), None) => {
            let is_held = kind == "double" || value.abs() <= f64::from(f32::MAX);
            is_held.then(|| format!("{value:?}"))
        }
        _ => None,
    }
}

/// Returns the initializer of a parameter that gets a value: with braces for several.
fn initializer(parameter: &Parameter<'_>, value: &Argument) -> Option<String> {
    let kind = parameter.element.as_str();
    match (value, parameter.dimensions()) {
        (Argument::Several(items), 1) => {
            let extent = parameter.extents.first().filter(|it| !it.is_empty());
            let is_whole = extent.is_none_or(|it| it.parse() == Ok(items.len()));
            let items: Option<Vec<String>> = items.iter().map(|it| literal(it, kind)).collect();
            let items = items.filter(|it| is_whole && !it.is_empty())?;
            Some(format!("{{{}}}", items.join(", ")))
        }
        (Argument::Several(_), _) => None,
        (value, 0) => literal(value, kind),
        _ => None,
    }
}

/// Returns what is wrong with the parameter of `signature` that gets the argument `name`, and
/// a remedy; nothing if there is no such parameter.
pub(super) fn wrong_parameter(
    signature: (&str, &str),
    name: &str,
    value: &Argument,
) -> Option<(String, String)> {
    let text = parameters(signature)?
        .into_iter()
        .find(|it| name_of(it) == name)?;
    if Parameter::parse(text).is_some_and(|it| initializer(&it, value).is_some()) {
        return None;
    }
    let kinds: Vec<&str> = TYPES.iter().map(|it| it.0).collect();
    Some((
        format!("the parameter `{text}` of the signature cannot be given {value}"),
        format!(
            "in C, give a number that the type of the parameter holds, true or false for `bool`, or as many numbers as an array has; types are {}, and those of C, such as `int` and `unsigned long long`",
            kinds.join(", ")
        ),
    ))
}

impl Problem {
    /// Returns the arguments that functions in C get, by their parameters of the signature; empty
    /// if kernels get buffers only.
    fn values_of_parameters(&self) -> Vec<(&str, Option<&Argument>)> {
        let all = parameters((&self.signature, &self.entry)).unwrap_or_default();
        let all = all.into_iter();
        let all: Vec<_> = all
            .map(|text| (text, self.arguments.get(name_of(text))))
            .collect();
        match all.iter().any(|(_, value)| value.is_some()) {
            true => all,
            false => Vec::new(),
        }
    }

    /// Returns the first of [`arguments`](Self::arguments) that is no parameter of the signature,
    /// so that no kernel in C gets it.
    #[must_use]
    pub fn argument_without_parameter(&self) -> Option<&str> {
        let all = parameters((&self.signature, &self.entry)).unwrap_or_default();
        let names: Vec<&str> = all.into_iter().map(name_of).collect();
        let mut arguments = self.arguments.keys().map(String::as_str);
        arguments.find(|name| !names.contains(name))
    }

    /// Returns how many parameters a kernel in C has.
    #[must_use]
    pub fn n_kernel_parameters(&self) -> usize {
        match self.values_of_parameters() {
            all if all.is_empty() => self.buffers.len(),
            all => all.len(),
        }
    }

    /// Returns the function that is called with the address of each buffer, in order:
    /// [`entry`](Self::entry), or that of [`wrapper`](Self::wrapper) if there is one.
    #[must_use]
    pub fn entry_symbol(&self) -> &str {
        match self.values_of_parameters().is_empty() {
            true => &self.entry,
            false => WRAPPER,
        }
    }

    /// Returns a function in C that has to stand behind the text of a kernel or reference: it gets
    /// the address of each buffer and gives the kernel its arguments as well. Empty if kernels
    /// get buffers only.
    #[must_use]
    pub fn wrapper(&self) -> String {
        if self.values_of_parameters().is_empty() {
            return String::new();
        }
        let buffer = |idx: usize| format!("given_{idx}");
        let buffers: Vec<String> = (0..self.buffers.len())
            .map(|idx| format!("void *{}", buffer(idx)))
            .collect();
        let call = self.call_statements(buffer);
        format!("void {WRAPPER}({}) {{ {call} }}\n", buffers.join(", "))
    }

    /// Returns statements, in C and C++, that call the kernel with its arguments and with
    /// `buffer` for the address of the buffer of each number.
    #[must_use]
    pub fn call_statements(&self, buffer: impl Fn(usize) -> String) -> String {
        let mut numbers = 0..self.buffers.len();
        let mut arrays = String::new();
        let mut given = Vec::new();
        for (text, value) in self.values_of_parameters() {
            let declared = Parameter::parse(text).zip(value);
            let Some((parameter, value)) = declared else {
                given.extend(numbers.next().map(&buffer));
                continue;
            };
            let initializer = initializer(&parameter, value).unwrap_or_default();
            if parameter.dimensions() == 0 {
                given.push(format!("({})({initializer})", parameter.element));
                continue;
            }
            let Parameter { element, name, .. } = parameter;
            let array = format!("given_{name}");
            arrays += &format!("{element} {array}[] = {initializer}; ");
            given.push(array);
        }
        given.extend(numbers.map(&buffer));
        format!("{arrays}{}({});", self.entry, given.join(", "))
    }
}
