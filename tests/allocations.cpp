#include <perp/tests/allocations.hpp>

#include <cstddef>

namespace {
// A count that threads share would make every allocation wait for the other threads.
thread_local long count = 0;
}  // namespace

namespace perp {
long allocations() { return count; }
}  // namespace perp

#ifdef __SANITIZE_ADDRESS__

// The address sanitizer owns malloc and calls back.
extern "C" int __sanitizer_install_malloc_and_free_hooks(void (*allocated)(const volatile void*,
                                                                           std::size_t),
                                                         void (*freed)(const volatile void*));

namespace {
const int installed = __sanitizer_install_malloc_and_free_hooks(
    [](const volatile void*, std::size_t) { ++count; }, [](const volatile void*) {});
}

#else

// glibc lets a program replace malloc and keeps its own under these names. operator new and Eigen's
// aligned allocation end here too.
extern "C" {
void* __libc_malloc(std::size_t size);
void* __libc_calloc(std::size_t number, std::size_t size);
void* __libc_realloc(void* old, std::size_t size);
void* __libc_memalign(std::size_t alignment, std::size_t size);

void* malloc(std::size_t size) {
  ++count;
  return __libc_malloc(size);
}
void* calloc(std::size_t number, std::size_t size) {
  ++count;
  return __libc_calloc(number, size);
}
void* realloc(void* old, std::size_t size) {
  ++count;
  return __libc_realloc(old, size);
}
void* aligned_alloc(std::size_t alignment, std::size_t size) {
  ++count;
  return __libc_memalign(alignment, size);
}
}

#endif
