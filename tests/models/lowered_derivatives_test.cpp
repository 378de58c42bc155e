#include <doctest/doctest.h>
#include <cmath>
#include <random>
#include <set>

#include <perp/core/expression/differentiate.hpp>

#include <perp/tests/core/digits50.hpp>
#include <perp/tests/models/lowering_cases.hpp>

using namespace perp;
using perp::test::Digits50;
using perp::test::inputs_at;
using perp::test::lowered;
using perp::test::lowering_cases;
using perp::test::LoweringCase;

namespace {

Digits50 abs_of(const Digits50& x) { return x < 0 ? Digits50(-x) : x; }

/// A lowered equation on fixed branches of its laws, none of them vertical: a smooth function of
/// (x, y), since each multiplier is (c - a w)/b of its own argument.
class OnBranches {
 public:
  OnBranches(const Dcs& system, const std::vector<double>& inputs)
      : system_(system), tape_(system.tape) {
    lines_ = {system.F[1]};
    lines_.insert(lines_.end(), system.G.begin(), system.G.end());
    derivatives_ = differentiate(tape_, lines_, 0, static_cast<int>(inputs.size()));
    for (const double value : inputs) inputs_.emplace_back(value);
    for (int i = 0; i < system.m(); ++i) mode_.push_back(branch_at(i));
  }

  [[nodiscard]] const Mode& mode() const { return mode_; }

  /// The value where variable j is moved by `shift`.
  Digits50 value(int j, const Digits50& shift) {
    std::vector<Digits50> moved = inputs_;
    moved[static_cast<std::size_t>(system_.variable_input(j))] += shift;
    set_multipliers(moved);
    return lines_at(moved)[0];
  }

  /// d value / d variable j from the derivatives of F and G, through the multipliers.
  Digits50 derivative(int j) {
    std::vector<Digits50> here = inputs_;
    set_multipliers(here);
    std::vector<Digits50> values(static_cast<std::size_t>(tape_.size()));
    tape_.evaluate(std::span<const Digits50>(here), std::span(values));
    std::vector<Digits50> change(inputs_.size(), Digits50(0));  // of the inputs
    change[static_cast<std::size_t>(system_.variable_input(j))] = 1;
    const auto total = [&](int output) {
      Digits50 sum = 0;
      for (const Derivative& d : derivatives_)
        if (d.output == output)
          sum +=
              values[static_cast<std::size_t>(d.line)] * change[static_cast<std::size_t>(d.input)];
      return sum;
    };
    for (int i = 0; i < system_.m(); ++i) {  // arguments hold multipliers of earlier laws only
      const Branch& branch = branch_of(i);
      change[static_cast<std::size_t>(system_.multiplier_input(i))] =
          -Digits50(branch.a) / branch.b * total(1 + i);
    }
    return total(0);
  }

 private:
  [[nodiscard]] const Branch& branch_of(int law) const {
    const auto i = static_cast<std::size_t>(law);
    return system_.laws[i].branches[static_cast<std::size_t>(mode_[i])];
  }

  std::vector<Digits50> lines_at(const std::vector<Digits50>& inputs) {
    std::vector<Digits50> values(static_cast<std::size_t>(tape_.size())), result;
    tape_.evaluate(std::span<const Digits50>(inputs), std::span(values));
    for (const int line : lines_) result.push_back(values[static_cast<std::size_t>(line)]);
    return result;
  }

  int branch_at(int law) {
    const Digits50 w = lines_at(inputs_)[static_cast<std::size_t>(1 + law)];
    const auto& branches = system_.laws[static_cast<std::size_t>(law)].branches;
    for (std::size_t k = 0; k < branches.size(); ++k)
      if (branches[k].b != 0 && w >= branches[k].w.lower && w <= branches[k].w.upper)
        return static_cast<int>(k);
    return -1;
  }

  void set_multipliers(std::vector<Digits50>& inputs) {
    for (int i = 0; i < system_.m(); ++i) {
      const Branch& branch = branch_of(i);
      const Digits50 w = lines_at(inputs)[static_cast<std::size_t>(1 + i)];
      inputs[static_cast<std::size_t>(system_.multiplier_input(i))] =
          (branch.c - branch.a * w) / branch.b;
    }
  }

  const Dcs& system_;
  Tape tape_;
  std::vector<int> lines_;
  std::vector<Derivative> derivatives_;
  std::vector<Digits50> inputs_;
  Mode mode_;
};

/// Of the expression itself, as it is meant: a difference in doubles; NaN next to a corner.
double difference(const LoweringCase& one, int j, double x, double y, double t) {
  constexpr double h = 1e-5;
  const auto at = [&](double shift) {
    return one.value(x + (j == 0 ? shift : 0), y + (j == 1 ? shift : 0), t);
  };
  const double wide = (at(2 * h) - at(-2 * h)) / (4 * h), narrow = (at(h) - at(-h)) / (2 * h);
  return std::abs(wide - narrow) < 1e-6 * (1 + std::abs(narrow)) ? narrow : std::nan("");
}

}  // namespace

TEST_SUITE("models/lowered_derivatives") {
  TEST_CASE("derivatives of lowered expressions are those of every branch, to 30 digits") {
    std::mt19937 random(3);
    std::uniform_real_distribution<double> uniform(-3, 3);
    for (const LoweringCase& one : lowering_cases()) {
      CAPTURE(one.text);
      const Dcs system = lowered(one.text).system;
      std::vector<std::set<int>> visited(system.laws.size());
      int compared = 0;
      for (int k = 0; k < 200; ++k) {
        const double x = uniform(random), y = uniform(random), t = uniform(random);
        OnBranches function(system, inputs_at(system, t, {0, 0}, {x, y}));
        for (std::size_t i = 0; i < visited.size(); ++i) visited[i].insert(function.mode()[i]);
        for (const int j : {0, 1}) {
          const Digits50 h("1e-16");
          const Digits50 found = function.derivative(j);
          const Digits50 wanted = (function.value(j, h) - function.value(j, -h)) / (2 * h);
          CHECK(static_cast<double>(abs_of(found - wanted)) < 1e-28);
          // 0 = text: the equation holds it with the other sign.
          const double meant = difference(one, j, x, y, t);
          if (std::isnan(meant)) continue;
          CHECK(-static_cast<double>(found) == doctest::Approx(meant).epsilon(1e-6));
          ++compared;
        }
      }
      CHECK(compared > 350);
      for (std::size_t i = 0; i < visited.size(); ++i) {
        std::size_t sloped = 0;
        for (const Branch& branch : system.laws[i].branches) sloped += branch.b != 0;
        CHECK(visited[i].size() == sloped);
      }
    }
  }
}
