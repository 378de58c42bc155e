#include <doctest/doctest.h>

#include <perp/core/dcs_evaluator.hpp>
#include <perp/core/system/function_derivatives.hpp>

using namespace perp;

namespace {

/// 0 = p der(x1) - x1 + 3 lambda,  0 = x2 - sin(x1) + t x1 + 0*der(x2),  w = x1 - 2
Dcs small_system() {
  Dcs system;
  Tape& tape = system.tape;
  const int t = tape.input(0), der1 = tape.input(1), der2 = tape.input(2), x1 = tape.input(3), x2 = tape.input(4),
            lambda = tape.input(5), p = tape.input(6);
  const auto apply = [&tape](Operation operation, int a, int b = -1) { return tape.apply(operation, a, b); };
  const int rate = apply(Operation::subtract, apply(Operation::multiply, p, der1), x1);
  const int nothing = apply(Operation::multiply, tape.constant(0), der2);
  const int moved = apply(Operation::add, apply(Operation::subtract, x2, apply(Operation::sin, x1)), apply(Operation::multiply, t, x1));
  system.F = {apply(Operation::add, rate, apply(Operation::multiply, tape.constant(3), lambda)), apply(Operation::add, moved, nothing)};
  system.G = {apply(Operation::subtract, x1, tape.constant(2))};
  system.laws = {complementarity()};
  system.parameters = {0.7};
  return system;
}

}  // namespace

TEST_SUITE("core/system/function_derivatives") {
  TEST_CASE("derivatives that are looked at once are those of an evaluator at zero") {
    const Dcs system = small_system();
    DcsEvaluator evaluator(system);
    const std::vector<double> z(static_cast<std::size_t>(evaluator.inputs()), 0.0);
    std::vector<double> rows(3), values(evaluator.entries().size());
    evaluator.linearize(z.data(), rows.data(), values.data());
    const std::vector<FunctionDerivative> list = derivatives_at_zero(system, bound_functions(system));
    REQUIRE(list.size() == evaluator.entries().size());
    std::size_t functions = 0;
    for (std::size_t k = 0; k < list.size(); ++k) {
      CAPTURE(k);
      CHECK(list[k].row == evaluator.entries()[k].row);
      CHECK(list[k].column == evaluator.entries()[k].column);
      CHECK(list[k].value == values[k]);
      functions += list[k].is_number ? 0 : 1;
    }
    CHECK(functions == evaluator.variable_entries().size());
    CHECK(functions == 2);  // x1, whose slope at t is t - cos(x1), and t, whose slope is x1
    CHECK(differential_variables(system) == std::vector<int>{0});
    CHECK(evaluator.is_differential(0));
    CHECK_FALSE(evaluator.is_differential(1));
  }
}
