#include <doctest/doctest.h>
#include <algorithm>
#include <cmath>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include <perp/analysis/enclosure/exact_model.hpp>
#include <perp/analysis/enclosure/section/clock.hpp>
#include <perp/analysis/enclosure/section/section_piece.hpp>
#include <perp/analysis/enclosure/times.hpp>

using namespace perp;
using namespace perp::enclosure;

namespace {

using Member = std::vector<double>;

/// A model in section form, as one piece.
class Section {
 public:
  Section(const std::string& text, const std::vector<double>& times)
      : model_(read_exact_model(text, "section.toml")),
        space_(state_space(model_.system, model_.values)) {
    options_.times = times;
    for (const int j : space_.variables) start_.push_back(model_.start[static_cast<std::size_t>(j)]);
    for (const int k : space_.parameters) start_.push_back(space_.values[static_cast<std::size_t>(k)]);
  }

  std::optional<PieceResult> run() {
    const PieceTask task{.system = model_.system,
                         .space = space_,
                         .options = options_,
                         .span = model_.span,
                         .times = times_of_rows(model_.span, options_),
                         .grid = time_grid(model_.span),
                         .start = model_.start};
    Dcs system;
    StateSpace space;
    const auto section = section_task(task, system, space);
    if (!section) return std::nullopt;
    return SectionPiece(*section, start_, Effort::whole).run();
  }

  [[nodiscard]] const Box& start() const { return start_; }

 private:
  ExactModel model_;
  StateSpace space_;
  EncloseOptions options_;
  Box start_;
};

/// Members of the start, its corners among them, in their rows, as the exact solution has them.
void check_members(Section& section, const std::function<Member(const Member&, double)>& solution,
                   double widest_share) {
  const auto result = section.run();
  REQUIRE(result.has_value());
  REQUIRE_FALSE(result->enclosure.lost.has_value());
  std::mt19937 random(5);
  std::vector<Member> members;
  for (int k = 0; k < 400; ++k) {
    Member member;
    for (const Interval& side : section.start()) {
      const unsigned kind = random() % 4;
      const double share = kind < 2 ? kind : std::uniform_real_distribution<double>(0, 1)(random);
      member.push_back(side.lo + share * (side.hi - side.lo));
    }
    members.push_back(member);
  }
  std::vector<double> largest, widest;
  for (const EnclosureRow& row : result->enclosure.rows) {
    largest.resize(row.box.size(), 0);
    for (std::size_t i = 0; i < row.box.size(); ++i) {
      double low = directed::infinity, high = -directed::infinity;
      for (const Member& member : members) {
        const double x = solution(member, row.t)[i];
        low = std::min(low, x);
        high = std::max(high, x);
      }
      CAPTURE(row.t);
      CAPTURE(i);
      const double slack = 1e-12 * std::max(std::abs(low), std::abs(high));
      CHECK(row.box[i].lo <= low + slack);
      CHECK(row.box[i].hi >= high - slack);
      largest[i] = std::max(largest[i], high - low);
      CHECK(width(row.box[i]) <= widest_share * largest[i] + 1e-9);
    }
  }
}

std::vector<double> every(double step, double end) {
  std::vector<double> times;
  for (int k = 0; k * step <= end; ++k) times.push_back(k * step);
  return times;
}

/// x'' = −sign(x): parabolas between crossings.
Member oscillator(const Member& start, double t) {
  double x = start[0], v = start[1], side = 1, passed = 0;
  for (;;) {
    const double a = -side;
    const double until = (-v - side * std::sqrt(v * v - 2 * a * x)) / a;  // the later root
    const double left = t - passed;
    if (until > left) return {x + v * left + a * left * left / 2, v + a * left};
    v += a * until;
    x = 0;
    side = -side;
    passed += until;
  }
}

}  // namespace

TEST_SUITE("analysis/enclosure/section") {
  TEST_CASE("a clock takes the place of time in all formulas") {
    const ExactModel model = read_exact_model(
        "[parameters]\nk = \"[1, 2]\"\n[variables]\nx = 1\ny = 0\n[model]\nequations = [\"der(x) = y - k*sin(3*t)\", "
        "\"der(y) = -x - sign(y - t)\"]\nwhen = [{ condition = \"x - t\", direction = 1, set = { y = \"t*y\" } }]\n"
        "[run]\nt = [0, 1]\n",
        "clock.toml");
    const Dcs system = model.system, clocked = with_clock(system);
    REQUIRE(clocked.n() == system.n() + 1);
    std::mt19937 random(1);
    std::uniform_real_distribution<double> number(-2, 2);
    std::vector<double> inputs(static_cast<std::size_t>(system.parameter_input(0)) + model.values.size());
    for (double& input : inputs) input = number(random);
    std::vector<double> with{number(random)};  // its own time counts nothing
    const auto append = [&](int first, int count) {
      for (int k = first; k < first + count; ++k) with.push_back(inputs[static_cast<std::size_t>(k)]);
    };
    const int n = system.n();
    append(1, n);
    with.push_back(0.25);  // der(clock)
    append(1 + n, n);
    with.push_back(inputs[0]);
    append(1 + 2 * n, static_cast<int>(inputs.size()) - 1 - 2 * n);
    std::vector<double> a(static_cast<std::size_t>(system.tape.size())), b(static_cast<std::size_t>(clocked.tape.size()));
    system.tape.evaluate(std::span<const double>(inputs), std::span<double>(a));
    clocked.tape.evaluate(std::span<const double>(with), std::span<double>(b));
    const auto same = [&](int one, int other) {
      return a[static_cast<std::size_t>(one)] == b[static_cast<std::size_t>(other)];
    };
    for (std::size_t k = 0; k < system.F.size(); ++k) CHECK(same(system.F[k], clocked.F[k]));
    CHECK(same(system.G[0], clocked.G[0]));
    CHECK(same(system.resets[0].condition, clocked.resets[0].condition));
    CHECK(same(system.resets[0].values[0], clocked.resets[0].values[0]));
    CHECK(b[static_cast<std::size_t>(clocked.F.back())] == 0.25 - 1);
  }

  TEST_CASE("a relay oscillator, each member in its own time, at times at which some have switched") {
    Section section(
        "[variables]\nx = \"[1.9, 2.1]\"\nv = \"[-0.1, 0.1]\"\n[model]\nequations = [\"der(x) = v\", \"der(v) = -sign(x)\"]\n"
        "[run]\nt = [0, 16]\n",
        every(0.125, 16));
    check_members(section, oscillator, 2.3);
    const auto result = section.run();
    REQUIRE(result->enclosure.events.size() == 4);
    for (const EnclosureEvent& event : result->enclosure.events) CHECK(event.unique);
    // (2n + 1) quarters of the longest and the shortest period
    const double first = -0.1 + std::sqrt(0.01 + 2 * 1.9), last = 0.1 + std::sqrt(0.01 + 2 * 2.1);
    CHECK(result->enclosure.events[0].t.lo <= first);
    CHECK(result->enclosure.events[0].t.hi >= last);
    CHECK(width(result->enclosure.events[0].t) < 1.2 * (last - first));
  }

  TEST_CASE("surfaces that move with time, and thresholds that are intervals") {
    Section driven(
        "[variables]\nx = \"[-0.2, 0.2]\"\ny = 0\n[model]\nequations = [\"der(x) = t\", \"der(y) = step(x - 1)\"]\n"
        "[run]\nt = [0, 2]\n",
        every(0.03125, 2));
    check_members(driven,
                  [](const Member& start, double t) {
                    const double at = std::sqrt(2 * (1 - start[0]));
                    return Member{start[0] + t * t / 2, std::max(t - at, 0.0)};
                  },
                  1.7);
    Section clock(
        "[parameters]\na = \"[0.9, 1.1]\"\n[variables]\ny = 1\n[model]\nequations = [\"der(y) = 2*step(t - a)\"]\n"
        "[run]\nt = [0, 2]\n",
        every(0.03125, 2));
    check_members(clock,
                  [](const Member& start, double t) {
                    return Member{1 + 2 * std::max(t - start[1], 0.0)};
                  },
                  1.1);
  }

  TEST_CASE("what depends on time alone is a point while members switch") {
    Section section(
        "[variables]\nx = \"[0.8, 1.2]\"\ny = 0\n[model]\nequations = [\"der(x) = -1.5 + 0.5*sign(x)\", \"der(y) = 1\"]\n"
        "[run]\nt = [0, 2]\n",
        every(0.0625, 2));
    check_members(section,
                  [](const Member& start, double t) {
                    return Member{t < start[0] ? start[0] - t : 2 * (start[0] - t), t};
                  },
                  1e9);
  }

  TEST_CASE("members on a surface that is no coordinate") {
    Section section(
        "[variables]\nx = \"[-0.2, 0.2]\"\ny = \"[-0.3, 0.3]\"\nz = 0\n[model]\nequations = [\"der(x) = 1\", "
        "\"der(y) = 1\", \"der(z) = step(x + y - 1)\"]\n[run]\nt = [0, 2]\n",
        every(0.0625, 2));
    check_members(section,
                  [](const Member& start, double t) {
                    return Member{start[0] + t, start[1] + t,
                                  std::max(t - (1 - start[0] - start[1]) / 2, 0.0)};
                  },
                  1e9);
  }

  TEST_CASE("from one such surface to the next all members take the same time") {
    // On x + y = 1 the members differ along the surface alone: from there to x + y = 3 it takes 1.
    Section section(
        "[variables]\nx = \"[-0.2, 0.2]\"\ny = \"[-0.3, 0.3]\"\nz = 0\nw = 0\n[model]\nequations = [\"der(x) = 1\", "
        "\"der(y) = 1\", \"der(z) = step(x + y - 1)\", \"der(w) = step(x + y - 3)\"]\n[run]\nt = [0, 4]\n",
        every(0.0625, 4));
    const auto after = [](const Member& start, double sum, double t) {
      return std::max(t - (sum - start[0] - start[1]) / 2, 0.0);
    };
    check_members(section,
                  [&](const Member& start, double t) {
                    return Member{start[0] + t, start[1] + t, after(start, 1, t), after(start, 3, t)};
                  },
                  1e9);
    const auto result = section.run();
    REQUIRE(result->enclosure.events.size() == 2);
    const EnclosureEvent &first = result->enclosure.events[0], &second = result->enclosure.events[1];
    CHECK(width(first.t) == doctest::Approx(0.5).epsilon(1e-9));
    CHECK(second.t.lo - first.t.lo == doctest::Approx(1).epsilon(1e-9));
    CHECK(second.t.hi - first.t.hi == doctest::Approx(1).epsilon(1e-9));
  }

  TEST_CASE("sliding is entered, and resets fire, in each member's own time") {
    Section sliding(
        "[variables]\nx = \"[0.8, 1.2]\"\ny = 0\n[model]\nequations = [\"der(x) = 1 - 2*sign(x)\", \"der(y) = x\"]\n"
        "[run]\nt = [0, 2]\n",
        every(0.0625, 2));
    check_members(sliding,
                  [](const Member& start, double t) {
                    const double s = std::min(t, start[0]);
                    return Member{start[0] - s, start[0] * s - s * s / 2};
                  },
                  1.7);
    Section ball(
        "[parameters]\ne = \"[0.74, 0.76]\"\n[variables]\nh = \"[0.98, 1.02]\"\nv = 0\n[model]\nequations = [\"der(h) = v\", "
        "\"der(v) = -2\"]\nwhen = [{ condition = \"h\", direction = -1, set = { v = \"-e*v\" } }]\n[run]\nt = [0, 3.5]\n",
        every(0.0625, 3.5));
    check_members(ball,
                  [](const Member& start, double t) {
                    double passed = 0, v = 0, h = start[0], until = std::sqrt(h);
                    while (passed + until <= t) {
                      v = -start[2] * (v - 2 * until);
                      passed += until;
                      until = v;
                      h = 0;
                    }
                    const double s = t - passed;
                    return Member{h + v * s - s * s, v - 2 * s};
                  },
                  2.0);
  }

  TEST_CASE("what is not proved to be one event is left to the other form") {
    Section grazing(
        "[variables]\nx = 0\nv = \"[0.99, 1.01]\"\ny = 0\n[model]\nequations = [\"der(x) = v\", \"der(v) = -1\", "
        "\"der(y) = step(x - 0.5)\"]\n[run]\nt = [0, 2]\n",
        every(0.25, 2));
    CHECK_FALSE(grazing.run().has_value());
  }

  TEST_CASE("differences of time that have gathered do not ask for more pieces") {
    EncloseOptions options;
    options.times = every(4.25, 85);
    const Enclosure result =
        read_exact_model(
            "[variables]\nx = \"[1.995, 2.005]\"\nv = \"[-0.005, 0.005]\"\n[model]\nequations = [\"der(x) = v\", "
            "\"der(v) = -if(x > 1, 1, if(x < -1, -1, 0))\"]\n[run]\nt = [0, 85]\n",
            "dead_zone.toml")
            .enclose(options);
    CHECK_FALSE(result.lost.has_value());
    CHECK(result.pieces <= 20);
  }
}
