//! Functions of the kernel's own between numbers and their bits.

use super::Reader;
use autocomp_c_loops::syntax::children;
use tree_sitter::Node;

/// What such a function is called where its value is computed, and how it is written.
const OF_BITS: (&str, &str) = (
    "each_float_of_bits",
    "static inline float each_float_of_bits(int32_t bits) {\n  float value;\n  __builtin_memcpy(&value, &bits, 4);\n  return value;\n}\n",
);
const TO_BITS: (&str, &str) = (
    "each_bits_of_float",
    "static inline int32_t each_bits_of_float(float value) {\n  int32_t bits;\n  __builtin_memcpy(&bits, &value, 4);\n  return bits;\n}\n",
);

impl<'s> Reader<'s> {
    /// Returns the name of a function if it takes the bits of a number for another: it copies its
    /// parameter to a variable of the other type with `memcpy`, and returns that.
    pub(super) fn bits(&mut self, function: Node<'s>) -> Option<&'static str> {
        let body = children(function.child_by_field_name("body")?);
        let [declared, copied, returned] = body.as_slice() else {
            return None;
        };
        let list = function
            .child_by_field_name("declarator")?
            .child_by_field_name("parameters")?;
        let [parameter] = children(list)[..] else {
            return None;
        };
        let from = self.kind(parameter).ok()?;
        let to = self.kind(*declared).ok()?;
        let name = |node: Node<'s>| Some(self.text(node.child_by_field_name("declarator")?));
        let (parameter, variable) = (name(parameter)?, name(*declared)?);
        let call = copied.named_child(0)?;
        let callee = self.text(call.child_by_field_name("function")?);
        let arguments = children(call.child_by_field_name("arguments")?);
        let [target, source, bytes] = arguments.as_slice() else {
            return None;
        };
        let is_copy = ["memcpy", "__builtin_memcpy"].contains(&callee)
            && self.text(*target) == format!("&{variable}")
            && self.text(*source) == format!("&{parameter}");
        let is_returned = returned.kind() == "return_statement"
            && self.text(returned.named_child(0)?) == variable;
        let is_whole = self.text(*bytes) == "4"
            || bytes.kind() == "sizeof_expression"
                && self.text(*bytes).contains(&variable.to_owned());
        let (name, text) = match (from.as_str(), to.as_str()) {
            ("int32_t", "float") => OF_BITS,
            ("float", "int32_t") => TO_BITS,
            _ => return None,
        };
        if !(is_copy && is_returned && is_whole) {
            return None;
        }
        if !self.statics.contains(text) {
            self.statics += text;
        }
        Some(name)
    }
}
