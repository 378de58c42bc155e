#include <algorithm>
#include <cmath>
#include <optional>

#include <perp/analysis/hybrid/proofs/affine_array.hpp>
#include <perp/analysis/hybrid/proofs/mode_bounds.hpp>
#include <perp/analysis/hybrid/proofs/mode_series.hpp>
#include <perp/core/base/index.hpp>
#include <perp/core/expression/polynomial.hpp>

namespace perp {
namespace {

constexpr int most_lines = 1 << 20;  ///< of the tapes of modes that are kept

}  // namespace

/// A mode in one kind of numbers: by elimination where everything is affine with constant
/// coefficients, whatever the index, else sub-problem by sub-problem.
template <class Number>
class ModeBounds::Level {
 public:
  Level(const HybridModel& model, const HybridStructure& structure, Mode& mode,
        const ModeCandidate& candidate, const std::vector<Number>& inputs)
      : model_(model), structure_(structure), mode_(mode), is_off_surface_(leaves_surface(inputs)) {
    // Which modes are affine does not depend on the state.
    if (!mode.is_affine || *mode.is_affine)
      array_.emplace(model, structure, mode_.tape, mode_.equations, mode_.constraints, inputs);
    mode.is_affine = is_affine();
    if (is_affine() || !mode_.released.empty()) return;
    if (!mode.blocks) mode.blocks = mode_blocks(model, structure, mode.tape, mode_.equations);
    series_.emplace(model, structure, mode_.tape, *mode_.blocks, inputs);
    x_ = candidate.x;
    rates_ = candidate.rates;
  }

  [[nodiscard]] bool is_affine() const { return array_ && array_->is_affine(); }
  [[nodiscard]] std::optional<bool> contradicts() {
    if (is_off_surface_) return true;
    if (is_affine()) return array_->has_contradiction();
    return has_series(mode_orders) ? std::optional(false) : std::nullopt;
  }
  [[nodiscard]] std::optional<Number> constraint(int l, int k) {
    if (is_solved()) return array_->constraint(l, k);
    if (!has_series(mode_orders)) return std::nullopt;
    auto known = values_.find(l);
    if (known == values_.end())
      known = values_.emplace(l, series_->value(mode_.constraints[at(l)])).first;
    return known->second ? std::optional<Number>((*known->second)[k]) : std::nullopt;
  }
  [[nodiscard]] std::optional<Number> beyond_end(int binary, int end, int k) const {
    return is_solved() ? array_->beyond_end(binary, end, k) : std::nullopt;
  }
  [[nodiscard]] bool leaves_open(int binary) const {
    return is_solved() && !array_->beyond_end(binary, 0, 0);
  }
  [[nodiscard]] std::optional<Number> rate(int j) {
    if (is_solved()) return array_->rate(j);
    if (!has_series(1)) return std::nullopt;
    return series_->coefficient(HybridModel::derivative_input(j), 0);
  }

 private:
  /// Is a surface of a released binary certainly not 0, whatever the signals are that are not known?
  [[nodiscard]] bool leaves_surface(const std::vector<Number>& inputs) const {
    std::vector<ModeTaylor<Number>> at_state;
    for (const Number& input : inputs) at_state.emplace_back(input);
    const std::size_t first = mode_.equations.size() - mode_.released.size();
    return std::any_of(mode_.equations.begin() + static_cast<std::ptrdiff_t>(first), mode_.equations.end(),
                       [&](int line) {
                         const auto value = series_value<Number>(mode_.tape, line, at_state);
                         return value && !may_be_zero((*value)[0]) && is_of_states(line);
                       });
  }
  [[nodiscard]] bool is_of_states(int line) const {
    const std::vector<int> lines = lines_below(mode_.tape, line);
    return std::all_of(lines.begin(), lines.end(), [&](int k) {
      const Instruction& here = mode_.tape[k];
      const int j = here.a - model_.variable_input(0);
      return here.operation != Operation::input || here.a == HybridModel::time_input() ||
             (j >= 0 && j < model_.n() && structure_.is_state[at(j)] != 0);
    });
  }
  [[nodiscard]] bool has_series(int orders) {
    return series_ && series_->solve(x_, rates_, orders);
  }
  [[nodiscard]] bool is_solved() const { return is_affine() && !array_->has_contradiction(); }

  const HybridModel& model_;
  const HybridStructure& structure_;
  const Mode& mode_;
  bool is_off_surface_;
  std::optional<AffineArray<Number>> array_;
  std::optional<BlockSeries<Number>> series_;
  Vector x_, rates_;  // near which it lies
  std::map<int, std::optional<ModeTaylor<Number>>> values_;
};

ModeBounds::ModeBounds(const HybridModel& model, const HybridStructure& structure, Faces& faces,
                       ValueSearch& search)
    : model_(model), structure_(structure), faces_(faces), search_(search) {}

ModeBounds::~ModeBounds() = default;

void ModeBounds::look_at(double t, const Vector& x, double share, const ModeCandidate& candidate) {
  candidate_ = candidate;
  inputs_ = search_.known_inputs(t, x, share);
  is_exact_ = share == 0;
  filter_.reset();
  exact_.reset();
  mode_ = nullptr;
}

/// Of the candidate, read when it is asked about for the first time.
ModeBounds::Mode& ModeBounds::mode() {
  if (mode_ != nullptr) return *mode_;
  const auto known = modes_.find(candidate_.z);
  if (known != modes_.end()) return *(mode_ = &known->second);
  kept_lines_ += faces_.tape().size();
  if (kept_lines_ > most_lines) {
    modes_.clear();
    kept_lines_ = faces_.tape().size();
  }
  Mode made;
  made.is_mode = read_mode(made);
  return *(mode_ = &modes_.emplace(candidate_.z, std::move(made)).first->second);
}

bool ModeBounds::read_mode(Mode& mode) {
  mode.tape = faces_.tape();
  const std::vector<int>& z = candidate_.z;
  std::map<int, double> values, on_face;
  for (int i = 0; i < model_.q(); ++i) {
    const bool slides = z[at(i)] == released_binary;
    if (slides) mode.released.push_back(i);
    if (!slides) values[model_.binary_input(i)] = z[at(i)];
    on_face[model_.binary_input(i)] = slides ? 0 : z[at(i)];
  }
  const std::vector<int>& rows = faces_.rows();
  const int equations = static_cast<int>(model_.f.size());
  for (int row = 0; row < equations; ++row)
    mode.equations.push_back(with_values(mode.tape, rows[at(row)], values));
  for (const int i : mode.released) {
    const int surface = search_.surface(z, i);
    if (surface < 0) return false;
    mode.equations.push_back(with_values(mode.tape, rows[at(equations + surface)], on_face));
  }
  read_constraints(values, mode);
  return true;
}

void ModeBounds::read_constraints(const std::map<int, double>& values, Mode& mode) {
  const int equations = static_cast<int>(model_.f.size());
  for (int l = 0; l < faces_.constraints(); ++l) {
    const bool slides = std::any_of(mode.released.begin(), mode.released.end(),
                                    [&](int i) { return faces_.holds(l, i); });
    if (slides ? search_.is_held(candidate_.z, l) : faces_.is_void(l, candidate_.z)) continue;
    mode.place[l] = static_cast<int>(mode.constraints.size());
    mode.constraints.push_back(with_values(mode.tape, faces_.rows()[at(equations + l)], values));
  }
}

/// Null: it is no mode.
ModeBounds::Level<RunningError>* ModeBounds::filter() {
  if (!mode().is_mode) return nullptr;
  if (!filter_)
    filter_ =
        std::make_unique<Level<RunningError>>(model_, structure_, mode(), candidate_, inputs_);
  return filter_.get();
}

/// Null: the states are not exact.
ModeBounds::Level<Rational>* ModeBounds::exact() {
  if (!is_exact_ || filter() == nullptr) return nullptr;
  if (!exact_) {
    std::vector<Rational> inputs;
    for (const RunningError& input : inputs_) inputs.emplace_back(input.value);
    exact_ = std::make_unique<Level<Rational>>(model_, structure_, mode(), candidate_, inputs);
  }
  return exact_.get();
}

template <class Ask>
std::optional<int> ModeBounds::sign(const Ask& ask) {
  if (filter() == nullptr) return std::nullopt;
  const std::optional<RunningError> near = ask(*filter_);
  if (!near || !std::isfinite(near->error)) return std::nullopt;
  const int sign = decided_sign(*near);
  if (sign != 0 || near->error == 0 || exact() == nullptr) return sign;
  const std::optional<Rational> value = ask(*exact_);
  return value ? value->sign() : 0;
}

std::optional<int> ModeBounds::constraint(int l, int k) {
  if (filter() == nullptr) return std::nullopt;
  const auto place = mode().place.find(l);
  if (place == mode().place.end()) return std::nullopt;
  return sign([&](auto& level) { return level.constraint(place->second, k); });
}

std::optional<int> ModeBounds::beyond_end(int binary, int end, int k) {
  return sign([&](auto& level) { return level.beyond_end(binary, end, k); });
}

std::optional<bool> ModeBounds::contradicts() {
  if (filter() == nullptr) return std::nullopt;
  const std::optional<bool> near = filter_->contradicts();
  if (!near || *near || exact() == nullptr) return near;
  const std::optional<bool> exactly = exact_->contradicts();
  return exactly ? exactly : near;
}

/// Does the first coefficient that is not 0 as far as is known say that the row is positive? Ends
/// where one is not bounded.
template <class Coefficient>
bool ModeBounds::becomes_positive(const Coefficient& coefficient) {
  for (int k = 0; k < mode_orders; ++k) {
    const std::optional<int> value = coefficient(k);
    if (!value) return false;
    if (*value != 0) return *value > 0;
  }
  return false;
}

bool ModeBounds::leaves_binaries_open() {
  return filter() != nullptr && std::any_of(mode().released.begin(), mode().released.end(),
                                            [&](int i) { return filter_->leaves_open(i); });
}

bool ModeBounds::is_excluded() {
  if (filter() == nullptr) return false;
  if (contradicts() == std::optional(true)) return true;
  for (const auto& [l, place] : mode().place)
    if (becomes_positive([&, l = l](int k) { return constraint(l, k); })) return true;
  for (const int i : mode().released)
    for (const int end : {0, 1})
      if (becomes_positive([&](int k) { return beyond_end(i, end, k); })) return true;
  return false;
}

namespace {

/// None: a rate is not bounded.
template <class Number, class Level>
std::optional<Number> sum_of_squares(const HybridModel& model, const HybridStructure& structure,
                                     Level& level) {
  Number sum(0);
  for (int j = 0; j < model.n(); ++j) {
    if (!structure.is_state[at(j)]) continue;
    const std::optional<Number> rate = level.rate(j);
    if (!rate) return std::nullopt;
    const Number share = *rate / Number(model.head.variables[at(j)].nominal);
    sum = sum + share * share;
  }
  return sum;
}

}  // namespace

std::optional<ModeBounds::RateNorm> ModeBounds::rate_norm() {
  if (filter() == nullptr) return std::nullopt;
  const auto bounded = sum_of_squares<RunningError>(model_, structure_, *filter_);
  if (!bounded || !std::isfinite(bounded->error)) return std::nullopt;
  RateNorm norm{*bounded, {}};
  if (exact() != nullptr) norm.exact = sum_of_squares<Rational>(model_, structure_, *exact_);
  return norm;
}

}  // namespace perp
