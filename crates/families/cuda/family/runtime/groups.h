// Groups of threads: those of a block and parts of a warp.
namespace cooperative_groups {
struct thread_block {
  __device__ __forceinline__ void sync() const { __syncthreads(); }
  __device__ __forceinline__ unsigned thread_rank() const { return (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x; }
  __device__ __forceinline__ unsigned size() const { return blockDim.x * blockDim.y * blockDim.z; }
  __device__ __forceinline__ unsigned num_threads() const { return size(); }
  __device__ __forceinline__ dim3 group_index() const { return blockIdx; }
  __device__ __forceinline__ dim3 thread_index() const { return threadIdx; }
};
AUTOCOMP_D thread_block this_thread_block() { return thread_block(); }
template <unsigned N> struct thread_block_tile {
  static __device__ __forceinline__ unsigned lane() { return this_thread_block().thread_rank() % 32; }
  __device__ __forceinline__ unsigned mask() const { return N == 32 ? 0xffffffffu : ((1u << (N % 32)) - 1) << (lane() / N * N); }
  __device__ __forceinline__ unsigned thread_rank() const { return lane() % N; }
  __device__ __forceinline__ unsigned size() const { return N; }
  __device__ __forceinline__ unsigned num_threads() const { return N; }
  __device__ __forceinline__ unsigned meta_group_rank() const { return this_thread_block().thread_rank() / N; }
  __device__ __forceinline__ unsigned meta_group_size() const { return (this_thread_block().size() + N - 1) / N; }
  __device__ __forceinline__ void sync() const { __syncwarp(mask()); }
  template <class T> __device__ __forceinline__ T shfl(T v, int from) const { return __shfl_sync(mask(), v, from, N); }
  template <class T> __device__ __forceinline__ T shfl_down(T v, unsigned by) const { return __shfl_down_sync(mask(), v, by, N); }
  template <class T> __device__ __forceinline__ T shfl_up(T v, unsigned by) const { return __shfl_up_sync(mask(), v, by, N); }
  template <class T> __device__ __forceinline__ T shfl_xor(T v, int by) const { return __shfl_xor_sync(mask(), v, by, N); }
  __device__ __forceinline__ int any(int p) const { return (__ballot_sync(mask(), p) & mask()) != 0; }
  __device__ __forceinline__ int all(int p) const { return (__ballot_sync(mask(), p) & mask()) == mask(); }
};
template <unsigned N> AUTOCOMP_D thread_block_tile<N> tiled_partition(thread_block) { return thread_block_tile<N>(); }
AUTOCOMP_D void sync(thread_block b) { b.sync(); }
// The threads of a warp that come here together.
struct coalesced_group {
  unsigned mask;
  static __device__ __forceinline__ unsigned lane() { return this_thread_block().thread_rank() % 32; }
  // The lane of the thread `rank`.
  __device__ __forceinline__ int nth(unsigned rank) const {
    unsigned rest = mask;
    for (; rank && rest; rank--) rest &= rest - 1;
    return rest ? __ffs(rest) - 1 : (int)lane();
  }
  __device__ __forceinline__ unsigned thread_rank() const { return __popc(mask & ((1u << lane()) - 1)); }
  __device__ __forceinline__ unsigned size() const { return __popc(mask); }
  __device__ __forceinline__ unsigned num_threads() const { return size(); }
  __device__ __forceinline__ void sync() const { __syncwarp(mask); }
  template <class T> __device__ __forceinline__ T shfl(T v, unsigned from) const { return __shfl_sync(mask, v, nth(from % size())); }
  template <class T> __device__ __forceinline__ T shfl_down(T v, unsigned by) const {
    return __shfl_sync(mask, v, thread_rank() + by < size() ? nth(thread_rank() + by) : (int)lane());
  }
  template <class T> __device__ __forceinline__ T shfl_up(T v, unsigned by) const {
    return __shfl_sync(mask, v, by <= thread_rank() ? nth(thread_rank() - by) : (int)lane());
  }
  __device__ __forceinline__ int any(int p) const { return __any_sync(mask, p); }
  __device__ __forceinline__ int all(int p) const { return __all_sync(mask, p); }
  __device__ __forceinline__ unsigned ballot(int p) const {
    unsigned lanes = __ballot_sync(mask, p), ranks = 0, rank = 0;
    for (unsigned rest = mask; rest; rest &= rest - 1, rank++) ranks |= (lanes >> (__ffs(rest) - 1) & 1u) << rank;
    return ranks;
  }
};
AUTOCOMP_D coalesced_group coalesced_threads() { return coalesced_group{__activemask()}; }
template <class T> struct plus { __device__ __forceinline__ T operator()(T a, T b) const { return a + b; } };
template <class T> struct greater { __device__ __forceinline__ T operator()(T a, T b) const { return max(a, b); } };
template <class T> struct less { __device__ __forceinline__ T operator()(T a, T b) const { return min(a, b); } };
template <unsigned N, class T, class F> AUTOCOMP_D T reduce(thread_block_tile<N> tile, T v, F f) {
  for (unsigned o = N / 2; o; o /= 2) v = f(v, tile.shfl_xor(v, o));
  return v;
}
}  // namespace cooperative_groups
