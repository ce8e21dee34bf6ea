//! What a kernel can import of NKI and NumPy, and the names that are there without an import.

use super::{Device, Dialect, EngineName, Nki, Value, remedies};
use crate::diagnostic::Failure;
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
    ("ml_dtypes", "ml_dtypes"),
];

/// The module that is imported under a path.
pub(super) fn module_of(path: &str) -> Option<&'static str> {
    let known = MODULES.iter().find(|(known, _)| *known == path);
    known.map(|(_, module)| *module)
}

/// The usual aliases, for files that leave the imports to their harness.
pub(super) fn ambient(device: &Device, name: &str) -> Option<Value> {
    Some(match name {
        "nki" => Value::Module("nki"),
        "nl" => Value::Module("nl"),
        "nisa" => Value::Module("nisa"),
        "nt" => Value::Module("nt"),
        "np" => Value::Module("np"),
        "math" => Value::Module("math"),
        "par_dim" => return member(device, "nl", "par_dim"),
        _ => return None,
    })
}

/// What is wrong with a name that a module does not have.
pub(super) fn unknown(device: &Device, module: &'static str, name: &str) -> Box<Failure> {
    let other = match device.dialect {
        Dialect::V1 => Dialect::V2,
        Dialect::V2 => Dialect::V1,
    };
    let near = super::similar(device.dialect, module, name);
    let hint;
    let remedy = match (module, name) {
        ("nl" | "nisa", name) if remedies::missing(name).is_some() => {
            return Failure::unsupported(
                "not-simulated",
                format!("`{module}.{name}` is not simulated here"),
                remedies::missing(name).unwrap_or_default(),
            );
        }
        ("nl" | "nisa", _) if super::has(other, module, name) => match other {
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
        ("nl" | "nisa", _) => "the first dialect of NKI has no such name; check its documentation",
        ("np", _) => "NumPy's functions serve as op= only; compute with nl and nisa",
        _ => "check the spelling",
    };
    Failure::unsupported(
        "unknown-name",
        format!("`{module}.{name}` is not known here"),
        remedy,
    )
}

/// What a module has under a name.
pub(super) fn member(device: &Device, module: &'static str, name: &str) -> Option<Value> {
    if let Some(api) = device.api(module, name) {
        return Some(Value::Foreign(Nki::Api(api)));
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
            | "simulate" => symbol("nki.jit"),
            "tensor" => Some(Value::Type("tensor")),
            _ => None,
        },
        "nl" => match name {
            "NKIObject" => symbol("base:configuration"),
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
            "sbuf" => Some(Value::Foreign(Nki::Buffer(Buffer::Sbuf))),
            "psum" => Some(Value::Foreign(Nki::Buffer(Buffer::Psum))),
            "hbm" | "private_hbm" => Some(Value::Foreign(Nki::Buffer(Buffer::Hbm))),
            "shared_hbm" => Some(Value::Foreign(Nki::Buffer(Buffer::SharedHbm))),
            "tile_size" => Some(Value::Module("tile_size")),
            "fp32" => symbol("nl.fp32"),
            "float8_e4m3fn_x4" | "float8_e5m2_x4" | "float4_e2m1fn_x4" | "float8_e8m0fnu"
                if device.dialect == Dialect::V1 =>
            {
                None
            }
            "tensor" => Some(Value::Type("tensor")),
            "no_reorder" => symbol("context:no_reorder"),
            "bool_" => Some(Value::Foreign(Nki::Dtype(Dtype::Uint8))),
            _ => dtype(name),
        },
        "MemoryRegion" if matches!(name, "sbuf" | "psum" | "private_hbm" | "shared_hbm") => {
            member(device, "nl", name)
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
            "sizeinbytes" => device
                .api("nl", "sizeinbytes")
                .map(|api| Value::Foreign(Nki::Api(api))),
            _ => None,
        },
        "nisa" => match name {
            "tensor_engine" => Some(Value::Foreign(Nki::Engine(EngineName::Tensor))),
            "vector_engine" => Some(Value::Foreign(Nki::Engine(EngineName::Vector))),
            "scalar_engine" => Some(Value::Foreign(Nki::Engine(EngineName::Scalar))),
            "gpsimd_engine" => Some(Value::Foreign(Nki::Engine(EngineName::Gpsimd))),
            "sync_engine" => Some(Value::Foreign(Nki::Engine(EngineName::Sync))),
            "unknown_engine" => Some(Value::Foreign(Nki::Engine(EngineName::Unknown))),
            "engine" => Some(Value::Module("engine")),
            "reduce_cmd" => Some(Value::Module("reduce_cmd")),
            "oob_mode" => Some(Value::Module("oob_mode")),
            "dge_mode" => Some(Value::Module("dge_mode")),
            "matmul_perf_mode" => Some(Value::Module("matmul_perf_mode")),
            "dma_engine" => Some(match device.dialect {
                Dialect::V1 => Value::Foreign(Nki::Engine(EngineName::Sync)),
                Dialect::V2 => Value::Module("dma_engine"),
            }),
            "nc_version" => Some(Value::Module("nc_version")),
            _ => None,
        },
        "engine" => Some(Value::Foreign(Nki::Engine(match name {
            "tensor" => EngineName::Tensor,
            "vector" => EngineName::Vector,
            "scalar" | "activation" => EngineName::Scalar,
            "gpsimd" => EngineName::Gpsimd,
            "sync" | "dma" => EngineName::Sync,
            "unknown" => EngineName::Unknown,
            _ => return None,
        }))),
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
            "bool_" | "bool" => Some(Value::Foreign(Nki::Dtype(Dtype::Uint8))),
            _ => dtype(name),
        },
        "math" => match name {
            "pi" => Some(Value::Float(std::f64::consts::PI)),
            "e" => Some(Value::Float(std::f64::consts::E)),
            "inf" => Some(Value::Float(f64::INFINITY)),
            "nan" => Some(Value::Float(f64::NAN)),
            _ => None,
        },
        // Direct allocation: what is allocated counts, where it lies does not.
        "compiler" => match name {
            "sbuf" => Some(Value::Module("compiler.sbuf")),
            "psum" => Some(Value::Module("compiler.psum")),
            "no_reorder" => symbol("context:no_reorder"),
            "skip_middle_end_transformations" | "enable_stack_allocator" | "force_auto_alloc" => {
                symbol("nki.jit")
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
    known.map(|dtype| Value::Foreign(Nki::Dtype(dtype)))
}
