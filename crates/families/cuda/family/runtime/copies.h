// Asynchronous copies by groups of threads, and pipelines of a thread.
namespace cuda {
// A number of bytes whose addresses this many divide.
template <size_t A> struct aligned_size_t {
  static constexpr size_t align = A;
  size_t value;
  __host__ __device__ constexpr explicit aligned_size_t(size_t value) : value(value) {}
  __host__ __device__ constexpr operator size_t() const { return value; }
};
}  // namespace cuda

template <class T> constexpr size_t autocomp_alignment = alignof(T);
template <> constexpr size_t autocomp_alignment<void> = 1;
// What is known of addresses: by the size, otherwise by the elements.
template <class T, class S> constexpr size_t autocomp_known = autocomp_alignment<T>;
template <class T, size_t A> constexpr size_t autocomp_known<T, cuda::aligned_size_t<A>> = A;
// Pieces of `W` bytes by turns; what is left over is not copied.
template <unsigned W, class G> AUTOCOMP_D void autocomp_pieces(const G& group, char* to, const char* from, size_t bytes) {
  for (size_t at = group.thread_rank() * W; at + W <= bytes; at += group.size() * W) __pipeline_memcpy_async(to + at, from + at, W);
}
template <class G> AUTOCOMP_D void autocomp_bytes(const G& group, char* to, const char* from, size_t bytes) {
  for (size_t at = group.thread_rank(); at < bytes; at += group.size()) to[at] = from[at];
}
// The same from the first address on that `W` divides; the rest at once, byte by byte.
template <unsigned W, class G> AUTOCOMP_D void autocomp_inner(const G& group, char* to, const char* from, size_t bytes) {
  size_t head = (0 - (size_t)from) % W, body = (bytes - head) / W * W;
  autocomp_bytes(group, to, from, head);
  autocomp_pieces<W>(group, to + head, from + head, body);
  autocomp_bytes(group, to + head + body, from + head + body, bytes - head - body);
}
template <size_t A, class G> AUTOCOMP_D void autocomp_together(const G& group, void* target, const void* source, size_t bytes) {
  char* to = (char*)target;
  const char* from = (const char*)source;
  if constexpr (16 <= A) autocomp_pieces<16>(group, to, from, bytes);
  else if constexpr (8 <= A) autocomp_pieces<8>(group, to, from, bytes);
  else if constexpr (4 <= A) autocomp_pieces<4>(group, to, from, bytes);
  else {
    unsigned differ = (unsigned)((size_t)to ^ (size_t)from) | 16;
    unsigned width = differ & (0 - differ);
    if (16 <= width && 16 <= bytes) autocomp_inner<16>(group, to, from, bytes);
    else if (8 <= width && 8 <= bytes) autocomp_inner<8>(group, to, from, bytes);
    else if (4 <= width && 4 <= bytes) autocomp_inner<4>(group, to, from, bytes);
    else autocomp_bytes(group, to, from, bytes);
  }
}

namespace cooperative_groups {
// Each copy is a group of its own for `__pipeline_wait_prior`.
template <class G, class T, class S> AUTOCOMP_D void memcpy_async(const G& group, T* to, const T* from, const S& bytes) {
  autocomp_together<autocomp_known<T, S>>(group, to, from, bytes);
  __pipeline_commit();
}
template <class G, class T, class D, class S> AUTOCOMP_D void memcpy_async(const G& group, T* to, const D& room, const T* from, const S& count) {
  size_t elements = (size_t)room < (size_t)count ? (size_t)room : (size_t)count;
  autocomp_together<autocomp_known<T, S>>(group, to, from, elements * sizeof(T));
  __pipeline_commit();
}
template <unsigned N, class G> AUTOCOMP_D void wait_prior(const G& group) { __pipeline_wait_prior(N); group.sync(); }
template <class G> AUTOCOMP_D void wait(const G& group) { wait_prior<0>(group); }
}  // namespace cooperative_groups

namespace cuda {
enum thread_scope { thread_scope_system, thread_scope_device, thread_scope_block, thread_scope_thread };
template <thread_scope S> class pipeline;
template <> class pipeline<thread_scope_thread> {
  unsigned under_way = 0;
 public:
  __device__ __forceinline__ void producer_acquire() {}
  __device__ __forceinline__ void producer_commit() { __pipeline_commit(); under_way++; }
  // The oldest stage has landed, for this thread alone.
  __device__ __forceinline__ void consumer_wait() {
    switch (--under_way) {
      case 0: __pipeline_wait_prior(0); break;
      case 1: __pipeline_wait_prior(1); break;
      case 2: __pipeline_wait_prior(2); break;
      case 3: __pipeline_wait_prior(3); break;
      case 4: __pipeline_wait_prior(4); break;
      case 5: __pipeline_wait_prior(5); break;
      case 6: __pipeline_wait_prior(6); break;
      case 7: __pipeline_wait_prior(7); break;
      default: __builtin_trap();
    }
  }
  __device__ __forceinline__ void consumer_release() {}
  template <unsigned N> __device__ __forceinline__ void autocomp_wait_prior() { __pipeline_wait_prior(N); under_way = under_way < N ? under_way : N; }
};
AUTOCOMP_D pipeline<thread_scope_thread> make_pipeline() { return pipeline<thread_scope_thread>(); }
template <unsigned N> AUTOCOMP_D void pipeline_consumer_wait_prior(pipeline<thread_scope_thread>& pipe) { pipe.autocomp_wait_prior<N>(); }
template <thread_scope S, unsigned N> struct pipeline_shared_state {};
template <class G, thread_scope S, unsigned N> __device__ pipeline<thread_scope_thread> make_pipeline(const G&, pipeline_shared_state<S, N>*)
    __attribute__((unavailable("pipelines of a block are not simulated: take cuda::make_pipeline() in each thread, and __syncthreads() behind consumer_wait()")));
struct autocomp_one {
  __device__ __forceinline__ unsigned thread_rank() const { return 0; }
  __device__ __forceinline__ unsigned size() const { return 1; }
};
template <class G, class T, class S> AUTOCOMP_D void memcpy_async(const G& group, T* to, const T* from, const S& bytes, pipeline<thread_scope_thread>&) {
  autocomp_together<autocomp_known<T, S>>(group, to, from, bytes);
}
template <class T, class S> AUTOCOMP_D void memcpy_async(T* to, const T* from, const S& bytes, pipeline<thread_scope_thread>& pipe) {
  memcpy_async(autocomp_one(), to, from, bytes, pipe);
}
}  // namespace cuda
