//! What to do without modules and interfaces that kernels cannot have here.

/// What to do without collectives.
const COLLECTIVES: &str = "the ranks of a collective are programs with inputs of their own, and a problem gives those of one; two cores of one kernel exchange tiles with nisa.sendrecv";

/// What to do without a module that is neither of NKI nor a part of the file's own package.
pub(super) fn remedy(path: &str) -> Option<&'static str> {
    Some(match path.split('.').next().unwrap_or(path) {
        "itertools" => "write the loops one inside the other, and sums as loops",
        "torch" | "torch_xla" | "torch_neuronx" | "jax" | "tensorflow" | "scipy" | "pytest" => {
            "compute with nl and nisa; the harness around a kernel is left alone"
        }
        "nki" | "neuronxcc" if path.contains("collectives") => COLLECTIVES,
        // The vendor's own kernels, which its package contains.
        "neuronxcc" | "nki" if path.contains("kernels") => {
            "copy what the kernel needs of it into this file; the import may stay as it is"
        }
        "neuronxcc" | "nki" => "use the interfaces of nki, nki.language and nki.isa",
        "argparse" | "asyncio" | "contextlib" | "copy" | "csv" | "ctypes" | "datetime" | "gc"
        | "glob" | "hashlib" | "importlib" | "inspect" | "io" | "json" | "multiprocessing"
        | "numpy" | "pathlib" | "pickle" | "platform" | "random" | "re" | "requests" | "shutil"
        | "signal" | "socket" | "statistics" | "string" | "struct" | "subprocess" | "tempfile"
        | "threading" | "time" | "traceback" | "unittest" | "urllib" | "uuid" | "weakref" => {
            "import nki and its submodules, numpy or math only"
        }
        _ => return None,
    })
}

/// Documented names of NKI that are not simulated, and what to use instead.
pub(super) fn missing(name: &str) -> Option<&'static str> {
    Some(match name {
        "dma_compute" | "atomic_rmw" => {
            "compute in SBUF with nisa.tensor_tensor, then store; or nisa.dma_copy with dst_rmw_op="
        }
        "tensor_scalar_cumulative" => "use nisa.tensor_tensor_scan",
        "topk" => "use nisa.max8 and nisa.nc_match_replace8, eight at a time",
        "activate2" => "use nisa.tensor_scalar, then nisa.activation",
        "bypass" | "prelu" | "average" => "use an operator of the documentation's tables",
        "all_reduce" | "all_gather" | "reduce_scatter" | "collective_permute" => COLLECTIVES,
        _ => return None,
    })
}
