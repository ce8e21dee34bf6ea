//! Vectors as GCC and Clang write them for every processor that has some.
//!
//! Source: GCC manual, "Using Vector Instructions through Built-in Functions"; Clang, "Language
//! Extensions", "Vectors and Extended Vectors". Operators of C work lane by lane; a comparison
//! sets all bits of the lanes where it holds.

use std::fmt::Display;

/// Returns the definition of the vector type `name` of `lanes` elements of `each` bytes, which lies
/// where it is aligned, and of [`anywhere`] of it.
pub(crate) fn defined(name: &str, kind: &str, lanes: u32, each: u32) -> String {
    let bytes = lanes * each;
    format!(
        "typedef {kind} {name} __attribute__((vector_size({bytes})));\n\
         typedef {kind} {} __attribute__((vector_size({bytes}), aligned({each}), may_alias));\n",
        anywhere(name)
    )
}

/// Returns the definition of the vector type `name` of `bytes` bytes for elements in memory
/// that are narrower than 32 bits.
pub(crate) fn defined_narrow(name: &str, kind: &str, bytes: u32) -> String {
    format!("typedef {kind} {name} __attribute__((vector_size({bytes}), aligned(1), may_alias));\n")
}

/// Returns the name of a type of vectors that begin at any element.
pub(crate) fn anywhere(vector: &str) -> String {
    format!("{vector}_anywhere")
}

/// Returns a vector of zeros.
pub(crate) fn zero(vector: &str) -> String {
    format!("({vector}){{0}}")
}

/// Returns a number in all lanes, a sum without parentheses.
pub(crate) fn splat(vector: &str, number: &str) -> String {
    format!("{} + {number}", zero(vector))
}

/// Returns a vector of these numbers.
pub(crate) fn of_lanes(vector: &str, numbers: impl IntoIterator<Item = impl Display>) -> String {
    format!("({vector}){{{}}}", listed(numbers))
}

/// Returns the vector that begins at `place`.
pub(crate) fn loaded(vector: &str, place: &str) -> String {
    format!("*(const {vector} *)&{place}")
}

/// Returns what is assigned to, to write the vector that begins at `place`.
pub(crate) fn stored(vector: &str, place: &str) -> String {
    format!("*({vector} *)&{place}")
}

/// Returns a vector in another type of as many elements.
pub(crate) fn converted(value: &str, vector: &str) -> String {
    format!("__builtin_convertvector({value}, {vector})")
}

/// Returns lanes of two vectors in this order; those of `other` follow those of `one`.
pub(crate) fn shuffled(
    one: &str,
    other: &str,
    order: impl IntoIterator<Item = impl Display>,
) -> String {
    format!("__builtin_shufflevector({one}, {other}, {})", listed(order))
}

/// Returns the greater or the lesser of two whole numbers in each lane; Clang alone has it.
pub(crate) fn extreme(greatest: bool, one: &str, other: &str) -> String {
    let name = if greatest { "max" } else { "min" };
    format!("__builtin_elementwise_{name}({one}, {other})")
}

/// Returns the greatest or the least of all lanes; Clang alone has it.
pub(crate) fn extreme_of_all(greatest: bool, value: &str) -> String {
    let name = if greatest { "max" } else { "min" };
    format!("__builtin_reduce_{name}({value})")
}

/// Returns the sum of all lanes of whole numbers; Clang alone has it.
pub(crate) fn sum_of_all(value: &str) -> String {
    format!("__builtin_reduce_add({value})")
}

fn listed(items: impl IntoIterator<Item = impl Display>) -> String {
    let items: Vec<String> = items.into_iter().map(|it| it.to_string()).collect();
    items.join(", ")
}
