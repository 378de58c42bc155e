#pragma once

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <perp/core/dcs.hpp>
#include <perp/core/lcs.hpp>
#include <perp/core/state_derivative.hpp>
#include <perp/core/types.hpp>

namespace perp {

struct Variable {
  std::string name;
  double start = 0;
  std::string unit{};
  double nominal = 1;
};

/// The [run] table of a model file: what, over which time, how. Names are resolved by the command
/// line.
struct RunOptions {
  Span span{0, 1};
  double h = 0;  ///< 0: (end - start) / 1000
  std::string scheme = "backward_euler";
  std::string selector = "keep_mode";
  std::string policy = "minimal_norm";  ///< of scheme located, where several continuations start
  bool cross_check = false;  ///< of scheme located: choices compared with a short implicit step
  std::string solver{};
  double theta = 0.5;
  double tol = 1e-10;
  bool split_at_events = true;
};

/// One piece of an exact solution: x(t) for t in [span.start, span.end).
struct ExactPiece {
  Span span;
  std::function<void(double t, Vector& x)> x;
};

/// Values that a model computes besides its variables, from (t, x, λ), and from ẋ as the equations
/// give it there. Inputs of the tape: those of the model's Dcs.
struct Outputs {
  std::vector<std::string> names{};
  Tape tape{};
  std::vector<int> lines{};
  int multipliers = 0;
  std::vector<double> parameters{};
  std::optional<StateDerivative> derivative{};  ///< where an output holds ẋ

  /// The values at one state, one for each of `names`; NaN where λ is needed but unknown (size 0)
  /// or ẋ is not determined.
  [[nodiscard]] Vector at(double t, const Vector& x, const Vector& lambda) const;
};

/// A system, x0, span, exact solution if known, source.
struct Model {
  std::string name;
  std::string source;
  std::string file;  ///< where it was read from
  std::string hash;  ///< of the file's text and the overrides, for provenance
  std::vector<std::pair<std::string, double>> parameters;
  std::vector<Variable> variables;
  /// Matrices, or equations; equations that are affine are matrices.
  std::variant<Lcs, Dcs> system;
  std::optional<Dcs> equations;          ///< as they were lowered; empty in the matrix form
  std::vector<std::string> arguments;    ///< of the laws, as text; empty in the matrix form
  std::vector<std::string> multipliers;  ///< the user's names of them, "" without one; or empty
  std::vector<double> restitution;       ///< of contacts, one for each law; or empty
  Outputs outputs;
  RunOptions run;
  std::vector<ExactPiece> exact;  ///< empty: unknown

  [[nodiscard]] Vector x0() const;
  /// Exact x(t) from the right, size 0 where unknown.
  [[nodiscard]] Vector exact_at(double t) const;
  [[nodiscard]] const std::vector<Law>& laws() const;
  /// Indices of the variables whose derivative the system holds.
  [[nodiscard]] std::vector<int> differential_variables() const;
  /// Names of the inputs of a Dcs and of the outputs' tape: t, der(x), x, multipliers (by their
  /// names, or "[law]"), parameters.
  [[nodiscard]] std::vector<std::string> input_names() const;
  /// The matrices. Throws InvalidInput where the system has none.
  [[nodiscard]] const Lcs& lcs() const;
  [[nodiscard]] Lcs& lcs();
  [[nodiscard]] int m() const { return static_cast<int>(laws().size()); }
};

}  // namespace perp
