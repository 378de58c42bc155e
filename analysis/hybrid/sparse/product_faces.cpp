#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include <perp/analysis/hybrid/sparse/product_faces.hpp>
#include <perp/core/base/index.hpp>

namespace perp {
namespace {

/// What lines hold, as bits.
enum Held { nothing = 0, binaries = 1, others = 2 };

int held(const Tape& tape, int line, int first_binary) {
  int found = nothing;
  for (const int k : lines_below(tape, line))
    if (tape[k].operation == Operation::input) found |= tape[k].a >= first_binary ? binaries : others;
  return found;
}

}  // namespace

ProductFace::Range ProductFace::of_operation(Operation operation, const Range& a, const Range& b) {
  switch (operation) {
    case Operation::negate: return {-a.upper, -a.lower};
    case Operation::add: return {a.lower + b.lower, a.upper + b.upper};
    case Operation::subtract: return {a.lower - b.upper, a.upper - b.lower};
    case Operation::multiply: {
      const std::array<double, 4> ends{a.lower * b.lower, a.lower * b.upper, a.upper * b.lower, a.upper * b.upper};
      const bool is_number = std::all_of(ends.begin(), ends.end(), [](double end) { return std::isfinite(end); });
      return is_number ? Range{*std::min_element(ends.begin(), ends.end()), *std::max_element(ends.begin(), ends.end())}
                       : anything;
    }
    default: return anything;
  }
}

std::optional<ProductFace> ProductFace::read(const Tape& tape, int line, int first_binary) {
  ProductFace face(tape, first_binary);
  face.surface_.terms[{}] = running_error::RunningError(1);
  if (!face.add(line)) return std::nullopt;
  return face;
}

/// A factor of the constraint. False: it mixes binaries and other signals in a sum.
bool ProductFace::add(int line) {
  const Instruction& here = (*tape_)[line];
  const int holds = held(*tape_, line, first_binary_);
  if (holds == binaries) {
    of_binaries_.push_back(line);
    return true;
  }
  if (holds != (binaries | others)) {
    PolynomialReader reader(*tape_);
    const std::optional<SparsePolynomial> factor = reader.read(line, first_binary_, {});
    std::optional<SparsePolynomial> all = factor ? product(surface_, *factor) : std::nullopt;
    if (all) surface_ = *std::move(all);
    return all.has_value();
  }
  if (here.operation == Operation::negate) {
    sign_ = -sign_;
    return add(here.a);
  }
  return here.operation == Operation::multiply && add(here.a) && add(here.b);
}

/// Of a line of binaries alone, the others somewhere in [0, 1].
ProductFace::Range ProductFace::range(int line, int binary, double value) const {
  std::map<int, Range> ranges;
  for (const int k : lines_below(*tape_, line)) {
    const Instruction& here = (*tape_)[k];
    if (here.operation == Operation::input)
      ranges[k] = here.a - first_binary_ == binary ? Range{value, value} : Range{0, 1};
    else if (here.operation == Operation::constant)
      ranges[k] = {here.value, here.value};
    else
      ranges[k] = of_operation(here.operation, here.a < 0 ? anything : ranges.at(here.a),
                               here.b < 0 ? anything : ranges.at(here.b));
  }
  return ranges.at(line);
}

/// Which signs h may have.
ProductFace::Signs ProductFace::signs(int binary, double value) const {
  Signs all{sign_ < 0, sign_ > 0};
  for (const int line : of_binaries_) {
    const Range next = range(line, binary, value);
    const bool falls = next.lower < 0, rises = next.upper > 0;
    all = {(all.negative && rises) || (all.positive && falls), (all.positive && rises) || (all.negative && falls)};
  }
  return all;
}

bool ProductFace::may_be_opposite(const ProductFace& low, const ProductFace& high, int binary) {
  const std::optional<double> kappa = ratio(high.surface_, low.surface_);
  if (!kappa) return false;
  const Signs h = low.signs(binary, 0), g = high.signs(binary, 1);
  return h.meet(*kappa < 0 ? g : Signs{g.positive, g.negative});
}

}  // namespace perp
