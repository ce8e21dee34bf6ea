// Sums of blocks first, four elements for each thread, with shuffles; then the scan, for which
// each block adds up the sums of those before it.
#define THREADS 256
#define PART (THREADS * 4)
#define BLOCKS ({{ N }} / PART)
__device__ int of_warp(int v) {
  for (int distance = 1; distance < 32; distance *= 2) {
    int other = __shfl_up_sync(0xffffffff, v, distance);
    if (threadIdx.x % 32 >= distance) v += other;
  }
  return v;
}

__global__ void totals(const int4* __restrict__ x, int* __restrict__ sums) {
  __shared__ int part[THREADS / 32];
  int4 v = x[blockIdx.x * THREADS + threadIdx.x];
  int sum = __reduce_add_sync(0xffffffff, v.x + v.y + v.z + v.w);
  if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = sum;
  __syncthreads();
  if (threadIdx.x == 0) {
    sum = 0;
    for (int i = 0; i < THREADS / 32; i++) sum += part[i];
    sums[blockIdx.x] = sum;
  }
}

__global__ void scan(const int4* __restrict__ x, const int* __restrict__ sums, int4* __restrict__ y) {
  __shared__ int part[THREADS / 32], before[THREADS / 32];
  int4 v = x[blockIdx.x * THREADS + threadIdx.x];
  v.y += v.x;
  v.z += v.y;
  v.w += v.z;
  int up_to = of_warp(v.w);
  int base = 0;
  for (int i = threadIdx.x; i < blockIdx.x; i += THREADS) base += sums[i];
  base = __reduce_add_sync(0xffffffff, base);
  if (threadIdx.x % 32 == 31) part[threadIdx.x / 32] = up_to;
  if (threadIdx.x % 32 == 0) before[threadIdx.x / 32] = base;
  __syncthreads();
  base = up_to - v.w;
  for (int i = 0; i < THREADS / 32; i++) {
    base += before[i];
    if (i < threadIdx.x / 32) base += part[i];
  }
  y[blockIdx.x * THREADS + threadIdx.x] = make_int4(v.x + base, v.y + base, v.z + base, v.w + base);
}

void solution(const int* X, int* Y) {
  int* sums;
  cudaMalloc(&sums, BLOCKS * sizeof(int));
  totals<<<BLOCKS, THREADS>>>((const int4*)X, sums);
  scan<<<BLOCKS, THREADS>>>((const int4*)X, sums, (int4*)Y);
}
