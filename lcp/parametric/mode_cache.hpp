#pragma once

#include <cmath>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include <perp/core/base/archive.hpp>
#include <perp/core/base/status.hpp>
#include <perp/lcp/parametric/mode_map.hpp>

namespace perp {

/// The modes of a parametric family that have been met, each solved once and kept. For families of
/// few modes all of them are tabulated on demand, duplicates merged, and the nearest of all
/// solutions is found by evaluating affine maps; after the first step in a mode nothing is
/// allocated or factored.
class ModeCache {
 public:
  /// What a search over the tabulated modes found.
  struct Choice {
    /// solved | no_solution | not_enumerated: too many modes for a table, or a singular mode is
    /// consistent at θ (then a continuum is possible): enumerate.
    Status status = Status::never_run;
    int map = -1;
    double norm = nan;
    int solutions = 0;  ///< distinct u among the admissible modes
    int ties = 0;       ///< further solutions at the same norm
  };

  static constexpr long table_limit = 256;  ///< most modes of a table

  /// Are there more of them?
  static bool has_many_modes(const std::vector<Law>& laws);

  explicit ModeCache(ParametricMlcp family);
  ModeCache(const ModeCache&) = delete;  // the maps keep the address of the family
  ModeCache& operator=(const ModeCache&) = delete;

  [[nodiscard]] const ParametricMlcp& family() const { return family_; }
  [[nodiscard]] const ModeMap& map(int index) const {
    return *maps_[static_cast<std::size_t>(index)];
  }
  [[nodiscard]] long factorisations() const { return factorisations_; }
  /// Signs of margins that doubles left open and that were found exactly.
  [[nodiscard]] long exact_signs() const { return exact_signs_; }
  /// Numbers kept for all maps.
  [[nodiscard]] long storage() const { return storage_; }
  /// Is it certified that no θ has two solutions? Computed when first asked.
  bool is_unique();

  /// Index of the map of this mode, solved now if it was not met before; -1: singular or never
  /// admissible. `is_met_often`: elsewhere, so that its map pays with rows at once.
  int find(const Mode& mode, bool is_met_often = false);

  /// The modes that were met, in their order, and how they are known: on reading they are solved again.
  void transfer(Archive& archive);

  /// Before a mode is asked again: where it was met often its map gets rows, which cost less from then on.
  void prepare(int index) {
    if (index >= 0 && modes_ > table_limit && map(index).is_met_often()) give_rows(index);
  }

  /// May the mode have a solution at θ: is no margin negative beyond the rounding of its terms?
  [[nodiscard]] bool admissible(int index, const double* theta) const {
    const ModeMap& candidate = map(index);
    return candidate.admissible(theta) || candidate.verdict(theta) != ModeMap::Verdict::negative;
  }
  /// Has it one at exactly this θ? What rounding leaves open is decided in rational arithmetic.
  [[nodiscard]] bool exactly_admissible(int index, const double* theta) const;

  /// The solution of minimal norm at θ over all modes. Where some are exactly admissible, those that
  /// are so within rounding do not count, but for the present one. Laws with memory leave
  /// their branch in `present` (-1: unknown) only if no solution keeps it, but those whose argument reaches its end first change
  /// where they can; which these are is known where the arguments before are, `w_before`. Ties: the present mode,
  /// then the smaller one. Of too many modes for a table those are looked at, where all laws have memory, that differ
  /// in laws which leave their branch; how many solutions there are is not known then (0).
  Choice nearest(const double* theta, int present, const Vector* w_before = nullptr);

  /// The same where every mode but these is known to have no solution at θ: of the others no map is made.
  Choice nearest_of(const std::vector<Mode>& possible, const double* theta, int present, const Vector* w_before = nullptr);
  /// The one or the other; null: no mode is known to have none.
  Choice nearest(const double* theta, int present, const std::vector<Mode>* possible, const Vector* w_before = nullptr) {
    return possible != nullptr ? nearest_of(*possible, theta, present, w_before) : nearest(theta, present, w_before);
  }
  /// How many there are, at most table_limit + 1.
  [[nodiscard]] long modes() const { return modes_; }
  [[nodiscard]] bool is_tabulated() const { return tabulated_; }

  /// The same when the present mode is known to be admissible: only its rivals are looked at. `possible`: see `nearest_of`;
  /// null: all.
  Choice nearest_from(int present, const double* theta, const std::vector<Mode>* possible = nullptr);
  /// Is it known by now that the mode has no rivals?
  [[nodiscard]] bool is_known_alone(int present) const {
    const auto& known = rivals_[static_cast<std::size_t>(present)];
    return known != nullptr && known->empty();
  }

  /// Every tabulated map with a solution at θ that changes the fewest laws with memory against
  /// `present`. False: too many modes for a table, or a singular one is consistent at θ.
  bool all_admissible(const double* theta, int present, std::vector<int>& maps);

  /// From the mode `start` to an admissible one at θ by moving every violated law to its nearest
  /// other branch, as long as no mode repeats: the primal-dual active set method on kept maps. -1
  /// if that fails.
  int exchange(const double* theta, int start);

  /// Modes whose admissible set meets that of `index` where the solutions differ. An exclusion
  /// carries a checked certificate (see `test_interior`).
  const std::vector<int>& rivals(int index);

  /// Number of maps after duplicates were merged, of all modes; 0 if the family is too large for a
  /// table.
  int tabulate();

  /// Every tabulated map and how far each mode is from being admissible at θ: the largest relative
  /// violation; inf for an inconsistent singular mode.
  std::vector<std::pair<Mode, double>> violations(const double* theta);

 private:
  /// Of a mode that is met for the first time: of many modes most are met at few θ.
  [[nodiscard]] ModeMap::Form first_form() const {
    return modes_ > table_limit ? ModeMap::Form::points : ModeMap::Form::rows;
  }
  void give_rows(int index);
  int usable(int index, bool is_met_often);
  [[nodiscard]] int equal_map(const ModeMap& made) const;
  /// A squared norm and a bound of its rounding.
  struct SquaredNorm {
    double value = nan, rounding = 0;

    [[nodiscard]] bool is_tied_with(const SquaredNorm& other) const {
      return std::abs(value - other.value) <= rounding + other.rounding;
    }
  };
  [[nodiscard]] SquaredNorm squared_norm(int index, const double* theta) const {
    SquaredNorm norm;
    norm.value = map(index).squared_norm(theta, &norm.rounding);
    return norm;
  }
  [[nodiscard]] bool is_singular(int index) const {
    return map(index).kind() == ModeMap::Kind::singular;
  }
  [[nodiscard]] bool may_have_solutions(int index, const double* theta) const;
  [[nodiscard]] bool leaves_choice_open(int rival, const SquaredNorm& norm, const SquaredNorm& best,
                                        const double* theta) const;
  const std::vector<int>& others(int present, const std::vector<Mode>* possible);
  std::pair<std::set<int>, std::set<int>> maps_of(const std::vector<Mode>& modes);
  bool is_known_rival(int index, int other);
  bool is_rival(int index, int other) const;
  /// Does a law leave its branch in the present mode by its own argument, and before others?
  enum class Leaves : char { no, later, first };
  using Leaving = std::vector<Leaves>;  // law by law; empty: all leave, none first
  [[nodiscard]] int memory_changes(int index, int present, const Leaving& leaving = {}) const;
  /// The laws whose own argument leaves their branch in the present mode: a change of another law
  /// with memory counts more than all of theirs.
  [[nodiscard]] Leaving leaving_laws(int present, const double* theta, const Vector* w_before) const;
  [[nodiscard]] double inside_before(const ModeMap& mode, const ModeMap::Margin& margin, const Vector& w) const;
  bool add_if_admissible(const double* theta, const Mode& mode);
  bool find_by_leaving(const double* theta, Mode mode, const std::vector<int>& first, const std::vector<int>& later);
  Choice nearest_by_leaving(const double* theta, int present, const Vector* w_before);
  bool same_u(int first, int second, const double* theta);
  void keep_exact(const double* theta, int present);
  bool find_admissible(const std::vector<int>& regular, const std::vector<int>& singular, const double* theta, int present);
  Choice nearest_admissible(const double* theta, int present, const Vector* w_before);
  [[nodiscard]] bool precedes(int index, int chosen, int present) const;
  void choose(const double* theta, int present, Choice& choice) const;

  ParametricMlcp family_;
  std::vector<std::unique_ptr<ModeMap>> maps_;
  std::vector<Mode> met_;  // in the order in which they were
  std::map<Mode, int> index_;
  std::vector<std::unique_ptr<std::vector<int>>> rivals_;  ///< null: not asked for
  std::vector<char> judged_;  ///< map by map: is another one a rival of it? 0: not asked for
  static constexpr long most_looks = 128;  ///< at all modes, before the rivals of a mode are asked for
  long looks_ = 0;
  std::vector<int> memory_laws_;
  std::vector<int> singular_;  ///< maps of singular modes, after `tabulate`
  std::vector<int> regular_, all_, some_;
  std::vector<int> admissible_, found_;
  Vector u_first_, u_second_, lambda_, w_;
  bool tabulated_ = false;
  long modes_ = 1;  ///< product of the numbers of branches, capped
  long factorisations_ = 0;
  mutable long exact_signs_ = 0;
  long storage_ = 0;
  std::optional<bool> unique_;
};

}  // namespace perp
