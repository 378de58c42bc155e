#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include <perp/core/lcs.hpp>
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
  std::string solver{};
  double theta = 0.5;
  double tol = 1e-10;
};

/// One piece of an exact solution: x(t) for t in [span.start, span.end).
struct ExactPiece {
  Span span;
  std::function<void(double t, Vector& x)> x;
};

/// A system, x0, span, exact solution if known, source.
struct Model {
  std::string name;
  std::string source;
  std::string file;  ///< where it was read from
  std::string hash;  ///< of the file's text and the overrides, for provenance
  std::vector<std::pair<std::string, double>> parameters;
  std::vector<Variable> variables;
  Lcs system;
  RunOptions run;
  std::vector<ExactPiece> exact;  ///< empty: unknown

  [[nodiscard]] Vector x0() const;
  /// Exact x(t) from the right, size 0 where unknown.
  [[nodiscard]] Vector exact_at(double t) const;
};

}  // namespace perp
