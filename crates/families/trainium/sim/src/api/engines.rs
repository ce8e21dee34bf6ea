//! Which engines can run each instruction, and which of them a kernel may ask for.
//!
//! Source: the descriptions of `nki.isa` in the vendor's documentation (SDK 2.26 for the first
//! dialect, 2.30 to 2.33 for the second), each of which names the engines of its instruction and
//! says what `engine=` may be.

use super::{Api, Bound, Device, Nki, Value};
use crate::diagnostic::{Failure, Outcome};
use crate::tensor::storage::Buffer;
use crate::trace::{Choice, Engine, Instruction};

/// Engines, as kernels name them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum EngineName {
    Tensor,
    Vector,
    Scalar,
    Gpsimd,
    Sync,
    Unknown,
}

/// The engines of one instruction.
struct Runs {
    /// Names of instructions in `nki.isa`.
    names: &'static [&'static str],
    /// Every engine that can run them.
    engines: &'static [Engine],
}

/// Every instruction that an engine runs; registers and transfers have none to choose.
const RUNS: &[Runs] = &[
    Runs {
        names: &["nc_matmul"],
        engines: &[Engine::Tensor],
    },
    Runs {
        names: &["nc_transpose"],
        engines: &[Engine::Tensor, Engine::Vector],
    },
    Runs {
        names: &["tensor_tensor"],
        engines: &[Engine::Vector, Engine::Gpsimd],
    },
    Runs {
        names: &["tensor_scalar", "tensor_copy"],
        engines: &[Engine::Vector, Engine::Scalar, Engine::Gpsimd],
    },
    Runs {
        names: &["memset", "rng", "rand_get_state", "rand_set_state"],
        engines: &[Engine::Vector, Engine::Gpsimd],
    },
    Runs {
        names: &[
            "scalar_tensor_tensor",
            "tensor_tensor_scan",
            "tensor_reduce",
            "tensor_scalar_reduce",
            "tensor_copy_predicated",
            "reciprocal",
            "range_select",
            "select_reduce",
            "bn_stats",
            "bn_aggr",
            "nc_stream_shuffle",
            "max8",
            "nc_find_index8",
            "nc_match_replace8",
            "dropout",
            "rand2",
            "set_rng_seed",
        ],
        engines: &[Engine::Vector],
    },
    Runs {
        names: &["core_barrier"],
        engines: &[
            Engine::Gpsimd,
            Engine::Vector,
            Engine::Scalar,
            Engine::Tensor,
            Engine::Sync,
        ],
    },
    Runs {
        names: &["activation", "activation_reduce"],
        engines: &[Engine::Scalar],
    },
    Runs {
        names: &[
            "iota",
            "affine_select",
            "tensor_partition_reduce",
            "local_gather",
            "nc_n_gather",
        ],
        engines: &[Engine::Gpsimd],
    },
];

/// The engines that can run an instruction of `nki.isa`; empty for what no engine runs: registers
/// and transfers.
#[must_use]
pub fn engines_of(name: &str) -> &'static [Engine] {
    let known = RUNS.iter().find(|it| it.names.contains(&name));
    known.map_or(&[], |it| it.engines)
}

impl Device {
    /// The engine that an instruction asks for, among those that can run it.
    #[inline]
    pub(super) fn choice(&self, bound: &mut Bound, default: Choice) -> Outcome<Choice> {
        let Some(value) = bound.take("engine") else {
            return Ok(default);
        };
        let engine = match value {
            Value::Foreign(Nki::Engine(EngineName::Unknown)) => return Ok(default),
            Value::Foreign(Nki::Engine(EngineName::Vector)) => Engine::Vector,
            Value::Foreign(Nki::Engine(EngineName::Scalar)) => Engine::Scalar,
            Value::Foreign(Nki::Engine(EngineName::Gpsimd)) => Engine::Gpsimd,
            Value::Foreign(Nki::Engine(EngineName::Tensor)) => Engine::Tensor,
            Value::Foreign(Nki::Engine(EngineName::Sync)) => Engine::Sync,
            other => return Err(bound.wrong("engine", "an engine of nisa", &other)),
        };
        if engines_of(bound.api.name).contains(&engine) {
            return Ok(Choice::Fixed(engine));
        }
        Err(not_on(bound.api, engine))
    }

    /// Checks that the engine of an instruction reaches the memories that it uses. What may go to
    /// several engines goes to those that do.
    pub(super) fn check_reach(&self, instruction: &mut Instruction) -> Outcome<()> {
        if !instruction.features.touches_psum {
            return Ok(());
        }
        match instruction.choice {
            Choice::VectorOrGpsimd => instruction.choice = Choice::Fixed(Engine::Vector),
            Choice::Fixed(Engine::Gpsimd) => {
                let mut regions = instruction.reads.iter().chain(&instruction.writes);
                let tensor = regions.find_map(|region| {
                    let tensor = self.trace.tensors.get(region.tile.tensor as usize);
                    tensor.filter(|tensor| tensor.buffer == Buffer::Psum)
                });
                let made = tensor.map(|tensor| format!(" (tensor made at line {})", tensor.line));
                return Err(Failure::documented(
                    "err_unsupported_memory",
                    format!(
                        "{} runs on the gpsimd engine, which cannot reach PSUM{}",
                        instruction.operation.name(),
                        made.unwrap_or_default()
                    ),
                    "copy to or from SBUF with nisa.tensor_copy, or use the vector engine",
                ));
            }
            _ => {}
        }
        Ok(())
    }
}

/// Names of the engines of an instruction.
fn names_of(api: &Api) -> String {
    let names = engines_of(api.name).iter().map(|it| it.name());
    names.collect::<Vec<_>>().join(", ")
}

/// An instruction on an engine that does not have it.
fn not_on(api: &Api, engine: Engine) -> Box<Failure> {
    Failure::documented(
        "err_unsupported_engine",
        format!("{api} does not run on the {} engine", engine.name()),
        format!(
            "leave engine= away; engines that have it: {}",
            names_of(api)
        ),
    )
}

/// An instruction that has no `engine=`.
pub(crate) fn no_choice(api: &Api) -> Box<Failure> {
    Failure::documented(
        "err_unsupported_engine",
        format!("{api} has no parameter `engine` in this dialect"),
        format!(
            "leave engine= away; engines that have it: {}",
            names_of(api)
        ),
    )
}
