#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include <perp/analysis/hybrid/hybrid_continuation.hpp>
#include <perp/analysis/hybrid/sparse/mode_series.hpp>
#include <perp/analysis/hybrid/sparse/product_faces.hpp>
#include <perp/analysis/hybrid/values/value_tree.hpp>
#include <perp/models/language/hybrid/faces.hpp>
#include <perp/models/language/hybrid/hybrid_structure.hpp>

namespace perp {

/// The rule nearest_mode where it changes called binaries only: values at distance 1, 2, .. from the previous
/// one, each judged by its Taylor series up to third order, all of a distance before the next one. What
/// needs more (sliding, binaries that are not called, modes without series) it leaves open. Of few binaries all values
/// are judged, so that the list is complete; where this cannot tell what slides, all is left open.
class NearChoice {
 public:
  /// All values of a model of at most so many binaries are looked at: the first where none slides.
  static constexpr int most_listed = 6, most_searched = 3;
  /// Of more called binaries the values are gone through as a tree.
  static constexpr int most_singly = 3;

  struct Options {
    double share = 0;  ///< of themselves and their sizes: how well states are known that were computed
    Vector sizes{};    ///< of the variables
    long most_values = 1L << 20;
    bool lists_all = true;         ///< of few binaries all values; else those of called sub-problems alone
    bool counts_inside = false;    ///< say how many values of called binaries continue
    std::function<bool()> stop{};  ///< true ends a search, which leaves all open
  };

  NearChoice(const HybridModel& model, const HybridStructure& structure, ModeSeries& series,
             Options options);

  /// In which mode a solution goes on from (t, x); `previous`: 0 or 1 of each binary; `is_exact`: x are these numbers,
  /// else the states are known to `share`. Signs are decided by bounds of all errors, of exact states that these leave
  /// open by rational numbers; what stays open is 0 as far as is known, and the continuation weak. Empty: open.
  std::optional<HybridContinuations> operator()(double t, const Vector& x,
                                                const std::vector<int>& previous, bool is_exact);

  /// What becomes of one value of the binaries, whose equations have one solution: the rows that it violates behind t, none
  /// where a solution goes on. Empty: open.
  struct OfValue {
    std::vector<int> violated;
    HybridContinuation continuation;
  };
  std::optional<OfValue> of_value(double t, const Vector& x, const std::vector<int>& z, bool is_exact);

  /// All values of the binaries where none can slide: how many continue, the best of them, and what excludes others.
  /// `previous`: any_binary where none
  /// is known; `inside`: binaries of called sub-problems. Empty: open.
  struct Asked {
    std::vector<int> previous;
    std::vector<char> inside;
    std::size_t most_kept = 4096;  ///< a list of more is not complete,
    std::size_t best = 64;         ///< and holds so many; exclusions, too
    long most_nodes = 1L << 22;
  };
  void set_options(Options options) { options_ = std::move(options); }
  std::optional<HybridContinuations> all_values(double t, const Vector& x, const Asked& asked, bool is_exact);

  /// Its counts; the series are not among it.
  void transfer(Archive& archive) { archive(tried_, counted_); }

  [[nodiscard]] bool is_void(int constraint, const std::vector<int>& z) {
    return faces_.is_void(constraint, z);
  }

 private:
  struct Verdict {
    bool has_series = false;
    bool is_strict = true;
    std::vector<int> violated{}, on_surface{};  ///< rows
    RunningError rate_norm{};
  };
  struct Taken {
    std::vector<int> changed;
    const char* decided_by;
    std::optional<long> count{};  // of values of the called binaries that continue
  };
  struct Found {
    std::vector<int> changed;
    RunningError rate_norm;
  };
  /// open: no bound of the error; falls, rises and stays: 0 at t.
  enum class Sign { open, idle, negative, positive, falls, rises, stays };
  Sign sign_of(int l, const std::vector<int>& z, bool asks_for_one);
  Sign sign_at_zero(int l, const std::vector<int>& z, bool has_bound, bool asks_for_one);
  Sign sign_behind(int l);
  void read_constraint(int l, const std::vector<int>& z, Verdict& verdict, bool asks_for_one);
  void read_constraints(const std::vector<int>& z, int part, Verdict& verdict, bool asks_for_one);
  void read_rates(int part, Verdict& verdict);
  [[nodiscard]] int state_of_input(int input) const;
  int value_sign(int l, const std::vector<int>& z, bool& has_bound);
  [[nodiscard]] std::optional<int> exact_sign(int l, const std::vector<int>& z);
  bool takes_value();
  bool slides(int binary);
  std::optional<long> count_singly(double t, const Vector& x, const std::vector<int>& z, const std::vector<int>& binaries,
                                   int part, int from);
  std::optional<long> count_in_tree(const ValueProgram& program, ValueTree::Question asked);
  std::optional<std::vector<Found>> at_distance(double t, const Vector& x, const std::vector<int>& z,
                                                const std::vector<int>& binaries, int part, int distance);
  [[nodiscard]] const ExplicitRows& explicit_rows();
  [[nodiscard]] ValueProgram::Part rows_of(int part) const;
  const ValueProgram* program(const std::vector<int>& binaries, int part);
  ValueTree::Question question_of_all(double t, const Vector& x, const Asked& asked, const ValueProgram& tree,
                                      HybridContinuations& found);
  static ValueTree::Answer answer_of(const ValueProgram& tree, ValueTree::Question all, const Asked& asked);
  [[nodiscard]] Exclusion exclusion(std::uint64_t values, std::uint64_t known, int constraint, bool by_slope) const;
  ConstraintJet jet_of(int l, const std::vector<int>& z);
  std::optional<HybridContinuation> continuation(double t, const Vector& x, const ValueTree::Entry& entry);
  static std::vector<ValueTree::Entry> best_of(const ValueTree::Answer& answer);
  ValueTree::Question question(double t, const Vector& x, const std::vector<int>& z, const ValueProgram& program,
                               int part);
  std::optional<Taken> choose_in_tree(double t, const Vector& x, const std::vector<int>& z,
                                      const ValueProgram& program, int part);
  static Taken taken_of(const std::vector<Found>& found, bool is_one);
  static Taken taken_of(const ValueProgram& program, const ValueTree::Answer& answer);
  [[nodiscard]] bool may_slide_here(const ValueProgram& program, const ValueTree::Question& asked);
  [[nodiscard]] std::map<int, std::vector<int>> called_binaries(const std::vector<int>& called) const;
  [[nodiscard]] bool has_surface(std::vector<int>& corner, int binary);
  Verdict judge(double t, const Vector& x, const std::vector<int>& z, int part, bool asks_for_one = false);
  Verdict judge_changed(double t, const Vector& x, std::vector<int>& z, const std::vector<int>& changed, int part);
  std::optional<Taken> choose_singly(double t, const Vector& x, const std::vector<int>& z,
                                     const std::vector<int>& binaries, int part);
  std::optional<Taken> choose(double t, const Vector& x, const std::vector<int>& z,
                              const std::vector<int>& binaries, int part);
  [[nodiscard]] bool may_slide(const std::vector<int>& z, int binary);
  [[nodiscard]] bool may_slide_on_products(int binary);
  HybridContinuations taken(const std::vector<int>& z, const Verdict& verdict);
  HybridContinuation with_jets(const std::vector<int>& z, const Verdict& verdict);
  [[nodiscard]] bool has_single_roots();
  [[nodiscard]] bool lists_all();
  void count_changes(const std::vector<int>& previous, const std::vector<int>& called,
                     HybridContinuation& next) const;
  std::optional<HybridContinuations> of_called(double t, const Vector& x, const std::vector<int>& previous,
                                               const std::vector<int>& called);
  std::optional<HybridContinuations> of_all(double t, const Vector& x, const std::vector<int>& previous,
                                            const std::vector<int>& called);
  std::optional<HybridContinuations> of_parts(double t, const Vector& x, const std::vector<int>& previous,
                                              const std::vector<int>& called);

  const HybridModel& model_;
  const HybridStructure& structure_;
  ModeSeries& series_;
  Options options_;
  Faces faces_;
  std::vector<std::vector<int>> constraints_of_;  // that hold a binary
  std::map<int, std::optional<ProductFace>> products_;  // of constraints with many binaries
  std::vector<int> part_of_signal_, part_of_constraint_;
  int parts_ = 0;
  long tried_ = 0;
  long counted_ = 0;  ///< nodes of trees that were visited for numbers alone
  std::optional<bool> lists_all_, has_single_roots_;
  std::vector<signed char> slides_;  // of each binary, see may_slide; -1: not known yet
  std::unique_ptr<ExplicitRows> explicit_rows_;  // made when they are asked for
  std::map<std::vector<int>, std::unique_ptr<ValueProgram>> programs_;  // by their binaries
};

}  // namespace perp
