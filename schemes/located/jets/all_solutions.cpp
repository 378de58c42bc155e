// What series of modes do not tell: solutions that pass surfaces infinitely often from the start on.
#include <algorithm>
#include <cmath>
#include <map>
#include <optional>

#include <perp/core/base/index.hpp>
#include <perp/core/branches.hpp>
#include <perp/schemes/located/jets/all_solutions.hpp>
#include <perp/schemes/located/jets/array/derivative_array.hpp>

namespace perp {
namespace {

constexpr std::size_t most_coupled = 6;  ///< laws of one part: 64 modes

/// The laws of one part at their surfaces.
class Surfaces {
 public:
  Surfaces(ConsistentJets& jets, double t, const Vector& x, const Vector& lambda, const Mode& mode, const SelectionOptions& options)
      : jets_(jets), t_(t), x_(x), lambda_(lambda), mode_(mode), eps_(options.eps), time_(options.step * jets.scales().time) {}

  /// Is the condition met for these laws of one part?
  bool are_left_at_once(const std::vector<int>& laws) {
    std::vector<int> jumping;
    for (const int i : laws) {
      if (jets_.rough_laws()[at(i)] != 0) return false;
      if (!is_lipschitz(i)) jumping.push_back(i);
    }
    has_kinks_ = jumping.size() < laws.size();
    if (jumping.empty()) return true;
    return jumping.size() == 1 ? is_left_at_once(jumping.front()) : are_left_each(jumping);
  }

 private:
  /// A branch of a law at its surface: on which side of it, 0: fixed to it, or beyond.
  struct Side {
    int branch = 0, sign = 0;
  };

  [[nodiscard]] const Branch& branch(int law, int k) const { return jets_.laws()[at(law)].branches[at(k)]; }

  /// The branches over w0, those that end there with their side.
  [[nodiscard]] std::vector<Side> sides(int law, const Jet& jet) const {
    std::vector<Side> found;
    const double w = jet.w(law, 0), error = eps_ * jet.w_size(law, 0);
    for (int k = 0; k < static_cast<int>(jets_.laws()[at(law)].branches.size()); ++k) {
      const Range range = w_range(branch(law, k));
      if (w < range.lower - error || w > range.upper + error) continue;
      const bool below = w > range.lower + error, above = w < range.upper - error;
      found.push_back({k, is_vertical(branch(law, k)) || below == above ? 0 : above ? 1 : -1});
    }
    return found;
  }

  /// Is λ a function of the state, without jumps?
  [[nodiscard]] bool is_lipschitz(int law) {
    const Law& of = jets_.laws()[at(law)];
    if (of.memory || !jets_.is_of_given(law)) return false;
    std::optional<double> lambda;
    const Jet jet = jets_.solve(mode_, t_, x_, lambda_);
    for (const Side& side : sides(law, jet)) {
      const Branch& line = branch(law, side.branch);
      if (line.b == 0) return false;
      const double value = (line.c - line.a * jet.w(law, 0)) / line.b;
      const double terms = (std::abs(line.c) + std::abs(line.a) * jet.w_size(law, 0)) / std::abs(line.b);
      if (lambda && std::abs(value - *lambda) > 2 * eps_ * terms) return false;
      lambda = value;
    }
    return lambda.has_value();
  }

  /// The sign of coefficient k of w, 0: not told.
  [[nodiscard]] int sign_of(const Jet& jet, int law, int k) const {
    if (k >= jet.w_known[at(law)]) return 0;
    const double power = std::pow(time_, k), value = jet.w(law, k) * power;
    if (!(std::abs(value) > eps_ * std::max(jet.w_size(law, 0), jet.w_size(law, k) * power))) return 0;
    return value > 0 ? 1 : -1;
  }

  /// Is the multiplier that a surface asks for inside of its range or outside, or does it leave the end at once?
  [[nodiscard]] bool is_multiplier_told(const Jet& jet, int law, int k) const {
    const Range range = branch(law, k).lambda;
    if (jet.lambda_known[at(law)] == 0) return false;
    const double value = jet.lambda(law, 0);
    for (const double end : {range.lower, range.upper}) {
      if (!std::isfinite(end)) continue;
      const double size = eps_ * std::max({std::abs(end), std::abs(value), jets_.scales().lambda[law]});
      if (std::abs(value - end) > size) continue;
      const bool moves = !has_kinks_ && jet.lambda_known[at(law)] > 1 && std::abs(jet.lambda(law, 1)) * time_ > size;
      if (!moves) return false;
    }
    return true;
  }

  Jet jet_with(int law, int k) {
    Mode mode = mode_;
    mode[at(law)] = k;
    Jet jet = jets_.solve(mode, t_, x_, lambda_);
    for (int levels = 2 * jets_.levels(); jet.consistent && !jet.determined && levels <= DerivativeArray::most_levels; levels *= 2)
      jet = jets_.with_levels(levels).solve(mode, t_, x_, lambda_);
    return jet;
  }

  /// What the modes of a single law say of its surface.
  struct Told {
    int first = 0, second = 0;   ///< sides with that derivative alone
    bool open = false;           ///< a mode that tells nothing
    bool comes = false;          ///< a side comes to the surface
    bool all_consistent = true;
  };

  void look_at(const Side& side, int law, Told& told) {
    const Jet jet = jet_with(law, side.branch);
    if (!jet.consistent) {
      told.all_consistent = false;
      told.open = told.open || std::isinf(jet.residual);
    } else if (!jet.determined) {
      told.open = true;
    } else if (side.sign == 0) {
      told.open = told.open || (is_vertical(branch(law, side.branch)) && !is_multiplier_told(jet, law, side.branch));
    } else {
      look_at_course(side, jet, law, told);
    }
  }

  /// By the first coefficient of w that is not 0.
  void look_at_course(const Side& side, const Jet& jet, int law, Told& told) {
    const int order = order_of(jet, law);
    if (order == 0 || order > last_order(law))
      told.open = true;
    else
      ++(order == 1 || is_of_time(law) ? told.first : told.second);
    told.comes = told.comes || sign_of(jet, law, 1) == -side.sign;
  }

  /// Of the first coefficient of w that is not 0; 0: none is told.
  [[nodiscard]] int order_of(const Jet& jet, int law) const {
    for (int k = 1; k < jet.w_known[at(law)]; ++k)
      if (sign_of(jet, law, k) != 0) return k;
    return 0;
  }

  [[nodiscard]] bool is_of_time(int law) const { return jets_.rate_form(law).is_known && !jets_.rate_form(law).reads_states; }

  /// Up to which a coefficient of w tells of the solutions beside the state.
  [[nodiscard]] int last_order(int law) const {
    if (has_kinks_) return 1;
    return is_of_time(law) ? jets_.levels() : 2;
  }

  bool is_left_at_once(int law) {
    Told told;
    for (const Side& side : sides(law, w_at(law))) look_at(side, law, told);
    if (told.comes && told.all_consistent && !jets_.is_nonlinear_in_multipliers()) return true;
    if (told.open) return false;
    if (told.second == 0) return true;
    const RateForm& rate = jets_.rate_form(law);
    return told.first == 0 ? rate.is_known && !rate.reads_multipliers : told.second == 1;
  }

  Jet w_at(int law) { return jet_with(law, mode_[at(law)]); }

  /// Has each w' one sign on either side, whatever the other laws are?
  bool are_left_each(const std::vector<int>& laws) {
    if (laws.size() > most_coupled || jets_.is_nonlinear_in_multipliers()) return false;
    std::vector<std::vector<Side>> choices;
    for (const int i : laws) {
      std::vector<Side> found = sides(i, w_at(i));
      std::erase_if(found, [&](const Side& side) { return is_vertical(branch(i, side.branch)); });
      const bool has_two = found.size() == 2 && found[0].sign * found[1].sign < 0;
      if (!has_two || jets_.laws()[at(i)].memory) return false;
      choices.push_back(std::move(found));
    }
    std::map<std::pair<std::size_t, int>, int> signs;  // of w', by law and side
    for (std::size_t bits = 0; bits < std::size_t{1} << laws.size(); ++bits)
      if (!have_one_sign(laws, choices, bits, signs)) return false;
    return true;
  }

  bool have_one_sign(const std::vector<int>& laws, const std::vector<std::vector<Side>>& choices, std::size_t bits,
                     std::map<std::pair<std::size_t, int>, int>& signs) {
    Mode mode = mode_;
    for (std::size_t k = 0; k < laws.size(); ++k) mode[at(laws[k])] = choices[k][bits >> k & 1].branch;
    const Jet jet = jets_.solve(mode, t_, x_, lambda_);
    if (!jet.consistent || !jet.determined) return false;
    for (std::size_t k = 0; k < laws.size(); ++k) {
      const int sign = sign_of(jet, laws[k], 1);
      const auto known = signs.try_emplace({k, choices[k][bits >> k & 1].sign}, sign).first;
      if (sign == 0 || known->second != sign) return false;
    }
    return true;
  }

  ConsistentJets& jets_;
  double t_;
  const Vector& x_;
  const Vector& lambda_;
  const Mode& mode_;
  double eps_, time_;        // of a coefficient of w and of the time in which it counts, see SelectionOptions
  bool has_kinks_ = false;  // laws without jumps at their corners: second derivatives have two values
};

}  // namespace

bool begin_in_one_mode(ConsistentJets& jets, double t, const Vector& x, const Vector& lambda, const Mode& mode,
                       const std::vector<int>& open, const SelectionOptions& options) {
  std::map<int, std::vector<int>> parts;
  for (const int i : open) parts[jets.parts()[at(jets.n() + i)]].push_back(i);
  Surfaces surfaces(jets, t, x, lambda, mode, options);
  return std::ranges::all_of(parts, [&](const auto& part) { return surfaces.are_left_at_once(part.second); });
}

}  // namespace perp
