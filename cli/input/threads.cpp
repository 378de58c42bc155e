#include <fmt/format.h>
#include <algorithm>
#include <thread>

#include <perp/cli/input/threads.hpp>
#include <perp/core/base/error.hpp>

namespace perp::cli {
namespace {

constexpr int most_threads = 1024;

}  // namespace

int threads_from(int wanted, const char* option) {
  if (wanted == 0)
    return std::clamp(static_cast<int>(std::thread::hardware_concurrency()), 1, most_threads);
  if (wanted < 0 || wanted > most_threads)
    throw InvalidInput(
        fmt::format("{} is {}; expected a number from 1 to {}", option, wanted, most_threads));
  return wanted;
}

}  // namespace perp::cli
