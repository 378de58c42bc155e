#pragma once

#include <string>
#include <vector>

#include <perp/analysis/enclosure/enclose.hpp>
#include <perp/core/dcs.hpp>
#include <perp/models/language/read_model.hpp>

namespace perp::enclosure {

/// A model file whose numbers are taken as the decimal numbers they are: parameters, starts, data
/// of laws and every literal of a formula are intervals that contain them. Parameters and starts
/// may be intervals in the file, as text: "[1.1, 1.21]", "5.437 +- 0.01".
struct ExactModel {
  ExactModel() = default;
  /// Of a model that was read with exact numbers (ReadOptions::exact).
  explicit ExactModel(Model read);

  Model model{};                         ///< its numbers are the doubles next to the exact ones
  std::vector<std::string> variables{};  ///< names, in the order of x
  /// Names: those of the file, the literals that are no doubles, data of laws.
  std::vector<std::string> parameters{};
  Dcs system{};
  Box start{};   ///< of the variables
  Box values{};  ///< of the parameters
  ExactStart exact{};  ///< both without rounding, where they are known so
  Span span{0, 1};

  /// The multipliers of the file at a row's, one for each law.
  [[nodiscard]] Box multipliers(const Box& lambda) const;
  /// Names of the outputs that are enclosed: those without derivatives.
  [[nodiscard]] std::vector<std::string> outputs() const;
  /// Their values at every point of the set; none where one may have no value there.
  [[nodiscard]] Box outputs_at(double t, const Box& x, const Box& lambda) const {
    return outputs_at(t, x, lambda, values);
  }
  /// The same with parameters p: of a part of the set.
  [[nodiscard]] Box outputs_at(double t, const Box& x, const Box& lambda, const Box& p) const;
  /// The starts and parameters that are intervals, "x(0)", "m": wider than a decimal number needs.
  [[nodiscard]] std::vector<std::string> set_names() const;
  /// What these are in a part of the set.
  [[nodiscard]] Box set_of(const EnclosurePiece& piece) const;
  /// Variables without derivatives whose start is an interval: a guess, whose middle leads to the value that the equations give.
  [[nodiscard]] std::vector<int> guesses() const;
  /// Encloses it over its span. Throws as `enclosure::enclose`.
  [[nodiscard]] Enclosure enclose(const EncloseOptions& options) const;

 private:
  [[nodiscard]] std::vector<int> output_lines() const;
};

/// Reads it from text; `name` stands for the file in messages. Throws ModelError as `read_model`
/// does, and for an interval where a number is needed, one in the data of a law, and a span whose
/// ends are no doubles.
ExactModel read_exact_model(const std::string& text, const std::string& name,
                            const std::vector<Override>& overrides = {});

}  // namespace perp::enclosure
