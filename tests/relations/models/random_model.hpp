#pragma once

#include <string>
#include <vector>

namespace perp::relations {

/// Functions of one unknown that terms may hold.
enum class Function { none, sin, cos, exp, tanh, square_wave };

/// One factor of a term: a variable, the multiplier of a law, the time, or an input, in a function:
///     f(scale · u + offset)
struct Factor {
  enum class Kind { variable, law, time, input };
  Kind kind = Kind::variable;
  int index = 0;  ///< of the variable, the law or the input
  Function function = Function::none;
  double scale = 1;
  double offset = 0;
};

/// c · Π factors.
struct Term {
  double c = 0;
  std::vector<Factor> factors{};
};

using Sum = std::vector<Term>;

enum class LawKind {
  sign,
  step,
  positive_part,
  absolute,
  saturation,
  dead_zone,
  relay,
  complementarity,
  hysteresis,
  binary  ///< 0 or 1 as constraints allow, without an argument
};

/// A law with its argument w as a sum; λ stands in the sums as a factor.
struct RandomLaw {
  std::string name;
  LawKind kind = LawKind::sign;
  Sum argument{};
  double lower = -1, upper = 1;  ///< of kinds with bounds
  int wording = 0;               ///< which of the equivalent statements is printed
  double restitution = -1;       ///< of a contact; < 0: the law is none
  int start = 0;                 ///< of a law that is written as a binary
};

/// A factor of binaries.
struct Literal {
  enum class Kind {
    on,             ///< z
    off,            ///< 1 - z
    side,           ///< 1 - 2 z
    off_or_beside,  ///< 1 - z + z of another one
  };
  Kind kind = Kind::on;
  int law = 0;
  int beside = -1;
};

/// g = Σ w Π literals <= 0
struct RandomConstraint {
  struct Face {
    Sum w{};
    std::vector<Literal> when{};
  };
  std::string name;
  std::vector<Face> faces{};
  double factor = 1;       ///< > 0
  bool is_turned = false;  ///< written with >=
};

/// A known signal, of time alone.
struct RandomInput {
  std::string name;
  Sum value{};
};

/// factor · ẋ_j = right, or 0 = right where `derivative` is -1.
struct RandomEquation {
  int derivative = -1;
  double factor = 1;
  Sum right{};
};

struct RandomReset {
  Sum condition{};
  int direction = 0;
  std::vector<int> variables{};
  std::vector<Sum> values{};
};

struct RandomVariable {
  std::string name;
  double start = 0;
  double nominal = 1;
};

/// A model as data, from which texts in many words, units and orders are made.
struct RandomModel {
  unsigned seed = 0;
  std::vector<RandomVariable> variables{};
  std::vector<RandomEquation> equations{};
  std::vector<RandomLaw> laws{};
  std::vector<RandomReset> resets{};
  std::vector<RandomConstraint> constraints{};
  std::vector<RandomInput> inputs{};
  bool as_binaries = false;  ///< laws are written as binaries with constraints; also where one has no argument
  bool as_families = false;  ///< x1, x2, ... are written as x[1], x[2], ...
  double start = 0, end = 1, h = 0.01;
  std::string selector = "keep_mode";
};

/// Are its laws written as binaries: does it hold constraints or binaries without an argument, or is it said so?
bool is_hybrid(const RandomModel& model);

/// Can every law be written as a binary with a constraint, and has the model nothing that stands beside none?
bool can_be_hybrid(const RandomModel& model);

/// The number of equivalent statements of a law of this kind.
int wordings(LawKind kind);

/// Does this statement name its multiplier in the list of laws (else it is an operator in place)?
bool is_listed(LawKind kind, int wording);

/// Text of a number that reads back as the same double.
std::string number_text(double value);

/// The model as the text of a model file. Numbers are read back as the same doubles.
std::string text(const RandomModel& model);

/// Is every sum affine in variables and multipliers with constant coefficients, and is there no reset
/// and no constraint?
bool has_matrices(const RandomModel& model);

/// The same model in the form of matrices. Needs `has_matrices`.
std::string matrix_text(const RandomModel& model);

}  // namespace perp::relations
