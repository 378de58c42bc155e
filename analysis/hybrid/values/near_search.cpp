#include <algorithm>
#include <cmath>

#include <perp/analysis/hybrid/values/near_search.hpp>

namespace perp {

NearSearch::NearSearch(const HybridModel& model, const HybridStructure& structure)
    : binaries_(model.q()), series_(model), choice_(model, structure, series_, {}) {}

std::vector<int> NearSearch::values_of(const HybridContinuation& c) {
  std::vector<int> z;
  for (const double value : c.z) z.push_back(static_cast<int>(std::lround(value)));
  return z;
}

void NearSearch::put(const HybridModeOptions& options) {
  NearChoice::Options known;
  known.share = options.share;
  known.sizes = options.sizes;
  known.stop = options.stop;
  choice_.set_options(std::move(known));
}

std::optional<HybridContinuations> NearSearch::nearest(double t, const Vector& x, const std::vector<int>& previous,
                                                       const HybridModeOptions& options) {
  const auto is_plain = [](int z) { return z == 0 || z == 1; };
  if (previous.empty() || !series_.obstacle().empty() || !std::all_of(previous.begin(), previous.end(), is_plain))
    return std::nullopt;
  put(options);
  return choice_(t, x, previous, options.share == 0);
}

std::optional<NearChoice::OfValue> NearSearch::of_value(double t, const Vector& x, const std::vector<int>& z,
                                                        const HybridModeOptions& options) {
  if (!series_.obstacle().empty()) return std::nullopt;
  put(options);
  return choice_.of_value(t, x, z, options.share == 0);
}

std::optional<HybridContinuations> NearSearch::all(double t, const Vector& x, std::vector<int> previous,
                                                   const std::vector<char>& inside, const HybridModeOptions& options) {
  const auto slides = [](int z) { return z != 0 && z != 1 && z != any_binary; };
  if (!series_.obstacle().empty() || std::any_of(previous.begin(), previous.end(), slides)) return std::nullopt;
  previous.resize(static_cast<std::size_t>(binaries_), any_binary);
  put(options);
  NearChoice::Asked asked{std::move(previous), inside};
  asked.most_kept = static_cast<std::size_t>(std::max(options.most_candidates, 1L));
  return choice_.all_values(t, x, asked, options.share == 0);
}

}  // namespace perp
