//! Kernels for tests, and the rewriter for them.

use autocomp_cuda_rewriter::{CudaRewriter, GpuResources};

/// The sum of two vectors of 1000 floats.
pub const ADD: &str = "\
#define N 1000
__global__ void add(const float* x, const float* y, float* z) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= N) return;
  z[i] = x[i] + y[i];
}

void solution(const float* X, const float* Y, float* Z) {
  dim3 block(128);
  add<<<(N + 127) / 128, block>>>(X, Y, Z);
}
";

/// Returns the rewriter for buffers of so many elements.
pub fn rewriter(extents: &[i64]) -> CudaRewriter {
    let resources = GpuResources {
        sms: 142.0,
        clock_ghz: 2.52,
        dram_bytes_per_ns: 830.0,
        l2_bytes_per_ns: 5200.0,
        launch_ns: 1600.0,
        tensor_macs: 512.0,
        most_shared_bytes: 101_376,
        shared_bytes: 49_152,
        extents: extents.to_vec(),
    };
    CudaRewriter::new("solution", resources)
}
