// A tile of 16x16 for each warp, straight from memory, with the matrix units.
using namespace nvcuda;
__global__ void multiply(const half* a, const half* b, float* c) {
  int row = blockIdx.y * 16, column = (blockIdx.x * 4 + threadIdx.x / 32) * 16;
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum;
  wmma::fill_fragment(sum, 0.0f);
  for (int k = 0; k < {{ K }}; k += 16) {
    wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> u;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::row_major> v;
    wmma::load_matrix_sync(u, a + row * {{ K }} + k, {{ K }});
    wmma::load_matrix_sync(v, b + k * {{ N }} + column, {{ N }});
    wmma::mma_sync(sum, u, v, sum);
  }
  wmma::store_matrix_sync(c + row * {{ N }} + column, sum, {{ N }}, wmma::mem_row_major);
}

void solution(const half* A, const half* B, float* C) {
  multiply<<<dim3({{ N }} / 64, {{ M }} / 16), 128>>>(A, B, C);
}
