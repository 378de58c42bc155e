#include <fmt/format.h>
#include <algorithm>
#include <numeric>

#include <perp/schemes/located/located_run.hpp>

namespace perp {
namespace {

constexpr std::size_t most_ordered = 4;  ///< laws of one moment whose orders are compared
constexpr double lost = 1e10;            ///< growth at one event beyond which no digit is sure
constexpr double same_piece = 1e-7;      ///< relative

}  // namespace

/// Does the mode before or behind the present event begin or end where its formulas have no derivatives?
bool LocatedRun::passes_rough_end(const Mode& before, const Mode& after) {
  if (!holds_ends()) return false;
  for (int i = 0; i < system_.m(); ++i)
    if (jets_.is_held(i, before) || jets_.is_held(i, after)) return true;
  return false;
}

/// The state goes on without them.
void LocatedRun::end_sensitivities(const char* why) {
  no_sensitivities_ = fmt::format("; no sensitivities from t = {:.10g} on: {}", now_.t, why);
  sensitivities_.end();
  now_.dx_dq.resize(0, 0);
  now_.dlambda_dq.resize(0, 0);
}

/// Where the derivatives of the stages are not finite, or their matrix is singular.
Matrix LocatedRun::without_sensitivities() {
  if (jets_.has_rough_laws())
    end_sensitivities("the equations have no derivatives there");
  else
    finish(Status::not_solved,
           fmt::format("stopped at {}: the matrix of the sensitivities is singular", place(now_)));
  return {};
}

/// The sensitivities after an event (or the start), in the mode just entered.
void LocatedRun::leave_event(const Step& before, const Jet& after, bool x_jumped) {
  if (!sensitivities_.active()) return;
  // √|s| has an integral on the way from s = 0, its derivative none that a step would know.
  if (passes_rough_end(before.mode, after.mode)) {
    end_sensitivities("the equations have no derivatives at the end of the mode");
    return;
  }
  sensitivities_before_ = sensitivities_.dx();
  if (steps_ == 0 && sensitivities_before_.size() == 0) {
    sensitivities_.begin(now_.t, now_.x, now_.lambda, jump_);
    sensitivities_before_ = sensitivities_.dx();
  } else {
    // Off the constraints of the mode, a state returns to them at once.
    if (x_jumped) sensitivities_.project(now_.t, now_.x, now_.lambda, jump_);
    // Nothing happens to S where the mode goes on (grazing): its dt* need not exist.
    if (before.mode != after.mode && !x_jumped && passage_.rests) {
      finish(Status::not_solved,
             fmt::format("stopped at {}: the moment of this event is no smooth function of starts "
                         "and parameters, which the sensitivities need",
                         place(before)));
      return;
    }
    if (before.mode != after.mode || x_jumped) sensitivities_.leave(after);
    if (!x_jumped) differentiate_passage(before, after);
  }
  Sensitivities::Values values = sensitivities_.complete(after, sensitivities_.dx());
  const double most = lost * std::max(sensitivities_before_.cwiseAbs().maxCoeff(), 1.0);
  if (steps_ > 0 && !(sensitivities_.dx().cwiseAbs().maxCoeff() <= most)) {
    finish(Status::not_solved,
           fmt::format("stopped at {}: the sensitivities are lost in rounding at this event",
                       place(before)));
    return;
  }
  sensitivities_.take(values.dx);
  now_.dx_dq = std::move(values.dx);
  now_.dlambda_dq = std::move(values.dlambda);
}

/// Do the gaps vanish at one moment for every q? Then there is no order.
bool LocatedRun::switch_together(const std::vector<Gap>& gaps) const {
  const auto time = [&](const Gap& gap) {
    return sensitivities_.gap_rate(gap, passage_.before, sensitivities_before_).time();
  };
  const Vector first = time(gaps.front());
  return std::all_of(gaps.begin() + 1, gaps.end(), [&](const Gap& gap) {
    const Vector other = time(gap);
    return (other - first).norm() <= same_piece * std::max(first.norm(), other.norm());
  });
}

/// Laws that switch at one moment switch one after the other for almost every q: if the order makes
/// a difference, the flow has one-sided derivatives only.
void LocatedRun::differentiate_passage(const Step& before, const Jet& after) {
  std::vector<Gap> order;
  for (const Gap& gap : passage_.gaps) {
    const auto law = static_cast<std::size_t>(std::max(gap.law, 0));
    if (gap.law >= 0 && before.mode[law] != after.mode[law]) order.push_back(gap);
  }
  if (order.size() < 2 || order.size() > most_ordered || switch_together(order)) return;
  std::vector<Matrix> pieces;
  std::vector<int> places(order.size());
  std::iota(places.begin(), places.end(), 0);
  do {
    std::vector<Gap> gaps;
    for (const int place : places) gaps.push_back(order[static_cast<std::size_t>(place)]);
    if (const auto piece =
            sensitivities_.in_order(gaps, passage_.before, after, sensitivities_before_))
      pieces.push_back(*piece);
  } while (std::next_permutation(places.begin(), places.end()));
  if (pieces.empty()) return;
  sensitivities_.take(pieces.front());
  const double size = std::max(pieces.front().norm(), 1e-300);
  if (std::any_of(pieces.begin(), pieces.end(), [&](const Matrix& piece) {
        return (piece - pieces.front()).norm() > same_piece * size;
      })) {
    ++result_.counts["one_sided"];
    passage_.pieces = std::move(pieces);
  }
}

}  // namespace perp
