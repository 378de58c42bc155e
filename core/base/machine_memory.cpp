// What a machine holds: asked before something is made that may not fit.
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>

#include <perp/core/base/machine_memory.hpp>

namespace perp {

double machine_memory() {
  const double machine = static_cast<double>(sysconf(_SC_PHYS_PAGES)) * static_cast<double>(sysconf(_SC_PAGESIZE));
  rlimit limit{};
  if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return machine;
  return std::min(machine, static_cast<double>(limit.rlim_cur));
}

}  // namespace perp
