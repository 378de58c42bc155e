#include <algorithm>
#include <cmath>
#include <utility>

#include <perp/core/base/index.hpp>
#include <perp/schemes/step/grid/grid_step.hpp>

namespace perp {
namespace {

/// λ = 0 and w >= 0; or w = 0 and λ >= 0.
bool is_half_line(const Branch& branch, bool of_w) {
  const Range& range = of_w ? branch.w : branch.lambda;
  return (of_w ? branch.a : branch.b) == 0 && branch.c == 0 && range.lower == 0 && range.upper == inf;
}

/// The number of the branch λ = 0, w >= 0 of a law whose other one is w = 0, λ >= 0; nothing: of another law.
std::optional<int> free_branch_of(const Law& law) {
  if (law.branches.size() != 2 || law.memory) return std::nullopt;
  const int free = law.branches[0].a == 0 ? 0 : 1;
  const bool fits = is_half_line(law.branches[at(free)], true) && is_half_line(law.branches[at(1 - free)], false);
  return fits ? std::optional(free) : std::nullopt;
}

}  // namespace

std::unique_ptr<GridStep> GridStep::of(const StepEquations& equations, int least_dimensions) {
  const SparseLcs& lcs = equations.system();
  if (equations.theta() != 1 || equations.n() < fewest_nodes || equations.rows_are_rounded()) return nullptr;
  const std::optional<linear::GridShape> shape = linear::grid_shape(lcs.A);
  if (!shape || shape->dimensions() < least_dimensions) return nullptr;
  std::unique_ptr<GridStep> step(new GridStep(equations, *shape));
  return step->has_own_rates() && step->list_bounds() && linear::GridMatrix::of(lcs.A, *shape) ? std::move(step) : nullptr;
}

/// Is no rate but that of the variable beside it in an equation, with a factor >= 0?
bool GridStep::has_own_rates() const {
  const SparseLcs& lcs = equations_.system();
  for (int i = 0; i < lcs.n(); ++i)
    for (const auto& [column, value] : lcs.E.row(i))
      if (value != 0 && (column != i || value < 0)) return false;
  return true;
}

std::optional<GridStep::Bound> GridStep::bound_of(int law) const {
  const SparseLcs& lcs = equations_.system();
  const std::optional<int> free = free_branch_of(lcs.laws[at(law)]);
  if (!free || lcs.C.row(law).size() != 1 || !lcs.D.row(law).empty()) return std::nullopt;
  const auto& [node, c] = lcs.C.row(law).front();
  const double b = lcs.B(node, law);
  return c * b > 0 && std::isfinite(1 / c) && std::isfinite(1 / b) ? std::optional(Bound{node, *free, b, c}) : std::nullopt;
}

/// Each multiplier stands in one equation, and a variable has one bound below and one above at most.
bool GridStep::list_bounds() {
  std::size_t entries = 0;
  for (int i = 0; i < equations_.n(); ++i) entries += equations_.system().B.row(i).size();
  if (entries != at(equations_.m())) return false;
  std::vector<char> sides(at(equations_.n()), 0);
  for (int i = 0; i < equations_.m(); ++i) {
    const std::optional<Bound> bound = bound_of(i);
    const char side = bound && bound->is_lower() ? 1 : 2;
    if (!bound || (sides[at(bound->node)] & side) != 0) return false;
    sides[at(bound->node)] |= side;
    has_upper_ = has_upper_ || !bound->is_lower();
    bounds_.push_back(*bound);
  }
  return true;
}

/// E - h A; rows without a rate are those of h times their equation, so that all are symmetric.
std::optional<linear::GridMatrix> GridStep::matrix(double h) const {
  const SparseLcs& lcs = equations_.system();
  std::optional<linear::GridMatrix> result = linear::GridMatrix::of(lcs.A, shape_);
  if (!result) return result;
  const auto scale = [&](linear::GridField& field) {
    for (std::ptrdiff_t i = 0; i < shape_.nodes(); ++i) field[i] = field[i] == 0 ? 0 : -h * field[i];
  };
  scale(result->diagonal());
  for (int code = linear::GridMatrix::centre + 1; code < linear::GridMatrix::neighbours; ++code)
    if (!result->beside(code).empty()) scale(result->beside(code));
  for (int i = 0; i < lcs.n(); ++i)
    if (!equations_.is_algebraic_row(i)) result->diagonal()[i] += lcs.E(i, i);
  return result;
}

bool GridStep::is_certified(double h) {
  if (!(h > 0)) return false;
  if (h != h_ || !box_) {
    if (box_) earlier_ = counts();
    box_.reset();
    std::optional<linear::GridMatrix> K = matrix(h);
    if (!K) return false;
    box_ = std::make_unique<GridBox>(std::move(*K), has_upper_);
    h_ = h;
  }
  return box_->is_certified();
}

bool GridStep::is_continuous() const {
  return equations_.algebraic_rows().empty() && equations_.system().q.is_constant();
}

/// Row of a signal: constant, or where it is in the parameter.
double GridStep::constant(const Signal& signal, int row, std::size_t first_varying) const {
  const auto found = std::ranges::lower_bound(signal.varying(), row);
  if (found == signal.varying().end() || *found != row) return signal.constant()[row];
  return parameter_[first_varying + at(found - signal.varying().begin())];
}

/// E x_k + h b, and x_k as what is known of x.
void GridStep::put_right_side() {
  const SparseLcs& lcs = equations_.system();
  linear::GridField &right = box_->right(), &x = box_->x();
  x.fill(0);
  for (std::size_t k = 0; k < equations_.state().size(); ++k) x[equations_.state()[k]] = parameter_[k];
  for (int i = 0; i < lcs.n(); ++i) {
    const double before = equations_.is_algebraic_row(i) ? 0 : lcs.E(i, i) * x[i];
    right[i] = before + h_ * constant(lcs.b, i, equations_.state().size());
  }
}

/// c x + q >= 0
void GridStep::put_bounds() {
  box_->lower().fill(-inf);
  if (has_upper_) box_->upper().fill(inf);
  const std::size_t first = equations_.state().size() + equations_.system().b.varying().size();
  q_.resize(bounds_.size());
  for (std::size_t i = 0; i < bounds_.size(); ++i) {
    const Bound& bound = bounds_[i];
    q_[i] = constant(equations_.system().q, static_cast<int>(i), first);
    (bound.is_lower() ? box_->lower() : box_->upper())[bound.node] = -q_[i] / bound.c;
  }
}

bool GridStep::set(double h, const double* parameter) {
  if (!is_certified(h)) return false;
  parameter_ = parameter;
  put_right_side();
  put_bounds();
  return true;
}

/// The nodes of laws that are on their bound in this mode.
void GridStep::hold(const Mode& mode) {
  std::ranges::fill(box_->held(), GridBox::free);
  for (std::size_t i = 0; i < bounds_.size(); ++i)
    if (mode[i] != bounds_[i].free_branch)
      box_->held()[at(bounds_[i].node)] = bounds_[i].is_lower() ? GridBox::at_lower : GridBox::at_upper;
}

void GridStep::write_mode(Mode& mode) const {
  for (int i = 0; i < equations_.m(); ++i)
    mode[at(i)] = is_held(i) ? 1 - bounds_[at(i)].free_branch : bounds_[at(i)].free_branch;
}

GridStep::Outcome GridStep::solve(const Mode& mode) {
  hold(mode);
  return box_->solve_held();
}

bool GridStep::find(Mode& mode) {
  if (!box_->find()) return false;
  write_mode(mode);
  return true;
}

void GridStep::find_near(Mode& mode) {
  hold(mode);
  box_->find_near_set();
  write_mode(mode);
}

bool GridStep::is_held(int law) const {
  const Bound& bound = bounds_[at(law)];
  return box_->held()[at(bound.node)] == (bound.is_lower() ? GridBox::at_lower : GridBox::at_upper);
}

GridStep::Bounded GridStep::w(int law) const {
  const Bound& bound = bounds_[at(law)];
  const double product = bound.c * box_->x()[bound.node], q = q_[at(law)];
  return {product + q, std::abs(bound.c) * box_->x_error(bound.node) + 4 * unit_roundoff * (std::abs(product) + std::abs(q))};
}

/// h b λ = y
GridStep::Bounded GridStep::lambda(int law) const {
  const Bound& bound = bounds_[at(law)];
  const double by = 1 / (h_ * bound.b);
  return {box_->y(bound.node) * by, box_->y_error(bound.node) * std::abs(by)};
}

void GridStep::write(Vector& x, Vector& lambda_out, Vector& w_out, Vector& rounding) const {
  rounding.resize(equations_.n());
  for (int j = 0; j < equations_.n(); ++j) {
    x[j] = box_->x()[j];
    rounding[j] = box_->x_error(j);
  }
  const auto value = [](const Bounded& of) { return of.value < -of.error ? of.value : std::max(0.0, of.value); };
  for (int i = 0; i < equations_.m(); ++i) {
    lambda_out[i] = is_held(i) ? value(lambda(i)) : 0;
    w_out[i] = is_held(i) ? 0 : value(w(i));
  }
}

void GridStep::write_ends(std::vector<PointStep::Margin>& ends) const {
  ends.resize(bounds_.size());
  for (int i = 0; i < equations_.m(); ++i) {
    const Bounded distance = is_held(i) ? lambda(i) : w(i);
    ends[at(i)] = {.end = {i, is_held(i), false, false}, .value = distance.value, .is_beyond = distance.value < -distance.error};
  }
}

bool GridStep::is_at_end() const {
  for (int i = 0; i < equations_.m(); ++i) {
    const Bounded distance = is_held(i) ? lambda(i) : w(i);
    if (std::abs(distance.value) <= distance.error) return true;
  }
  return false;
}

GridBox::Counts GridStep::counts() const {
  GridBox::Counts sum = earlier_;
  if (!box_) return sum;
  const GridBox::Counts own = box_->counts();
  return {sum.sets + own.sets, sum.coarse_sets + own.coarse_sets, sum.iterations + own.iterations};
}

void GridStep::add_to(Counts& list) const {
  const GridBox::Counts sum = counts();
  list["active_sets"] += sum.sets;
  list["coarse_active_sets"] += sum.coarse_sets;
  list["grid_iterations"] += sum.iterations;
}

}  // namespace perp
