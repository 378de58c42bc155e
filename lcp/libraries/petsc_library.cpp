#include <dlfcn.h>
#include <fmt/format.h>
#include <cstring>
#include <mutex>

#include <perp/core/base/error.hpp>
#include <perp/lcp/libraries/petsc_library.hpp>

namespace perp {
namespace {

/// Throws InvalidInput.
const PerpPetsc* load() {
  if (const char* other = other_mumps("PETSc"); other != nullptr)
    throw InvalidInput(fmt::format("solver petsc: {} is loaded, and both bring a MUMPS of their own; expected a process of its own", other));
  void* const handle = dlopen("libperp_petsc.so", RTLD_NOW | RTLD_LOCAL);
  void* const found = handle == nullptr ? nullptr : dlsym(handle, perp_petsc_name);
  if (found != nullptr) return reinterpret_cast<const PerpPetsc* (*)()>(found)();
  const char* const why = dlerror();
  throw InvalidInput(fmt::format("solver petsc: its module is missing ({}); expected a build with PETSc (PERP_PETSC)", why != nullptr ? why : "unknown"));
}

}  // namespace

const PerpPetsc& petsc_library() {
  static const PerpPetsc* const library = load();
  return *library;
}

const char* other_mumps(const char* who) {
  static std::mutex mutex;
  static const char* owner = nullptr;
  const std::lock_guard lock(mutex);
  if (owner == nullptr) owner = who;
  return std::strcmp(owner, who) == 0 ? nullptr : owner;
}

}  // namespace perp
