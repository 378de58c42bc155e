#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <perp/core/base/types.hpp>
#include <perp/core/dcs.hpp>
#include <perp/core/lcs.hpp>
#include <perp/core/system/system.hpp>
#include <perp/core/base/variable_bounds.hpp>

namespace perp {

/// A variable of a model.
struct Variable {
  std::string name;    ///< unique in the model
  double start = 0;    ///< at the start of the span; of an algebraic variable a guess
  std::string unit{};  ///< text for people
  /// Its size, > 0.
  double nominal = 1;
  Range bounds{};         ///< that a solution must not leave
  bool ends_at_bounds = true;  ///< false: passing one is an event, the run goes on
  bool has_nominal = false;    ///< the file gives its size
};

/// The [run] table of a model file: what, over which time, how. Names are resolved by the command
/// line.
struct RunOptions {
  Span span{0, 1};  ///< from when to when
  double h = 0;  ///< 0: (end - start) / 1000
  std::string scheme = "backward_euler";  ///< see `perp list schemes`
  std::string selector = "keep_mode";     ///< which of several solutions of a step is taken
  std::string policy = "minimal_norm";  ///< of scheme located, where several continuations start
  bool cross_check = false;  ///< of scheme located: choices compared with a short implicit step
  std::string solver{};      ///< of steps that are not enumerated; empty: lemke
  std::string petsc{};       ///< of solver petsc: PETSc's own options
  double theta = 0.5;        ///< weight of the new state, in [1/2, 1]
  double tol = 1e-10;        ///< see the scheme
  bool split_at_events = true;            ///< a step in which the mode changes is made in two
  std::map<std::string, double> own{};    ///< options that no other scheme has, by key
  std::vector<std::string> left_aside{};  ///< keys that the file has for another scheme
};

/// One piece of an exact solution: x(t) for t in [span.start, span.end).
struct ExactPiece {
  Span span;                                   ///< where it holds
  std::function<void(double t, Vector& x)> x;  ///< writes x(t); NaN where it is unknown
};

/// Values that a model computes besides its variables, from (t, x, λ), and from ẋ as the equations
/// give it there. Inputs of the tape: those of the model's Dcs.
struct Outputs {
  std::vector<std::string> names{};             ///< of the values
  Tape tape{};                                  ///< their formulas
  std::vector<int> lines{};                     ///< one for each of `names`
  int multipliers = 0;                          ///< m of the model
  std::vector<double> parameters{};             ///< values of p
  /// ẋ from (t, x, λ), where an output holds it: a StateDerivative.
  std::function<Vector(double t, const Vector& x, const Vector& lambda)> derivative{};
  std::vector<std::string> units{};  ///< text for people, one for each of `names`; or empty

  /// The values at one state, one for each of `names`; NaN where λ is needed but unknown (size 0)
  /// or ẋ is not determined.
  [[nodiscard]] Vector at(double t, const Vector& x, const Vector& lambda) const;
};

struct ExactNumbers;
struct HybridModel;

/// A system, x0, span, exact solution if known, source.
struct Model {
  struct HybridForm;  ///< see hybrid_structure.hpp
  /// A number of the file that is a formula of a parameter: another parameter, or the start of a variable.
  struct Dependence {
    int of = -1;            ///< number of the parameter or the variable
    bool is_start = false;  ///< of a variable
    int on = -1;            ///< number of the parameter, which stands above
    double slope = 0;       ///< the derivative, the other parameters held
  };

  /// One of these formulas at a kink, of parameters 0, 1, .. above.
  struct KinkedFormula {
    int of = -1;  ///< as of a Dependence
    bool is_start = false;  ///< of a variable; false: of a parameter
    /// Has the formula one derivative where the parameters move along this, its own value and those of the others?
    std::function<bool(std::span<const double> along)> is_smooth{};
  };

  std::string name;    ///< of the file, for people
  std::string source;  ///< where it comes from
  std::string file;  ///< where it was read from
  std::string hash;  ///< of the file's text and the overrides, for provenance
  std::vector<std::string> data_files{};  ///< that it names and that were read with it
  /// names and values, in the order of the file
  std::vector<std::pair<std::string, double>> parameters;
  std::vector<Dependence> dependences{};  ///< of the numbers above and below, in the order of the file
  std::vector<KinkedFormula> kinked_formulas{};  ///< those of starts and parameters
  std::vector<Variable> variables;  ///< in the order of x
  std::vector<std::string> inputs{};  ///< names of the functions of time that it is given, in the order of the file
  /// Matrices, or equations; equations that are affine are matrices.
  System system;
  std::optional<Dcs> equations;          ///< as they were lowered; empty in the matrix form
  std::vector<std::string> arguments;    ///< of the laws, as text; empty in the matrix form
  std::vector<std::string> multipliers;  ///< the user's names of them, "" without one; or empty
  std::vector<std::string> multiplier_units{};  ///< text for people, one for each law; or empty
  std::vector<double> restitution;       ///< of contacts, one for each law; or empty
  Outputs outputs;                       ///< further columns of a result
  RunOptions run;                        ///< how it is run
  std::vector<int> binaries{};           ///< laws that stand for binaries, increasing
  /// Where laws alone do not say which values of the binaries continue: the model that does. Its
  /// runs choose modes by the rule nearest_mode; its laws are those of `constraint_system`.
  std::shared_ptr<const HybridModel> hybrid{};
  std::shared_ptr<const HybridForm> hybrid_form{};  ///< of the model that was read, which `hybrid` need not be
  /// Where laws stand for binaries: the model with these, which tells what decided at an event.
  std::shared_ptr<const HybridModel> lowered{};
  std::vector<ExactPiece> exact;  ///< empty: unknown
  std::vector<std::string> midpoints{};  ///< "m = [1, 2]": intervals whose middle is taken
  /// Where they were asked for; copies share them, nobody changes them after reading.
  std::shared_ptr<ExactNumbers> exact_numbers{};
  std::vector<std::string> warnings{};   ///< what the file says and the model does not do, one line each

  /// The starts of the variables.
  [[nodiscard]] Vector x0() const;
  /// Exact x(t) from the right, size 0 where unknown.
  [[nodiscard]] Vector exact_at(double t) const;
  /// The laws of the system.
  [[nodiscard]] const Laws& laws() const;
  /// Indices of the variables whose derivative the system holds.
  [[nodiscard]] std::vector<int> differential_variables() const;
  /// Names of the inputs of a Dcs and of the outputs' tape: t, der(x), x, multipliers (by their
  /// names, or "[law]"), parameters.
  [[nodiscard]] std::vector<std::string> input_names() const;
  /// The matrices. Throws InvalidInput where the system has none.
  [[nodiscard]] const Lcs& lcs() const;
  /// As above.
  [[nodiscard]] Lcs& lcs();
  /// The bounds that variables have, for a run.
  [[nodiscard]] std::vector<VariableBounds> bounds() const;
  [[nodiscard]] int m() const { return static_cast<int>(laws().size()); }
  ///< Number of laws.
};

}  // namespace perp
