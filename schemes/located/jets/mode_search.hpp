#pragma once

#include <utility>
#include <vector>

#include <perp/core/branches.hpp>
#include <perp/schemes/located/jets/margins.hpp>
#include <perp/schemes/located/jets/mode_selection.hpp>

namespace perp {

/// The next combination of branches of the open laws, the others as they are; false: that was the last one, and the first
/// one comes again.
bool next_mode(const std::vector<Law>& laws, const std::vector<int>& open, Mode& mode);

/// The search of `select`: candidates are modes, each with one or more roots.
class ModeSearch {
 public:
  ModeSearch(ConsistentJets& jets, double t, const Vector& x, const Vector& lambda,
             const SelectionOptions& options)
      : jets_(jets),
        t_(t),
        x_(x),
        lambda_(lambda),
        rates_(options.rates),
        options_(options),
        budget_(options.most) {}

  /// All combinations of branches of `open` laws, the others as in `mode`, in lexicographic order.
  /// Margins of laws that are `undecided` but not open do not count.
  std::vector<Continuation> enumerate(Mode mode, const std::vector<int>& open,
                                      const std::vector<int>& undecided);
  /// Makes the laws' branches so that the jet is consistent, if one law after the other can do it.
  bool make_reference(Mode& mode, const std::vector<int>& open);
  /// Continuations of all groups put together.
  std::vector<Continuation> combine(const Mode& reference,
                                    const std::vector<std::vector<int>>& groups,
                                    const std::vector<std::vector<Continuation>>& choices);

  /// What the jets of this search, of more levels than those of the continuations, tell of these,
  /// each from its multipliers and rates: of a weak one all modes are looked at again, and those
  /// that they leave are rejected. What they do not tell stays weak. The jets are given with the
  /// coefficients of `levels` levels.
  std::vector<Continuation> decide(std::vector<Continuation> weak, int levels);

  [[nodiscard]] bool complete() const { return complete_; }
  /// The modes whose equations hold without telling their solution, of which nothing known leaves its branches.
  [[nodiscard]] const std::vector<Mode>& left_open() const { return left_open_; }
  /// Those of these modes that the jets of this search, of more levels than those of the others, do not exclude.
  std::vector<Mode> not_excluded(const std::vector<Mode>& modes, int levels);
  /// For each law: does its own argument leave its branch where this mode goes on from here? None does where it has no series.
  [[nodiscard]] std::vector<char> leaving_laws(const Mode& mode);
  std::vector<std::pair<Mode, double>> rejected;

 private:
  enum class Guess { present, far };  ///< does λ belong to the present x?
  bool solve(const Mode& mode, const Vector& lambda, Guess guess, Jet& jet);
  [[nodiscard]] MarginVerdict judge(const Jet& jet, int levels) const;
  bool add(Mode mode, Jet jet, const MarginVerdict& verdict, std::vector<Continuation>& found);
  void try_mode(const Mode& mode, const Vector& lambda, Guess guess,
                std::vector<Continuation>& found, double& violation);
  void try_starts(const Mode& mode, const std::vector<int>& open, std::vector<Continuation>& found);
  [[nodiscard]] Vector start_across(const Mode& mode, const std::vector<int>& vertical, int number) const;
  void try_rates(const Mode& mode, std::vector<Continuation>& found, double& violation);
  [[nodiscard]] const Branch& branch(const Mode& mode, int i) const {
    const auto law = static_cast<std::size_t>(i);
    return jets_.laws()[law].branches[static_cast<std::size_t>(mode[law])];
  }
  void ask_all();
  void ignore(const std::vector<int>& open, const std::vector<int>& undecided);
  [[nodiscard]] long share_of_points(const std::vector<int>& open) const;
  void reject(const Mode& mode, double violation);
  bool try_branches(Mode& mode, std::size_t law, Jet& jet, double& smallest);
  std::vector<Mode> undecided_modes(const Continuation& weak, int levels, std::vector<Continuation>& found);
  /// Has a mode taken its share of points before others were looked at?
  [[nodiscard]] bool is_put_off() const { return is_first_look_ && is_spent_; }
  [[nodiscard]] double start_in(const Range& range, int law, double share) const;

  ConsistentJets& jets_;
  double t_;
  const Vector& x_;
  const Vector& lambda_;
  Vector rates_;  // from which Newton's method starts
  const SelectionOptions& options_;
  int budget_;
  std::vector<char> ignored_;  // laws whose margins do not count now
  bool complete_ = true;
  std::vector<Mode> left_open_;
  bool is_first_look_ = false;  // modes that need more points than their share are put off
  bool is_spent_ = false;       // that share
};

}  // namespace perp
