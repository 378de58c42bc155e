#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include <perp/analysis/hybrid/sparse/local_rates.hpp>
#include <perp/core/base/index.hpp>
#include <perp/core/linear/dense_lu.hpp>

namespace perp {
namespace {

constexpr double known_to =
    0x1p-46;  ///< of the numbers on the path: corrections that end Newton's method
constexpr double rounding_of_rates =
    0x1p-30;  ///< of the same: ones that shrink no more, in rows that cancel
constexpr int most_local_corrections = 40;
constexpr std::size_t most_unknowns = 20;  ///< of a sub-problem that is solved with a dense matrix

/// The lists of a structure, number `first` and the following ones as 0, 1, ...
struct ListsOfRows {
  const std::vector<std::vector<int>>& lists;
  std::size_t first, behind;
  [[nodiscard]] std::size_t size() const { return behind - first; }
  const std::vector<int>& operator[](std::size_t k) const { return lists[first + k]; }
};
struct ListsOfBlocks {
  const std::vector<SubProblem>& blocks;
  std::vector<int> SubProblem::* list;
  [[nodiscard]] std::size_t size() const { return blocks.size(); }
  const std::vector<int>& operator[](std::size_t b) const { return blocks[b].*list; }
};

ListsOfRows all_of(const std::vector<std::vector<int>>& lists) { return {lists, 0, lists.size()}; }
ListsOfRows first_of(const std::vector<std::vector<int>>& lists, int count) { return {lists, 0, at(count)}; }
ListsOfRows behind(int count, const std::vector<std::vector<int>>& lists) { return {lists, at(count), lists.size()}; }

}  // namespace

template <class Items>
LocalRates::Lists LocalRates::Lists::of(const Items& items) {
  Lists lists;
  lists.start_.reserve(items.size() + 1);
  lists.start_.push_back(0);
  for (std::size_t k = 0; k < items.size(); ++k) {
    lists.items_.insert(lists.items_.end(), items[k].begin(), items[k].end());
    lists.start_.push_back(static_cast<std::uint32_t>(lists.items_.size()));
  }
  return lists;
}

template <class Items>
LocalRates::Lists LocalRates::Lists::holders(const Items& items, int count) {
  Lists lists;
  lists.start_.assign(at(count) + 1, 0);
  for (std::size_t k = 0; k < items.size(); ++k)
    for (const int item : items[k]) ++lists.start_[at(item) + 1];
  std::partial_sum(lists.start_.begin(), lists.start_.end(), lists.start_.begin());
  lists.items_.resize(lists.start_.back());
  std::vector<std::uint32_t> next(lists.start_.begin(), lists.start_.end() - 1);
  for (std::size_t k = 0; k < items.size(); ++k)
    for (const int item : items[k]) lists.items_[next[at(item)]++] = static_cast<int>(k);
  return lists;
}

LocalRates::LocalRates(const HybridModel& model, const HybridStructure& structure, ConeTape rows)
    : model_(model),
      structure_(structure),
      n_(model.n()),
      equations_(static_cast<int>(model.f.size())),
      rows_(std::move(rows)),
      states_of_row_(Lists::of(all_of(structure.states_of_row))),
      unknowns_of_row_(Lists::of(all_of(structure.unknowns_of_row))),
      unknowns_of_block_(Lists::of(ListsOfBlocks{structure.blocks, &SubProblem::unknowns})),
      rows_of_unknown_(Lists::holders(first_of(structure.unknowns_of_row, equations_), model.n() + model.q())),
      by_unknown_(Lists::holders(behind(equations_, structure.unknowns_of_row), model.n() + model.q())),
      by_state_(Lists::holders(behind(equations_, structure.states_of_row), model.n())),
      users_(Lists::holders(ListsOfBlocks{structure.blocks, &SubProblem::needs}, static_cast<int>(structure.blocks.size()))),
      singles_(structure.blocks.size()),
      followers_(at(model.q())),
      met_by_(structure.blocks.size(), -1) {
  for (int j = 0; j < n_; ++j)
    input_of_.push_back(at(structure.is_state[at(j)] != 0 ? HybridModel::derivative_input(j) : model.variable_input(j)));
  kinds_.reserve(structure.blocks.size());
  for (std::size_t b = 0; b < structure.blocks.size(); ++b) {
    const SubProblem& block = structure.blocks[b];
    kinds_.push_back(kind_of(block));
    if (block.rows.size() == 1 && block.unknowns.size() == 1 && block.rows[0] < equations_ && block.unknowns[0] < n_)
      singles_[b] = {block.rows[0], block.unknowns[0], input_of(block.unknowns[0])};
  }
}

LocalRates::Kind LocalRates::kind_of(const SubProblem& sub) const {
  const auto is_equation = [&](int row) { return row < equations_; };
  const auto is_variable = [&](int unknown) { return unknown < n_; };
  if (std::all_of(sub.rows.begin(), sub.rows.end(), is_equation) &&
      std::all_of(sub.unknowns.begin(), sub.unknowns.end(), is_variable) &&
      sub.unknowns.size() == sub.rows.size())
    return Kind::equations;
  if (std::none_of(sub.rows.begin(), sub.rows.end(), is_equation) &&
      std::none_of(sub.unknowns.begin(), sub.unknowns.end(), is_variable))
    return Kind::binaries;
  return Kind::both;
}

LocalRates::Followers LocalRates::followers(int binary) {
  Followers& found = followers_[at(binary)];
  if (found.count < 0) find_followers(binary, found);
  return found;
}

void LocalRates::find_followers(int binary, Followers& found) {
  std::vector<int>& blocks = met_;
  blocks.clear();
  for (const int row : rows_of_unknown_[n_ + binary])
    blocks.push_back(structure_.block_of_row[at(row)]);
  std::sort(blocks.begin(), blocks.end());
  blocks.erase(std::unique(blocks.begin(), blocks.end()), blocks.end());
  for (const int block : blocks) met_by_[at(block)] = binary;
  for (std::size_t next = 0; next < blocks.size(); ++next) {
    const Kind kind = kinds_[at(blocks[next])];
    found.is_open = found.is_open || kind == Kind::both;
    if (kind != Kind::equations) continue;
    for (const int user : users_[blocks[next]])
      if (std::exchange(met_by_[at(user)], binary) != binary) blocks.push_back(user);
  }
  std::erase_if(blocks, [&](int block) { return kinds_[at(block)] == Kind::binaries; });
  std::sort(blocks.begin(), blocks.end());
  found.first = static_cast<std::uint32_t>(following_.size());
  found.count = static_cast<int>(blocks.size());
  following_.insert(following_.end(), blocks.begin(), blocks.end());
}

bool LocalRates::follow(const std::vector<int>& binaries, std::vector<int>& blocks) {
  blocks.clear();
  for (const int i : binaries) {
    const Followers found = followers(i);
    if (found.is_open) return false;
    for (int k = 0; k < found.count; ++k) blocks.push_back(following_[found.first + at(k)]);
  }
  if (binaries.size() > 1) {
    std::sort(blocks.begin(), blocks.end());
    blocks.erase(std::unique(blocks.begin(), blocks.end()), blocks.end());
  }
  return true;
}

bool LocalRates::solve(const std::vector<int>& blocks, std::vector<double>& point) {
  for (const int b : blocks) {
    const Single& single = singles_[at(b)];
    const bool is_solved = single.row < 0 ? solve_several(structure_.blocks[at(b)], point)
                           : uses_slopes_ ? solve_affine(single, point)
                                          : solve_one(single.row, single.unknown, point);
    if (!is_solved) return false;
  }
  return true;
}

bool LocalRates::slopes(int row, std::vector<ConeTape::Slope>& slopes) {
  if (!rows_.slopes(row, 1, 1 + 2 * n_, slopes)) return false;
  Single& single = singles_[at(structure_.block_of_row[at(row)])];
  for (const ConeTape::Slope& slope : slopes)
    if (single.row >= 0 && at(slope.input) == single.input) single.slope = slope.value;
  return true;
}

bool LocalRates::solve_affine(const Single& single, std::vector<double>& point) {
  double& u = point[single.input];
  u -= rows_.value(single.row, point) / single.slope;
  return std::isfinite(u);
}

namespace {

/// To another value, for the slope of a row: by as much as the value itself, unless that is so small (what rounding has left
/// of 0) that the row would not move.
double difference_from(double value, double row) {
  constexpr double smallest_share = 0x1p-20;
  return std::abs(value) >= smallest_share * std::abs(row) ? value : -row;
}

/// Is a correction, as a share of the unknowns, the last one? Those that shrink no more are rounding.
bool is_last_share(double share, double before) {
  return share <= known_to || (share <= rounding_of_rates && share > before / 2);
}

}  // namespace

/// By the slope between two values, exact where the row is linear in its unknown; by another one
/// where it does not serve. Corrections that shrink no more are rounding.
bool LocalRates::solve_one(int row, int unknown, std::vector<double>& point) {
  double& u = point[input_of(unknown)];
  double before = u, f_before = rows_.value(row, point);
  if (f_before == 0) return true;
  u = before + difference_from(before, f_before);
  double f = rows_.value(row, point), slope = (f - f_before) / (u - before);
  double size = std::max(std::abs(before), std::abs(u)),
         last = std::numeric_limits<double>::infinity();
  for (int k = 0; k < most_local_corrections && f != 0; ++k) {
    const double correction = f / slope;
    if (!std::isfinite(correction)) return false;
    const bool is_slow = std::abs(correction) > std::abs(last) / 2;
    if (is_slow && std::abs(correction) <= rounding_of_rates * size) return true;
    before = u;
    f_before = f;
    u -= correction;
    size = std::max(size, std::abs(u));
    if (std::abs(correction) <= known_to * size) return true;
    last = correction;
    f = rows_.value(row, point);
    if (is_slow) slope = (f - f_before) / (u - before);
  }
  return f == 0;
}

/// The rows of a sub-problem; the largest.
double LocalRates::read(const SubProblem& block, const std::vector<double>& point, std::vector<double>& f) {
  double largest = 0;
  for (std::size_t r = 0; r < block.rows.size(); ++r) {
    f[r] = rows_.value(block.rows[r], point);
    largest = std::max(largest, std::abs(f[r]));
  }
  return largest;
}

/// Their differences by the unknowns, which are derivatives where rows are linear in each unknown.
void LocalRates::differences(const SubProblem& block, std::vector<double>& point, const std::vector<double>& f,
                             double size, std::vector<double>& slopes) {
  const std::size_t count = block.rows.size();
  for (std::size_t c = 0; c < count; ++c) {
    double& u = point[input_of(block.unknowns[c])];
    const double kept = u;
    u = kept + difference_from(kept, size);
    for (std::size_t r = 0; r < count; ++r)
      slopes[r * count + c] = (rows_.value(block.rows[r], point) - f[r]) / (u - kept);
    u = kept;
  }
}

/// Takes these corrections; the largest as a share of its unknown. Infinite: one is no number.
double LocalRates::correct(const SubProblem& block, const std::vector<double>& f, std::vector<double>& point) const {
  double share = 0;
  for (std::size_t c = 0; c < f.size(); ++c) {
    double& u = point[input_of(block.unknowns[c])];
    const double before = u;
    u -= f[c];
    if (!std::isfinite(u)) return std::numeric_limits<double>::infinity();
    if (f[c] != 0) share = std::max(share, std::abs(f[c]) / std::max(std::abs(u), std::abs(before)));
  }
  return share;
}

/// Newton's method.
bool LocalRates::solve_several(const SubProblem& block, std::vector<double>& point) {
  const std::size_t count = block.rows.size();
  if (count > most_unknowns) return false;
  std::vector<double> f(count), slopes(count * count);
  DenseLu factors(static_cast<int>(count));
  double last = std::numeric_limits<double>::infinity();
  for (int k = 0; k < most_local_corrections; ++k) {
    const double largest = read(block, point, f);
    if (largest == 0) return true;
    differences(block, point, f, largest, slopes);
    if (!factors.factorise(slopes.data(), static_cast<int>(count))) return false;
    factors.solve(f.data());
    const double share = correct(block, f, point);
    if (!std::isfinite(share)) return false;
    if (is_last_share(share, last)) return true;
    last = share;
  }
  return false;
}

}  // namespace perp
