// What sets are measured with: points of them, followed by themselves.
#include <algorithm>
#include <map>

#include <perp/analysis/enclosure/pieces/reach.hpp>
#include <perp/analysis/enclosure/pieces/widths.hpp>
#include <perp/analysis/parallel.hpp>

namespace perp::enclosure {
namespace {

constexpr double reach_share =
    0.5;  ///< of the width of the whole set, that a width is measured with,
constexpr double least_share = 0.1;  ///< and of the widest that it was

/// The middle of the set, and the ends of each of its intervals beside that.
std::vector<Box> points_of(const Box& whole) {
  std::vector<Box> list{middle_of(whole)};
  for (std::size_t i = 0; i < whole.size(); ++i) {
    if (!is_wide(whole[i])) continue;
    for (const double end : {whole[i].lo, whole[i].hi}) {
      list.push_back(list.front());
      list.back()[i] = Interval(end);
    }
  }
  return list;
}

/// The width of a state in the hull of rows of variables, of a parameter that of the set; behind
/// the states, of a variable that is computed from them.
double width_of(const PieceTask& task, const Box& whole, const Box* variables,
                const std::vector<int>& computed, std::size_t column) {
  const bool is_state = column < task.space.variables.size();
  if (!is_state && column < whole.size()) return width(whole[column]);
  if (variables == nullptr) return 0;
  const int variable = is_state ? task.space.variables[column] : computed[column - whole.size()];
  return width((*variables)[static_cast<std::size_t>(variable)]);
}

}  // namespace

PieceResult follow_middle(const PieceTask& task, const Box& whole) {
  return Piece(task, middle_of(whole), Effort::whole).run();
}

std::vector<std::vector<double>> reach_of(const PieceTask& task, const Box& whole,
                                          const PieceResult& middle) {
  const std::vector<Box> list = points_of(whole);
  if (4 * list.size() > static_cast<std::size_t>(task.options.pieces)) return {};
  std::vector<PieceResult> runs(list.size());
  runs.front() = middle;
  in_parallel(std::max(task.options.threads, 1), list.size() - 1, [&](std::size_t k, int) {
    require_directed_arithmetic();
    runs[k + 1] = Piece(task, list[k + 1], Effort::whole).run();
  });
  std::map<double, Box> hulls;
  for (const PieceResult& run : runs)
    for (const EnclosureRow& row : run.enclosure.rows) {
      Box& hull_of = hulls.try_emplace(row.t, row.box).first->second;
      for (std::size_t i = 0; i < hull_of.size(); ++i) hull_of[i] = hull(hull_of[i], row.box[i]);
    }
  std::vector<std::vector<double>> reach;
  const std::vector<int> computed = computed_variables(task.space, task.system.n());
  std::vector<double> widest(whole.size() + computed.size(), 0);
  for (const double t : task.times) {
    reach.push_back(widest);
    const auto found = hulls.find(t);
    for (std::size_t i = 0; i < widest.size(); ++i) {
      const double now =
          width_of(task, whole, found == hulls.end() ? nullptr : &found->second, computed, i);
      widest[i] = std::max(widest[i], now);
      reach.back()[i] = reach_share * (now + least_share * widest[i]);
    }
  }
  return reach;
}

std::vector<double> widest_of(const Box& whole, const std::vector<std::vector<double>>& reach) {
  std::vector<double> widest;
  for (std::size_t i = 0; i < whole.size() && !reach.empty(); ++i) {
    widest.push_back(width(whole[i]));
    for (const std::vector<double>& row : reach)
      widest[i] = std::max(widest[i], row[i] / (reach_share * (1 + least_share)));
  }
  return widest;
}

int most_steps_of(const PieceResult& middle, const EncloseOptions& options) {
  constexpr int few = 64, times = 16;
  const int most = options.most_steps, taken = few + middle.enclosure.steps;
  const bool tells = !middle.enclosure.lost && !middle.elsewhere && taken < most / times;
  return tells ? times * taken : most;
}

}  // namespace perp::enclosure
