// Tells jumps from roots of the step's equations that go to infinity as the step gets shorter.
#include <algorithm>
#include <cmath>

#include <perp/schemes/leaps.hpp>
#include <perp/schemes/safeguard.hpp>
#include <perp/schemes/step/known_part.hpp>

namespace perp {
namespace {

constexpr std::size_t least_leaps = 3;  ///< that show the growth of what a step moves
constexpr std::size_t many_leaps = 8;   ///< that grow one after the other by no chance
constexpr double many_growth = 2;       ///< of these: a jump grows by rounding over its last ulps of t
constexpr double far_growth = 0x1p16;   ///< of fewer

/// The leap whose length is in the middle of the first and the last one, as far as there is one.
const Leap& middle_of(const std::vector<Leap>& leaps) {
  const double half = std::sqrt(leaps.front().length * leaps.back().length);
  const auto distance = [&](const Leap& leap) { return std::abs(std::log2(leap.length / half)); };
  return *std::min_element(
      leaps.begin(), leaps.end(),
      [&](const Leap& a, const Leap& b) { return distance(a) < distance(b); });
}

/// Three leaps, each of a shorter step than the one before.
struct Shortening {
  const Leap &first, &middle, &last;
  double longer = std::log2(first.length / middle.length);  // powers of two between their lengths
  double shorter = std::log2(middle.length / last.length);

  /// Does a row move by more than `least` times as much, seen beside its rounding, and grow no less per power of two in
  /// the shorter steps?
  [[nodiscard]] bool grows(Eigen::Index row, double least, double rounding) const {
    const auto size = [row](const Leap& leap) { return std::abs(leap.motion[row]); };
    const double growth = size(last) - size(middle), before = size(middle) - size(first);
    const bool is_far = size(last) > least * size(first);
    const bool is_seen = growth > std::max(rounding, jump_share * size(last)) && before > 0;
    return is_far && is_seen && growth / shorter >= before / longer / 2;
  }
};

/// Does each leap move a row by no less than the one before?
bool never_shrinks(const std::vector<Leap>& leaps, Eigen::Index row) {
  return std::is_sorted(leaps.begin(), leaps.end(), [row](const Leap& a, const Leap& b) {
    return std::abs(a.motion[row]) < std::abs(b.motion[row]);
  });
}

}  // namespace

bool grow_without_bound(std::vector<Leap> leaps, const Vector& rounding) {
  if (!leaps.empty()) std::erase_if(leaps, [least = leaps.back().length](const Leap& leap) { return leap.length < least; });
  if (leaps.size() < least_leaps) return false;
  const Shortening steps{leaps.front(), middle_of(leaps), leaps.back()};
  if (!(steps.longer > 0 && steps.shorter > 0)) return false;
  const double least = leaps.size() >= many_leaps ? many_growth : far_growth;
  for (Eigen::Index i = 0; i < rounding.size(); ++i)
    if (steps.grows(i, least, rounding[i]) && never_shrinks(leaps, i)) return true;
  return false;
}

Vector motion_by_rounding(Scheme& scheme, const Vector& before) {
  return scheme.motion_terms(scheme.rounding(), Vector::Zero(before.size())).cwiseMax(scheme.motion_rounding(before, scheme.x()));
}

namespace {

/// Longer and longer steps in place of the first one that leaves the mode of `before`, which is current.
class LongerSteps {
 public:
  LongerSteps(Scheme& scheme, const Step& before)
      : scheme_(scheme), before_(before), first_(scheme.snapshot()), last_(unknown_part(scheme, before)) {}

  /// Of the first step, until none is better.
  [[nodiscard]] double length() const { return first_.t - before_.t; }
  [[nodiscard]] bool is_known() const { return last_.isZero(0); }
  [[nodiscard]] bool is_over() const { return is_over_; }
  /// Makes the step of this length. Is it the one to take?
  bool takes(double step) {
    if (!take_step(scheme_, before_, before_.t + step, step)) return false;
    const Vector error = unknown_part(scheme_, before_);
    if (known_ == 0 && error.isZero(0)) known_ = step;
    return scheme_.mode() == first_.mode && ends_with(error);
  }
  /// Where none was taken: the shortest that is known, in another mode than the first, if none was in that; else the first one.
  void return_to_shortest() {
    if (!is_met_ && known_ > 0 && take_step(scheme_, before_, before_.t + known_, known_)) return;
    if (!take_step(scheme_, before_, first_.t, length())) scheme_.restore(first_);
  }

 private:
  bool ends_with(const Vector& error) {
    is_met_ = true;
    const bool shrinks = (error.array() < 0.75 * last_.array()).any();
    if (shrinks ? error.isZero(0) : is_better_) return true;
    is_over_ = !shrinks;
    is_better_ = true;
    last_ = error;
    return false;
  }

  Scheme& scheme_;
  const Step& before_;
  Step first_;
  Vector last_;
  double known_ = 0;
  bool is_met_ = false, is_better_ = false, is_over_ = false;
};

}  // namespace

void leave_by_known_step(Scheme& scheme, const Step& before, double t_next, double h) {
  scheme.accept();
  LongerSteps steps(scheme, before);
  if (steps.is_known()) return;
  const double longest = std::min(t_next - before.t, longest_moment * h);
  for (double step = 2 * steps.length(); step <= longest && !steps.is_over(); step *= 2)
    if (steps.takes(step)) return;
  steps.return_to_shortest();
}

}  // namespace perp
