#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <perp/core/law.hpp>
#include <perp/models/language/lowering/algebra.hpp>
#include <perp/models/language/lowering/aliases.hpp>

namespace perp::lowering {

/// What operators ask of a switching argument w. The first two jump at w = 0, where they are the
/// intervals [-1, 1] and [0, 1]; the other two have a kink.
enum class Basis { sign, step, absolute, positive_part };
inline constexpr int basis_count = 4;

/// What is asked of a switching argument w, as it is written.
struct Asked {
  std::string text;                   ///< the operator
  std::string negative{}, positive{};  ///< what w < 0 and w > 0 say; empty: no more than that
  bool is_condition = false;          ///< a comparison, which w > 0 makes true
};

/// A law in the making, with one multiplier.
struct Switch {
  int argument = -1;                 ///< line of w
  std::optional<Law> law{};          ///< empty: it follows from what is asked of w
  AffineForm form{};                 ///< of w without aliases, to recognise its multiples; of a given law empty
  bool is_stated = false;            ///< by the model, or a requirement: it is there even where no equation needs it
  std::vector<std::string> names{};  ///< the operators that ask, as they are written
  std::shared_ptr<const Asked> first{};  ///< the first of them; null: nothing is said beside the law

  [[nodiscard]] std::string name() const;
  /// Readable names of the branches with w < 0 and w > 0.
  [[nodiscard]] std::pair<std::string, std::string> sides() const;
};

/// The switching arguments of a model. While equations are read the value of each basis of each
/// switch is an input of the tape of its own; which law serves them is decided at the end.
class Switches {
 public:
  Switches(Algebra& algebra, Aliases& aliases, int first_input)
      : algebra_(algebra), aliases_(aliases), first_input_(first_input) {}

  /// A switching argument: of switch `index` (with -w where orientation is -1, with `scale` times
  /// that); or its sign is known already; or neither, and operators are taken as single-valued.
  struct Argument {
    int line = -1;
    int index = -1;
    int orientation = 1;
    int known_sign = 0;
    int scale = -1;  ///< line of a factor > 0; -1: 1
  };

  /// A law with an argument and a multiplier of its own.
  int add_law(const Law& law, const std::string& name, int argument);
  /// One that no equation needs, which holds all the same.
  void add_requirement(const Law& law, int argument);
  /// One that the model states, whose argument follows later.
  int add_stated_law(const Law& law);
  /// There will be about so many.
  void reserve(std::size_t count) { list_.reserve(count); }
  void set_argument(int index, int line) { list_[static_cast<std::size_t>(index)].argument = line; }

  /// The argument on this line, shared with multiples of it that are there already, under whatever name. Unless `creates` it
  /// stays without a switch where there is none, and so does a number.
  Argument find(int line, const Asked& asked, bool creates);

  // Values of operators, as lines.
  int sign(const Argument& w);
  int step(const Argument& w);           ///< 0 | [0, 1] | 1
  int absolute(const Argument& w);       ///< |w|
  int positive_part(const Argument& w);  ///< max(0, w)
  int multiplier(int index);             ///< of a given law

  [[nodiscard]] const std::vector<Switch>& list() const { return list_; }
  /// Which switch and basis is this input? index -1: none.
  [[nodiscard]] std::pair<int, Basis> of_input(int input) const;

 private:
  /// The argument with this form, which is not known to be a number other than 0.
  Argument find_form(int line, const AffineForm& form, const Asked& asked, bool creates);
  /// The line of this form, and of -form `opposite`, as a multiple of the argument of a switch; none: it is not one.
  std::optional<Argument> as_multiple(std::size_t index, int line, const AffineForm& form, const AffineForm& opposite);
  int basis(int index, Basis which);
  int scaled(const Argument& w, int value);

  Algebra& algebra_;
  Aliases& aliases_;
  int first_input_;
  std::vector<Switch> list_;
  std::map<std::vector<int>, std::vector<std::size_t>> of_lines_;  // switches by the lines that their forms hold
};

}  // namespace perp::lowering
