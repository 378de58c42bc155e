#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <perp/core/base/rational.hpp>
#include <perp/core/expression/expression.hpp>
#include <perp/core/interval/decimal.hpp>
#include <perp/core/interval/interval.hpp>
#include <perp/core/laws/law_table.hpp>
#include <perp/core/signal.hpp>
#include <perp/core/expression/kinks/formula_kinks.hpp>
#include <perp/models/language/reader/document.hpp>

namespace perp::reader {

/// What a number in a model file may be.
enum class Finite { yes, no };

/// A number that a model may know as an interval only.
struct Quantity {
  double value = 0;              ///< of an interval a number inside, near its middle
  enclosure::Interval exact{};   ///< where numbers are exact
  std::optional<Rational> rational{};  ///< the number itself, where it is known without rounding
  /// Where numbers are exact: what it is of parameters that are intervals.
  std::optional<enclosure::ExactFormula> formula{};
  std::vector<std::pair<int, double>> slopes{};  ///< by the parameters that an expression holds
  std::optional<FormulaKinks> kinks{};           ///< of an expression at a kink
  bool is_interval = false;      ///< written as one, or made of such
  bool is_disturbance = false;   ///< an interval "at every t": a function of time within it
};

/// What overrides may replace besides parameters, starts and keys of [run].
struct OverridableInputs {
  std::vector<std::string> inputs{};    ///< names in [inputs]
  std::vector<std::string> data{};      ///< those of them that are tables: "NAME.file"
  std::vector<std::string> binaries{};  ///< names in [binaries]: their starts

  /// For messages: ", an input, a binary (its start)" where there are any.
  [[nodiscard]] const char* words() const {
    return inputs.empty() && binaries.empty() ? "" : ", an input, a binary (its start)";
  }
};

/// Is the text an interval, "[1, 2]" or "5 +- 0.1", perhaps "at every t"?
bool is_interval_text(std::string_view text);

/// How much deeper in brackets a text is behind this character.
inline int bracket_step(char c) { return (c == '(' ? 1 : 0) - (c == ')' ? 1 : 0); }

/// What is known while a model is read: its document, the values of the parameters, the overrides.
class Context {
 public:
  Context(const Document& document, const ReadOptions& known);

  [[nodiscard]] const Document& document() const { return document_; }
  [[nodiscard]] const ReadOptions& known() const { return known_; }

  /// Makes a parameter known to all later expressions.
  void add_parameter(const std::string& name, const Quantity& value);
  /// Names that expressions may not use (yet), with the reason.
  void set_elsewhere(const std::vector<std::string>& names, const std::string& reason);

  /// A number, or an expression of the parameters; `what` names it in messages, e.g. "B(1,2)".
  [[nodiscard]] double number(const Value& value, std::string_view what,
                              Finite finite = Finite::yes) const;
  /// The same for text that stands at `offset` inside a text value.
  [[nodiscard]] double number(const Value& text, std::size_t offset, std::string_view part,
                              std::string_view what, Finite finite = Finite::yes) const;
  /// A number, an expression, or an interval of them: "[1, 2]", "5 +- 0.1". Finite. Behind an
  /// interval may stand "at every t".
  [[nodiscard]] Quantity quantity(const Value& value, std::string_view what) const;
  /// The exact value of an expression that stands at `offset` inside a text value; infinite ones
  /// have both bounds infinite. Throws where it holds a parameter that is an interval.
  [[nodiscard]] enclosure::Interval exact_number(const Value& text, std::size_t offset,
                                                 std::string_view part,
                                                 std::string_view what) const;
  /// Are numbers exact?
  [[nodiscard]] bool is_exact() const { return is_exact_; }
  /// The same where they are not: the middles of intervals stand for them.
  [[nodiscard]] Context rounded() const;
  /// The intervals of the parameters known so far, where numbers are exact.
  [[nodiscard]] const std::vector<enclosure::Interval>& intervals() const { return exact_values_; }
  /// Those that are one rational number.
  [[nodiscard]] const std::vector<std::optional<Rational>>& rationals() const {
    return rationals_;
  }
  /// Throws where an interval was found for what has to be a number: a parameter of the tape that
  /// the line needs, whose input is `first` + its number.
  void refuse_intervals(const Value& value, std::size_t offset, std::string_view what,
                        const Tape& tape, int line, int first) const;

  /// Text that is no expression, one line and not empty.
  [[nodiscard]] std::string text(const Value& value, std::string_view what) const;
  /// Two numbers [lower, upper].
  [[nodiscard]] Range range(const Value& value, std::string_view what, Finite finite) const;

  /// Numbers and expressions of the parameters and t, compiled together: entries that do not depend
  /// on t are constants. At `t` every entry must be finite. `what` is the name of the vector, or
  /// the names of its entries.
  [[nodiscard]] Signal signal(const std::vector<const Value*>& entries,
                              const std::vector<std::string>& what, double t) const;
  /// Throws where these are no expressions of the parameters and t, whatever their values.
  void check_signal(const std::vector<const Value*>& entries, const std::vector<std::string>& what) const;

  /// The value that counts for "table.key": the override, else the member of the file's table,
  /// else nullptr. The pointer stays valid as long as the context.
  [[nodiscard]] const Value* find(const Value* table, const std::string& table_name,
                                  const std::string& key) const;
  [[nodiscard]] bool is_overridden(const std::string& table_name, const std::string& key) const;
  /// Resolves the keys of all overrides against the names that the model has.
  void resolve_overrides(const std::vector<std::string>& parameters,
                         const std::vector<std::string>& variables,
                         const OverridableInputs& inputs = {});

  /// Throws where a table has a key that is not known.
  void check_keys(const Value& table, std::string_view where,
                  const std::vector<std::string>& known_keys) const;
  /// Throws unless the value is of that kind.
  void check_kind(const Value& value, Value::Kind kind, std::string_view what) const;

 private:
  /// The lines of expressions of the parameters and t.
  std::vector<int> signal_lines(const std::vector<const Value*>& entries, const std::vector<std::string>& what, Tape& tape) const;
  /// An interval while it is read: `text` is what it stands in, without "at every t".
  struct IntervalText {
    const Value& value;
    std::string_view text;
    std::string_view what;
  };
  /// Its ends, of which `exact` is left out where numbers are not exact, and a number inside.
  struct IntervalEnds {
    Quantity lower{}, upper{};
    double inside = 0;
  };
  [[nodiscard]] Quantity interval(const Value& value, std::string_view text,
                                  std::string_view what) const;
  /// The number between two places of the text.
  [[nodiscard]] Quantity part_of_interval(const IntervalText& given, std::size_t from, std::size_t end) const;
  /// Of "[1.1, 1.21]".
  [[nodiscard]] IntervalEnds ends_in_brackets(const IntervalText& given) const;
  /// Of "5.4 +- 0.1".
  [[nodiscard]] IntervalEnds ends_around(const IntervalText& given) const;
  void add_exact_values(std::string_view part, Quantity& quantity) const;
  void add_slopes(const Expression& expression, Quantity& quantity) const;
  [[nodiscard]] Quantity expression(const Value& text, std::size_t offset, std::string_view part,
                                    std::string_view what) const;
  /// Does the expression hold an interval? Throws where it holds a function of time.
  [[nodiscard]] bool holds_interval(const Expression& expression, const Value& text, std::size_t offset,
                                    std::string_view what) const;
  /// The line of an entry of a signal; names of the scope are inputs of the tape.
  int entry_line(const Value& entry, const std::string& what, const Scope& scope, Tape& tape) const;
  [[nodiscard]] std::string canonical_key(std::size_t k, const std::vector<std::string>& parameters,
                                          const std::vector<std::string>& variables,
                                          const OverridableInputs& inputs) const;

  const Document& document_;
  const ReadOptions& known_;
  Scope scope_;                             // the parameters known so far
  std::vector<double> values_;              // theirs
  std::vector<enclosure::Interval> exact_values_;  // and their intervals, where numbers are exact
  std::vector<std::optional<Rational>> rationals_;
  std::vector<bool> is_interval_, is_disturbance_;
  bool is_exact_;
  std::map<std::string, Value> overrides_;  // by "table.key"
};

/// What every model file begins with: name, source, parameters, variables, [run]; its system stays empty. The
/// parameters and variables are known to `context` afterwards.
Model read_head(Context& context);

/// The keys of [run].
const std::vector<std::string>& run_keys();

/// A law whose data are doubles, and how that of the model is made of it: (w', μ) is on its graph,
/// w' = (w - shift)/width and λ = offset + scale μ.
struct UnitLaw {
  Law law;
  std::optional<enclosure::Interval> shift{}, width{}, offset{}, scale{};
};

/// A law from "relay(-1, 1)" or from a table.
Law read_law(const Context& context, const Value& value, std::size_t number);
/// The same where numbers are exact. Throws where data of its own branches are no doubles.
UnitLaw read_unit_law(const Context& context, const Value& value, std::size_t number);

/// The law of that name, which takes so many numbers. The name stands at byte `offset` of the
/// value.
const NamedLaw& find_law(const Document& document, const Value& value, std::string_view name,
                         std::size_t offset, std::size_t numbers);

/// A named law of these numbers.
Law make_law(const Document& document, const Value& value, const NamedLaw& law,
             const std::vector<double>& numbers);

/// The named law of exact numbers; infinite ones have both bounds infinite.
UnitLaw unit_law(const Document& document, const Value& value, const NamedLaw& law,
                 const std::vector<enclosure::Interval>& numbers);

/// The text 'unit' of a table, empty where it has none.
std::string read_unit(const Context& context, const Value& table, const std::string& what);
/// The formula of an output, whose name and unit become the last ones of `outputs`. Throws where the name is none or is
/// taken.
const Value& read_output(const Context& context, const Member& member, const std::vector<std::string>& taken, Outputs& outputs);
/// What a table says of a law beside its data: 'modes', the names of its branches, its 'name', and its 'start', the branch in
/// which a law with memory starts, which is put first.
void read_names_and_start(const Context& context, const Value& table, Law& law, const std::string& what);

/// The [model] table: equations and laws, lowered; with them outputs and resets. The parameters and
/// variables of `model` are there already.
void read_equations(const Context& context, const Value& table, Model& model);

class WrittenMatrices;
/// The [system] table whose matrices are `written`, of a model with the variables and the span of `model`: matrices; of more
/// than `most_full_unknowns` that are given by their entries functions.
System read_system(const Context& context, const Value& table, WrittenMatrices& written, const Model& model);
/// The system of a model that is given by matrices.
void read_matrices(const Context& context, const Value& table, Model& model);
/// The same where numbers are exact, as equations. The parameters and variables of `model` are
/// there already.
void read_exact_system(const Context& context, const Value& table, Model& model);

/// The [run] table. Throws where it holds a key that the scheme does not read.
RunOptions read_run(const Context& context, const Value* table);
/// Throws where [run] holds a key without effect on this model with its selector; where another
/// scheme or selector than the file's is chosen the key is left aside.
void check_effects(const Context& context, const Value* table, Model& model);

/// The pieces of [exact].
std::vector<ExactPiece> read_exact(const Context& context, const Value& table,
                                   const std::vector<Variable>& variables);
/// Throws where keys or names of [exact] are wrong, whatever the numbers.
void check_exact(const Context& context, const Value& table, const std::vector<Variable>& variables);

/// Variables up to which every command makes steps of every model.
inline constexpr std::size_t most_dense_variables = 4096;
/// Refuses a model with more, at its variables.
void check_dense(const Document& document, std::size_t variables);
/// The same unless it is run by steps that need no full matrices.
void check_size(const Context& context, const Model& model);

}  // namespace perp::reader
