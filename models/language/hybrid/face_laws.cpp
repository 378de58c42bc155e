// Which law a constraint with one binary is: lower_binaries asks.
#include <fmt/format.h>
#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <span>

#include <perp/core/base/index.hpp>
#include <perp/core/expression/differentiate.hpp>
#include <perp/core/expression/polynomial.hpp>
#include <perp/core/tape/running_error.hpp>
#include <perp/models/language/hybrid/face_laws.hpp>

namespace perp {
namespace {

using running_error::RunningError;

/// A polynomial sorted by its signals: Σ_m A_m(p) m.
using BySignals = std::map<std::vector<int>, SparsePolynomial>;

class FaceLaws {
 public:
  FaceLaws(const HybridModel& model, Tape& tape, int off, int on, int first_parameter)
      : model_(model),
        tape_(tape),
        off_(off),
        on_(on),
        first_(first_parameter) {}

  FaceRelation relation() {
    PolynomialReader reader(tape_);
    const auto a = reader.read(off_, 0, {}), b = reader.read(on_, 0, {});
    if (!a || !b) return none("it is too large to be multiplied out");
    if (a->is_zero() && b->is_zero()) return none("it vanishes for both values");
    if (a->is_zero()) return {FaceRelation::Kind::free_at_0};
    if (b->is_zero()) return {FaceRelation::Kind::free_at_1};
    const BySignals A = by_signals(*a, reader), B = by_signals(*b, reader);
    const std::vector<int>* m0 = common_signals(A, B);
    if (m0 == nullptr) return none("its forms for {0} = 0 and {0} = 1 are not of one quantity");
    return of_one_quantity(A, B, *m0, reader);
  }

 private:
  static FaceRelation none(const std::string& why) {
    return {FaceRelation::Kind::none, -1, why};
  }

  [[nodiscard]] BySignals by_signals(const SparsePolynomial& a,
                                     const PolynomialReader& reader) const {
    BySignals sorted;
    for (const auto& [atoms, c] : a.terms) {
      std::vector<int> signals, parameters;
      for (const int atom : atoms)
        (reader.holds(atom, 0, first_) ? signals : parameters).push_back(atom);
      sorted[signals].terms[parameters] = c;
    }
    return sorted;
  }

  /// Signals m_0 that both hold, where they are proportional but for their constants; null: they are not.
  static const std::vector<int>* common_signals(const BySignals& A, const BySignals& B) {
    const auto place = std::find_if(A.begin(), A.end(), [](const auto& term) {
      return !term.first.empty();
    });
    if (place == A.end() || !B.contains(place->first) || !are_proportional(A, B, place->first)) return nullptr;
    return &place->first;
  }

  /// A_m B_0 = A_0 B_m for all m of signals, with m_0 one of them.
  static bool are_proportional(const BySignals& A, const BySignals& B,
                               const std::vector<int>& m0) {
    const auto count = [](const BySignals& sum) { return sum.size() - sum.count({}); };
    if (count(A) != count(B)) return false;
    return std::all_of(A.begin(), A.end(), [&](const auto& term) {
      if (term.first.empty()) return true;
      const auto other = B.find(term.first);
      return other != B.end() && crosses(term.second, B.at(m0), A.at(m0), other->second);
    });
  }

  /// a b = c d
  static bool crosses(const SparsePolynomial& a, const SparsePolynomial& b,
                      const SparsePolynomial& c, const SparsePolynomial& d) {
    const auto left = product(a, b), right = product(c, d);
    return left && right && are_equal(*left, *right);
  }

  FaceRelation of_one_quantity(const BySignals& A, const BySignals& B, const std::vector<int>& m0,
                               const PolynomialReader& reader) {
    static const SparsePolynomial zero;
    const auto constant = [](const BySignals& sum) -> const SparsePolynomial& {
      const auto place = sum.find({});
      return place == sum.end() ? zero : place->second;
    };
    const int kappa = ratio_line(A, B, m0, reader);
    if (kappa < 0) return none("its factors of the signals depend on parameters in several terms");
    if (sign_of(kappa) <= 0)
      return none("its forms for {0} = 0 and {0} = 1 have one sign");
    if (crosses(constant(A), B.at(m0), A.at(m0), constant(B)))
      return {FaceRelation::Kind::opposite};
    const int c = tape_.apply(Operation::add, at_origin(off_),
                              tape_.apply(Operation::divide, at_origin(on_), kappa));
    const int sign = sign_of(c);
    if (sign == 0) return none("its band has no width for these numbers alone");
    return {sign < 0 ? FaceRelation::Kind::band : FaceRelation::Kind::gap, c};
  }

  /// κ = −B_0/A_0 as a line; −1: not found.
  int ratio_line(const BySignals& A, const BySignals& B, const std::vector<int>& m0,
                 const PolynomialReader& reader) {
    SparsePolynomial opposite;
    for (const auto& [atoms, c] : A.at(m0).terms) opposite.terms[atoms] = -c;
    if (are_equal(opposite, B.at(m0))) return tape_.constant(1);
    for (const auto& [signals, coefficient] : A)
      if (is_linear_signal(signals, A, B, reader)) {
        const int a = slope(off_, signals[0]), b = slope(on_, signals[0]);
        if (a >= 0 && b >= 0)
          return tape_.apply(Operation::negate, tape_.apply(Operation::divide, b, a));
      }
    return -1;
  }

  /// Is it one signal, and no function in either form holds it?
  static bool is_linear_signal(const std::vector<int>& atoms, const BySignals& A, const BySignals& B,
                               const PolynomialReader& reader) {
    return atoms.size() == 1 && atoms[0] >= 0 && is_linear_in(A, atoms[0], reader) &&
           is_linear_in(B, atoms[0], reader);
  }

  /// Does no function hold the signal?
  static bool is_linear_in(const BySignals& sum, int signal, const PolynomialReader& reader) {
    return std::none_of(sum.begin(), sum.end(), [&](const auto& term) {
      return std::any_of(term.first.begin(), term.first.end(), [&](int atom) {
        return atom < 0 && reader.holds(atom, signal, signal + 1);
      });
    });
  }

  /// ∂(line)/∂(signal) where all signals are 0.
  int slope(int line, int signal) {
    const std::vector<Derivative> found =
        differentiate(tape_, std::span(&line, 1), signal, signal + 1);
    return found.empty() ? -1 : at_origin(found[0].line);
  }

  int at_origin(int line) { return with_zeros(tape_, line, first_); }

  /// The sign of a function of the parameters, 0 within its rounding.
  [[nodiscard]] int sign_of(int line) const {
    std::map<int, RunningError> values;
    for (const int k : lines_below(tape_, line)) {
      const Instruction& here = tape_[k];
      if (here.operation == Operation::constant)
        values[k] = RunningError(here.value);
      else if (here.operation == Operation::input)
        values[k] = RunningError(model_.head.parameters[at(here.a - first_)].second);
      else if (here.a < 0)
        values[k] = ScalarTraits<RunningError>::pi();
      else
        values[k] = apply_operation(here.operation, values.at(here.a),
                                    values.at(here.b < 0 ? here.a : here.b));
    }
    const RunningError value = values.at(line);
    if (!(std::abs(value.value) > value.error)) return 0;
    return value.value > 0 ? 1 : -1;
  }

  const HybridModel& model_;
  Tape& tape_;
  int off_, on_, first_;
};

}  // namespace

FaceRelation relation_of_faces(const HybridModel& model, Tape& tape, int off, int on,
                               int first_parameter) {
  return FaceLaws(model, tape, off, on, first_parameter).relation();
}

}  // namespace perp
