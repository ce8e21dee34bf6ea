//! What a kernel can import, and the names that are there without an import.

use std::rc::Rc;

use super::remedies::{missing, remedy};
use super::value::{EngineName, Value};
use crate::api::{Device, Dialect};
use crate::diagnostic::{Failure, Outcome};
use crate::tensor::dtype::Dtype;
use crate::tensor::storage::Buffer;

/// Modules by the paths that they are imported under.
const MODULES: &[(&str, &str)] = &[
    ("neuronxcc", "neuronxcc"),
    ("neuronxcc.nki", "nki"),
    ("neuronxcc.nki.language", "nl"),
    ("neuronxcc.nki.language.constants", "constants"),
    ("neuronxcc.nki.isa", "nisa"),
    ("neuronxcc.nki.isa.constants", "nisa"),
    ("neuronxcc.nki.typing", "nt"),
    ("neuronxcc.nki.compiler", "compiler"),
    ("nki", "nki"),
    ("nki.language", "nl"),
    ("nki.isa", "nisa"),
    ("nki.isa.constants", "nisa"),
    ("nki.language.constants", "constants"),
    ("nki.typing", "nt"),
    ("nki.compiler", "compiler"),
    ("numpy", "np"),
    ("math", "math"),
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
    ("ml_dtypes", "ml_dtypes"),
    ("dataclasses", "dataclasses"),
    ("enum", "enum"),
    ("abc", "abc"),
    ("__future__", "__future__"),
];

/// The module that is imported under a path.
pub(crate) fn module_of(path: &str) -> Option<&'static str> {
    let known = MODULES.iter().find(|(known, _)| *known == path);
    known.map(|(_, module)| *module)
}

/// Whether a name needs no import and is Python's own.
pub(crate) fn is_ambient(device: &Device, name: &str) -> bool {
    matches!(
        ambient(device, name),
        Some(Value::Type(_) | Value::Builtin(_) | Value::Symbol(_))
    )
}

/// Whether a path is of a library that kernels cannot have, and not of the file's own package.
pub(super) fn is_foreign(path: &str) -> bool {
    remedy(path).is_some()
}

/// Whether `from path import name` takes something from a module that kernels have.
pub(super) fn is_module(path: &str, name: &str) -> bool {
    module_of(path).is_some() || module_of(&format!("{path}.{name}")).is_some()
}

pub(super) fn refused(path: &str) -> Box<Failure> {
    let remedy = remedy(path).unwrap_or("import nki and its submodules, numpy or math only");
    Failure::unsupported(
        "import-refused",
        format!("kernels cannot use `{path}`"),
        remedy,
    )
}

/// `import path`.
pub(super) fn import(path: &str) -> Outcome<Value> {
    // Submodules such as neuronxcc.nki.language.foo are reached through their parent.
    match module_of(path) {
        Some(module) => Ok(Value::Module(module)),
        None => Err(refused(path)),
    }
}

/// `from path import name`.
pub(super) fn import_from(device: &Device, path: &str, name: &str) -> Outcome<Value> {
    let whole = format!("{path}.{name}");
    if let Ok(module) = import(&whole) {
        return Ok(module);
    }
    match import(path)? {
        Value::Module("typing") if name == "NamedTuple" => Ok(Value::Symbol("base:named-tuple")),
        Value::Module("typing") => Ok(Value::Type("typing")),
        Value::Module(module) => attribute(device, module, name),
        _ => Err(refused(&whole)),
    }
}

/// Names that need no import: Python's own, and the usual aliases for files that leave the
/// imports to their harness.
pub(super) fn ambient(device: &Device, name: &str) -> Option<Value> {
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
        "nki" => Value::Module("nki"),
        "nl" => Value::Module("nl"),
        "nisa" => Value::Module("nisa"),
        "nt" => Value::Module("nt"),
        "np" => Value::Module("np"),
        "math" => Value::Module("math"),
        "par_dim" => return attribute(device, "nl", "par_dim").ok(),
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
        _ => return None,
    })
}

/// An attribute of a module.
pub(super) fn attribute(device: &Device, module: &'static str, name: &str) -> Outcome<Value> {
    find(device, module, name).ok_or_else(|| {
        let other = match device.dialect {
            Dialect::V1 => Dialect::V2,
            Dialect::V2 => Dialect::V1,
        };
        if matches!(module, "os" | "sys" | "logging" | "logger") {
            return refused(&format!("{module}.{name}"));
        }
        let near = crate::api::similar(device.dialect, module, name);
        let hint;
        let remedy = match (module, name) {
            ("nl" | "nisa", name) if missing(name).is_some() => {
                return Failure::unsupported(
                    "not-simulated",
                    format!("`{module}.{name}` is not simulated here"),
                    missing(name).unwrap_or_default(),
                );
            }
            ("nl" | "nisa", _) if crate::api::has(other, module, name) => match other {
                Dialect::V1 => "it is one of NKI 1 (neuronxcc.nki); this file is in NKI 2",
                Dialect::V2 => "it is one of NKI 2 (nki); this file is in NKI 1",
            },
            _ if near.is_some() => {
                hint = format!("did you mean {module}.{}?", near.unwrap_or_default());
                &hint
            }
            ("nl" | "nisa", _) if device.dialect == Dialect::V2 => {
                "the second dialect of NKI has no such name; check its documentation"
            }
            ("nl" | "nisa", _) => {
                "the first dialect of NKI has no such name; check its documentation"
            }
            ("np", _) => "NumPy's functions serve as op= only; compute with nl and nisa",
            _ => "check the spelling",
        };
        Failure::unsupported(
            "unknown-name",
            format!("`{module}.{name}` is not known here"),
            remedy,
        )
    })
}

/// The same, where it is no failure if there is none.
pub(crate) fn find(device: &Device, module: &'static str, name: &str) -> Option<Value> {
    if let Some(api) = device.api(module, name) {
        return Some(Value::Api(api));
    }
    let symbol = |name: &'static str| Some(Value::Symbol(name));
    match module {
        "neuronxcc" => match name {
            "nki" => Some(Value::Module("nki")),
            _ => None,
        },
        "nki" => match name {
            "language" => Some(Value::Module("nl")),
            "isa" => Some(Value::Module("nisa")),
            "typing" => Some(Value::Module("nt")),
            "compiler" => Some(Value::Module("compiler")),
            "jit" | "trace" | "benchmark" | "baremetal" | "profile" | "simulate_kernel"
            | "simulate" => Some(Value::Symbol("nki.jit")),
            "tensor" => Some(Value::Type("tensor")),
            _ => None,
        },
        "nl" => match name {
            "NKIObject" => symbol("base:nki-object"),
            "NkiTensor" => Some(Value::Type("tensor")),
            "MemoryRegion" => Some(Value::Module("MemoryRegion")),
            "affine_range" | "sequential_range" | "static_range" | "dynamic_range" | "mgrid"
            | "device_print" => Some(Value::Builtin(match name {
                "dynamic_range" => "dynamic_range",
                "affine_range" => "affine_range",
                "sequential_range" => "sequential_range",
                "static_range" => "static_range",
                "mgrid" => "mgrid",
                _ => "device_print",
            })),
            "fori_loop" if device.dialect == Dialect::V2 => Some(Value::Builtin("fori_loop")),
            "while_loop" if device.dialect == Dialect::V2 => Some(Value::Builtin("while_loop")),
            "sbuf" => Some(Value::Buffer(Buffer::Sbuf)),
            "psum" => Some(Value::Buffer(Buffer::Psum)),
            "hbm" | "private_hbm" => Some(Value::Buffer(Buffer::Hbm)),
            "shared_hbm" => Some(Value::Buffer(Buffer::SharedHbm)),
            "tile_size" => Some(Value::Module("tile_size")),
            "fp32" => symbol("nl.fp32"),
            "float8_e4m3fn_x4" | "float8_e5m2_x4" | "float4_e2m1fn_x4" | "float8_e8m0fnu"
                if device.dialect == Dialect::V1 =>
            {
                None
            }
            "tensor" => Some(Value::Type("tensor")),
            "no_reorder" => symbol("context:no_reorder"),
            "bool_" => Some(Value::Dtype(Dtype::Uint8)),
            _ => dtype(name),
        },
        "MemoryRegion" if matches!(name, "sbuf" | "psum" | "private_hbm" | "shared_hbm") => {
            find(device, "nl", name)
        }
        "tile_size" => Some(Value::Int(match name {
            "pmax" | "gemm_stationary_fmax" => 128,
            "psum_fmax" | "psum_bank_fmax" | "gemm_moving_fmax" | "bn_stats_fmax" => 512,
            "psum_bank_fmax_bytes" => 2048,
            "psum_num_banks" => 8,
            "psum_min_align" => 4,
            "sbuf_min_align" => 1,
            "total_available_sbuf_size" | "sbuf_fmax_bytes" => device.usable_sbuf() as i64,
            // The second dialect counts elements of four bytes.
            "sbuf_fmax" if device.dialect == Dialect::V2 => device.usable_sbuf() as i64 / 4,
            "sbuf_fmax" => device.usable_sbuf() as i64,
            "sbuf_size_bytes" => 128 * device.usable_sbuf() as i64,
            _ => return None,
        })),
        "constants" => match name {
            "sizeinbytes" => device.api("nl", "sizeinbytes").map(Value::Api),
            _ => None,
        },
        "nisa" => match name {
            "tensor_engine" => Some(Value::Engine(EngineName::Tensor)),
            "vector_engine" => Some(Value::Engine(EngineName::Vector)),
            "scalar_engine" => Some(Value::Engine(EngineName::Scalar)),
            "gpsimd_engine" => Some(Value::Engine(EngineName::Gpsimd)),
            "sync_engine" => Some(Value::Engine(EngineName::Sync)),
            "unknown_engine" => Some(Value::Engine(EngineName::Unknown)),
            "engine" => Some(Value::Module("engine")),
            "reduce_cmd" => Some(Value::Module("reduce_cmd")),
            "oob_mode" => Some(Value::Module("oob_mode")),
            "dge_mode" => Some(Value::Module("dge_mode")),
            "matmul_perf_mode" => Some(Value::Module("matmul_perf_mode")),
            "dma_engine" => Some(match device.dialect {
                Dialect::V1 => Value::Engine(EngineName::Sync),
                Dialect::V2 => Value::Module("dma_engine"),
            }),
            "nc_version" => Some(Value::Module("nc_version")),
            _ => None,
        },
        "engine" => Some(Value::Engine(match name {
            "tensor" => EngineName::Tensor,
            "vector" => EngineName::Vector,
            "scalar" | "activation" => EngineName::Scalar,
            "gpsimd" => EngineName::Gpsimd,
            "sync" | "dma" => EngineName::Sync,
            "unknown" => EngineName::Unknown,
            _ => return None,
        })),
        "reduce_cmd" => symbol(match name {
            "idle" => "reduce_cmd.idle",
            "reset" => "reduce_cmd.reset",
            "reduce" => "reduce_cmd.reduce",
            "reset_reduce" => "reduce_cmd.reset_reduce",
            "load_reduce" => "reduce_cmd.load_reduce",
            _ => return None,
        }),
        "dma_engine" => symbol(match name {
            "dma" => "dma_engine.dma",
            "gpsimd_dma" => "dma_engine.gpsimd_dma",
            _ => return None,
        }),
        "oob_mode" => symbol(match name {
            "error" => "oob_mode.error",
            "skip" => "oob_mode.skip",
            _ => return None,
        }),
        "dge_mode" => symbol(match name {
            "none" => "dge_mode.none",
            "unknown" => "dge_mode.unknown",
            "swdge" => "dge_mode.swdge",
            "hwdge" => "dge_mode.hwdge",
            _ => return None,
        }),
        "matmul_perf_mode" => symbol(match name {
            "none" => "matmul_perf_mode.none",
            "double_row" => "matmul_perf_mode.double_row",
            "double_column" => "matmul_perf_mode.double_column",
            "double_pixel" => "matmul_perf_mode.double_pixel",
            "double_row_gen3" => "matmul_perf_mode.double_row",
            _ => return None,
        }),
        "nc_version" => Some(Value::Int(match name {
            "gen2" => 2,
            "gen3" => 3,
            "gen4" => 4,
            _ => return None,
        })),
        "nt" => match name {
            "tensor" | "mutable_tensor" => Some(Value::Type("tensor")),
            _ => None,
        },
        "np" | "ml_dtypes" => match name {
            "pi" => Some(Value::Float(std::f64::consts::PI)),
            "e" => Some(Value::Float(std::f64::consts::E)),
            "inf" => Some(Value::Float(f64::INFINITY)),
            "nan" => Some(Value::Float(f64::NAN)),
            "newaxis" => Some(Value::None),
            "ndarray" => Some(Value::Type("numpy array")),
            "bool_" | "bool" => Some(Value::Dtype(Dtype::Uint8)),
            _ => dtype(name),
        },
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
            _ => find(device, "logger", name),
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
        "math" => match name {
            "pi" => Some(Value::Float(std::f64::consts::PI)),
            "e" => Some(Value::Float(std::f64::consts::E)),
            "inf" => Some(Value::Float(f64::INFINITY)),
            "nan" => Some(Value::Float(f64::NAN)),
            _ => None,
        },
        "functools" => match name {
            "reduce" => Some(Value::Builtin("reduce")),
            "partial" => Some(Value::Builtin("partial")),
            // They change how fast a function is, not what it gives.
            "lru_cache" | "cache" | "wraps" => symbol("nki.jit"),
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
        "dataclasses" if matches!(name, "dataclass" | "field") => symbol("nki.jit"),
        "enum" => match name {
            "Enum" => symbol("base:enumeration"),
            "IntEnum" => symbol("base:whole-enumeration"),
            "auto" => Some(Value::Builtin("auto")),
            "unique" => symbol("nki.jit"),
            _ => None,
        },
        "abc" => symbol("base:object"),
        "__future__" => Some(Value::None),
        // Direct allocation: what is allocated counts, where it lies does not.
        "compiler" => match name {
            "sbuf" => Some(Value::Module("compiler.sbuf")),
            "psum" => Some(Value::Module("compiler.psum")),
            "no_reorder" => symbol("context:no_reorder"),
            "skip_middle_end_transformations" | "enable_stack_allocator" | "force_auto_alloc" => {
                Some(Value::Symbol("nki.jit"))
            }
            _ => None,
        },
        "compiler.sbuf" | "compiler.psum" => {
            let memory = module.trim_start_matches("compiler.");
            let found = ALLOCATORS.iter().find(|known| {
                known
                    .strip_prefix(memory)
                    .and_then(|rest| rest.strip_prefix('.'))
                    == Some(name)
            });
            found.map(|known| Value::Builtin(known))
        }
        _ => None,
    }
}

/// Ways to say where a tensor lies.
const ALLOCATORS: &[&str] = &[
    "sbuf.alloc",
    "sbuf.mod_alloc",
    "sbuf.auto_alloc",
    "psum.alloc",
    "psum.mod_alloc",
    "psum.auto_alloc",
];

fn dtype(name: &str) -> Option<Value> {
    let known = Dtype::parse(name).filter(|it| it.name() == name);
    known.map(Value::Dtype)
}
