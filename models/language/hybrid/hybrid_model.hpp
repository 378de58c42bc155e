#pragma once

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <perp/core/tape/tape.hpp>
#include <perp/models/language/model.hpp>

namespace perp {

/// A binary variable z ∈ {0, 1} of a hybrid model.
struct Binary {
  std::string name;
  std::optional<int> start{};  ///< its value before the start of the span; empty: free
  std::array<std::string, 2> modes{"0", "1"};  ///< words for its values
};

/// Where the values of an input stand.
struct InputData {
  std::string file;    ///< its path
  std::string column;  ///< of the values
  std::string time;    ///< the column of the times
  std::string between;  ///< "linear" or "hold"
};

/// A known signal u(t).
struct KnownInput {
  std::string name;
  int line = -1;  ///< on the tape: a formula of t, parameters and the inputs before it, or data
  std::optional<InputData> data{};  ///< of an input that is data of a file
};

/// g <= 0
struct Constraint {
  std::string name;  ///< given by the user, else g1, g2, ... by its number
  std::string text;  ///< as it is written
};

/// A hybrid model: signals (ẋ, x, u, y, z),
///     0 = f(t, ẋ, x, u, y, z; p),   g(t, ẋ, x, u, y, z; p) <= 0,   z ∈ {0, 1}^q
/// The variables hold states x, whose derivative occurs, and algebraic variables y alike. For fixed
/// z it is a DAE; which z may hold is told by the constraints alone. Inputs of the tape: t | ẋ_1..n
/// | x_1..n | z_1..q | p_1..k | u_1..s with n the number of variables.
struct HybridModel {
  Model head;  ///< name, file, parameters, variables, run; its system is empty
  std::vector<Binary> binaries{};
  std::vector<KnownInput> inputs{};
  std::vector<Constraint> constraints{};
  std::vector<std::string> equation_texts{};
  Tape tape{};
  std::vector<int> f{};  ///< lines of the equations, left - right
  std::vector<int> g{};  ///< lines of the constraints
  std::vector<int> outputs{};  ///< lines of the outputs, whose names and units the head has

  [[nodiscard]] int n() const { return static_cast<int>(head.variables.size()); }
  [[nodiscard]] int q() const { return static_cast<int>(binaries.size()); }
  /// Has it more unknowns than dense matrices and laws serve best? Then its runs keep the binaries: located ones,
  /// and, from more unknowns on, those by whole steps, whose events are known to a step only.
  ///@{
  [[nodiscard]] bool is_large() const { return n() + q() > 16; }
  [[nodiscard]] bool takes_whole_steps() const { return n() + q() > 64 || std::min(n(), q()) > 16; }
  ///@}
  [[nodiscard]] static constexpr int time_input() { return 0; }
  [[nodiscard]] static constexpr int derivative_input(int j) { return 1 + j; }
  [[nodiscard]] int variable_input(int j) const { return 1 + n() + j; }
  [[nodiscard]] int binary_input(int i) const { return 1 + 2 * n() + i; }
  [[nodiscard]] int parameter_input(int k) const { return 1 + 2 * n() + q() + k; }
  [[nodiscard]] int known_input(int k) const {
    return parameter_input(static_cast<int>(head.parameters.size())) + k;
  }
  /// Number of inputs of the tape.
  [[nodiscard]] int input_count() const { return known_input(static_cast<int>(inputs.size())); }

  /// Values of the parameters, in their order.
  [[nodiscard]] std::vector<double> parameter_values() const;
  /// Variables whose derivative occurs in an equation or constraint, increasing.
  [[nodiscard]] std::vector<int> states() const;
  /// Names of the inputs of the tape: t, der(x1), ..., x1, ..., z1, ..., parameters, inputs.
  [[nodiscard]] std::vector<std::string> input_names() const;
  /// Throws InvalidInput where t is outside of the data of an input.
  void check_data_at(double t) const;
  /// "f1" of row 0, the name of a constraint for the rows behind the equations.
  [[nodiscard]] std::string row_name(int row) const;

  /// f and g (in this order) with the known inputs replaced by their formulas: a tape of the inputs
  /// t | ẋ | x | z | p. `rows` becomes its lines.
  [[nodiscard]] Tape without_inputs(std::vector<int>& rows) const;
  /// f and g (in this order) with the parameters and the known inputs replaced by what they are: a
  /// tape of the inputs t | ẋ | x | z alone. `rows` becomes its lines.
  [[nodiscard]] Tape closed(std::vector<int>& rows) const;
};

/// The line with numbers in place of some inputs (pairs of an input and its number), appended to
/// the tape; sums and products with 0 and 1 are folded.
int with_values(Tape& tape, int line, const std::map<int, double>& values);

/// The same with the number 0 in place of all inputs before `end`.
int with_zeros(Tape& tape, int line, int end);

}  // namespace perp
