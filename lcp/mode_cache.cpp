#include <algorithm>
#include <cmath>
#include <Eigen/QR>
#include <set>

#include <perp/lcp/certificate.hpp>
#include <perp/lcp/linear_program.hpp>
#include <perp/lcp/mode_cache.hpp>

namespace perp {
namespace {

constexpr double tied = 1e-12;       ///< relative difference of norms that are called equal
constexpr double same_point = 1e-9;  ///< relative difference of states that are called equal

/// Do two affine maps agree wherever the rows `active` (of norm 1) vanish: is every row of their
/// difference a combination of those rows?
bool agree_on(const Matrix& difference, const Matrix& active, double size) {
  if (difference.cwiseAbs().maxCoeff() <= 1e-11 * size) return true;
  if (active.rows() == 0) return false;
  const Matrix X = active.transpose().colPivHouseholderQr().solve(difference.transpose());
  return (active.transpose() * X - difference.transpose()).cwiseAbs().maxCoeff() <= 1e-11 * size;
}

}  // namespace

ModeCache::ModeCache(ParametricMlcp family, double tol) : family_(std::move(family)), tol_(tol) {
  const std::vector<Law>& laws = family_.base.laws;
  for (std::size_t i = 0; i < laws.size(); ++i) {
    modes_ = std::min(modes_ * static_cast<long>(laws[i].branches.size()), table_limit + 1);
    if (laws[i].memory) memory_laws_.push_back(static_cast<int>(i));
  }
  u_first_.resize(family_.base.p());
  u_second_.resize(family_.base.p());
  lambda_.resize(family_.base.m());
  w_.resize(family_.base.m());
}

int ModeCache::find(const Mode& mode) {
  if (mode.size() != family_.base.laws.size()) return -1;  // no mode is known
  const auto known = index_.find(mode);
  if (known != index_.end()) {
    const bool usable = known->second >= 0 && map(known->second).kind() == ModeMap::Kind::regular;
    return usable ? known->second : -1;
  }
  auto made = std::make_unique<ModeMap>(family_, mode);
  ++factorisations_;
  if (made->kind() == ModeMap::Kind::never) {
    index_[mode] = -1;
    return -1;
  }
  const bool regular = made->kind() == ModeMap::Kind::regular;
  if (regular && modes_ <= table_limit)
    for (std::size_t i = 0; i < maps_.size(); ++i)
      if (made->same_as(*maps_[i])) {
        maps_[i]->merge(*made);
        index_[mode] = static_cast<int>(i);
        return static_cast<int>(i);
      }
  storage_ += static_cast<long>(made->storage());
  const int index = static_cast<int>(maps_.size());
  index_[mode] = index;
  maps_.push_back(std::move(made));
  rivals_.emplace_back();
  return regular ? index : -1;
}

bool ModeCache::is_unique() {
  if (!unique_) unique_ = has_at_most_one_solution(family_.base);
  return *unique_;
}

int ModeCache::tabulate() {
  if (modes_ > table_limit) return 0;
  if (tabulated_) return static_cast<int>(maps_.size());
  Mode mode(family_.base.laws.size(), 0);
  do find(mode);
  while (next_mode(mode, family_.base.laws));
  for (int i = 0; i < static_cast<int>(maps_.size()); ++i)
    (map(i).kind() == ModeMap::Kind::regular ? regular_ : singular_).push_back(i);
  found_.reserve(maps_.size());
  tabulated_ = true;
  return static_cast<int>(maps_.size());
}

int ModeCache::memory_changes(int index, int present) const {
  if (present < 0) return 0;
  int changes = 0;
  for (const int law : memory_laws_) {
    const auto i = static_cast<std::size_t>(law);
    changes += map(index).modes().front()[i] != map(present).modes().front()[i];
  }
  return changes;
}

bool ModeCache::same_u(int first, int second, const double* theta) {
  map(first).u(theta, u_first_.data());
  map(second).u(theta, u_second_.data());
  const double size =
      std::max(u_first_.lpNorm<Eigen::Infinity>(), u_second_.lpNorm<Eigen::Infinity>());
  return (u_first_ - u_second_).lpNorm<Eigen::Infinity>() <= same_point * size;
}

ModeCache::Choice ModeCache::nearest(const double* theta, int present, double tol) {
  Choice choice;
  if (tabulate() == 0 && modes_ > table_limit) {
    choice.status = Status::not_enumerated;
    return choice;
  }
  for (const int i : singular_)
    if (map(i).inconsistency(theta) <= tol) {
      choice.status = Status::not_enumerated;
      return choice;
    }
  found_.clear();
  int fewest = std::numeric_limits<int>::max();
  for (const int i : regular_)
    if (admissible(i, theta, tol)) {
      const int changes = memory_changes(i, present);
      fewest = std::min(fewest, changes);
      const auto known = std::find_if(found_.begin(), found_.end(),
                                      [&](int other) { return same_u(other, i, theta); });
      if (known == found_.end())
        found_.push_back(i);
      else if (i == present || changes < memory_changes(*known, present))
        *known = i;
    }
  choice.status = found_.empty() ? Status::no_solution : Status::solved;
  choice.solutions = static_cast<int>(found_.size());
  for (const int i : found_) {
    if (memory_changes(i, present) > fewest) continue;
    const double norm = std::sqrt(map(i).squared_norm(theta));
    if (choice.map >= 0 && std::abs(norm - choice.norm) <= tied * (norm + choice.norm)) {
      ++choice.ties;
      const bool smaller = map(i).modes().front() < map(choice.map).modes().front();
      if (i == present || (choice.map != present && smaller)) choice.map = i;
    } else if (choice.map < 0 || norm < choice.norm) {
      choice.map = i;
      choice.norm = norm;
      choice.ties = 0;
    }
  }
  return choice;
}

bool ModeCache::all_admissible(const double* theta, int present, std::vector<int>& maps) {
  maps.clear();
  if (tabulate() == 0 && modes_ > table_limit) return false;
  for (const int i : singular_)
    if (map(i).inconsistency(theta) <= tol_) return false;
  int fewest = std::numeric_limits<int>::max();
  for (const int i : regular_) {
    if (!admissible(i, theta)) continue;
    const int changes = memory_changes(i, present);
    if (changes < fewest) maps.clear();
    if (changes <= fewest) maps.push_back(i);
    fewest = std::min(fewest, changes);
  }
  return true;
}

ModeCache::Choice ModeCache::nearest_from(int present, const double* theta) {
  Choice choice{Status::solved, present, nan, 1, 0};
  if (modes_ > table_limit) {
    choice.status = Status::not_enumerated;
    return choice;
  }
  double best = nan;  // squared norm of the choice, once a rival asks for it
  for (const int other : rivals(present)) {
    const ModeMap& rival = map(other);
    if (rival.kind() == ModeMap::Kind::singular) {
      if (rival.inconsistency(theta) <= tol_) return nearest(theta, present);
      continue;
    }
    if (!admissible(other, theta)) continue;
    if (std::isnan(best)) best = map(present).squared_norm(theta);
    const double norm = rival.squared_norm(theta);
    if (std::abs(norm - best) <= tied * (norm + best)) return nearest(theta, present);
    ++choice.solutions;
    if (norm < best) {
      best = norm;
      choice.map = other;
    }
  }
  choice.norm = std::sqrt(best);
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
      if (candidate.margin(i, theta) >= 0) continue;
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
  const bool singular = theirs.kind() == ModeMap::Kind::singular;
  if (!singular && memory_changes(other, index) > 0) return false;
  Matrix G, H;
  Vector g, h;
  mine.polyhedron(G, g);
  theirs.polyhedron(H, h);
  Matrix rows(G.rows() + H.rows(), family_.k());
  rows << G, H;
  Vector constants(g.size() + h.size());
  constants << g, h;
  const InteriorTest test = test_interior(rows, constants);
  if (test.verdict == InteriorTest::Verdict::empty) return false;
  if (singular) return true;
  const Matrix u = mine.u_rows();
  const Matrix difference = u - theirs.u_rows();
  const double size = u.size() > 0 ? u.cwiseAbs().maxCoeff() : 0;
  std::vector<int> active;
  if (test.verdict == InteriorTest::Verdict::flat)
    for (int i = 0; i < static_cast<int>(test.y.size()); ++i)
      if (test.y[i] > 1e-9) active.push_back(i);
  Matrix vanishing(static_cast<Eigen::Index>(active.size()), family_.k() + 1);
  for (std::size_t i = 0; i < active.size(); ++i)
    vanishing.row(static_cast<Eigen::Index>(i)) << rows.row(active[i]), constants[active[i]];
  return !agree_on(difference, vanishing, size);
}

const std::vector<int>& ModeCache::rivals(int index) {
  auto& known = rivals_[static_cast<std::size_t>(index)];
  if (known) return *known;
  tabulate();
  auto list = std::make_unique<std::vector<int>>();
  for (int other = 0; other < static_cast<int>(maps_.size()); ++other)
    if (other != index && is_rival(index, other)) list->push_back(other);
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
