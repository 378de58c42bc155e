// Series of all signals block by block: located runs of large hybrid models are made of these.
#include <algorithm>
#include <cmath>
#include <limits>

#include <perp/analysis/hybrid/sparse/mode_series.hpp>
#include <perp/core/base/index.hpp>
#include <perp/core/expression/differentiate.hpp>
#include <perp/core/linear/structure.hpp>
#include <perp/schemes/step/step_gate.hpp>

namespace perp {
namespace {

constexpr double epsilon = std::numeric_limits<double>::epsilon();
constexpr int most_iterations = 50;
constexpr double slow = 0.25;          ///< corrections that shrink by less are rounding, or none
constexpr double surely_rounding = 64;  ///< of a correction, in units of epsilon

std::vector<int> without_leaves(const Tape& tape, std::vector<int> lines) {
  std::erase_if(lines, [&](int k) {
    return tape[k].operation == Operation::input || tape[k].operation == Operation::constant ||
           tape[k].operation == Operation::pi;
  });
  std::sort(lines.begin(), lines.end());
  return lines;
}

/// The lines below `roots` that are not marked; marks them.
std::vector<int> below(const Tape& tape, std::vector<int> roots, std::vector<char>& marked) {
  std::vector<int> lines;
  while (!roots.empty()) {
    const int k = roots.back();
    roots.pop_back();
    if (k < 0 || marked[at(k)]) continue;
    marked[at(k)] = 1;
    lines.push_back(k);
    if (tape[k].operation == Operation::input || tape[k].operation == Operation::constant) continue;
    roots.push_back(tape[k].a);
    roots.push_back(tape[k].b);
  }
  return lines;
}

std::vector<int> new_lines(const Tape& tape, std::vector<int> roots, std::vector<char>& marked) {
  return without_leaves(tape, below(tape, std::move(roots), marked));
}

bool is_among(const std::vector<int>& increasing, int k) { return std::ranges::binary_search(increasing, k); }

/// Is a correction of this share, after the one before, nothing but rounding?
bool is_last_correction(double share, double before) {
  return share <= 2 * epsilon || (share <= surely_rounding * epsilon && share > slow * before);
}

}  // namespace

ModeSeries::ModeSeries(const HybridModel& model) : model_(model), tape_(model.closed(rows_)) {
  const int n = model.n(), equations = static_cast<int>(model.f.size());
  obstacle_ = SeriesTape::obstacle(tape_, rows_);
  if (obstacle_.empty() && equations != n) obstacle_ = "equations that binaries determine";
  if (!obstacle_.empty()) return;
  is_state_.assign(at(n), 0);
  for (const int j : model.states()) is_state_[at(j)] = 1;
  line_of_t_ = tape_.input(HybridModel::time_input());
  for (int j = 0; j < n; ++j) line_of_x_.push_back(tape_.input(model.variable_input(j)));
  for (int j = 0; j < n; ++j) line_of_rate_.push_back(tape_.input(HybridModel::derivative_input(j)));
  for (int i = 0; i < model.q(); ++i) line_of_z_.push_back(tape_.input(model.binary_input(i)));
  line_of_g_.assign(rows_.begin() + equations, rows_.end());
  bounded_ = BoundedTape(tape_, std::span(rows_).first(at(equations)), model.parameter_input(0), {});
  z_.assign(at(model.parameter_input(0)), 0);
  z_error_ = z_;
  find_blocks();
}

/// Derivatives of f by (ẋ, y).
ModeSeries::Incidence ModeSeries::incidence() {
  const int n = model_.n(), first = model_.variable_input(0);
  const std::vector<int> f(rows_.begin(), rows_.begin() + static_cast<std::ptrdiff_t>(model_.f.size()));
  Incidence result{linear::Pattern(at(n)), linear::Pattern(at(n))};
  for (const Derivative& d : differentiate(tape_, f, 1, model_.variable_input(n))) {
    const bool is_rate = d.input < first;
    const int j = d.input - (is_rate ? HybridModel::derivative_input(0) : first);
    if (is_rate != is_state(j)) continue;
    result.unknowns[at(d.output)].push_back(j);
    result.derivatives[at(d.output)].push_back(d.line);
  }
  return result;
}

void ModeSeries::find_blocks() {
  const Incidence given = incidence();
  const linear::Matching matching = linear::maximum_matching(given.unknowns, model_.n());
  if (!matching.is_perfect()) {
    obstacle_ = "a structure of index 2";
    return;
  }
  make_blocks(given, matching);
  std::vector<char> steady(at(model_.parameter_input(0)), 0);
  for (int i = 0; i < model_.q(); ++i) steady[at(model_.binary_input(i))] = 1;
  series_.emplace(tape_, order + 2, steady);
  find_lines();
}

void ModeSeries::make_blocks(const Incidence& given, const linear::Matching& matching) {
  const int n = model_.n();
  linear::Pattern successors(at(n));
  for (int row = 0; row < n; ++row)
    for (const int j : given.unknowns[at(row)]) successors[at(row)].push_back(matching.row_of_column[at(j)]);
  const linear::Components components = linear::strong_components(successors);
  blocks_.resize(at(components.count));
  std::vector<int> place(at(n));  // of a variable in its block
  for (int row = 0; row < n; ++row) {
    Block& block = blocks_[at(components.of_node[at(row)])];
    const int j = matching.column_of_row[at(row)];
    place[at(j)] = static_cast<int>(block.unknowns.size());
    block.rows.push_back(rows_[at(row)]);
    block.unknowns.push_back(j);
  }
  for (int row = 0; row < n; ++row) {
    const int b = components.of_node[at(row)];
    Block& block = blocks_[at(b)];
    const int own = place[at(matching.column_of_row[at(row)])];
    for (std::size_t k = 0; k < given.unknowns[at(row)].size(); ++k) {
      const int j = given.unknowns[at(row)][k];
      if (components.of_node[at(matching.row_of_column[at(j)])] != b) continue;
      block.places.push_back({own, place[at(j)]});
      block.derivatives.push_back(given.derivatives[at(row)][k]);
    }
  }
  for (Block& block : blocks_)
    if (block.unknowns.size() > 1)
      block.factor.emplace(static_cast<int>(block.unknowns.size()), block.places);
}

/// How often each line of f and g is used by others of these, and by constraints.
std::vector<int> ModeSeries::uses() const {
  std::vector<int> count(at(tape_.size()), 0);
  const std::vector<bool> needed = needed_lines(tape_, rows_);
  for (int k = 0; k < tape_.size(); ++k)
    if (needed[at(k)] && tape_[k].operation != Operation::input)
      for (const int operand : {tape_[k].a, tape_[k].b})
        if (operand >= 0) ++count[at(operand)];
  for (const int line : line_of_g_) ++count[at(line)];
  return count;
}

void ModeSeries::find_lines() {
  const std::vector<int> used = uses();
  std::vector<char> is_known(at(tape_.size()), 0);
  for (Block& block : blocks_) add_lines(block, is_known, used);
  rest_ = new_lines(tape_, line_of_g_, is_known);
  for (const int k : rest_)
    if (!series_->is_steady(k)) rest_moving_.push_back(k);
}

/// Of its lines and those of its derivatives the ones that depend on its unknowns, increasing.
std::vector<int> ModeSeries::lines_behind(const Block& block) const {
  std::vector<int> inputs, behind, all = block.lines;
  for (const int j : block.unknowns) inputs.push_back(line_of_unknown(j));
  std::sort(inputs.begin(), inputs.end());
  all.insert(all.end(), block.slopes.begin(), block.slopes.end());
  std::sort(all.begin(), all.end());
  const auto is_behind = [&](int k) { return k >= 0 && (is_among(inputs, k) || is_among(behind, k)); };
  for (const int k : all)
    if (is_behind(tape_[k].a) || is_behind(tape_[k].b)) behind.push_back(k);
  return behind;
}

void ModeSeries::add_lines(Block& block, std::vector<char>& is_known, const std::vector<int>& uses) {
  block.lines = new_lines(tape_, block.rows, is_known);
  // Lines of derivatives are computed at order 0 alone, so that they stay unknown to later blocks.
  std::vector<int> met = below(tape_, block.derivatives, is_known);
  for (const int k : met) is_known[at(k)] = 0;
  block.slopes = without_leaves(tape_, std::move(met));
  block.behind = lines_behind(block);
  std::vector<int> rows = block.rows;
  std::sort(rows.begin(), rows.end());
  for (const int k : block.lines) {
    if (series_->is_steady(k)) continue;
    block.moving.push_back(k);
    const bool is_last = uses[at(k)] == 0 && is_among(rows, k);
    if (is_among(block.behind, k) && !is_last) block.behind_moving.push_back(k);
  }
}

double& ModeSeries::coefficient(int unknown, int k) { return (*series_)[line_of_unknown(unknown)][k]; }

bool ModeSeries::factorise(Block& block) {
  if (!block.factor) {
    const double slope = (*series_)[block.derivatives[0]][0];
    return slope != 0 && std::isfinite(slope);
  }
  std::vector<double> values;
  for (const int line : block.derivatives) {
    values.push_back((*series_)[line][0]);
    if (!std::isfinite(values.back())) return false;
  }
  return block.factor->factorise(values);
}

/// The rows as a right side. False: one is no number.
bool ModeSeries::read_right(const Block& block, bool& is_zero) {
  is_zero = true;
  right_.resize(static_cast<Eigen::Index>(block.rows.size()));
  for (Eigen::Index i = 0; i < right_.size(); ++i) {
    right_[i] = (*series_)[block.rows[at(i)]][0];
    is_zero = is_zero && right_[i] == 0;
  }
  return right_.allFinite();
}

/// Takes the correction in right_; its size, as a share of the unknowns. Infinite: no number.
double ModeSeries::correct(Block& block) {
  double share = 0;
  for (Eigen::Index i = 0; i < right_.size(); ++i) {
    double& value = coefficient(block.unknowns[at(i)], 0);
    value -= right_[i];
    if (!std::isfinite(value)) return std::numeric_limits<double>::infinity();
    if (right_[i] != 0)
      share = std::max(share, std::abs(right_[i]) / std::max(std::abs(value), std::abs(right_[i])));
  }
  series_->compute(block.behind, 0);
  return share;
}

/// Newton's method from the present values, down to rounding.
bool ModeSeries::solve_first(Block& block) {
  series_->compute(block.lines, 0);
  series_->compute(block.slopes, 0);
  double before = std::numeric_limits<double>::infinity();
  for (int iteration = 0; iteration < most_iterations; ++iteration) {
    bool is_zero = false;
    if (!read_right(block, is_zero) || !factorise(block)) return false;
    if (is_zero) return true;
    if (block.factor)
      block.factor->solve(right_);
    else
      right_[0] /= (*series_)[block.derivatives[0]][0];
    const double share = correct(block);
    if (!std::isfinite(share)) return false;
    if (is_last_correction(share, before)) return true;
    before = share;
  }
  return before <= std::sqrt(epsilon);  // rows that cancel: the gate decides
}

/// The coefficient of a row is affine in those of the unknowns, with the derivatives as slopes.
void ModeSeries::solve_next(Block& block, int k) {
  for (const int unknown : block.unknowns) coefficient(unknown, k) = 0;
  series_->compute(block.moving, k);
  if (block.factor) {
    right_.resize(static_cast<Eigen::Index>(block.rows.size()));
    for (Eigen::Index i = 0; i < right_.size(); ++i) right_[i] = -(*series_)[block.rows[at(i)]][k];
    block.factor->solve(right_);
    for (Eigen::Index i = 0; i < right_.size(); ++i) coefficient(block.unknowns[at(i)], k) = right_[i];
  } else {
    coefficient(block.unknowns[0], k) =
        -(*series_)[block.rows[0]][k] / (*series_)[block.derivatives[0]][0];
  }
  series_->compute(block.behind_moving, k);
}

bool ModeSeries::pass(int k) {
  for (Block& block : blocks_) {
    if (k == 0) {
      if (!solve_first(block)) return false;
    } else {
      solve_next(block, k);
    }
    for (const int j : block.unknowns)
      if (is_state_[at(j)]) (*series_)[line_of_x_[at(j)]][k + 1] = coefficient(j, k) / (k + 1);
  }
  series_->compute(k == 0 ? rest_ : rest_moving_, k);
  known_ = k;
  return true;
}

bool ModeSeries::begin(double t, const Vector& x, const std::vector<int>& z, int last) {
  SeriesTape& series = *series_;
  series[line_of_t_][0] = t;
  series[line_of_t_][1] = 1;
  for (int j = 0; j < model_.n(); ++j) series[line_of_x_[at(j)]][0] = x[j];
  for (int i = 0; i < model_.q(); ++i) series[line_of_z_[at(i)]][0] = z[at(i)];
  known_ = bounded_until_ = -1;
  return extend(last);
}

bool ModeSeries::extend(int last) {
  while (known_ < last)
    if (!pass(known_ + 1)) return false;
  return true;
}

/// With F the rows at the unknowns u of this order, J their derivatives: |u − u*| <= 2 |J⁻¹| (|F| + e_F), from e_F
/// with exact u; for one unknown J⁻¹ has its own error. Rows of orders above 0 are affine in u, which solves them but
/// for rounding that e_F counts.
Vector ModeSeries::errors_of_unknowns(Block& block, int k) {
  SeriesTape& series = *series_;
  const auto count = static_cast<Eigen::Index>(block.unknowns.size());
  Vector rows(count), errors = Vector::Zero(count);
  for (Eigen::Index i = 0; i < count; ++i)
    rows[i] = series.error(block.rows[at(i)])[k] + (k == 0 ? std::abs(series[block.rows[at(i)]][0]) : 0);
  if (!block.factor) {
    const int slope = block.derivatives[0];
    const double least = std::abs(series[slope][0]) - series.error(slope)[0];
    errors[0] = least > 0 ? 2 * rows[0] / least : std::numeric_limits<double>::infinity();
  } else {
    // The elimination itself: as if each entry of J had some units of its last place more or less.
    for (std::size_t e = 0; e < block.places.size(); ++e)
      rows[block.places[e].row] += 16 * static_cast<double>(count) * unit_roundoff *
                                   std::abs(series[block.derivatives[e]][0] *
                                            coefficient(block.unknowns[at(block.places[e].column)], k));
    for (Eigen::Index c = 0; c < count; ++c) {
      right_ = Vector::Unit(count, c);
      block.factor->solve(right_);
      errors += 2 * rows[c] * right_.cwiseAbs();
    }
  }
  for (Eigen::Index i = 0; i < count; ++i)
    errors[i] = running_error::bound(coefficient(block.unknowns[at(i)], k),
                                     errors[i] + 4 * running_error::rounding(coefficient(block.unknowns[at(i)], k)))
                    .error;
  return errors;
}

/// False: there is no bound.
bool ModeSeries::bound_block(Block& block, int k) {
  SeriesTape& series = *series_;
  for (const int j : block.unknowns) series.error(line_of_unknown(j))[k] = 0;
  series.bound_errors(k == 0 ? block.lines : block.moving, k);
  if (k == 0) series.bound_errors(block.slopes, 0);
  const Vector errors = errors_of_unknowns(block, k);
  for (Eigen::Index i = 0; i < errors.size(); ++i) {
    const int j = block.unknowns[at(i)];
    series.error(line_of_unknown(j))[k] = errors[i];
    if (is_state(j) && k + 1 < SeriesTape::bounded_orders)
      series.error(line_of_x_[at(j)])[k + 1] =
          running_error::bound(variable(j)[k + 1], errors[i] / (k + 1) + running_error::rounding(variable(j)[k + 1]))
              .error;
  }
  series.bound_errors(k == 0 ? block.behind : block.behind_moving, k);
  return errors.allFinite();
}

double ModeSeries::error(int l, int k) {
  if (bounded_until_ < k) bound_errors(k);
  return bounded_until_ < k ? std::numeric_limits<double>::infinity() : series_->error(line_of_g_[index(l)])[k];
}

double ModeSeries::rate_error(int j) {
  if (bounded_until_ < 0) bound_errors(0);
  return bounded_until_ < 0 ? std::numeric_limits<double>::infinity()
                            : series_->error(line_of_rate_[index(j)])[0];
}

/// From the first order without bounds on.
void ModeSeries::bound_errors(int last) {
  SeriesTape& series = *series_;
  series.error(line_of_t_)[0] = share_ > 0 ? half_ulp(series[line_of_t_][0]) : 0;
  for (int j = 0; j < model_.n(); ++j)
    if (is_state(j))
      series.error(line_of_x_[at(j)])[0] = state_error(j, variable(j)[0]);
  for (int k = bounded_until_ + 1; k <= last; ++k) {
    for (Block& block : blocks_)
      if (!bound_block(block, k)) return;
    series.bound_errors(k == 0 ? rest_ : rest_moving_, k);
    bounded_until_ = k;
  }
}

void ModeSeries::transfer(Archive& archive) {
  if (!series_) return;
  archive(*series_, known_, share_, sizes_);
  for (Block& block : blocks_)
    if (block.factor) archive(*block.factor);
  if (archive.is_reading()) bounded_until_ = -1;
}

bool ModeSeries::passes_gate() {
  const auto put = [&](int input, int line) {
    z_[at(input)] = (*series_)[line][0];
    z_error_[at(input)] = epsilon / 2 * std::abs(z_[at(input)]);
  };
  put(HybridModel::time_input(), line_of_t_);
  for (int j = 0; j < model_.n(); ++j) {
    put(HybridModel::derivative_input(j), line_of_rate_[at(j)]);
    put(model_.variable_input(j), line_of_x_[at(j)]);
  }
  for (int i = 0; i < model_.q(); ++i) z_[at(model_.binary_input(i))] = (*series_)[line_of_z_[at(i)]][0];
  bounded_.run(z_.data(), z_error_.data());
  for (std::size_t r = 0; r < bounded_.outputs(); ++r) {
    const RunningError& row = bounded_.output(r);
    if (!(std::abs(row.value) <= most_rounding * row.error) && row.value != 0) return false;
  }
  return true;
}

}  // namespace perp
