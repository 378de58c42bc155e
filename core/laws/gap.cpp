// The law `gap`, and its name for model files.
#include <fmt/format.h>
#include <cmath>

#include <perp/core/base/error.hpp>
#include <perp/core/laws/law_table.hpp>
#include <perp/core/laws/gap.hpp>

namespace perp {

Law gap(double lower, double upper) {
  if (!(std::isfinite(lower) && std::isfinite(upper) && lower < upper))
    throw InvalidInput(
        fmt::format("law 'gap' has the ends {:g} and {:g}; expected numbers in this order", lower, upper));
  return {"gap", {{0, 1, 0, {-inf, lower}, {0, 0}, "low"}, {0, 1, 1, {upper, inf}, {1, 1}, "high"}},
          true};
}

namespace law_files {
namespace {

constexpr NamedLaw gap_law[] = {
    {"gap", 2, "lambda = 0 for w <= l, 1 for w >= u, no value between; with memory",
     [](const double* a) { return perp::gap(a[0], a[1]); }},
};

}  // namespace

extern const NamedLaws gap;
const NamedLaws gap{gap_law};

}  // namespace law_files
}  // namespace perp
