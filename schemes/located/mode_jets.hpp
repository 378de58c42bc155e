#pragma once

#include <map>
#include <optional>
#include <vector>

#include <perp/core/base/archive.hpp>
#include <perp/core/dcs_evaluator.hpp>
#include <perp/schemes/located/jets/mode_selection.hpp>
#include <perp/schemes/located/located_state.hpp>
#include <perp/schemes/located/radau/branch_forms.hpp>

namespace perp {

/// The Taylor series of modes at the present state. Where formulas have no derivatives, at ends of branches
/// that the state is at, they are held as those of the ends until the event is left behind.
class ModeJets {
 public:
  /// `at` must outlive this.
  explicit ModeJets(const LocatedState& at);

  /// For `select`, and series elsewhere.
  [[nodiscard]] ConsistentJets& all() { return jets_; }
  /// The series of its mode at a state.
  [[nodiscard]] Jet at_state(const Step& state) {
    return jets_.solve(state.mode, state.t, state.x, state.lambda);
  }
  /// The same where its values alone are asked for: of one level, where that determines them.
  [[nodiscard]] Jet values_at(const Step& state);
  /// The equations, for values.
  [[nodiscard]] DcsEvaluator& evaluator() { return evaluator_; }
  /// w of all laws at (t, x), rates and multipliers being 0: m entries.
  [[nodiscard]] Vector arguments_at(double t, const Vector& x);
  /// After the scales of the state are known.
  void set_scales();

  /// How the equations of a mode are integrated.
  struct Structure {
    std::vector<char> velocity_level;  ///< see ModeFlow::set_mode
    bool is_high_index = false;        ///< > 2: not by Radau IIA

    void transfer(Archive& archive) { archive(velocity_level, is_high_index); }
  };
  /// Found once for each mode, by its jet.
  const Structure& structure(const Jet& jet);
  /// Of a mode that has no jet: index 0.
  void set_plain(const Mode& mode) { structures_.try_emplace(mode); }

  /// What is known of the modes met, and the ends that are held.
  void transfer(Archive& archive);
  /// From now on jets are those of the ends of branches which the present state is at, as far as formulas
  /// have no derivatives there. `hit`: laws whose branch ended.
  void hold_ends(const std::vector<int>& hit);
  /// Behind the event, unless the solution rests at the ends.
  void release_ends();
  /// Do the jets hold an end?
  [[nodiscard]] bool holds_ends() const;
  /// Does the solution go on at the ends, by their equations?
  void set_rests(bool rests) { rests_ = rests; }
  [[nodiscard]] bool rests() const { return rests_; }
  /// One w for each law, infinite: not at an end. Empty: none is held.
  [[nodiscard]] const BranchForms::Ends& ends() const { return ends_; }
  /// Those that the equations of the present mode are of.
  [[nodiscard]] BranchForms::Ends ends_of_mode() const { return rests_ ? ends_ : BranchForms::Ends{}; }

 private:
  [[nodiscard]] bool is_of_state(int law) const;
  void tell_ends();
  [[nodiscard]] std::optional<double> end_at(int law, double w, bool is_hit) const;

  const LocatedState& at_;
  ConsistentJets jets_;
  ConsistentJets first_jets_;             // of one level: what they determine is of index 2 at most
  DcsEvaluator evaluator_;
  std::map<Mode, Structure> structures_;  // of the modes met
  BranchForms::Ends ends_;
  bool rests_ = false;
};

}  // namespace perp
