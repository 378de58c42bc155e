#include <algorithm>
#include <cmath>
#include <set>

#include <perp/core/base/interruption.hpp>
#include <perp/core/branches.hpp>
#include <perp/core/linear/binary_scaling.hpp>
#include <perp/core/linear/least_squares.hpp>
#include <perp/core/linear/linear_program.hpp>
#include <perp/lcp/parametric/certificate.hpp>
#include <perp/lcp/parametric/mode_cache.hpp>

namespace perp {
namespace {

constexpr double in_certificate = 1e-9;  ///< share of a certificate's sum 1 that is not its rounding

/// Do two affine maps agree wherever the rows `active` vanish: is every row of their difference,
/// known to `rounding`, a combination of those rows? Where rounding leaves that open they are
/// taken for different ones.
bool agree_on(const Matrix& difference, const Matrix& rounding, const Matrix& active) {
  if ((difference.array().abs() <= rounding.array()).all()) return true;
  if (active.rows() == 0) return false;
  const Matrix X = linear::least_squares(active.transpose(), difference.transpose(), linear::rounding_share);
  const Matrix left = (active.transpose() * X - difference.transpose()).cwiseAbs();
  const Matrix terms = active.transpose().cwiseAbs() * X.cwiseAbs();
  const double each = 16 * static_cast<double>(active.rows() + active.cols()) * unit_roundoff;
  return (left.array() <= rounding.transpose().array() + each * terms.array()).all();
}

/// The rows with norm 1, those that are 0 aside.
void normalise_rows(Matrix& rows) {
  for (Eigen::Index i = 0; i < rows.rows(); ++i)
    if (const double norm = rows.row(i).norm(); norm > 0) rows.row(i) /= norm;
}

/// The rows that vanish wherever all are non-negative, where the test found no interior; else none.
std::vector<Eigen::Index> vanishing_rows(const InteriorTest& test) {
  std::vector<Eigen::Index> rows;
  if (test.verdict != InteriorTest::Verdict::flat) return rows;
  for (Eigen::Index i = 0; i < test.y.size(); ++i)
    if (test.y[i] > in_certificate) rows.push_back(i);
  return rows;
}

/// Their number, capped.
long count_modes(const std::vector<Law>& laws) {
  long modes = 1;
  for (const Law& law : laws)
    modes = std::min(modes * static_cast<long>(law.branches.size()), ModeCache::table_limit + 1);
  return modes;
}

}  // namespace

bool ModeCache::has_many_modes(const std::vector<Law>& laws) { return count_modes(laws) > table_limit; }

ModeCache::ModeCache(ParametricMlcp family) : family_(std::move(family)) {
  const std::vector<Law>& laws = family_.base.laws;
  modes_ = count_modes(laws);
  for (std::size_t i = 0; i < laws.size(); ++i) {
    if (laws[i].memory) memory_laws_.push_back(static_cast<int>(i));
  }
  u_first_.resize(family_.base.p());
  u_second_.resize(family_.base.p());
  lambda_.resize(family_.base.m());
  w_.resize(family_.base.m());
}

/// A map that was made before.
int ModeCache::usable(int index, bool is_met_often) {
  if (index < 0 || map(index).kind() != ModeMap::Kind::regular) return -1;
  if (is_met_often && !map(index).has_rows()) give_rows(index);
  return index;
}

/// The map of few modes that has the same rows; -1: there is none.
int ModeCache::equal_map(const ModeMap& made) const {
  if (made.kind() != ModeMap::Kind::regular || modes_ > table_limit) return -1;
  const auto is_equal = [&](const auto& known) { return made.same_as(*known); };
  const auto found = std::ranges::find_if(maps_, is_equal);
  return found == maps_.end() ? -1 : static_cast<int>(found - maps_.begin());
}

int ModeCache::find(const Mode& mode, bool is_met_often) {
  if (mode.size() != family_.base.laws.size()) return -1;  // no mode is known
  if (const auto known = index_.find(mode); known != index_.end()) return usable(known->second, is_met_often);
  check_interruption();
  auto made = std::make_unique<ModeMap>(family_, mode, is_met_often ? ModeMap::Form::rows : first_form());
  met_.push_back(mode);
  ++factorisations_;
  if (made->kind() == ModeMap::Kind::never) {
    index_[mode] = -1;
    return -1;
  }
  if (const int equal = equal_map(*made); equal >= 0) {
    maps_[static_cast<std::size_t>(equal)]->merge(*made);
    index_[mode] = equal;
    return equal;
  }
  const bool regular = made->kind() == ModeMap::Kind::regular;
  storage_ += static_cast<long>(made->storage());
  const int index = static_cast<int>(maps_.size());
  index_[mode] = index;
  maps_.push_back(std::move(made));
  rivals_.emplace_back();
  return regular ? index : -1;
}

void ModeCache::transfer(Archive& archive) {
  std::vector<Mode> met = met_;
  bool is_tabulated = tabulated_;
  archive(met, is_tabulated);
  if (archive.is_reading()) {
    for (const Mode& mode : met) find(mode);
    if (is_tabulated) tabulate();
  }
  for (std::size_t i = 0; i < maps_.size(); ++i) {
    bool has_rows = maps_[i]->has_rows();
    archive(has_rows);
    if (has_rows && !maps_[i]->has_rows()) give_rows(static_cast<int>(i));
    maps_[i]->transfer(archive);
  }
  archive(factorisations_, exact_signs_, storage_);
}

void ModeCache::give_rows(int index) {
  ModeMap& known = *maps_[static_cast<std::size_t>(index)];
  storage_ -= static_cast<long>(known.storage());
  known = ModeMap(family_, Mode(known.modes().front()));
  storage_ += static_cast<long>(known.storage());
  ++factorisations_;
}

bool ModeCache::is_unique() {
  if (!unique_) unique_ = has_at_most_one_solution(family_);
  return *unique_;
}

int ModeCache::tabulate() {
  if (modes_ > table_limit) return 0;
  if (tabulated_) return static_cast<int>(maps_.size());
  Mode mode(family_.base.laws.size(), 0);
  do find(mode);
  while (next_mode(mode, family_.base.laws));
  for (int i = 0; i < static_cast<int>(maps_.size()); ++i)
    (map(i).kind() == ModeMap::Kind::regular ? regular_ : singular_).push_back(i), all_.push_back(i);
  found_.reserve(maps_.size());
  tabulated_ = true;
  return static_cast<int>(maps_.size());
}

bool ModeCache::exactly_admissible(int index, const double* theta) const {
  const ModeMap& candidate = map(index);
  for (int i = 0; i < static_cast<int>(candidate.margins().size()); ++i) {
    if (candidate.is_clear(i, theta)) continue;
    if (candidate.verdict(i, theta) == ModeMap::Verdict::negative) return false;
    // What is 0 or more as doubles sum it may still be below 0, as -h² a beside a gap far from the origin.
    ++exact_signs_;
    if (candidate.sign(i, theta) < 0) return false;
  }
  return true;
}

/// Is the difference of two solutions not more than the rounding of each entry?
bool ModeCache::same_u(int first, int second, const double* theta) {
  map(first).u(theta, u_first_.data());
  map(second).u(theta, u_second_.data());
  for (int j = 0; j < family_.base.p(); ++j)
    if (std::abs(u_first_[j] - u_second_[j]) >
        map(first).u_rounding(j, theta) + map(second).u_rounding(j, theta))
      return false;
  return true;
}

/// Lists the maps with a solution at θ; false where a singular mode may have some too.
bool ModeCache::find_admissible(const std::vector<int>& regular, const std::vector<int>& singular, const double* theta,
                                int present) {
  for (const int i : singular)
    if (map(i).consistent(theta)) return false;
  admissible_.clear();
  for (const int i : regular)
    if (admissible(i, theta)) admissible_.push_back(i);
  keep_exact(theta, present);
  return true;
}

/// Where some of the admissible maps are so exactly, those that are so within rounding do not count, but for the present one.
void ModeCache::keep_exact(const double* theta, int present) {
  if (admissible_.size() < 2) return;
  std::vector<int> kept;
  bool is_one_exact = false;
  for (const int i : admissible_) {
    const bool is_exact = exactly_admissible(i, theta);
    is_one_exact = is_one_exact || is_exact;
    if (is_exact || i == present) kept.push_back(i);
  }
  if (is_one_exact) admissible_ = std::move(kept);
}

ModeCache::Choice ModeCache::nearest(const double* theta, int present, const Vector* w_before) {
  if (modes_ > table_limit) return nearest_by_leaving(theta, present, w_before);
  tabulate();
  if (!find_admissible(regular_, singular_, theta, present)) return {.status = Status::not_enumerated};
  return nearest_admissible(theta, present, w_before);
}

/// The regular and the singular maps of these modes; several modes may have one.
std::pair<std::set<int>, std::set<int>> ModeCache::maps_of(const std::vector<Mode>& modes) {
  std::set<int> regular, singular;
  for (const Mode& mode : modes) {
    find(mode);
    const int index = index_.at(mode);
    if (index >= 0) (map(index).kind() == ModeMap::Kind::regular ? regular : singular).insert(index);
  }
  return {std::move(regular), std::move(singular)};
}

ModeCache::Choice ModeCache::nearest_of(const std::vector<Mode>& possible, const double* theta, int present,
                                        const Vector* w_before) {
  const auto [regular, singular] = maps_of(possible);
  if (!find_admissible({regular.begin(), regular.end()}, {singular.begin(), singular.end()}, theta, present))
    return {.status = Status::not_enumerated};
  return nearest_admissible(theta, present, w_before);
}

/// Of `admissible_`.
ModeCache::Choice ModeCache::nearest_admissible(const double* theta, int present, const Vector* w_before) {
  Choice choice;
  found_.clear();
  const Leaving leaving = leaving_laws(present, theta, w_before);
  int fewest = std::numeric_limits<int>::max();
  for (const int i : admissible_) {
    const int changes = memory_changes(i, present, leaving);
    fewest = std::min(fewest, changes);
    const auto known = std::find_if(found_.begin(), found_.end(),
                                    [&](int other) { return same_u(other, i, theta); });
    if (known == found_.end())
      found_.push_back(i);
    else if (i == present || (*known != present && changes < memory_changes(*known, present, leaving)))
      *known = i;
  }
  choice.status = found_.empty() ? Status::no_solution : Status::solved;
  choice.solutions = static_cast<int>(found_.size());
  std::erase_if(found_, [&](int i) { return memory_changes(i, present, leaving) > fewest; });
  choose(theta, present, choice);
  return choice;
}

/// Of solutions with equal norms the present mode comes first, then the smaller one.
bool ModeCache::precedes(int index, int chosen, int present) const {
  const bool smaller = map(index).modes().front() < map(chosen).modes().front();
  return index == present || (chosen != present && smaller);
}

/// The nearest of `found_`; norms whose difference is within their rounding are equal.
void ModeCache::choose(const double* theta, int present, Choice& choice) const {
  SquaredNorm best;
  for (const int i : found_) {
    const SquaredNorm norm = squared_norm(i, theta);
    if (choice.map >= 0 && norm.is_tied_with(best)) {
      ++choice.ties;
      if (precedes(i, choice.map, present)) choice.map = i;
    } else if (choice.map < 0 || norm.value < best.value) {
      choice.map = i;
      choice.ties = 0;
      best = norm;
    }
  }
  choice.norm = std::sqrt(best.value);
}

/// A singular mode has a continuum of them where it is consistent.
bool ModeCache::may_have_solutions(int index, const double* theta) const {
  return is_singular(index) ? map(index).consistent(theta) : admissible(index, theta);
}

/// Does rounding leave open whether a rival is nearer, or whether it has a solution?
bool ModeCache::leaves_choice_open(int rival, const SquaredNorm& norm, const SquaredNorm& best,
                                   const double* theta) const {
  return norm.is_tied_with(best) || !exactly_admissible(rival, theta);
}

/// The modes to look at beside this one: all of them at first, as the rivals of a mode cost as much as many looks.
const std::vector<int>& ModeCache::others(int present, const std::vector<Mode>* possible) {
  if (possible != nullptr) {
    const auto [regular, singular] = maps_of(*possible);
    some_.assign(regular.begin(), regular.end());
    some_.insert(some_.end(), singular.begin(), singular.end());
    return some_;
  }
  if (rivals_[static_cast<std::size_t>(present)] != nullptr || looks_++ >= most_looks) return rivals(present);
  tabulate();
  return all_;
}

/// The same, asked for once.
bool ModeCache::is_known_rival(int index, int other) {
  if (judged_.size() != maps_.size() * maps_.size()) judged_.assign(maps_.size() * maps_.size(), 0);
  char& known = judged_[static_cast<std::size_t>(index) * maps_.size() + static_cast<std::size_t>(other)];
  if (known == 0) known = is_rival(index, other) ? 'y' : 'n';
  return known == 'y';
}

ModeCache::Choice ModeCache::nearest_from(int present, const double* theta, const std::vector<Mode>* possible) {
  Choice choice{Status::solved, present, nan, 1, 0};
  if (modes_ > table_limit) {
    choice.status = Status::not_enumerated;
    return choice;
  }
  SquaredNorm best;  // of the choice, once a rival asks for it
  for (const int other : others(present, possible)) {
    if (other == present || !may_have_solutions(other, theta) || !is_known_rival(present, other)) continue;
    if (is_singular(other)) return nearest(theta, present, possible);
    if (std::isnan(best.value)) best = squared_norm(present, theta);
    const SquaredNorm norm = squared_norm(other, theta);
    if (leaves_choice_open(other, norm, best, theta)) return nearest(theta, present, possible);
    ++choice.solutions;
    if (norm.value < best.value) {
      best = norm;
      choice.map = other;
    }
  }
  choice.norm = std::sqrt(best.value);
  return choice;
}

int ModeCache::exchange(const double* theta, int start) {
  constexpr int most_exchanges = 100;
  std::set<Mode> met;
  for (int count = 0, index = start; index >= 0 && count < most_exchanges; ++count) {
    if (admissible(index, theta)) return index;
    const ModeMap& candidate = map(index);
    Mode mode = candidate.modes().front();
    if (!met.insert(mode).second) return -1;
    candidate.lambda(theta, lambda_.data());
    candidate.w(theta, w_.data());
    for (int i = 0; i < static_cast<int>(candidate.margins().size()); ++i) {
      if (candidate.verdict(i, theta) != ModeMap::Verdict::negative) continue;
      const int law = candidate.margins()[static_cast<std::size_t>(i)].law;
      const auto k = static_cast<std::size_t>(law);
      mode[k] =
          nearest_branch(family_.base.laws[k], w_[law], lambda_[law], candidate.modes().front()[k]);
    }
    index = find(mode);
  }
  return -1;
}

bool ModeCache::is_rival(int index, int other) const {
  const ModeMap& mine = map(index);
  const ModeMap& theirs = map(other);
  const bool singular = is_singular(other);
  if (!singular && memory_changes(other, index) > 0) return false;
  Matrix G, H;
  Vector g, h;
  mine.polyhedron(G, g);
  theirs.polyhedron(H, h);
  Matrix rows(G.rows() + H.rows(), family_.k() + 1);
  rows << G, g, H, h;
  const BinaryScaling scaling(rows);
  rows = scaling.apply(rows);
  normalise_rows(rows);
  const InteriorTest test = test_interior(rows.leftCols(family_.k()), rows.col(family_.k()));
  if (test.verdict == InteriorTest::Verdict::empty) return false;
  if (singular) return true;
  // columns in the units of the scaled rows
  const auto in_units = [&](const Matrix& u) {
    return Matrix(scaling.unscale(u.transpose()).transpose());
  };
  const Matrix mine_u = in_units(mine.u_rows()), their_u = in_units(theirs.u_rows());
  return !agree_on(mine_u - their_u, 4 * unit_roundoff * (mine_u.cwiseAbs() + their_u.cwiseAbs()),
                   rows(vanishing_rows(test), Eigen::all));
}

const std::vector<int>& ModeCache::rivals(int index) {
  auto& known = rivals_[static_cast<std::size_t>(index)];
  if (known) return *known;
  tabulate();
  auto list = std::make_unique<std::vector<int>>();
  for (int other = 0; other < static_cast<int>(maps_.size()); ++other)
    if (other != index && is_known_rival(index, other)) list->push_back(other);
  return *(rivals_[static_cast<std::size_t>(index)] = std::move(list));
}

std::vector<std::pair<Mode, double>> ModeCache::violations(const double* theta) {
  std::vector<std::pair<Mode, double>> list;
  if (tabulate() == 0) return list;
  for (const auto& map : maps_) {
    const bool singular = map->kind() == ModeMap::Kind::singular;
    const double violation =
        singular ? map->inconsistency(theta) : std::max(0.0, -map->worst_margin(theta));
    list.emplace_back(map->modes().front(), violation);
  }
  return list;
}

}  // namespace perp
