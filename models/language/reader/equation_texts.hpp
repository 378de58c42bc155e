#pragma once

#include <optional>
#include <string>
#include <vector>

#include <perp/core/interval/decimal.hpp>
#include <perp/models/language/exact_numbers.hpp>
#include <perp/models/language/lowering/lowering.hpp>
#include <perp/models/language/reader/context.hpp>

namespace perp {
struct Structure;
}

namespace perp::reader {

/// The [model] table while it is read: its texts become lines of one tape.
class EquationTexts {
 public:
  /// The variables and parameters of `model` are there already.
  EquationTexts(const Context& context, const Value& table, const Model& model);

  void read_laws();
  void read_equations();
  void read_outputs();
  void read_resets();
  /// Newton's coefficients of restitution, by the names of multipliers; 0 for the others. Empty
  /// where the model states none.
  [[nodiscard]] std::vector<double> restitution(const std::vector<std::string>& multipliers) const;
  /// No more texts will be read.
  void close() { model_->tape.settle(); }
  /// Throws where equations and unknowns do not fit.
  void check_structure() const;
  /// Throws at the text that an error of the lowering is about.
  [[nodiscard]] LoweredModel lowered() const;

  /// Throws at an equation that has no finite value for any state, as one that holds 1/0.
  void check_values(const Model& model, const Dcs& system) const;

  /// Where numbers are exact: those of the lowered model, whose multipliers have these names.
  void complete(const std::vector<std::string>& multipliers, ExactNumbers& numbers) const;

  /// Throws where a formula of the lowered smooth model has no value for some of the starts, as
  /// log(x) for x in [0, 1], and at an equation between states, or a law, that no start fulfils.
  void check_starts(const Dcs& system) const;

  [[nodiscard]] const EquationModel& model() const { return *model_; }
  /// Their names and units.
  [[nodiscard]] const Outputs& outputs() const { return outputs_; }
  /// Of the multipliers of stated laws.
  [[nodiscard]] const std::vector<std::string>& multiplier_units() const { return multiplier_units_; }
  /// Does an output hold a derivative?
  [[nodiscard]] bool has_derivatives() const { return has_derivatives_; }
  /// The user's name of the multiplier of stated law i, "" without one.
  [[nodiscard]] std::string multiplier(std::size_t i) const {
    return is_named_[i] ? multipliers_[i] : std::string();
  }

 private:
  template <class Read>
  auto at(const Value& value, const Read& read);
  void declare_multipliers();
  StatedLaw law_of(const Value& text, const LawStatement& statement, std::size_t number);
  StatedLaw exact_law(const Value& text, const LawStatement& statement, const NamedLaw& law,
                      std::size_t number);
  void collect_literals(const Value& value);
  void collect_all_literals();
  void reserve_law_data();
  int set_law_data(std::size_t law, std::size_t number, const enclosure::Interval& value);
  int parameter_line(int number);
  using FormulaParser = int(std::string_view, const Scope&, Tape&, Forms&);
  int formula(const Value& value, const std::string& what, FormulaParser* parse = parse_formula);
  int state_formula(const Value& value, const std::string& what);
  /// Throws where the line holds a derivative.
  void require_state_formula(int line, const Value& value, const std::string& what);
  /// One table of `when`; `what` is its name unless it has one of its own.
  Reset read_reset(const Value& value, const std::string& what);
  /// A coefficient of restitution. Throws where the scheme would not honour it.
  [[nodiscard]] double coefficient(const Member& member) const;
  void read_condition(const Value& value, const Member* direction, const std::string& what,
                      Reset& reset);
  void read_comparison(const Value& value, const std::string& what, Reset& reset);
  int read_direction(const Value& value, const std::string& what);
  void check_derivatives(const Value& value, const std::string& what, int output);
  int variable(const Member& member, const std::string& what);
  [[nodiscard]] std::string row_name(int row) const;
  /// Throws at an equation without an unknown.
  void check_unknowns(const Structure& structure) const;
  /// "ROWS hold only COLUMNS"
  [[nodiscard]] std::string contents_of(const Structure& structure, const std::vector<int>& rows) const;

  const Context& context_;
  const Value& table_;
  const Model& given_;
  std::vector<const Value*> laws_;
  std::vector<std::string> multipliers_;
  std::vector<bool> is_named_;
  enclosure::ExactLiterals literals_;         // where numbers are exact
  std::vector<const Value*> texts_;           // in the order in which they were parsed
  std::vector<const Value*> equation_texts_;  // of every equation
  Outputs outputs_;
  std::vector<std::string> multiplier_units_;
  bool has_derivatives_ = false;  // of outputs
  std::optional<EquationModel> model_;
};

}  // namespace perp::reader
