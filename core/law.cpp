#include <fmt/format.h>
#include <algorithm>
#include <cmath>
#include <string_view>

#include <perp/core/base/error.hpp>
#include <perp/core/branches.hpp>
#include <perp/core/laws/law_table.hpp>

namespace perp {
namespace {

std::string describe_range(const char* letter, const Range& range) {
  if (range.lower == -inf && range.upper == inf) return {};
  if (range.lower == range.upper) return fmt::format("{}={:g}", letter, range.lower);
  if (range.lower == -inf) return fmt::format("{}<={:g}", letter, range.upper);
  if (range.upper == inf) return fmt::format("{}>={:g}", letter, range.lower);
  return fmt::format("{:g}<={}<={:g}", range.lower, letter, range.upper);
}

void check_bounds(const char* law, double lower, double upper) {
  if (std::isnan(lower) || std::isnan(upper) || lower > upper)
    throw InvalidInput(fmt::format(
        "law '{}' needs lower <= upper but has lower = {:g}, upper = {:g}", law, lower, upper));
}

void check_finite(const char* law, double lower, double upper) {
  check_bounds(law, lower, upper);
  if (!std::isfinite(lower) || !std::isfinite(upper))
    throw InvalidInput(fmt::format(
        "law '{}' needs finite bounds but has lower = {:g}, upper = {:g}", law, lower, upper));
}

/// N_[lower,upper] with w ∈ N (orientation +1) or -w ∈ N (orientation -1).
std::vector<Branch> cone_branches(double lower, double upper, int orientation) {
  const Range negative{-inf, 0};
  const Range positive{0, inf};
  const bool outward = orientation > 0;
  if (lower == upper) return {{0, 1, lower, {}, {lower, lower}, fmt::format("lambda={:g}", lower)}};
  std::vector<Branch> branches;
  const Branch at_lower{0,
                        1,
                        lower,
                        outward ? negative : positive,
                        {lower, lower},
                        fmt::format("lambda={:g}", lower)};
  const Branch at_upper{0,
                        1,
                        upper,
                        outward ? positive : negative,
                        {upper, upper},
                        fmt::format("lambda={:g}", upper)};
  if (lower > -inf) branches.push_back(at_lower);
  branches.push_back({1, 0, 0, {0, 0}, {lower, upper}, "w=0"});
  if (upper < inf) branches.push_back(at_upper);
  return branches;
}

}  // namespace

std::string describe(const Branch& branch) {
  if (!branch.name.empty()) return branch.name;
  if (branch.b == 0) return fmt::format("w={:g}", branch.c / branch.a);
  std::string line;
  if (branch.a == 0)
    line = fmt::format("lambda={:g}", branch.c / branch.b);
  else
    line = fmt::format("lambda={:g}*w{:+g}", -branch.a / branch.b, branch.c / branch.b);
  const std::string range = describe_range("w", branch.w);
  return range.empty() ? line : line + ", " + range;
}

std::string describe(const std::vector<Law>& laws, const Mode& mode) {
  if (mode.empty()) return laws.empty() ? "smooth" : "unknown";
  std::string text;
  bool is_first = true;
  for (std::size_t i = 0; i < mode.size(); ++i) {
    if (is_constraint(laws.at(i))) continue;
    if (!is_first) text += " | ";
    text += describe(laws.at(i).branches.at(static_cast<std::size_t>(mode[i])));
    is_first = false;
  }
  return is_first ? "smooth" : text;
}

namespace {

bool is_outside(double value, const Range& range) {
  return value < range.lower || value > range.upper;
}

/// Does no point of a w + b λ = c lie within the ranges?
bool is_empty(const Branch& branch) {
  if (branch.b == 0) return is_outside(branch.c / branch.a, branch.w);
  if (branch.a == 0) return is_outside(branch.c / branch.b, branch.lambda);
  return w_range(branch).lower > w_range(branch).upper;
}

bool is_finite(const Branch& branch) {
  return std::isfinite(branch.a) && std::isfinite(branch.b) && std::isfinite(branch.c);
}

/// Has the range a finite number between its ends?
bool is_valid(const Range& range) {
  return range.lower <= range.upper && range.lower != inf && range.upper != -inf;
}

/// Calls `fail` with what is wrong with branch k of a law.
template <class Fail>
void check_branch(const Branch& branch, std::size_t k, const Fail& fail) {
  if (!is_finite(branch))
    fail(fmt::format("branch {}: a, b and c must be finite", k + 1));
  if (branch.a == 0 && branch.b == 0)
    fail(fmt::format("branch {}: a and b must not both be 0", k + 1));
  const auto check = [&](const char* letter, const Range& range) {
    if (!is_valid(range))
      fail(fmt::format("branch {}: range of {} must have lower <= upper but is [{:g}, {:g}]", k + 1,
                       letter, range.lower, range.upper));
  };
  check("w", branch.w);
  check("lambda", branch.lambda);
  if (is_empty(branch))
    fail(fmt::format("branch {}: no point of its line lies within its ranges", k + 1));
}

}  // namespace

void validate(const Law& law) {
  const auto fail = [&](const std::string& what) {
    throw InvalidInput(fmt::format("law '{}' {}", law.name, what));
  };
  if (law.branches.empty()) fail("must have at least one branch but has none");
  for (std::size_t k = 0; k < law.branches.size(); ++k) check_branch(law.branches[k], k, fail);
}

Law complementarity() { return {"complementarity", cone_branches(0, inf, -1)}; }

Law sign() { return {"sign", cone_branches(-1, 1, 1)}; }

Law relay(double lower, double upper) {
  check_finite("relay", lower, upper);
  return {"relay", cone_branches(lower, upper, 1)};
}

Law step() { return {"step", cone_branches(0, 1, 1)}; }

Law normal_cone(double lower, double upper) {
  check_bounds("normal_cone", lower, upper);
  return {"normal_cone", cone_branches(lower, upper, 1)};
}

Law box(double lower, double upper) {
  check_bounds("box", lower, upper);
  return {"box", cone_branches(lower, upper, -1)};
}

Law constraint(const std::string& name) {
  return {name, {{0, 1, 0, {-inf, 0}, {0, 0}, "satisfied"}}};
}

bool is_constraint(const Law& law) {
  if (law.branches.size() != 1) return false;
  const Branch& branch = law.branches[0];
  return branch.a == 0 && branch.c == 0 && branch.w == Range{-inf, 0} &&
         branch.lambda == Range{0, 0};
}

Law equality() { return {"equality", cone_branches(-inf, inf, 1)}; }

Law saturation(double lower, double upper) {
  check_finite("saturation", lower, upper);
  if (lower == upper) return {"saturation", cone_branches(lower, upper, 1)};
  return {"saturation",
          {{0, 1, lower, {-inf, lower}, {lower, lower}, "lower"},
           {-1, 1, 0, {lower, upper}, {lower, upper}, "linear"},
           {0, 1, upper, {upper, inf}, {upper, upper}, "upper"}}};
}

Law dead_zone(double lower, double upper) {
  check_finite("dead_zone", lower, upper);
  return {"dead_zone",
          {{-1, 1, -lower, {-inf, lower}, {-inf, 0}, "below"},
           {0, 1, 0, {lower, upper}, {0, 0}, "dead"},
           {-1, 1, -upper, {upper, inf}, {0, inf}, "above"}}};
}

Law absolute() {
  return {"absolute",
          {{1, 1, 0, {-inf, 0}, {0, inf}, "w<0"}, {-1, 1, 0, {0, inf}, {0, inf}, "w>0"}}};
}

Law abs_plus_sign() {
  return {"abs_plus_sign",
          {{1, 1, -1, {-inf, 0}, {}, "w<0"},
           {1, 0, 0, {0, 0}, {-1, 1}, "w=0"},
           {-1, 1, 1, {0, inf}, {}, "w>0"}}};
}

Law hysteresis(double lower, double upper) {
  check_finite("hysteresis", lower, upper);
  return {"hysteresis",
          {{0, 1, 0, {-inf, upper}, {0, 0}, "low"}, {0, 1, 1, {lower, inf}, {1, 1}, "high"}},
          true};
}

const std::vector<NamedLaw>& named_laws() {
  static const std::vector<NamedLaw> sorted = [] {
    std::vector<NamedLaw> list;
    for (const NamedLaws* file : law_files::law_table())
      list.insert(list.end(), file->begin(), file->end());
    std::sort(list.begin(), list.end(), [](const NamedLaw& a, const NamedLaw& b) {
      return std::string_view(a.name) < b.name;
    });
    return list;
  }();
  return sorted;
}

}  // namespace perp
