#pragma once

#include <limits>
#include <map>
#include <vector>

#include <perp/core/dcs.hpp>

namespace perp {

/// The equations of a Dcs on the branches of its laws, where formulas have no derivatives at the end of
/// a branch, as √|w| and max(w, 0)^1.5 at w = 0. In the arguments of such formulas
///     w_i    = c/a            on a vertical branch, and on any whose end is held,
///     λ_i    = (c − a w_i)/b  on the others:
/// values stay what they are on the branch, and a formula of w alone is a number there, which has
/// derivatives. With ends that are held the equations are those of the end itself: they have the values
/// and rates of the mode at a state there, and Taylor series up to where the formula has none.
/// Systems without such formulas of w or λ have no forms but their own.
class BranchForms {
 public:
  /// Throws InvalidInput (see `validate`).
  explicit BranchForms(const Dcs& system);

  /// The value of w that is held for each law; `open` where none is.
  using Ends = std::vector<double>;
  static constexpr double open = std::numeric_limits<double>::infinity();

  /// For each law: does a formula without derivatives at some value hold its w or λ?
  [[nodiscard]] const std::vector<char>& rough() const { return rough_; }
  /// Is any law like that?
  [[nodiscard]] bool any() const { return any_; }

  /// One number or two for each rough law: what the equations of a mode depend on.
  using Key = std::vector<double>;
  [[nodiscard]] Key key(const Mode& mode, const Ends& ends) const;

  struct Form {
    Dcs system;
    /// Laws on a vertical branch whose multiplier no equation holds: the branch of `system` keeps it in
    /// the middle of its range, and w stays by the other equations alone, or does not.
    std::vector<char> inert;
  };
  /// Is an end held for this law, and are the equations others where it is not?
  [[nodiscard]] bool is_held(int law, const Mode& mode, const Ends& ends);
  /// The equations of `mode`. The object lives as long as this one.
  const Form& of(const Mode& mode, const Ends& ends);

 private:
  Form make(const Mode& mode, const Ends& ends) const;
  [[nodiscard]] double held(int law, const Mode& mode, const Ends& ends) const;

  Dcs system_;
  std::vector<char> rough_;
  std::vector<char> cone_;       // lines that arguments of such formulas depend on
  std::vector<double> numbers_;  // of lines without t, ẋ, x and λ; NaN: others
  bool any_ = false;
  std::map<Key, Form> forms_;
};

}  // namespace perp
