// Groups of threads: those of a block and parts of a warp.
namespace cooperative_groups {
struct thread_block {
  static __device__ __forceinline__ void sync() { __syncthreads(); }
  static __device__ __forceinline__ unsigned thread_rank() { return (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x; }
  static __device__ __forceinline__ unsigned size() { return blockDim.x * blockDim.y * blockDim.z; }
  static __device__ __forceinline__ unsigned num_threads() { return size(); }
  static __device__ __forceinline__ dim3 group_index() { return blockIdx; }
  static __device__ __forceinline__ dim3 thread_index() { return threadIdx; }
  static __device__ __forceinline__ dim3 group_dim() { return blockDim; }
  static __device__ __forceinline__ dim3 dim_threads() { return blockDim; }
};
// What a shuffle does with words, done with each word of a structure.
template <class T, class F> AUTOCOMP_D T by_words(T v, F shuffled) {
  if constexpr (!__is_class(T)) {
    return shuffled(v);
  } else {
    static_assert(sizeof(T) <= 32, "a shuffle is of up to 32 bytes");
    unsigned words[(sizeof(T) + 3) / 4] = {};
    __builtin_memcpy(words, &v, sizeof(T));
    _Pragma("unroll") for (unsigned& word : words) word = shuffled(word);
    __builtin_memcpy(&v, words, sizeof(T));
    return v;
  }
}
AUTOCOMP_D thread_block this_thread_block() { return thread_block(); }
template <unsigned N, class Parent = void> struct thread_block_tile {
  thread_block_tile() = default;
  template <class Other> __device__ __forceinline__ thread_block_tile(thread_block_tile<N, Other>) {}
  static __device__ __forceinline__ unsigned lane() { return this_thread_block().thread_rank() % 32; }
  __device__ __forceinline__ unsigned mask() const { return N == 32 ? 0xffffffffu : ((1u << (N % 32)) - 1) << (lane() / N * N); }
  __device__ __forceinline__ unsigned thread_rank() const { return lane() % N; }
  __device__ __forceinline__ unsigned size() const { return N; }
  __device__ __forceinline__ unsigned num_threads() const { return N; }
  __device__ __forceinline__ unsigned meta_group_rank() const { return this_thread_block().thread_rank() / N; }
  __device__ __forceinline__ unsigned meta_group_size() const { return (this_thread_block().size() + N - 1) / N; }
  __device__ __forceinline__ void sync() const { __syncwarp(mask()); }
  template <class T> __device__ __forceinline__ T shfl(T v, int from) const { return by_words(v, [&](auto it) { return __shfl_sync(mask(), it, from, N); }); }
  template <class T> __device__ __forceinline__ T shfl_down(T v, unsigned by) const { return by_words(v, [&](auto it) { return __shfl_down_sync(mask(), it, by, N); }); }
  template <class T> __device__ __forceinline__ T shfl_up(T v, unsigned by) const { return by_words(v, [&](auto it) { return __shfl_up_sync(mask(), it, by, N); }); }
  template <class T> __device__ __forceinline__ T shfl_xor(T v, int by) const { return by_words(v, [&](auto it) { return __shfl_xor_sync(mask(), it, by, N); }); }
  __device__ __forceinline__ unsigned first() const { return lane() / N * N; }
  __device__ __forceinline__ unsigned ballot(int p) const { return (__ballot_sync(mask(), p) & mask()) >> first(); }
  template <class T> __device__ __forceinline__ unsigned match_any(T v) const { return __match_any_sync(mask(), v) >> first(); }
  template <class T> __device__ __forceinline__ unsigned match_all(T v, int& p) const { return __match_all_sync(mask(), v, &p) >> first(); }
  __device__ __forceinline__ int any(int p) const { return (__ballot_sync(mask(), p) & mask()) != 0; }
  __device__ __forceinline__ int all(int p) const { return (__ballot_sync(mask(), p) & mask()) == mask(); }
};
template <unsigned N> AUTOCOMP_D thread_block_tile<N, thread_block> tiled_partition(thread_block) { return thread_block_tile<N, thread_block>(); }
template <unsigned N, unsigned M, class P> AUTOCOMP_D thread_block_tile<N, thread_block_tile<M, P>> tiled_partition(thread_block_tile<M, P>) {
  static_assert(N <= M, "a part of a tile is not larger than the tile");
  return thread_block_tile<N, thread_block_tile<M, P>>();
}
template <class G> AUTOCOMP_D void sync(const G& group) { group.sync(); }
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
  __device__ __forceinline__ unsigned meta_group_rank() const { return 0; }
  __device__ __forceinline__ unsigned meta_group_size() const { return 1; }
  __device__ __forceinline__ void sync() const { __syncwarp(mask); }
  // The value of the thread of a lane.
  template <class T> __device__ __forceinline__ T of(T v, int lane) const { return by_words(v, [&](auto it) { return __shfl_sync(mask, it, lane); }); }
  template <class T> __device__ __forceinline__ T shfl(T v, unsigned from) const { return of(v, nth(from % size())); }
  template <class T> __device__ __forceinline__ T shfl_down(T v, unsigned by) const {
    return of(v, thread_rank() + by < size() ? nth(thread_rank() + by) : (int)lane());
  }
  template <class T> __device__ __forceinline__ T shfl_up(T v, unsigned by) const {
    return of(v, by <= thread_rank() ? nth(thread_rank() - by) : (int)lane());
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
template <class T> struct bit_and { __device__ __forceinline__ T operator()(T a, T b) const { return a & b; } };
template <class T> struct bit_or { __device__ __forceinline__ T operator()(T a, T b) const { return a | b; } };
template <class T> struct bit_xor { __device__ __forceinline__ T operator()(T a, T b) const { return a ^ b; } };
template <unsigned N, class P, class T, class F> AUTOCOMP_D T reduce(thread_block_tile<N, P> tile, T v, F f) {
  for (unsigned o = N / 2; o; o /= 2) v = f(v, tile.shfl_xor(v, o));
  return v;
}
// Of any number of threads: each takes the value of the one so many behind it, if there is one.
template <class T, class F> AUTOCOMP_D T reduce(coalesced_group group, T v, F f) {
  for (unsigned o = 1; o < group.size(); o *= 2) {
    T other = group.shfl_down(v, o);
    if (group.thread_rank() + o < group.size()) v = f(v, other);
  }
  return group.shfl(v, 0);
}
template <class G, class T, class F> AUTOCOMP_D T inclusive_scan(const G& group, T v, F f) {
  for (unsigned o = 1; o < group.size(); o *= 2) {
    T other = group.shfl_up(v, o);
    if (o <= group.thread_rank()) v = f(other, v);
  }
  return v;
}
template <class G, class T, class F> AUTOCOMP_D T exclusive_scan(const G& group, T v, F f) {
  T before = group.shfl_up(inclusive_scan(group, v, f), 1);
  return group.thread_rank() == 0 ? T() : before;
}
template <class G, class T> AUTOCOMP_D T inclusive_scan(const G& group, T v) { return inclusive_scan(group, v, plus<T>()); }
template <class G, class T> AUTOCOMP_D T exclusive_scan(const G& group, T v) { return exclusive_scan(group, v, plus<T>()); }
// The threads of a group for which a label, or a condition, is the same.
template <class T> AUTOCOMP_D coalesced_group labeled_partition(coalesced_group group, T label) { return coalesced_group{__match_any_sync(group.mask, label)}; }
template <unsigned N, class P, class T> AUTOCOMP_D coalesced_group labeled_partition(thread_block_tile<N, P> tile, T label) { return coalesced_group{__match_any_sync(tile.mask(), label)}; }
template <class G> AUTOCOMP_D coalesced_group binary_partition(const G& group, bool p) { return labeled_partition(group, (unsigned)p); }
template <class G, class F> AUTOCOMP_D void invoke_one(const G& group, F f) { if (group.thread_rank() == 0) f(); }
// The threads of a launch, which cannot wait for each other here.
struct grid_group {
  static __device__ __forceinline__ unsigned long long block_rank() { return ((unsigned long long)blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x; }
  static __device__ __forceinline__ unsigned long long num_blocks() { return (unsigned long long)gridDim.x * gridDim.y * gridDim.z; }
  static __device__ __forceinline__ unsigned long long thread_rank() { return block_rank() * thread_block::size() + thread_block::thread_rank(); }
  static __device__ __forceinline__ unsigned long long size() { return num_blocks() * thread_block::size(); }
  static __device__ __forceinline__ unsigned long long num_threads() { return size(); }
  static __device__ __forceinline__ dim3 group_dim() { return gridDim; }
  static __device__ __forceinline__ dim3 dim_blocks() { return gridDim; }
  static __device__ __forceinline__ dim3 block_index() { return blockIdx; }
};
AUTOCOMP_D grid_group this_grid() { return grid_group(); }
}  // namespace cooperative_groups
