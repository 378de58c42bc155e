#include <doctest/doctest.h>
#include <cmath>
#include <limits>
#include <span>
#include <vector>

#include <perp/core/expression/differentiate.hpp>
#include <perp/core/interval/interval.hpp>
#include <perp/core/tape/bounded_tape.hpp>
#include <perp/core/tape/machine_code.hpp>
#include <perp/core/tape/series_tape.hpp>
#include <perp/core/tape/taylor.hpp>
#include <perp/core/tape/wide_tape.hpp>

using namespace perp;

namespace {

/// weight · √(u where the weight is not 0): a flow that is closed, inputs weight and u.
struct Flow {
  Tape tape{};
  int line = -1;

  Flow() {
    const int weight = tape.input(0), u = tape.input(1);
    const int root = tape.apply(Operation::sqrt, tape.apply(Operation::guard, weight, u));
    line = tape.apply(Operation::multiply, weight, root);
  }

  template <class T>
  [[nodiscard]] T at(const T& weight, const T& u) const {
    const std::vector<T> inputs{weight, u};
    std::vector<T> values(static_cast<std::size_t>(tape.size()), T(0));
    tape.evaluate(std::span<const T>(inputs), std::span<T>(values));
    return values[static_cast<std::size_t>(line)];
  }
};

}  // namespace

TEST_SUITE("core/guard") {
  TEST_CASE("what a weight of 0 multiplies is 0, outside of the domain of its functions too") {
    const Flow flow;
    CHECK(flow.at<double>(0, -4) == 0);
    CHECK(flow.at<double>(1, 4) == 2);
    CHECK(flow.at<double>(0.5, 9) == 1.5);
    CHECK(std::isnan(flow.at<double>(1, -4)));  // where it counts it has no value
    for (const bool is_native : {false, true}) {
      MachineCode code(flow.tape, std::vector<int>{flow.line}, 1);
      if (is_native) code.make_native();
      for (const auto& [weight, u] : {std::pair{0.0, -4.0}, {1.0, 4.0}, {0.25, 2.0}}) {
        double value = 1;
        const double z[] = {weight, u};
        code.run(z, 2, &value, nullptr);
        CHECK(value == flow.at(weight, u));
      }
    }
  }

  TEST_CASE("its derivatives are numbers there") {
    Flow flow;
    const std::vector<Derivative> derivatives = differentiate(flow.tape, std::vector<int>{flow.line}, 0, 2);
    REQUIRE(derivatives.size() == 2);
    const auto at = [&](int line, double weight, double u) {
      std::vector<double> values(static_cast<std::size_t>(flow.tape.size()));
      flow.tape.evaluate<double>(std::vector<double>{weight, u}, values);
      return values[static_cast<std::size_t>(line)];
    };
    for (const Derivative& d : derivatives) CHECK(std::isfinite(at(d.line, 0, -4)));
    CHECK(at(derivatives[1].line, 0, -4) == 0);
    CHECK(at(derivatives[0].line, 1, 4) == 2);
    CHECK(at(derivatives[1].line, 1, 4) == 0.25);
  }

  TEST_CASE("series and bounds know it") {
    const Flow flow;
    using Series = Taylor<double, 4>;
    Series u(4), weight(1);
    u[1] = -8;
    const Series open = flow.at(weight, u);  // √(4 − 8 t)
    CHECK(open[1] == -2);
    u[0] = -4;
    const Series closed = flow.at(Series(0), u);
    for (int k = 0; k < 4; ++k) CHECK(closed[k] == 0);

    SeriesTape series(flow.tape, 4, {1, 0});
    std::vector<int> lines;
    for (int k = 0; k < flow.tape.size(); ++k)
      if (flow.tape[k].operation != Operation::input) lines.push_back(k);
    REQUIRE(SeriesTape::obstacle(flow.tape, std::vector<int>{flow.line}).empty());
    for (const double w : {0.0, 1.0})
      for (int k = 0; k < 4; ++k) {
        series[0][k] = k == 0 ? w : 0;
        series[1][k] = k == 0 ? 4 : k == 1 ? -8 : 0;
        if (w == 0) series[1][0] = -4;
        series.compute(lines, k);
        series.bound_errors(lines, k);
        CHECK(series[flow.line][k] == (w == 0 ? 0 : open[k]));
        CHECK(std::isfinite(series.error(flow.line)[k]));
      }

    CHECK(flow.at(RunningError(0), RunningError(-4)).value == 0);
    CHECK(flow.at(RunningError(0), RunningError(-4)).error == 0);
    CHECK(flow.at(RunningError(0, 1e-20), RunningError(4)).error >= 2e-20);  // closed or open
    WideTape wide(flow.tape, std::vector<int>{flow.line}, 2, {});
    wide.run(std::vector<WideNumber>{{0, 0, 0}, {-4, 0, 0}});
    CHECK(wide.output(0).high == 0);
    CHECK(wide.output(0).error == 0);
  }

  TEST_CASE("intervals hold both where nobody knows whether the weight is 0") {
    using enclosure::Interval;
    const Flow flow;
    CHECK(flow.at(Interval(0), Interval(-4, 4)).is_zero());
    const Interval open = flow.at(Interval(1), Interval(4, 9));
    CHECK(open.lo <= 2);
    CHECK(open.hi >= 3);
    const Interval either = flow.at(Interval(0, 1), Interval(4, 9));
    CHECK(either.lo <= 0);
    CHECK(either.hi >= 3);
    CHECK_FALSE(flow.at(Interval(0, 1), Interval(-9, -4)).has_value());
  }
}
