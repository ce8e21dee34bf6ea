// Barriers of a block. A device has instructions for them (`mbarrier`); here they are atomic operations on words of
// shared memory, and an arriving thread waits for its copies first.
namespace cuda {
struct autocomp_no_completion {};
template <thread_scope S, class Completion = autocomp_no_completion> class barrier {
  static_assert(S == thread_scope_block, "only barriers of a block are simulated: cuda::barrier<cuda::thread_scope_block>");
  static_assert(sizeof(Completion) && std::is_same<Completion, autocomp_no_completion>::value, "barriers with a completion function are not simulated: let one thread do that behind wait()");
  unsigned expected, pending, phase;

 public:
  class arrival_token {
    unsigned phase;
    friend class barrier;
  };
  barrier() = default;
  barrier(const barrier&) = delete;
  static constexpr __host__ __device__ ptrdiff_t max() { return (1 << 20) - 1; }
  friend __device__ __forceinline__ void init(barrier* it, ptrdiff_t expected) {
    it->expected = it->pending = (unsigned)expected;
    it->phase = 0;
  }
  __device__ __forceinline__ arrival_token arrive(ptrdiff_t count = 1) {
    arrival_token token;
    asm volatile("cp.async.wait_all;" ::: "memory");
    token.phase = *(volatile unsigned*)&phase;
    __threadfence_block();
    if (atomicSub(&pending, (unsigned)count) == (unsigned)count) {
      // The last one; nobody arrives for the next phase before it begins.
      atomicExch(&pending, atomicAdd(&expected, 0u));
      __threadfence_block();
      atomicAdd(&phase, 1u);
    }
    return token;
  }
  __device__ __forceinline__ void wait(arrival_token&& token) const {
    while (*(const volatile unsigned*)&phase == token.phase) {}
    __threadfence_block();
  }
  __device__ __forceinline__ void arrive_and_wait() { wait(arrive()); }
  __device__ __forceinline__ void arrive_and_drop() {
    atomicSub(&expected, 1u);
    arrive();
  }
};
template <class G, class T, class N, thread_scope S> AUTOCOMP_D void memcpy_async(const G& group, T* to, const T* from, const N& bytes, barrier<S>&) {
  autocomp_together<autocomp_known<T, N>>(group, to, from, bytes);
}
template <class T, class N, thread_scope S> AUTOCOMP_D void memcpy_async(T* to, const T* from, const N& bytes, barrier<S>&) {
  autocomp_together<autocomp_known<T, N>>(autocomp_one(), to, from, bytes);
}
}  // namespace cuda
