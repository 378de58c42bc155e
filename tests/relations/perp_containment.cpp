// perp_containment [--points N] [--seconds S] [--seed S] [--times N] CASE.json ...
// Random points of the sets of reference problems (their models, `toml`, and `times`) through the
// event-located scheme at tol 1e-12: each must lie in the rows of its set, at N further times too, so
// that some are within the windows of events. A line for each problem; exit status 1 if a point was
// missed.
#include <fmt/format.h>
#include <algorithm>
#include <cmath>
#include <cstring>
#include <ctime>
#include <exception>
#include <fstream>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include <perp/tests/relations/containment.hpp>

namespace {

using perp::relations::Containment;
using perp::relations::ContainmentOptions;

/// True: every point was in the rows.
bool judge(const char* path, const ContainmentOptions& options, int further) {
  std::ifstream stream(path);
  const nlohmann::json problem = nlohmann::json::parse(stream);
  std::vector<double> times;
  for (const auto& t : problem["times"]) times.push_back(std::stod(t.get<std::string>()));
  const double first = times.front(), length = times.back() - first;
  for (int k = 1; k <= further; ++k)  // exact as decimal numbers too
    times.push_back(first + std::floor(length * k / (further + 1) * 0x1p12) * 0x1p-12);
  std::sort(times.begin(), times.end());
  times.erase(std::unique(times.begin(), times.end()), times.end());
  const std::clock_t start = std::clock();
  const Containment found =
      perp::relations::contained(problem["toml"].get<std::string>(), times, options);
  fmt::print("{:34} {:7} points {:8} states {:4} misses  worst {:9.2g}{}{}  {:.1f} s\n",
             problem["name"].get<std::string>(), found.points, found.states, found.misses,
             found.least_share, found.is_lost ? "  lost" : "",
             found.refused > 0 ? fmt::format("  {} not judged", found.refused) : "",
             static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC);
  if (found.misses > 0) fmt::print("  {}\n", found.first);
  std::fflush(stdout);
  return found.misses == 0;
}

}  // namespace

int main(int argc, char** argv) {
  ContainmentOptions options;
  int further = 0;
  bool all = true;
  try {
    for (int k = 1; k < argc; ++k) {
      const bool has_value = k + 1 < argc;
      if (has_value && std::strcmp(argv[k], "--points") == 0)
        options.points = std::stol(argv[++k]);
      else if (has_value && std::strcmp(argv[k], "--seconds") == 0)
        options.seconds = std::stod(argv[++k]);
      else if (has_value && std::strcmp(argv[k], "--seed") == 0)
        options.seed = static_cast<unsigned>(std::stoul(argv[++k]));
      else if (has_value && std::strcmp(argv[k], "--times") == 0)
        further = std::stoi(argv[++k]);
      else
        all = judge(argv[k], options, further) && all;
    }
  } catch (const std::exception& error) {
    fmt::print(stderr, "perp_containment: {}\n", error.what());
    return 2;
  }
  return all ? 0 : 1;
}
