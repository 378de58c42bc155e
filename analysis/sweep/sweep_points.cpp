#include <fmt/format.h>
#include <algorithm>
#include <array>
#include <boost/math/special_functions/erf.hpp>
#include <cmath>
#include <numbers>
#include <numeric>
#include <set>

#include <perp/analysis/maps/axis.hpp>
#include <perp/analysis/measures/constant_expression.hpp>
#include <perp/analysis/run/columns.hpp>
#include <perp/analysis/sweep/counter_random.hpp>
#include <perp/analysis/sweep/sobol.hpp>
#include <perp/analysis/sweep/sweep_points.hpp>
#include <perp/core/base/error.hpp>
#include <perp/core/base/nearest_name.hpp>

namespace perp {
namespace {

constexpr double most_points = 1e8;
constexpr std::array sampling_names{"random", "lhs", "sobol"};  ///< in the order of Sampling

/// The number at the share u of a distribution.
double quantile(const SweepDraw& draw, double u) {
  if (draw.distribution == SweepDraw::Distribution::uniform) return draw.a + (draw.b - draw.a) * u;
  const double standard = -std::numbers::sqrt2 * boost::math::erfc_inv(2 * u);
  const double value = draw.a + draw.b * standard;
  return draw.distribution == SweepDraw::Distribution::normal ? value : std::exp(value);
}

std::string plain_name(std::string name) {
  if (name.size() > 3 && name.ends_with("(0)")) name.resize(name.size() - 3);
  return name;
}

}  // namespace

void SweepPoints::prepare(const Model& model) {
  check_names(model);
  check_size();
  if (sampling == Sampling::latin_hypercube) order_parts();
  if (sampling == Sampling::sobol) order_dimensions();
}

void SweepPoints::check_names(const Model& model) const {
  std::vector<std::string> known = variable_names(model);
  for (const auto& [name, value] : model.parameters) known.push_back(name);
  known.insert(known.end(), model.inputs.begin(), model.inputs.end());
  known.emplace_back("run.h");
  known.emplace_back("run.tol");
  std::set<std::string> seen;
  for (const std::string& name : names()) {
    find_name(plain_name(name), known, "parameter, variable or input");
    if (!seen.insert(plain_name(name)).second) throw InvalidInput(fmt::format("{} is varied twice", name));
  }
}

void check_given_once(const SweepPoints& points, const std::vector<WrittenOverride>& given) {
  for (const std::string& name : points.names())
    for (const auto& [item, written] : given)
      if (same_key(item.key, name))
        throw InvalidInput(fmt::format("{}: {} is varied too; expected it in one of them", written, plain_name(name)));
}

void SweepPoints::check_size() const {
  if (side_by_side)
    for (const SweepAxis& axis : axes)
      if (axis.values.size() != axes.front().values.size())
        throw InvalidInput(fmt::format("--zip: {} has {} values and {} has {}; expected as many", axes.front().name,
                                       axes.front().values.size(), axis.name, axis.values.size()));
  double points = static_cast<double>(runs);
  for (const SweepAxis& axis : axes)
    if (!side_by_side || &axis == &axes.front()) points *= static_cast<double>(axis.values.size());
  if (points > most_points)
    throw InvalidInput(fmt::format("the sweep has {:.3g} runs; expected at most {:.0e}", points, most_points));
}

/// The order of the parts of a Latin hypercube is that of random numbers.
void SweepPoints::order_parts() {
  parts_.clear();
  for (const SweepDraw& draw : draws) {
    const CounterRandom random(seed, "order of " + draw.name);
    std::vector<double> keys;
    for (long k = 0; k < size(); ++k) keys.push_back(random.uniform(static_cast<std::uint64_t>(k)));
    std::vector<std::uint32_t> order(keys.size());
    std::iota(order.begin(), order.end(), 0U);
    std::stable_sort(order.begin(), order.end(), [&](std::uint32_t i, std::uint32_t k) { return keys[i] < keys[k]; });
    parts_.push_back(std::move(order));
  }
}

/// Coordinates in the order of names: what is drawn does not depend on the order in which it was asked for.
void SweepPoints::order_dimensions() {
  if (draws.size() > sobol_dimensions)
    throw InvalidInput(fmt::format("sampling sobol: {} names are drawn; expected at most {}, or sampling lhs", draws.size(),
                                   sobol_dimensions));
  dimensions_.clear();
  for (const SweepDraw& draw : draws)
    dimensions_.push_back(static_cast<std::size_t>(
        std::ranges::count_if(draws, [&](const SweepDraw& other) { return other.name < draw.name; })));
}

/// Of (0, 1), for the draw in point k.
double SweepPoints::share(std::size_t draw, long k) const {
  const double u = CounterRandom(seed, draws[draw].name).uniform(static_cast<std::uint64_t>(k));
  if (sampling == Sampling::latin_hypercube) return (parts_[draw][static_cast<std::size_t>(k)] + u) / static_cast<double>(size());
  if (sampling == Sampling::random) return u;
  // The first 32 digits are those of the sequence xor those of the shift, the next 21 are random: a double holds them all.
  const double shift = CounterRandom(seed, "shift of " + draws[draw].name).uniform(0);
  const std::uint32_t digits = sobol(dimensions_[draw], static_cast<std::uint32_t>(k)) ^ static_cast<std::uint32_t>(shift * 0x1p32);
  return (digits + (std::floor(u * 0x1p20) + 0.5) * 0x1p-20) * 0x1p-32;
}

long SweepPoints::axis_points() const {
  if (axes.empty()) return 1;
  if (side_by_side) return static_cast<long>(axes.front().values.size());
  long product = 1;
  for (const SweepAxis& axis : axes) product *= static_cast<long>(axis.values.size());
  return product;
}

long SweepPoints::size() const { return axis_points() * runs; }

long SweepPoints::line_length() const { return axes.empty() ? 1 : static_cast<long>(axes.back().values.size()); }

std::vector<std::string> SweepPoints::names() const {
  std::vector<std::string> list;
  for (const SweepAxis& axis : axes) list.push_back(axis.name);
  for (const SweepDraw& draw : draws) list.push_back(draw.name);
  return list;
}

std::vector<double> SweepPoints::values(long k) const {
  std::vector<double> list(axes.size());
  long rest = k / runs;
  for (std::size_t i = axes.size(); i-- > 0;) {
    const auto count = static_cast<long>(axes[i].values.size());
    list[i] = axes[i].values[static_cast<std::size_t>(side_by_side ? rest : rest % count)];
    if (!side_by_side) rest /= count;
  }
  for (std::size_t i = 0; i < draws.size(); ++i) list.push_back(quantile(draws[i], share(i, k)));
  return list;
}

std::vector<Override> SweepPoints::overrides(long k) const {
  std::vector<Override> list;
  const std::vector<std::string> all = names();
  const std::vector<double> numbers = values(k);
  for (std::size_t i = 0; i < all.size(); ++i) list.push_back({plain_name(all[i]), fmt::format("{}", numbers[i])});
  return list;
}

std::vector<double> evenly_spaced(double first, double last, int count) {
  const MapAxis axis{.name = {}, .first = first, .last = last, .count = count};
  std::vector<double> values;
  for (int k = 0; k < count; ++k) values.push_back(axis.value(k));
  return values;
}

std::vector<double> log_spaced(double first, double last, int count) {
  std::vector<double> values{first};
  const int steps = count - 1;
  for (int k = 1; k < steps; ++k) values.push_back(first * std::pow(last / first, static_cast<double>(k) / steps));
  values.push_back(last);
  return values;
}

SweepDraw parse_draw(const Model& model, const std::string& name, const std::string& text) {
  SweepDraw draw{.name = name, .text = text};
  const std::size_t open = text.find('('), comma = text.find(',', open);
  if (open == std::string::npos || comma == std::string::npos || text.back() != ')')
    throw InvalidInput(fmt::format("random {}={}: expected uniform(a,b), normal(mean,deviation) or "
                                   "lognormal(mean,deviation)", name, text));
  const std::vector<std::string> known{"lognormal", "normal", "uniform"};
  constexpr std::array distributions{SweepDraw::Distribution::lognormal, SweepDraw::Distribution::normal,
                                     SweepDraw::Distribution::uniform};
  draw.distribution = distributions.at(find_name(text.substr(0, open), known, "distribution"));
  try {
    draw.a = constant_expression(model, text.substr(open + 1, comma - open - 1));
    draw.b = constant_expression(model, text.substr(comma + 1, text.size() - comma - 2));
  } catch (const InvalidInput& error) {
    throw InvalidInput(fmt::format("random {}={}: {}", name, text, error.what()));
  }
  const bool is_uniform = draw.distribution == SweepDraw::Distribution::uniform;
  if (is_uniform ? !(draw.a < draw.b) : !(draw.b > 0))
    throw InvalidInput(fmt::format("random {}={}: expected {}", name, text,
                                   is_uniform ? "a < b" : "a deviation > 0"));
  return draw;
}

Sampling parse_sampling(const std::string& name, const std::string& what) {
  if (name.empty()) return Sampling::random;
  return static_cast<Sampling>(find_name(name, std::vector<std::string>(sampling_names.begin(), sampling_names.end()), what));
}

const char* to_string(Sampling sampling) { return sampling_names.at(static_cast<std::size_t>(sampling)); }

}  // namespace perp
