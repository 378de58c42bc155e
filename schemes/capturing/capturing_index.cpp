// Which steps of Capturing are those of the θ-method and which those of backward Euler: by the index of their
// modes and by what they read of the state before.
#include <utility>
#include <vector>

#include <perp/core/base/index.hpp>
#include <perp/core/base/interruption.hpp>
#include <perp/core/base/set_during.hpp>
#include <perp/core/linear/banded/banded_lu.hpp>
#include <perp/core/pencil/exact_index.hpp>
#include <perp/core/pencil/pencil.hpp>
#include <perp/lcp/exact/double_double.hpp>
#include <perp/schemes/capturing/capturing.hpp>

namespace perp {

namespace {

/// Is E, but for the order of its rows, diagonal and regular?
bool has_rate_of_each(const linear::SparseMatrix& E) {
  std::vector<char> is_met(at(E.columns()), 0);
  for (int i = 0; i < E.rows(); ++i) {
    if (E.row(i).size() != 1) return false;
    char& mark = is_met[at(E.row(i)[0].column)];
    if (std::exchange(mark, 1) != 0) return false;
  }
  return true;
}

/// Have all variables their rates, and do the laws determine the multipliers in this mode, whatever the state, beyond the
/// rounding of factors? The index is 1 at most then.
bool surely_determines_multipliers(const SparseLcs& lcs, const Mode& mode) {
  if (!has_rate_of_each(lcs.E)) return false;
  linear::BandedLu lu(lcs.m(), lcs.m(), lcs.m());
  lu.clear();
  for (int i = 0; i < lcs.m(); ++i) {
    const Branch& branch = lcs.laws[at(i)].branches[at(mode[at(i)])];
    lu.entry(i, i) = branch.b;
    for (const auto& [column, entry] : lcs.D.row(i))
      lu.entry(i, column) = (two_product(branch.a, entry) + DoubleDouble{column == i ? branch.b : 0, 0}).high;
  }
  return lu.factorise() && lu.find_weights();
}

}  // namespace

/// Of the equations of the mode, or a bound of it that says as much. It decides which step is made, not whether one is right.
std::optional<int> Capturing::index(const Mode& mode) {
  constexpr int most_exact = 40;  // unknowns of a mode that is looked at in rational numbers
  const auto [place, is_new] = indices_.try_emplace(mode);
  if (!is_new) return place->second;
  if (equations_.n() + equations_.m() <= most_exact && surely_determines_multipliers(equations_.system(), mode)) {
    place->second = 1;
  } else if (equations_.n() + equations_.m() <= most_exact) {
    place->second = exact_index(equations_.lcs(), mode);
  } else {
    const ModeDae dae = mode_dae(equations_.lcs(), mode);
    place->second = index_of(dae.E, dae.A);
  }
  return place->second;
}

/// Do the equations of the mode determine its algebraic variables and multipliers at every moment, the
/// differential ones given?
bool Capturing::is_determined_at_once(const Mode& mode) {
  const std::optional<int> found = index(mode);
  return found && *found <= 1;
}

/// Are the steps in this mode those of backward Euler?
bool Capturing::exceeds_index(const Mode& mode) {
  if (!first_ || static_cast<int>(mode.size()) != equations_.m()) return false;
  const std::optional<int> found = index(mode);
  return found && *found > most_theta_index;
}

/// Does a step into another mode read what was determined by the mode before?
bool Capturing::begins_anew(const Mode& mode) {
  return reads_algebraic_ || !is_determined_at_once(mode);
}

/// Is the step after one of backward Euler in this mode, or into it, one as well?
bool Capturing::is_fresh_behind(const Mode& mode, bool changes) {
  return (changes && !is_determined_at_once(mode)) || exceeds_index(mode);
}

/// By backward Euler; the next step too where the mode at the end asks for it, or where this one is so short that of
/// algebraic variables of index 2 it knows the rounding over its length.
Attempt Capturing::attempt_first_order(double t_next, double h) {
  const bool is_short = h < options_.h / 2;
  const Attempt found = attempt_by(*first_, t_next, h);
  if (start_pending_ || found.status != Status::solved) {
    trial().is_fresh = false;
    return found;
  }
  const Mode& mode = *trial().mode;
  trial().is_fresh = exceeds_index(mode) || (is_short && !is_determined_at_once(mode));
  return found;
}

/// The step that was not found in its mode, or `leaves` it, by backward Euler.
Attempt Capturing::attempt_into_mode(double t_next, double h, bool leaves) {
  Attempt found = attempt_by(*first_, t_next, h);
  if (found.status != Status::solved) return found;
  // Where a mode ends is told by the steps that are made in it.
  if (leaves && found.kept_mode) found = attempt_by(equations_, t_next, h);
  trial().is_fresh = !found.kept_mode && !is_determined_at_once(*trial().mode);
  return found;
}

Attempt Capturing::attempt_end(double t_next, double h) {
  const SetDuring looking(looks_for_end_);
  return attempt(t_next, h);
}

bool Capturing::ends_surely_in(const Mode& mode, double t_next, double h) {
  if (first_ || options_.selector != Selector::keep_mode) return false;
  active_ = &equations_;
  if (once().grid) return end_surely_on_grid(mode, t_next, h);
  if (!once().is_usable() || !has_one_solution(h)) return false;
  PointStep& step = *once().step;
  double* parameter = trial().parameter.data();
  equations_.parameter(x(), current().t, t_next, parameter);
  step.set(h, parameter);
  // Solutions are a convex set, and this one is an isolated point of it: it is in no other mode.
  return step.solve(mode) == PointStep::Verdict::inside && step.is_determined() && !step.is_at_end();
}

Attempt Capturing::attempt(double t_next, double h) {
  check_interruption();
  if (!first_) return attempt_by(equations_, t_next, h);
  if (start_pending_ || current().is_fresh) return attempt_first_order(t_next, h);
  trial().is_fresh = false;
  const Attempt found = attempt_by(equations_, t_next, h);
  const bool is_solved = found.status == Status::solved;
  if (is_solved && (found.kept_mode || looks_for_end_ || !begins_anew(*trial().mode))) return found;
  return attempt_into_mode(t_next, h, is_solved);
}

}  // namespace perp
