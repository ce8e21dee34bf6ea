//! What to do without functions of Python that kernels cannot have.

/// Built-in functions of Python that kernels have not, and what to do instead.
pub(super) fn instead(name: &str) -> Option<&'static str> {
    Some(match name {
        "iter" => "loop with for, or let `__iter__` return the list",
        "next" => "loop with for, or subscript a list",
        "frozenset" => "use set or a tuple",
        "delattr" | "vars" | "dir" | "id" | "hash" | "super" | "type" => {
            "keep values in variables, dicts or objects of a class of your own"
        }
        "open" | "input" | "eval" | "exec" | "compile" | "globals" | "locals" | "breakpoint"
        | "memoryview" | "bytes" | "bytearray" => {
            "kernels reach nothing but their arguments and the device"
        }
        "ord" | "chr" | "hex" | "bin" | "oct" | "ascii" | "format" => "use an f-string",
        "complex" => "keep real and imaginary parts apart",
        "NotImplemented" => "raise NotImplementedError(…)",
        _ => return None,
    })
}
