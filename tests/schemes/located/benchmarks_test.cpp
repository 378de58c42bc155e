// Numbers of the literature, and of 50-digit arithmetic for problems of the literature.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <string>
#include <vector>

#include <perp/models/language/read_model.hpp>
#include <perp/schemes/integrate.hpp>
#include <perp/tests/schemes/located/switching_solutions.hpp>

using namespace perp;

namespace {

constexpr double pi = std::numbers::pi;

struct Run {
  Model model;
  Trajectory run;

  [[nodiscard]] double x(int j) const { return run.x.back()[j]; }
  /// Times of the events of one kind.
  [[nodiscard]] std::vector<double> times(EventKind kind) const {
    std::vector<double> list;
    for (const Event& event : run.events)
      if (event.kind == kind) list.push_back(event.t);
    return list;
  }
  [[nodiscard]] std::vector<double> times() const {
    std::vector<double> list;
    for (const Event& event : run.events) list.push_back(event.t);
    return list;
  }
};

/// Which columns of sensitivities: names of variables (their starts) first, then of parameters.
struct Columns {
  std::vector<std::string> starts{};
  std::vector<std::string> parameters{};
};

Run located(Model model, double end, double tol = 1e-12, const Columns& columns = {}) {
  Located scheme{.tol = tol, .restitution = model.restitution};
  for (const std::string& name : columns.starts)
    for (std::size_t j = 0; j < model.variables.size(); ++j)
      if (model.variables[j].name == name)
        scheme.sensitivities.starts.push_back(static_cast<int>(j));
  for (const std::string& name : columns.parameters)
    for (std::size_t k = 0; k < model.parameters.size(); ++k)
      if (model.parameters[k].first == name)
        scheme.sensitivities.parameters.push_back(static_cast<int>(k));
  REQUIRE(scheme.sensitivities.columns() ==
          static_cast<int>(columns.starts.size() + columns.parameters.size()));
  Trajectory run = integrate(*model.equations, model.x0(), {0, end}, scheme);
  INFO(run.message);
  REQUIRE(run.status == Status::solved);
  return {std::move(model), std::move(run)};
}

/// The variable of this name at the end.
double value_of(const Run& run, const std::string& name) {
  for (std::size_t j = 0; j < run.model.variables.size(); ++j)
    if (run.model.variables[j].name == name) return run.x(static_cast<int>(j));
  FAIL("no variable ", name);
  return 0;
}

Model zoo_model(const std::string& name, const std::vector<Override>& set = {}) {
  return read_model(find_model(name), set);
}

Model text_model(const std::string& variables, const std::string& parameters,
                 const std::string& model) {
  return read_model_text("[parameters]\n" + parameters + "\n[variables]\n" + variables +
                             "\n[model]\n" + model + "\n[run]\nt = [0, 1]\n",
                         "benchmark.toml");
}

void check_times(const std::vector<double>& found, const std::vector<double>& wanted,
                 double tol = 1e-10) {
  REQUIRE(found.size() >= wanted.size());
  for (std::size_t k = 0; k < wanted.size(); ++k) {
    CAPTURE(k);
    CHECK(std::abs(found[k] - wanted[k]) < tol * std::max(1.0, wanted[k]));
  }
}

/// Largest difference in units of the largest wanted number.
double relative(const Vector& found, const Vector& wanted) {
  return (found - wanted).cwiseAbs().maxCoeff() / std::max(wanted.cwiseAbs().maxCoeff(), 1e-300);
}

Vector column(const Run& run, int k, int rows) { return run.run.dx_dq.back().col(k).head(rows); }

}  // namespace

TEST_SUITE("schemes/located/benchmarks") {
  TEST_CASE("[IFDIFF], canonical example: beyond the accuracy it prints") {
    const Run run = located(zoo_model("ifdiff_canonical"), 20, 1e-12, {{"x1", "x2"}, {"p1"}});
    REQUIRE(run.run.events.size() == 2);
    const auto& events = run.run.events;
    CHECK(std::abs(events[0].t - 11.000275475194826) < 1e-14);
    CHECK(std::abs(events[1].t - 11.270040323650829) < 5e-14);
    CHECK(relative(run.run.x.back(), Vector{{49.255067419058884, 1.348824242280012}}) < 1e-11);
    CHECK(relative(column(run, 2, 2), Vector{{-5.204090748489405, -0.066658328790789}}) < 1e-11);
    CHECK(relative(column(run, 0, 2), Vector{{6.204090748489405, 0.066658328790789}}) < 1e-11);
    CHECK(relative(column(run, 1, 2), Vector{{16.741598573798613, 0.341059966398925}}) < 1e-11);
    CHECK(std::abs(events[1].dt_dq[2] - 0.813073223070242) < 1e-11);
    CHECK(std::abs(events[1].dt_dq[1] + 0.131788006720215) < 1e-11);
  }

  TEST_CASE("[IFDIFF], one predator and two prey: six slides, twelve columns of sensitivities") {
    const Run run = located(zoo_model("predator_prey"), 100, 1e-12,
                            {{"x1", "x2", "x3"}, {"r1", "beta1", "aq"}});
    check_times(run.times(EventKind::sliding_entry),
                {0.692620096135561, 9.907470167626099, 26.290947471892999, 61.284040549929396,
                 75.340227740773116, 89.742586702174363},
                1e-12);
    check_times(run.times(EventKind::sliding_exit),
                {5.967577150443152, 17.151207530376276, 54.675174091149486, 69.290031285843315,
                 82.803231846061387, 98.334822036942464},
                1e-12);
    CHECK(run.run.events.size() == 12);
    for (const Event& event : run.run.events)
      if (event.kind == EventKind::sliding_exit)
        CHECK(std::abs(event.x_after[2] - (0.836 - 0.3) / 7.81) < 1e-12);
    CHECK(relative(run.run.x.back(),
                   Vector{{0.085869480385373, 0.846683257262577, 0.031713882063541}}) < 1e-12);
    const std::vector<Vector> wanted{Vector{{-0.244856931135, -0.343839374953, 0.104282439821}},
                                     Vector{{-22.6117123879, 83.7116067201, 17.215818814}},
                                     Vector{{3.8656870664, -15.981168944, -3.05291422258}},
                                     Vector{{-1.29059118279, 29.1656586891, 2.67168212779}},
                                     Vector{{0.0293212545499, -0.810627069934, -0.078206411596}},
                                     Vector{{14.0965149516, -48.6541232717, -10.4162317511}}};
    for (int k = 0; k < 6; ++k) {
      CAPTURE(k);
      CHECK(relative(column(run, k, 3), wanted[static_cast<std::size_t>(k)]) < 1e-11);
    }
  }

  TEST_CASE("nosnoc's oscillator crosses the unit circle at t = 1") {
    const switching_solutions::Problem problem = switching_solutions::oscillator();
    const Run run = located(read_model_text(problem.text, "oscillator.toml"), pi / 2);
    check_times(run.times(), {1}, 1e-13);
    CHECK(relative(run.run.x.back(), Vector{{-1.59746037745070, 0.76149362060601}}) < 1e-13);
  }

  TEST_CASE("the four switching cases: crossing, sliding, leaving, staying") {
    const auto run = [](const std::string& start, const std::string& rate) {
      return located(text_model("x = " + start, "", "equations = [\"der(x) = " + rate + "\"]"),
                     1.5);
    };
    const Run crossing = run("-1", "if(x < 0, 2, 0.2)");
    check_times(crossing.times(EventKind::crossing), {0.5}, 1e-15);
    CHECK(std::abs(crossing.x(0) - 0.2) < 1e-15);
    const Run sliding = run("-0.5", "if(x < 0, 1, -1)");
    check_times(sliding.times(EventKind::sliding_entry), {0.5}, 1e-15);
    CHECK(std::abs(sliding.x(0)) < 1e-15);
    const Run leaving = run("0", "if(x < 0, 1 + t, -1 + t)");
    check_times(leaving.times(EventKind::sliding_exit), {1}, 1e-14);
    CHECK(std::abs(leaving.x(0) - 0.125) < 1e-14);
    CHECK(run("0", "sign(x)").x(0) == 0);  // three continuations start there, see mode_selection
  }

  TEST_CASE("stick-slip, Dieci and Lopez: times, period, sensitivities") {
    const Model model =
        zoo_model("stick_slip",
                  {{"Fs", "1"}, {"vb", "0.2"}, {"delta", "1"}, {"x1", "0.04"}, {"x2", "-0.01"}});
    const Run run = located(model, 40, 1e-12, {{"x1", "x2"}, {"Fs", "delta", "vb"}});
    const auto entries = run.times(EventKind::sliding_entry);
    const auto exits = run.times(EventKind::sliding_exit);
    check_times(entries, {0.244688801783298, 9.635564982242634, 18.866335440325613}, 1e-13);
    check_times(exits, {4.932199984300482, 14.162970442383461}, 1e-13);
    CHECK(std::abs(entries[2] - entries[1] - 9.230770458082979) < 2e-13);
    // From the second entry on the motion is periodic; at the end it sticks since 40 - 37.3...
    const double x_entry = 0.0945189079718346, period = 9.230770458082979;
    for (const Event& event : run.run.events)
      if (event.kind == EventKind::sliding_entry && event.t > 1)
        CHECK(std::abs(event.x_after[0] - x_entry) < 1e-12);
    CHECK(std::abs(run.x(0) - (x_entry + 0.2 * (40 - 18.866335440325613 - 2 * period))) < 1e-12);
    CHECK(std::abs(run.x(0) - 0.628943636673521) < 1e-12);
    const Vector wanted{
        {0.968123698583, 0.266618638874, -3.785416036785, -2.20656530632, 10.85867802792}};
    CHECK(relative(run.run.dx_dq.back().row(0).transpose(), wanted) < 1e-11);
  }

  TEST_CASE("stick-slip with Fs = 1, delta = 3 from rest") {
    const Run run =
        located(zoo_model("stick_slip",
                          {{"Fs", "1"}, {"vb", "0.2"}, {"delta", "3"}, {"x1", "0"}, {"x2", "0"}}),
                40);
    check_times(run.times(EventKind::sliding_entry), {0.262401431298704, 9.436723366481655}, 1e-13);
    check_times(run.times(EventKind::sliding_exit), {5.140723841001500, 17.141755135832079}, 1e-13);
    CHECK(std::abs(run.x(0) - 0.771236454901353) < 1e-12);
  }

  TEST_CASE("stick-slip from sticking: slips, crosses, sticks, slips") {
    const Run run = located(zoo_model("stick_slip", {{"x1", "0"}, {"x2", "1"}}), 40);
    check_times(run.times(), {0.35, 5.749589628356213, 6.509564931681085, 6.764793355373316},
                1e-13);
    const std::vector<EventKind> kinds{EventKind::sliding_exit, EventKind::crossing,
                                       EventKind::sliding_entry, EventKind::sliding_exit};
    for (std::size_t k = 0; k < kinds.size(); ++k) CHECK(run.run.events[k].kind == kinds[k]);
    CHECK(std::abs(run.x(0) - 1.219408010536198) < 1e-11);
    CHECK(std::abs(run.x(1) - 0.270358761744785) < 1e-11);
  }

  TEST_CASE("sliding of codimension two, entered and left on both surfaces at once") {
    const Run run = located(text_model("x1 = 0.04\nx2 = -0.01\nx3 = -0.02", "", R"toml(
laws = ["a in step(x2 - 0.2)", "b in step(x3 - 0.4)"]
equations = [
  "der(x1) = (x2 + x3)/2 + a*b*x1*(x2 + 0.8)*(x3 + 0.6)",
  "der(x2) = -x1 + (1 - a)/(1.2 - x2) - a/(0.8 + x2)",
  "der(x3) = -x1 + (1 - b)/(1.4 - x3) - b/(0.6 + x3)",
])toml"),
                            20);
    std::vector<double> times = run.times();  // laws that switch together have an event each
    times.erase(std::unique(times.begin(), times.end()), times.end());
    check_times(times,
                {0.244330789560343, 0.554993242465212, 3.254201069004111, 7.990059416616134,
                 11.542216860100372, 16.278075207712395, 19.830232651196633},
                1e-12);
    CHECK(times.size() == 7);
    CHECK(run.run.events.size() == 12);
    CHECK(relative(run.run.x.back(),
                   Vector{{1.050675208781800, 0.195433289558979, 0.395433289558979}}) < 1e-12);
  }

  TEST_CASE("sliding of codimension two with a product of multipliers, in closed form") {
    const Run run = located(text_model("x1 = 1\nx2 = 0.5\nx3 = 1", "p = 0.2\nc = 0.3", R"toml(
laws = ["l1 in sign(x1)", "l2 in sign(x2)"]
equations = ["der(x1) = c - l1", "der(x2) = p*t - l2 - 0.1", "der(x3) = l1*l2*x3 + p"])toml"),
                            7, 1e-12, {{"x1", "x2", "x3"}, {"p", "c"}});
    check_times(run.times(), {0.475062189439555, 1.428571428571429, 5.5}, 1e-13);
    CHECK(std::abs(run.x(2) - 9.169424301848726) < 1e-11);
    const Vector wanted{
        {1.25432318910120, 6.09985104378188, 5.67095278245957, 58.3045833057968, 34.8953911648385}};
    CHECK(relative(run.run.dx_dq.back().row(2).transpose(), wanted) < 1e-11);
  }

  TEST_CASE("an oscillator with dry friction turns at every half period and sticks") {
    const Run run =
        located(text_model("x = 3\nv = 0", "",
                           R"toml(equations = ["der(x) = v", "der(v) = -x - 0.4*sign(v)"])toml"),
                15);
    check_times(run.times(), {pi, 2 * pi, 3 * pi, 4 * pi}, 1e-13);
    const double turns[] = {-2.2, 1.4, -0.6, -0.2};
    for (std::size_t k = 0; k < 4; ++k)
      CHECK(std::abs(run.run.events[k].x_after[0] - turns[k]) < 1e-12);
    CHECK(run.run.events.back().kind == EventKind::sliding_entry);
    CHECK(std::abs(run.x(0) + 0.2) < 1e-12);
  }

  TEST_CASE("a bouncing ball: impacts in closed form") {
    const Run run = located(
        zoo_model("bouncing_ball", {{"g", "9.8"}, {"gamma", "0.9"}, {"x1", "10"}, {"x2", "0"}}),
        20);
    std::vector<double> wanted{10.0 / 7};
    for (int k = 1; k < 12; ++k) wanted.push_back(wanted.back() + 2 * 14 * std::pow(0.9, k) / 9.8);
    CHECK(std::abs(wanted[2] - 6.314285714285714) < 1e-14);
    check_times(run.times(EventKind::jump), wanted, 1e-12);
  }

  TEST_CASE("infinitely many impacts and infinitely many crossings end in finite time") {
    const Run ball = located(
        zoo_model("bouncing_ball_contact", {{"x1", "1"}, {"x2", "0"}, {"gamma", "0.5"}}), 3);
    const double e = ball.model.restitution.at(0), g = 9.81;
    check_times(ball.times(EventKind::accumulation), {std::sqrt(2 / g) * (1 + e) / (1 - e)}, 1e-10);
    const Run spiral = located(text_model("x1 = 0\nx2 = 1", "", R"toml(
equations = ["der(x1) = -sign(x1) + 2*sign(x2)", "der(x2) = -2*sign(x1) - sign(x2)"])toml"),
                               1);
    check_times(spiral.times(EventKind::accumulation), {0.5}, 1e-10);
    CHECK(spiral.run.x.back().norm() < 1e-10);
  }

  TEST_CASE("[RAB] eq. (10): enters the sliding mode of index 2 and leaves it") {
    const Run run = located(zoo_model("switching_dae_equations",
                                      {{"B1", "-0.5"}, {"B2", "1"}, {"x1", "-5"}, {"x2", "4"}}),
                            10);
    check_times(run.times(), {2.5, 3.5}, 1e-13);
    CHECK(relative(run.run.x.back().head(2), Vector{{13.0 / 3, 16.0 / 3}}) < 1e-13);
    const auto z_at = [&](double t) {
      for (std::size_t k = run.run.size(); k-- > 0;)
        if (run.run.t[k] <= t) return run.run.x[k][2];
      return perp::nan;
    };
    CHECK(std::abs(z_at(1) + 2) < 1e-12);
    CHECK(std::abs(z_at(3) - 2) < 1e-12);
    CHECK(std::abs(z_at(9) - 2.0 / 3) < 1e-12);
  }

  TEST_CASE("[RAB] eq. (37): leaves the sliding mode of index 2 at 2 log 2") {
    const switching_solutions::Problem problem = switching_solutions::variant37();
    const Run run = located(read_model_text(problem.text, "variant37.toml"), 10);
    check_times(run.times(EventKind::sliding_exit), {1.386294361119891}, 1e-13);
    CHECK(std::abs(run.x(0) - 1.886742130865330) < 1e-12);
    CHECK(std::abs(run.x(1) - run.x(0) - 1) < 1e-12);
  }

  TEST_CASE("[BJ] Example 3.1 slides and leaves at x2 = 1/3") {
    const Run run = located(zoo_model("filippov_dae", {{"x1", "-2"}, {"x2", "0.4"}}), 2);
    // Every mode is linear, sliding is a separable equation: 40 digits of the closed form.
    check_times(run.times(), {0.14133714195340214599, 0.5784907065109927012}, 1e-13);
    CHECK(std::abs(run.run.events[1].x_after[1] - 1.0 / 3) < 1e-13);
    CHECK(relative(run.run.x.back().head(2),
                   Vector{{12.865519047864339028, 23.39132160628315028}}) < 1e-12);
  }

  TEST_CASE("[BJ] soft drink process: gas, liquid, sliding, pseudo-equilibrium") {
    const Run run =
        located(zoo_model("soft_drink_paired", {{"x1", "0.72"}, {"x2", "95"}, {"x3", "0"}}), 100);
    check_times(run.times(), {2.333036718967399, 6.041860570034879}, 1e-11);
    CHECK(relative(run.run.x.back().head(3),
                   Vector{{1.186638769824986, 112.432420288532803, 0.021625507667503}}) < 1e-11);
    CHECK(std::abs(run.run.lambda.back()[0] - 0.033844052315562) < 1e-10);
    CHECK(std::abs(value_of(run, "P") - 3.681311047882922) < 1e-10);
    const Run longer =
        located(zoo_model("soft_drink_paired", {{"x1", "0.72"}, {"x2", "95"}, {"x3", "0"}}), 1000);
    CHECK(relative(longer.run.x.back().head(3),
                   Vector{{1.18663831582730, 112.432329235283833, 0.0216546447091734}}) < 1e-11);
    CHECK(std::abs(longer.run.lambda.back()[0] - 0.0338440226276223) < 1e-10);
  }

  TEST_CASE("a relay on a difference slides on a line that moves (OpenModelica 12190)") {
    const Run run = located(text_model("x = 1.5\ny = 1", "", R"toml(
laws = ["s in sign(x - y)"]
equations = ["der(x) = -2*s", "der(y) = -0.75 + 2.25*s"])toml"),
                            1);
    check_times(run.times(EventKind::sliding_entry), {1.0 / 7}, 1e-14);
    CHECK(std::abs(run.run.lambda.back()[0] - 3.0 / 17) < 1e-13);  // rate -6/17
    CHECK(std::abs(run.x(0) - 0.911764705882353) < 1e-13);
    CHECK(std::abs(run.x(1) - run.x(0)) < 1e-14);
  }
}
