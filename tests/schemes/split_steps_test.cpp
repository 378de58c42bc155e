#include <doctest/doctest.h>
#include <fmt/format.h>
#include <algorithm>
#include <cmath>
#include <string>
#include <tuple>
#include <variant>
#include <vector>

#include <perp/models/language/read_model.hpp>
#include <perp/perp.hpp>
#include <perp/schemes/system_schemes.hpp>
#include <perp/tests/paths.hpp>

using namespace perp;

namespace {

/// ẋ = -2 s - x, s ∈ sign(x): from 1 it lands on 0 at t = log(3/2) and rests there.
const Lcs landing{
    .E = Matrix{{1}}, .A = Matrix{{-1}}, .B = Matrix{{-2}}, .C = Matrix{{1}}, .laws = {sign()}};
const double landing_time = std::log(1.5);

/// ẋ = 2 - s, ẏ = x² s, s ∈ sign(x): nonlinear, and crosses x = 0 once.
struct Crossing {
  void residual(const auto&, const auto& xdot, const auto& x, const auto& lambda, auto& r) const {
    r[0] = xdot[0] - (2 - lambda[0]);
    r[1] = xdot[1] - x[0] * x[0] * lambda[0];
  }
  void output(const auto&, const auto& x, const auto&, auto& w) const { w[0] = x[0]; }
};

/// From (-1, 0): x = 3 t - 1 up to t = 1/3, then x = t - 1/3; y = -1/9 + x³/3.
Vector crossed_at(double t) {
  const double x = t - 1.0 / 3;
  return Vector{{x, -1.0 / 9 + x * x * x / 3}};
}

double observed_order(const std::vector<double>& errors) {
  double order = std::log2(errors.front() / errors.back());
  return order / static_cast<double>(errors.size() - 1);
}

}  // namespace

TEST_SUITE("schemes/split_steps") {
  TEST_CASE("the times of a trajectory are those of h, wherever in a step the mode changes") {
    const Trajectory run = integrate(landing, Vector{{1}}, {0, 1}, BackwardEuler{.h = 0.01});
    REQUIRE(run.status == Status::solved);
    REQUIRE(run.size() == 101);
    for (std::size_t k = 0; k < run.size(); ++k)
      CHECK(run.t[k] == doctest::Approx(0.01 * static_cast<double>(k)).epsilon(1e-14));
    CHECK(run.counts.at("steps") == 100);
    CHECK(run.counts.at("split") >= 1);
  }

  TEST_CASE("an event lies within its step of h and its time is of the order of the scheme") {
    for (const double theta : {1.0, 0.5}) {
      std::vector<double> errors;
      for (double h = 1.0 / 64; h > 1e-4; h /= 2) {
        const Trajectory run =
            integrate(landing, Vector{{1}}, {0, 1}, Theta{.h = h, .theta = theta});
        REQUIRE(run.events.size() == 1);
        const Event& event = run.events[0];
        CHECK(event.kind == EventKind::sliding_entry);
        CHECK(event.t_after - event.t_before == doctest::Approx(h).epsilon(1e-9));
        CHECK(event.t > event.t_before);
        CHECK(event.t <= event.t_after);
        errors.push_back(std::abs(event.t - landing_time));
      }
      CAPTURE(theta);
      CHECK(observed_order(errors) == doctest::Approx(theta == 1 ? 1 : 2).epsilon(0.05));
    }
  }

  TEST_CASE("two neighbouring step lengths show order one across an event of a nonlinear system") {
    const Dcs system = make_dcs(Crossing{}, 2, {sign()});
    std::vector<double> errors;
    for (double h = 1.0 / 50; errors.size() < 8; h /= 2) {
      const Trajectory run = integrate(system, Vector{{-1, 0}}, {0, 1}, BackwardEuler{.h = h});
      REQUIRE(run.status == Status::solved);
      CHECK(run.counts.at("split") >= 1);
      errors.push_back((run.x.back() - crossed_at(1)).norm());
    }
    for (std::size_t k = 1; k < errors.size(); ++k) {
      const double order = observed_order({errors[k - 1], errors[k]});
      CAPTURE(k);
      CHECK(order > 0.9);
      CHECK(order < 1.1);
    }
  }

  TEST_CASE("a step ends where its mode does, to rounding, where the motion is curved") {
    // x' = rate + x - 2 s, s in sign(x): a step of length -x0/(rate + 2) ends at x = 0, the rest of h
    // begins there and ends at x = rest (rate + x - 2).
    const double x0 = -0.3;
    for (const double rate : {2.5, 7.0, 30.0}) {
      const Lcs lcs{.E = Matrix{{1}}, .A = Matrix{{1}}, .B = Matrix{{-2}}, .b = Vector{{rate}},
                    .C = Matrix{{1}}, .laws = {sign()}};
      const double end = -x0 / (rate + 2), h = end / 0.37, rest = h - end;
      const double exact = rest * (rate - 2) / (1 - rest);
      for (const bool as_formulas : {false, true}) {
        const Trajectory run =
            as_formulas ? integrate(as_dcs(lcs), Vector{{x0}}, {0, h}, BackwardEuler{.h = h})
                        : integrate(lcs, Vector{{x0}}, {0, h}, BackwardEuler{.h = h});
        REQUIRE(run.status == Status::solved);
        CHECK(run.counts.at("split") == 1);
        CAPTURE(rate);
        CAPTURE(as_formulas);
        CHECK(std::abs(run.x.back()[0] - exact) < 1e-13);
      }
    }
  }

  TEST_CASE("a step ends where its mode does, to rounding, where an algebraic variable passes 0 there too") {
    // A step beyond the end of the mode ends at a z that is rounding of the way there. It has left the mode all the same.
    for (const double x0 : {-0.45, -0.41, -0.35, -0.3}) {
      const std::string text = fmt::format("[variables]\nx = {}\nz = 0\n[model]\nequations = [\"der(x) = 1 + 2.3*x + step(-x) - 0.69*z*z\", "
                                           "\"0 = -1.419*z + 0.786*x - 0.459*z*z*z\"]\n[run]\nt = [0, 1]\nh = 0.0079140625\n", x0);
      const Model model = read_model_text(text, "a test");
      const Trajectory run = integrate(model.system.functions(), model.x0(), model.run.span, BackwardEuler{.h = model.run.h});
      REQUIRE(run.status == Status::solved);
      REQUIRE(run.events.size() == 1);
      CAPTURE(x0);
      CHECK(std::abs(run.events[0].x_before[0]) < 1e-15);
    }
  }

  TEST_CASE("a step is taken whole on request, and the error then depends on the event's place") {
    const auto x_at_end = [](double h, bool split) {
      const Trajectory run = integrate(make_dcs(Crossing{}, 2, {sign()}), Vector{{-1, 0}}, {0, 1},
                                       BackwardEuler{.h = h, .split_at_events = split});
      REQUIRE(run.status == Status::solved);
      CHECK((run.counts.count("split") == 1) == split);
      return std::abs(run.x.back()[0] - 2.0 / 3);
    };
    // ẋ is constant on either side: what is left is the error of the step with the event.
    CHECK(x_at_end(0.02, true) < 1e-13);
    CHECK(x_at_end(0.02, false) > 1e-3);
  }

  TEST_CASE("the theta-method keeps order two across crossings") {
    const Model model = read_model(perp::test::models_path("/relay_oscillator.toml"));
    std::vector<double> errors;
    for (double h = 0.01; errors.size() < 5; h /= 2) {
      const Trajectory run =
          integrate(model.lcs(), model.x0(), model.run.span, Theta{.h = h, .theta = 0.5});
      REQUIRE(run.status == Status::solved);
      errors.push_back((run.x.back() - model.exact_at(model.run.span.end)).norm());
    }
    CHECK(observed_order(errors) > 1.8);
    CHECK(observed_order(errors) < 2.3);
  }

  TEST_CASE("a mode that ends at the very end of a step does not end the run") {
    // The relay leaves its branch 1e-12 before a grid point, where no step so short has a solution
    // to its tolerance; whole steps and shorter ones go on.
    constexpr double omega = 3.7775906690143413, amplitude = -1.4677138453000194;
    const Vector b{{-1, -1, 1, 0}}, q{{-1, 0}};
    const Lcs lcs{
        .E = Matrix(Vector{{1, 1, 1, 0}}.asDiagonal()),
        .A = Matrix{{-2, 0, -2, 1}, {-2, 1, 2, 2}, {2, 2, 2, 0}, {-2, 2, -1, 0}},
        .B = Matrix{{1, 0}, {1, 1}, {-2, -2}, {0, 0}},
        .b = Signal(b, {2},
                    [=](double t, Vector& v) { v[2] = b[2] + amplitude * std::sin(omega * t); }),
        .C = Matrix{{-1, 0, -1, 1}, {1, 1, -2, -2}},
        .D = Matrix{{0.0805145509941044, 0.22686993009902018},
                    {0.22686993009902018, 1.2527082872226145}},
        .q = Signal(q, {0},
                    [=](double t, Vector& v) { v[0] = q[0] + amplitude * std::cos(omega * t); }),
        .laws = {abs_plus_sign(), relay(-1, 2)}};
    const Vector x0{
        {0.06459747927359949, -1.7854082668740681, -0.96998867917083564, 0.33508441380711407}};
    constexpr double h = 0.48614816081253576;
    const Trajectory run = integrate(lcs, x0, {0, 20 * h}, BackwardEuler{.h = h});
    CHECK(run.status == Status::solved);
    CHECK(run.t.size() == 21);
  }

  // ẋ = 0.75, then 2 from t = 1.5 on, which rounding of the grid and of y puts 4e-15 before the end of a step.
  TEST_CASE("a mode that ends at the very end of a step, to rounding, is left there, not where the step began") {
    const Model model = read_model_text(R"toml(
[variables]
x = -0.25
y = -2
n = 0
[model]
equations = ["der(x) = 0.75 + 1.25*step(x + y)", "der(y) = 0.75", "der(n) = 0"]
when = [{ condition = "x + 7", direction = 1, set = { n = "n + 1" } }]
[run]
t = [0, 4]
)toml",
                                        "grid.toml");
    for (const double theta : {1.0, 0.5})
      for (const double h : {0.5, 0.1, 0.02, 0.01, 0.005}) {
        CAPTURE(theta);
        CAPTURE(h);
        const Trajectory run = integrate(*model.equations, model.x0(), model.run.span, Theta{.h = h, .theta = theta});
        REQUIRE(run.status == Status::solved);
        CHECK(run.x.back()[0] == doctest::Approx(5.875).epsilon(1e-12));
      }
  }

  TEST_CASE("every mode of a run that another one follows ends with an event: two tanks and a tide") {
    const Model model = read_model_text(
        "[variables]\na = 1\nb = 0.5\n[model]\nequations = ["
        "\"der(a) = -2*sqrt(abs(a - b))*sign(a - b) + 0.5*sin(t)\", "
        "\"der(b) = 2*sqrt(abs(a - b))*sign(a - b) - 0.1*cos(2*t)\"]\n[run]\nt = [0, 12]\n",
        "tanks.toml");
    for (const double h : {0.1, 0.05, 0.03, 0.02, 0.012}) {
      CAPTURE(h);
      const Trajectory run =
          integrate(*model.equations, model.x0(), model.run.span, BackwardEuler{.h = h});
      REQUIRE(run.status == Status::solved);
      std::vector<double> seen;
      for (const Event& event : run.events)
        if (event.kind == EventKind::crossing) seen.push_back(event.t);
      REQUIRE(seen.size() == 3);  // by steps of 1e-5: 3.33, 6.10, 9.62
      CHECK(std::abs(seen[0] - 3.33) < 0.01 + h);
      CHECK(std::abs(seen[1] - 6.10) < 0.02 + h);
      CHECK(std::abs(seen[2] - 9.62) < 0.02 + h);
    }
  }

  // The rate of y ends at 1.002: a whole step to 1.01 leaves y at the end of u's band, 1.0007.
  TEST_CASE("a law that a step has to change before another one is not left out") {
    const std::string text =
        "[variables]\ny = 0\ns = 0\nE = 0\n[model]\nequations = [\"der(y) = if(s < 1.002, 1, 0)\", "
        "\"der(s) = 1\", \"der(E) = u\"]\nlaws = [\"u in hysteresis(y, -1, 1.0007)\"]\n";
    for (const char* reset : {"", "when = [{ condition = \"s - 1.004\", direction = 1, set = { y = \"0.5\" } }]\n"})
      for (const double h : {0.0013, 0.01, 0.1}) {
        CAPTURE(reset);
        CAPTURE(h);
        const Model model = read_model_text(text + reset + "[run]\nt = [0, 3]\n", "left_out.toml");
        const Trajectory run = integrate(model.system, model.x0(), model.run.span, BackwardEuler{.h = h});
        REQUIRE(run.status == Status::solved);
        CHECK(std::abs(run.x.back()[2] - (3 - 1.0007)) < 2 * h);
        CHECK(std::abs(run.x.back()[0] - (*reset != 0 ? 0.5 : 1.002)) < 2 * h);
      }
  }
  // 0.1 k in doubles is 0.3, 0.6, 0.7 or an ulp beyond it: the law of t has ended at the grid point then.
  TEST_CASE("a law of time alone that ends on the grid ends there, wherever rounding puts the grid") {
    for (const double end : {0.15, 0.3, 0.6, 0.7, 0.9})
      for (const double h : {0.3, 0.1, 0.05, 0.01})
        for (const double theta : {0.5, 1.0})
          for (const char* rate : {"if(t > END, 100, 0)", "if(t > END, 100, 0) + 0*x^2"}) {
            std::string text = rate;
            text.replace(text.find("END"), 3, fmt::format("{}", end));
            const Model model = read_model_text("[variables]\nx = 0\n[model]\nequations = [\"der(x) = " +
                                                    text + "\"]\n[run]\nt = [0, 1]\n",
                                                "switch.toml");
            const Trajectory run = integrate(model.system, model.x0(), {0, 1}, Theta{.h = h, .theta = theta});
            CAPTURE(end);
            CAPTURE(h);
            CAPTURE(text);
            REQUIRE(run.status == Status::solved);
            REQUIRE(run.events.size() == 1);
            CHECK(std::abs(run.events[0].t - end) < 1e-14);
            CHECK(std::abs(run.x.back()[0] - 100 * (1 - end)) < 1e-9);
          }
  }

  TEST_CASE("laws of time alone that vanish on the grid change there, to rounding") {
    const Model model = read_model_text(
        "[variables]\nx = 0\n[model]\nequations = [\"der(x) = -x + sign(sin(2*pi*t/0.2))\"]\n"
        "[run]\nt = [0, 1]\n",
        "square_wave.toml");
    for (const double h : {0.1, 0.05, 0.02}) {
      const Trajectory run = integrate(*model.equations, model.x0(), {0, 1}, BackwardEuler{.h = h});
      CAPTURE(h);
      REQUIRE(run.status == Status::solved);
      REQUIRE(run.events.size() >= 9);
      for (std::size_t k = 0; k < 9; ++k)
        CHECK(std::abs(run.events[k].t - 0.1 * static_cast<double>(k + 1)) < 1e-9);
    }
  }


  TEST_CASE("the end of a mode is found to rounding, in whichever order the equations stand") {
    // A unilateral spring whose force ends between two steps, and a reset: the same system twice.
    const std::string rest =
        "laws = [\"0 <= s1 perp 1.057*x4 + 1.423*s1 >= 0\"]\n"
        "when = [{ condition = \"x4 - 0.315\", direction = 1, set = { x4 = \"-0.55*x4\" } }]\n"
        "[run]\nt = [0, 3]\nh = 0.02675\n";
    const std::string f1 = "\"der(x1) = -0.955*x1 + 1.272*x3 + 0.314*x4\"";
    const std::string f2 = "\"der(x2) = -0.226*x2 - 0.903 + 1.31*s1\"";
    const std::string f3 = "\"der(x3) = -0.625*x3 - 0.799*x1 + 0.348*x2 - 0.951*s1\"";
    const std::string f4 = "\"der(x4) = -1.01*x4 + 0.449*x1 + 1.077 + 0.234*x2*sin(t)\"";
    const auto end = [&](const std::string& variables, const std::string& equations) {
      const Model model =
          read_model_text(fmt::format("[variables]\n{}[model]\nequations = [{}]\n{}", variables, equations, rest),
                          "a test");
      const Trajectory run =
          integrate(*model.equations, model.x0(), model.run.span, BackwardEuler{.h = model.run.h});
      REQUIRE_MESSAGE(run.status == Status::solved, run.message);
      return run;
    };
    const std::string x1 = "x1 = -0.105\n", x2 = "x2 = -1.223\n", x3 = "x3 = 1.654\n", x4 = "x4 = -0.47\n";
    const Trajectory here = end(x1 + x2 + x3 + x4, fmt::format("{}, {}, {}, {}", f1, f2, f3, f4));
    const Trajectory there = end(x3 + x2 + x4 + x1, fmt::format("{}, {}, {}, {}", f1, f3, f4, f2));
    constexpr int places[] = {3, 1, 0, 2};  // of x1, .. there
    for (int j = 0; j < 4; ++j) CHECK(std::abs(here.x.back()[j] - there.x.back()[places[j]]) < 1e-13);
    REQUIRE(here.events.size() == there.events.size());
    for (std::size_t k = 0; k < here.events.size(); ++k)
      CHECK(std::abs(here.events[k].t - there.events[k].t) < 1e-13);
  }

  TEST_CASE("a step beyond a pole of E - hA is no step beyond the end of a mode: shorter ones go on in it") {
    // ẋ = 2 x + 1 + s/2, s ∈ sign(x): x = 7/4 e^(2 t) - 3/4, and longer steps than 1/2 lead to x < 0.
    const Lcs growing{.E = Matrix{{1}}, .A = Matrix{{2}}, .B = Matrix{{0.5}}, .b = Vector{{1}},
                      .C = Matrix{{1}}, .laws = {sign()}};
    for (const Selector selector : {Selector::keep_mode, Selector::minimal_norm})
      for (const double h : {0.501, 0.51, 0.6, 0.7, 0.9, 1.0, 1.02, 2.0}) {
        CAPTURE(h);
        const Trajectory run = integrate(growing, Vector{{1}}, {0, 2}, BackwardEuler{.h = h, .selector = selector});
        REQUIRE_MESSAGE(run.status == Status::solved, run.message);
        CHECK(run.events.empty());
        // Nothing grows more than twice in half of the way to the pole; steps of the rest may be nearer to it.
        for (std::size_t k = 1; k < run.t.size(); ++k) CHECK(run.x[k][0] > run.x[k - 1][0]);
        CHECK(run.x[1][0] > 1.75 * std::exp(2 * run.t[1]) - 0.75);
      }
    // Ten times as long, states become too large to be said; that no event is told before is all.
    for (const double h : {5.0, 10.0}) {
      const Trajectory run = integrate(growing, Vector{{1}}, {0, h}, BackwardEuler{.h = h});
      CAPTURE(h);
      CHECK(std::ranges::none_of(run.events, [](const Event& event) { return event.law >= 0; }));
    }
  }

  TEST_CASE("a step that leaves its mode is searched once, however often the passage of its end asks for it") {
    const Model model = read_model(test::models_path("/predator_prey.toml"));
    const Trajectory run = integrate(model.system, model.x0(), model.run.span, BackwardEuler{.h = model.run.h});
    REQUIRE(run.status == Status::solved);
    CHECK(run.counts.at("split") == 9);
    // The whole step, the rest behind the end of the mode, and half of that.
    CHECK(run.counts.at("searches") <= 4 * run.counts.at("split"));
  }

  TEST_CASE("a change in the first moments of a step is where it is, though the mode behind it is shorter than the step") {
    // The pulse begins 2.4e-5 behind the end of a step and is over within the next one.
    const Model model = read_model_text(
        "[variables]\nx = 0\n[model]\nequations = [\"der(x) = if(abs(sin(t) - 0.5) < 0.001, 1000, 0)\"]\n[run]\nt = [0, 10]\n", "pulses.toml");
    const double half_width = (std::asin(0.501) - std::asin(0.499)) / 2;  // four times in ten
    for (const double h : {0.1, 0.05, 0.025})
      for (const double theta : {1.0, 0.5}) {
        CAPTURE(h);
        const Trajectory run = integrate(*model.equations, model.x0(), model.run.span, Theta{.h = h, .theta = theta});
        REQUIRE_MESSAGE(run.status == Status::solved, run.message);
        CHECK(std::abs(run.x.back()[0] - 8000 * half_width) < 1e-6);
      }
  }

  TEST_CASE("a switch of time has its moment where steps are not split, and the states of all parts where they are") {
    // The clock c passes 0.3 in a part of its own: x has turned at 0.25 by then. Sines have no exact secants.
    const std::string text =
        "[variables]\nx = 1\nc = 0\n[model]\nequations = [\"der(x) = 2 - 4*step({})\", \"der(c) = if(c < 0.3, 1, 2)\"]\n[run]\nt = [0, 0.9]\n";
    for (const auto& [condition, moment, h] : {std::tuple{"t - 0.25", 0.25, 0.9}, std::tuple{"sin(6*t - 1.5)", 0.25, 0.31}})
      for (const bool split : {false, true}) {
        const Model model = read_model_text(fmt::format(fmt::runtime(text), condition), "switched.toml");
        const Trajectory run = integrate(model.system, model.x0(), model.run.span, BackwardEuler{.h = h, .split_at_events = split});
        REQUIRE(run.status == Status::solved);
        const auto of_law = [&](bool of_time) {
          return std::ranges::find_if(run.events, [&](const Event& event) {
            return (model.laws()[static_cast<std::size_t>(event.law)].name.find("step") != std::string::npos) == of_time;
          });
        };
        REQUIRE(of_law(true) != run.events.end());
        CHECK(std::abs(of_law(true)->t - moment) <= 1e-15);
        REQUIRE(of_law(false) != run.events.end());
        if (split) CHECK(std::abs(of_law(false)->x_before[0] - 1.4) <= 1e-12);
      }
  }
}
