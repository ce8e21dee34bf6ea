//! What a kernel can import, and the names that are there without an import.

use std::rc::Rc;

use super::value::Value;
use crate::diagnostic::{Failure, Outcome};
use crate::foreign::Foreign;

/// Modules of Python by the paths that they are imported under.
const MODULES: &[(&str, &str)] = &[
    ("functools", "functools"),
    ("operator", "operator"),
    ("typing", "typing"),
    ("typing_extensions", "typing"),
    ("collections.abc", "typing"),
    ("types", "typing"),
    ("numbers", "typing"),
    ("collections", "collections"),
    ("os", "os"),
    ("sys", "sys"),
    ("logging", "logging"),
    ("warnings", "logging"),
    ("dataclasses", "dataclasses"),
    ("enum", "enum"),
    ("abc", "abc"),
    ("__future__", "__future__"),
];

/// The module that is imported under a path.
pub fn module_of<F: Foreign>(path: &str) -> Option<&'static str> {
    let known = MODULES.iter().find(|(known, _)| *known == path);
    known
        .map(|(_, module)| *module)
        .or_else(|| F::module_of(path))
}

/// Whether a name needs no import and is Python's own.
pub fn is_ambient<F: Foreign>(device: &F::Device, name: &str) -> bool {
    matches!(
        ambient::<F>(device, name),
        Some(Value::Type(_) | Value::Builtin(_) | Value::Symbol(_))
    )
}

/// Whether a path is of a library that kernels cannot have, and not of the file's own package.
pub(super) fn is_foreign<F: Foreign>(path: &str) -> bool {
    F::remedy(path).is_some()
}

/// Whether `from path import name` takes something from a module that kernels have.
pub(super) fn is_module<F: Foreign>(path: &str, name: &str) -> bool {
    module_of::<F>(path).is_some() || module_of::<F>(&format!("{path}.{name}")).is_some()
}

pub(super) fn refused<F: Foreign>(path: &str) -> Box<Failure> {
    Failure::unsupported(
        "import-refused",
        format!("kernels cannot use `{path}`"),
        F::remedy(path).unwrap_or(F::IMPORTS),
    )
}

/// `import path`.
pub(super) fn import<F: Foreign>(path: &str) -> Outcome<Value<F>> {
    match module_of::<F>(path) {
        Some(module) => Ok(Value::Module(module)),
        None => Err(refused::<F>(path)),
    }
}

/// `from path import name`.
pub(super) fn import_from<F: Foreign>(
    device: &F::Device,
    path: &str,
    name: &str,
) -> Outcome<Value<F>> {
    let whole = format!("{path}.{name}");
    if let Ok(module) = import::<F>(&whole) {
        return Ok(module);
    }
    match import::<F>(path)? {
        Value::Module("typing") if name == "NamedTuple" => Ok(Value::Symbol("base:named-tuple")),
        Value::Module("typing") => Ok(Value::Type("typing")),
        Value::Module(module) => attribute(device, module, name),
        _ => Err(refused::<F>(&whole)),
    }
}

/// Names that need no import: Python's own, and the usual aliases for files that leave the
/// imports to their harness.
pub(super) fn ambient<F: Foreign>(device: &F::Device, name: &str) -> Option<Value<F>> {
    const BUILTINS: &[&str] = &[
        "range",
        "len",
        "int",
        "float",
        "bool",
        "str",
        "repr",
        "abs",
        "round",
        "min",
        "max",
        "sum",
        "any",
        "all",
        "tuple",
        "list",
        "set",
        "dict",
        "slice",
        "enumerate",
        "zip",
        "map",
        "filter",
        "reversed",
        "sorted",
        "isinstance",
        "type",
        "callable",
        "print",
        "divmod",
        "pow",
        "hasattr",
        "getattr",
        "setattr",
    ];
    if let Some(name) = BUILTINS.iter().find(|known| **known == name) {
        return Some(match *name {
            "int" | "float" | "bool" | "str" | "tuple" | "list" | "set" | "dict" | "slice"
            | "range" => Value::Type(name),
            other => Value::Builtin(other),
        });
    }
    Some(match name {
        "object" => Value::Symbol("base:object"),
        "AssertionError"
        | "ValueError"
        | "NotImplementedError"
        | "TypeError"
        | "RuntimeError"
        | "IndexError"
        | "KeyError"
        | "OverflowError"
        | "Exception" => Value::Builtin("repr"),
        _ => return F::ambient(device, name),
    })
}

/// An attribute of a module.
pub(super) fn attribute<F: Foreign>(
    device: &F::Device,
    module: &'static str,
    name: &str,
) -> Outcome<Value<F>> {
    find(device, module, name).ok_or_else(|| {
        if matches!(module, "os" | "sys" | "logging" | "logger") {
            return refused::<F>(&format!("{module}.{name}"));
        }
        F::unknown(device, module, name)
    })
}

/// The same, where it is no failure if there is none.
pub fn find<F: Foreign>(device: &F::Device, module: &'static str, name: &str) -> Option<Value<F>> {
    if let Some(value) = F::member(device, module, name) {
        return Some(value);
    }
    let symbol = |name: &'static str| Some(Value::Symbol(name));
    match module {
        // What a kernel's surroundings would say is the same everywhere: nothing.
        "os" => match name {
            "environ" => Some(Value::Dict(Rc::default())),
            "getenv" => Some(Value::Builtin("getenv")),
            _ => None,
        },
        "sys" => match name {
            "maxsize" => Some(Value::Int(i64::MAX)),
            "stdout" | "stderr" => Some(Value::None),
            _ => None,
        },
        "logging" => match name {
            "getLogger" => Some(Value::Builtin("getLogger")),
            "DEBUG" => Some(Value::Int(10)),
            "INFO" => Some(Value::Int(20)),
            "WARNING" | "WARN" => Some(Value::Int(30)),
            "ERROR" => Some(Value::Int(40)),
            "CRITICAL" => Some(Value::Int(50)),
            "Logger" => Some(Value::Type("typing")),
            _ => find::<F>(device, "logger", name),
        },
        "logger" => match name {
            "debug" | "info" | "warning" | "warn" | "error" | "critical" | "exception" | "log"
            | "basicConfig" | "setLevel" | "addHandler" | "filterwarnings" | "simplefilter" => {
                Some(Value::Builtin("print"))
            }
            _ => None,
        },
        "collections" => match name {
            "OrderedDict" => Some(Value::Type("dict")),
            "abc" => Some(Value::Module("typing")),
            _ => None,
        },
        "functools" => match name {
            "reduce" => Some(Value::Builtin("reduce")),
            "partial" => Some(Value::Builtin("partial")),
            // They change how fast a function is, not what it gives.
            "lru_cache" | "cache" | "wraps" => symbol("decorator"),
            _ => None,
        },
        "operator" => match name {
            "mul" => Some(Value::Builtin("mul")),
            "add" => Some(Value::Builtin("operator_add")),
            _ => None,
        },
        "typing" if name == "NamedTuple" => symbol("base:named-tuple"),
        "typing" => Some(Value::Type("typing")),
        // Decorators and `field` are read with the class.
        "dataclasses" if matches!(name, "dataclass" | "field") => symbol("decorator"),
        "enum" => match name {
            "Enum" => symbol("base:enumeration"),
            "IntEnum" => symbol("base:whole-enumeration"),
            "auto" => Some(Value::Builtin("auto")),
            "unique" => symbol("decorator"),
            _ => None,
        },
        "abc" => symbol("base:object"),
        "__future__" => Some(Value::None),
        _ => None,
    }
}
