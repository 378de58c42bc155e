#include <dlfcn.h>
#include <fmt/format.h>
#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <limits>

#include <perp/core/base/error.hpp>
#include <perp/io/ranks/ranks.hpp>

namespace perp::io {
namespace {

/// Throws InvalidInput.
const PerpRanks* load() {
  void* const handle = dlopen("libperp_mpi.so", RTLD_NOW | RTLD_LOCAL);
  void* const found = handle == nullptr ? nullptr : dlsym(handle, perp_ranks_name);
  if (found == nullptr) {
    const char* const why = dlerror();
    throw InvalidInput(fmt::format("mpirun started several processes, and the module by which they share their work is missing ({}); "
                                   "expected a build with MPI (PERP_MPI)",
                                   why != nullptr ? why : "unknown"));
  }
  return reinterpret_cast<const PerpRanks* (*)()>(found)();
}

}  // namespace

bool Ranks::are_there() {
  // Of OpenMPI, of MPICH and its kin, of Slurm's own start.
  constexpr std::array variables{"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "PMIX_RANK"};
  const auto is_set = [](const char* name) { return std::getenv(name) != nullptr; };
  const char* const size = std::getenv(variables[0]);
  return std::any_of(variables.begin(), variables.end(), is_set) && (size == nullptr || std::strcmp(size, "1") != 0);
}

Ranks::Ranks() : module_(load()), exceptions_(std::uncaught_exceptions()) { module_->join(&rank_, &size_); }

Ranks::~Ranks() {
  if (is_agreed_ || std::uncaught_exceptions() == exceptions_) module_->leave();
}

void Ranks::together(const std::function<void()>& task, const std::function<long()>& place) {
  constexpr long never = std::numeric_limits<long>::max();
  std::exception_ptr error;
  try {
    task();
  } catch (...) {
    error = std::current_exception();
  }
  const long own = !error ? never : place ? place() : 0;
  long least = never;
  int first = 0;
  module_->smallest(own, &least, &first);
  if (least == never) return;
  is_agreed_ = true;
  if (rank_ == first) std::rethrow_exception(error);
  throw EndedElsewhere();
}

void go_together(Ranks* ranks, const std::function<void()>& task) {
  std::exception_ptr error;
  try {
    task();
  } catch (const InvalidInput&) {
    error = std::current_exception();
  }
  do_together(ranks, [&] {
    if (error) std::rethrow_exception(error);
  });
}

bool Ranks::all(bool own) const {
  long least = 0;
  int rank = 0;
  module_->smallest(own ? 1 : 0, &least, &rank);
  return least == 1;
}

void do_together(Ranks* ranks, const std::function<void()>& task) { ranks == nullptr ? task() : ranks->together(task); }

}  // namespace perp::io
