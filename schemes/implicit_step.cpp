#include <algorithm>
#include <cmath>

#include <perp/schemes/implicit_step.hpp>

namespace perp {
namespace {

/// What rounding in one row may do to the others, over tolerance: unknowns that vanish by
/// cancellation elsewhere leave it in rows of terms as small.
constexpr double leak = 0x1p-14;

}  // namespace

ImplicitStep::ImplicitStep(const Dcs& system) : evaluator_(system), laws_(system.laws) {
  const int n = evaluator_.n(), m = evaluator_.m();
  has_derivatives_.assign(static_cast<std::size_t>(n), 0);
  const auto& entries = evaluator_.entries();
  for (std::size_t k = 0; k < entries.size(); ++k) {
    const auto [row, column] = entries[k];
    Place place{row, 0, Kind::time};
    if (column >= system.multiplier_input(0)) {
      place = {row, column - system.multiplier_input(0), Kind::multiplier};
      nonlinear_in_lambda_ = nonlinear_in_lambda_ || !evaluator_.is_constant(k);
    } else if (column >= system.variable_input(0)) {
      place = {row, column - system.variable_input(0), Kind::variable};
    } else if (column >= system.derivative_input(0)) {
      place = {row, column - system.derivative_input(0), Kind::derivative};
      if (row < n) has_derivatives_[static_cast<std::size_t>(row)] = 1;
    }
    places_.push_back(place);
  }
  const auto all = static_cast<std::size_t>(n + m);
  x_ = Vector::Zero(n);
  branch_.resize(static_cast<std::size_t>(m));
  unknown_.resize(static_cast<std::size_t>(m));
  free_laws_.reserve(static_cast<std::size_t>(m));
  z_.resize(static_cast<std::size_t>(evaluator_.inputs()));
  rows_.resize(all);
  derivatives_.resize(entries.size());
  residual_.resize(all);
  terms_.resize(all);
  slopes_.resize(all);
  jacobian_.resize(all * all);
}

void ImplicitStep::set_step(const Vector& x, double t_next, double h) {
  x_ = x;
  t_ = t_next;
  h_ = h;
  consistency_ = false;
}

void ImplicitStep::set_consistency(const Vector& x, double t) {
  x_ = x;
  t_ = t;
  h_ = 1;
  consistency_ = true;
}

void ImplicitStep::constraints(double t, const Vector& x, const Vector& lambda, Vector& equations,
                               Vector& w) {
  Vector z = Vector::Zero(evaluator_.inputs());
  z[0] = t;
  z.segment(1 + n(), n()) = x;
  z.tail(m()) = lambda;
  evaluator_.evaluate(z.data(), rows_.data());
  std::vector<double> algebraic;
  for (std::size_t i = 0; i < static_cast<std::size_t>(n()); ++i)
    if (has_derivatives_[i] == 0) algebraic.push_back(rows_[i]);
  const auto count = static_cast<Eigen::Index>(algebraic.size());
  equations = Eigen::Map<const Vector>(algebraic.data(), count);
  w = Eigen::Map<const Vector>(rows_.data() + n(), m());
}

void ImplicitStep::set_mode(const Mode& mode, bool hold) {
  free_laws_.clear();
  size_ = n();
  for (std::size_t i = 0; i < mode.size(); ++i) {
    branch_[i] = &laws_[i].branches[static_cast<std::size_t>(mode[i])];
    unknown_[i] = hold || branch_[i]->a == 0 ? -1 : size_++;
    if (unknown_[i] >= 0) free_laws_.push_back(static_cast<int>(i));
  }
}

void ImplicitStep::fix(Vector& lambda) const {
  for (int i = 0; i < m(); ++i)
    if (branch(i).a == 0) lambda[i] = branch(i).c / branch(i).b;
}

void ImplicitStep::move(const Vector& d, const Vector& lambda, double s, const double* step,
                        Vector& d_moved, Vector& lambda_moved) const {
  for (int j = 0; j < n(); ++j) d_moved[j] = d[j] + s * step[j];
  for (int i = 0; i < m(); ++i) {
    const int unknown = unknown_[static_cast<std::size_t>(i)];
    lambda_moved[i] = unknown < 0 ? lambda[i] : lambda[i] + s * step[unknown];
  }
}

void ImplicitStep::add(int row, double factor, const Place& place, double derivative,
                       const Vector& d, const Vector& lambda) {
  double* J = &jacobian_[static_cast<std::size_t>(row * size_)];
  double& terms = terms_[static_cast<std::size_t>(row)];
  const double slope = factor * derivative;
  if (place.kind != Kind::time)
    slopes_[static_cast<std::size_t>(row)] +=
        std::abs(place.kind == Kind::derivative ? slope / h_ : slope);
  switch (place.kind) {
    case Kind::time: terms += std::abs(slope * t_); break;
    case Kind::derivative:
      J[place.index] += slope / h_;
      terms += std::abs(slope * d[place.index]) / h_;
      break;
    case Kind::variable:
      J[place.index] += slope;
      terms += std::abs(slope) * (std::abs(x_[place.index]) + std::abs(d[place.index]));
      break;
    case Kind::multiplier: {
      const int unknown = unknown_[static_cast<std::size_t>(place.index)];
      if (unknown >= 0) J[unknown] += slope;
      terms += std::abs(slope * lambda[place.index]);
    }
  }
}

bool ImplicitStep::linearise(const Vector& d, const Vector& lambda) {
  const int n = this->n();
  double* z = z_.data();
  *z++ = t_;
  for (int j = 0; j < n; ++j) *z++ = consistency_ ? 0 : d[j] / h_;
  for (int j = 0; j < n; ++j) *z++ = x_[j] + d[j];
  for (int i = 0; i < m(); ++i) *z++ = lambda[i];
  evaluator_.linearize(z_.data(), rows_.data(), derivatives_.data());

  std::fill_n(jacobian_.begin(), size_ * size_, 0.0);
  std::fill_n(terms_.begin(), size_, 0.0);
  std::fill_n(slopes_.begin(), size_, 0.0);
  overall_ = 0;
  for (int j = 0; j < n; ++j) overall_ = std::max(overall_, std::abs(x_[j]) + std::abs(d[j]));
  for (int i = 0; i < m(); ++i) overall_ = std::max(overall_, std::abs(lambda[i]));
  for (int i = 0; i < n; ++i) residual_[static_cast<std::size_t>(i)] =
      rows_[static_cast<std::size_t>(i)];
  for (const int law : free_laws_) {
    const Branch& piece = branch(law);
    const int row = unknown_[static_cast<std::size_t>(law)];
    residual_[static_cast<std::size_t>(row)] = law_residual(law, lambda[law]);
    terms_[static_cast<std::size_t>(row)] = std::abs(piece.b * lambda[law]) + std::abs(piece.c);
    jacobian_[static_cast<std::size_t>(row * size_ + row)] = piece.b;
  }
  for (std::size_t k = 0; k < places_.size(); ++k) {
    const Place& place = places_[k];
    if (place.row >= n) {
      const auto law = static_cast<std::size_t>(place.row - n);
      if (unknown_[law] >= 0)
        add(unknown_[law], branch_[law]->a, place, derivatives_[k], d, lambda);
    } else if (!consistency_ || has_derivatives_[static_cast<std::size_t>(place.row)] == 0) {
      add(place.row, 1, place, derivatives_[k], d, lambda);
    }
  }
  if (consistency_) {
    for (int i = 0; i < n; ++i)
      if (has_derivatives_[static_cast<std::size_t>(i)] != 0)
        residual_[static_cast<std::size_t>(i)] = 0;
    for (std::size_t k = 0; k < places_.size(); ++k)
      if (places_[k].kind == Kind::derivative && places_[k].row < n) {
        const auto row = static_cast<std::size_t>(places_[k].row);
        add(places_[k].row, 1, places_[k], derivatives_[k], d, lambda);
        residual_[row] += derivatives_[k] * d[places_[k].index];
      }
  }
  double zero = 0;  // NaN if anything is not finite
  for (const double value : rows_) zero += 0 * value;
  for (const double value : derivatives_) zero += 0 * value;
  return zero == 0;
}

double ImplicitStep::relative_residual() const {
  double largest = 0;
  for (std::size_t i = 0; i < static_cast<std::size_t>(size_); ++i)
    if (residual_[i] != 0)
      largest = std::max(largest, terms_[i] > 0 ? std::abs(residual_[i]) / terms_[i] : 1.0);
  return largest;
}

double ImplicitStep::lenient_residual() const {
  double largest = 0;
  for (std::size_t i = 0; i < static_cast<std::size_t>(size_); ++i) {
    const double size = terms_[i] + leak * slopes_[i] * overall_;
    if (residual_[i] != 0)
      largest = std::max(largest, size > 0 ? std::abs(residual_[i]) / size : 1.0);
  }
  return largest;
}

void ImplicitStep::w(Vector& value) const {
  for (int i = 0; i < m(); ++i)
    value[i] = branch(i).b == 0 ? branch(i).c / branch(i).a
                                : rows_[static_cast<std::size_t>(n() + i)];
}

double ImplicitStep::w_derivatives(int law, double* derivatives) const {
  std::fill_n(derivatives, size_, 0.0);
  const double* z = z_.data() + 1;
  double terms = 0;
  for (std::size_t k = 0; k < places_.size(); ++k) {
    const Place& place = places_[k];
    if (place.row != n() + law) continue;
    const double slope = derivatives_[k];
    switch (place.kind) {
      case Kind::time: terms += std::abs(slope * t_); break;
      case Kind::derivative:
        derivatives[place.index] += slope / h_;
        terms += std::abs(slope * z[place.index]);
        break;
      case Kind::variable:
        derivatives[place.index] += slope;
        terms += std::abs(slope * z[n() + place.index]);
        break;
      case Kind::multiplier: {
        const int unknown = unknown_[static_cast<std::size_t>(place.index)];
        if (unknown >= 0) derivatives[unknown] += slope;
        terms += std::abs(slope * z[2 * n() + place.index]);
      }
    }
  }
  return std::max(terms, std::abs(rows_[static_cast<std::size_t>(n() + law)]));
}

double ImplicitStep::norm(const Vector& d) const {
  double squares = 0, sum = 0;
  int row = -1;
  for (std::size_t k = 0; k < places_.size() && places_[k].row < n(); ++k) {  // by rows
    if (places_[k].row != row) {
      squares += sum * sum;
      sum = 0;
      row = places_[k].row;
    }
    if (places_[k].kind == Kind::derivative) sum += derivatives_[k] * d[places_[k].index];
  }
  return std::sqrt(squares + sum * sum);
}

}  // namespace perp
