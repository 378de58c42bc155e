#include <doctest/doctest.h>
#include <algorithm>
#include <cmath>
#include <random>
#include <string>
#include <vector>

#include <perp/analysis/enclosure/exact_model.hpp>

using namespace perp;
using enclosure::EncloseOptions;
using enclosure::Enclosure;
using enclosure::EnclosureRow;
using enclosure::Flag;
using enclosure::How;
using enclosure::Interval;

namespace {

Enclosure run(const std::string& text, EncloseOptions options) {
  return enclosure::read_exact_model(text, "test.toml").enclose(options);
}

EncloseOptions at(std::vector<double> times, int pieces = 1) {
  EncloseOptions options;
  options.times = std::move(times);
  options.pieces = pieces;
  return options;
}

/// Is the point in a row of the time?
bool holds(const Enclosure& result, double t, const std::vector<double>& x, double accuracy) {
  return std::any_of(result.rows.begin(), result.rows.end(), [&](const EnclosureRow& row) {
    if (row.t != t) return false;
    for (std::size_t i = 0; i < x.size(); ++i)
      if (x[i] < row.box[i].lo - accuracy || row.box[i].hi + accuracy < x[i]) return false;
    return true;
  });
}

bool any_is_unique(const Enclosure& result, double after) {
  return std::any_of(result.rows.begin(), result.rows.end(), [&](const EnclosureRow& row) {
    return row.t > after && row.flag == Flag::unique;
  });
}

/// x' = a + b y + c sign(x), y' = d x + e sign(x) − y
struct Relay {
  double a, b, c, d, e;

  [[nodiscard]] std::string text(const std::string& x, const std::string& y) const {
    const auto number = [](double value) { return "(" + std::to_string(value) + ")"; };
    return "[variables]\nx = " + x + "\ny = " + y +
           "\n[model]\nequations = [\"der(x) = " + number(a) + " + " + number(b) + "*y + " +
           number(c) + "*sign(x)\", \"der(y) = " + number(d) + "*x + " + number(e) +
           "*sign(x) - y\"]\n[run]\nt = [0, 1]\n";
  }

  /// One solution until t = 1, in steps: on the surface until `leaves`, to the side `towards`
  /// then. Right to a step's length.
  [[nodiscard]] std::vector<std::vector<double>> follow(double x, double y, double leaves,
                                                        int towards) const {
    constexpr int steps = 8192;
    std::vector<std::vector<double>> found{{x, y}};
    int side = (x > 0) - (x < 0);
    for (int k = 0; k < steps; ++k) {
      const double h = 1.0 / steps, drive = a + b * y;
      if (side == 0 && std::abs(drive) >= std::abs(c)) side = drive > 0 ? 1 : -1;
      if (side == 0 && c > 0 && k * h >= leaves) side = towards;
      const double lambda = side != 0 ? side : -drive / c;
      const double next = side == 0 ? 0 : x + h * (drive + c * lambda);
      y += h * (d * x + e * lambda - y);
      if (side != 0 && next * side < 0) side = std::abs(a + b * y) < -c ? 0 : -side;
      x = side == 0 ? 0 : next;
      if ((k + 1) % (steps / 4) == 0) found.push_back({x, y});
    }
    return found;
  }
};

constexpr double euler = 4e-3;  ///< accuracy of `follow` here

}  // namespace

TEST_SUITE("analysis/enclosure/inclusion") {
  TEST_CASE("an argument that is held by its second derivative may swing out of nothing beside an open law") {
    // x'' = -sign(x) + sign(x')/2: the speed grows by sqrt(3) in a half of a turn, which takes the time 1.821 V to end with V, so
    // that those before it have taken no more than 4.309 V together: solutions leave 0 in every phase.
    const double longest = (2 / std::sqrt(3.0) + 2.0 / 3) / (1 - 1 / std::sqrt(3.0));
    for (const char* company : {"", ", \"der(z) = -z\""}) {
      const std::string own = *company != 0 ? "\nz = 1" : "";
      const Enclosure result = run("[variables]\nx = 0\nv = 0" + own + "\n[model]\nequations = [\"der(x) = v\", \"der(v) = -sign(x) + 0.5*sign(v)\"" +
                                       std::string(company) + "]\n[run]\nt = [0, 1]\n",
                                   at({1}));
      for (const double V : {1 / longest, -1 / longest, 0.0}) {
        const bool is_inside = std::any_of(result.rows.begin(), result.rows.end(), [&](const EnclosureRow& row) {
          return row.box[0].contains(0.0) && row.box[1].contains(V);
        });
        CHECK((result.lost.has_value() || is_inside));
      }
      CHECK_FALSE(any_is_unique(result, 0.5));
    }
  }

  TEST_CASE("a repelling start holds the solutions that leave it at any time, and no more") {
    const Enclosure result = run(R"toml(
[variables]
x = 0
y = 0
[model]
equations = ["der(x) = x/2 + sign(x)", "der(y) = x"]
[run]
t = [0, 1]
)toml",
                                 at({0, 0.25, 0.5, 1}));
    REQUIRE_FALSE(result.lost.has_value());
    CHECK_FALSE(any_is_unique(result, 0));
    for (const double t : {0.25, 0.5, 1.0}) {
      for (int k = 0; k <= 8; ++k) {  // leaves at t k/8: x = 2 (e^((t − s)/2) − 1)
        const double tau = t - t * k / 8, x = 2 * (std::exp(tau / 2) - 1),
                     y = 4 * (std::exp(tau / 2) - 1) - 2 * tau;
        CHECK(holds(result, t, {x, y}, 1e-12));
        CHECK(holds(result, t, {-x, -y}, 1e-12));
      }
      for (const EnclosureRow& row : result.rows) {
        if (row.t != t) continue;
        CHECK(row.how == How::inclusion);
        CHECK(row.box[0].hi < 1.05 * 2 * (std::exp(t / 2) - 1));
        CHECK(row.box[1].hi < 1.15 * (4 * (std::exp(t / 2) - 1) - 2 * t));
      }
    }
  }

  TEST_CASE("random repelling surfaces: solutions that leave at any time to any side") {
    std::mt19937 generator(11);
    std::uniform_real_distribution<double> number(-1, 1);
    for (int k = 0; k < 30; ++k) {
      const Relay relay{number(generator) / 2, number(generator), 1.2, 2 * number(generator),
                        number(generator)};
      const Enclosure result = run(relay.text("0", "0.25"), at({0, 0.25, 0.5, 0.75, 1}));
      CAPTURE(k);
      REQUIRE_FALSE(result.lost.has_value());
      CHECK_FALSE(any_is_unique(result, 0));
      for (int sample = 0; sample < 12; ++sample) {
        const double leaves = sample < 2 ? 0 : std::abs(number(generator));
        const auto known = relay.follow(0, 0.25, leaves, sample % 2 == 0 ? 1 : -1);
        for (std::size_t row = 1; row < known.size(); ++row)
          CHECK(holds(result, 0.25 * static_cast<double>(row), known[row], euler));
      }
    }
  }

  TEST_CASE("random attracting surfaces under a set that lies across them") {
    std::mt19937 generator(12);
    std::uniform_real_distribution<double> number(-1, 1);
    int slide = 0;
    for (int k = 0; k < 30; ++k) {
      const Relay relay{1.5 * number(generator), number(generator), -1.2, 2 * number(generator),
                        number(generator)};
      const Enclosure result =
          run(relay.text("\"[-0.125, 0.0625]\"", "\"[0.25, 0.5]\""), at({0, 0.25, 0.5, 0.75, 1}));
      CAPTURE(k);
      REQUIRE_FALSE(result.lost.has_value());
      slide += result.rows.back().box[0].is_zero();
      for (int sample = 0; sample < 12; ++sample) {
        const double x = sample < 4 ? (sample % 2 == 0 ? -0.125 : 0.0625)
                                    : -0.03125 + 0.09375 * number(generator),
                     y = sample < 4 ? (sample / 2 == 0 ? 0.25 : 0.5)
                                    : 0.375 + 0.125 * number(generator);
        const auto known = relay.follow(x, y, 2, 1);
        for (std::size_t row = 1; row < known.size(); ++row)
          CHECK(holds(result, 0.25 * static_cast<double>(row), known[row], euler));
      }
    }
    CHECK(slide > 5);
  }

  TEST_CASE("two surfaces that repel at once: all four continuations and those that wait") {
    const Enclosure result = run(R"toml(
[variables]
x = 0
y = 0
[model]
equations = ["der(x) = sign(x)", "der(y) = 2*sign(y)"]
[run]
t = [0, 1]
)toml",
                                 at({1}));
    REQUIRE_FALSE(result.lost.has_value());
    for (const double x : {-1.0, 0.0, 0.5, 1.0})
      for (const double y : {-2.0, -0.25, 0.0, 2.0}) CHECK(holds(result, 1, {x, y}, 0));
    for (const EnclosureRow& row : result.rows) CHECK(magnitude(row.box[1]) < 2.0001);
  }

  TEST_CASE("two surfaces met at one time are passed: all of what both orders give") {
    const Enclosure result = run(R"toml(
[variables]
x = -1
y = -1
z = 0
[model]
equations = ["der(x) = 1", "der(y) = 1", "der(z) = step(x)*(1 - step(y)) + step(y)*(1 - step(x))"]
[run]
t = [0, 2]
)toml",
                                 at({0.5, 2}));
    REQUIRE_FALSE(result.lost.has_value());
    CHECK(holds(result, 2, {1, 1, 0}, 0));
    for (const EnclosureRow& row : result.rows) CHECK(magnitude(row.box[2]) < 1e-12);
  }

  TEST_CASE("a set across an attracting surface comes to lie on it, and slides") {
    const Enclosure result = run(R"toml(
[variables]
x = "[-0.125, 0.0625]"
y = "[0, 0.5]"
[model]
equations = ["der(x) = 0.5 - sign(x)", "der(y) = 1 + x"]
[run]
t = [0, 1]
)toml",
                                 at({0.03125, 0.5, 1}));
    REQUIRE_FALSE(result.lost.has_value());
    CHECK(holds(result, 0.03125, {0.046875, 0.03125 + 0.001708984375}, 1e-12));
    CHECK(holds(result, 0.03125, {-0.078125, 0.03125 - 0.003173828125}, 1e-12));
    for (const EnclosureRow& row : result.rows) {
      if (row.t < 0.5) continue;
      CHECK(row.box[0] == Interval(0));
      CHECK(row.multipliers[0].contains(0.5));
      CHECK(width(row.multipliers[0]) < 1e-15);
      CHECK(width(row.box[1]) < 0.6);
      CHECK(row.flag == Flag::unique);  // the relay pushes every two solutions together
      CHECK(row.how == How::contraction);
    }
  }

  TEST_CASE("an unknown weight next to 0: members that slide and members that cross") {
    const Enclosure result = run(R"toml(
[parameters]
eps = "[-0.0009765625, 0.0009765625]"
[variables]
x = -1
[model]
equations = ["der(x) = if(x > 0, -eps, 1)"]
[run]
t = [0, 3]
)toml",
                                 at({0.5, 2, 3}, 16));
    REQUIRE_FALSE(result.lost.has_value());
    for (const double t : {2.0, 3.0}) {
      CHECK(holds(result, t, {0}, 0));
      CHECK(holds(result, t, {(t - 1) * 0.0009765625}, 1e-15));
      for (const EnclosureRow& row : result.rows) {
        if (row.t != t) continue;
        CHECK(row.box[0].hi < 1.01 * (t - 1) * 0.0009765625);
        CHECK(row.box[0].lo >= 0);
      }
    }
  }

  TEST_CASE("a kink that is touched leaves the solution unique") {
    const Enclosure result = run(R"toml(
[variables]
x = 1
v = -2
y = 0
[model]
equations = ["der(x) = v", "der(v) = 2", "der(y) = abs(x)"]
[run]
t = [0, 2]
)toml",
                                 at({1, 2}));
    REQUIRE_FALSE(result.lost.has_value());
    CHECK(any_is_unique(result, 1));
    CHECK(holds(result, 2, {1, 2, 2.0 / 3}, 1e-15));
    for (const EnclosureRow& row : result.rows) {
      CHECK(width(row.box[2]) < 1e-12);
      CHECK(row.how != How::contraction);  // no law jumps
    }
  }

  TEST_CASE(
      "sets of which some slip near the end of sticking grow by what the square of their width is "
      "like") {
    // Members with |x| > |m - 2| slip at |cos| = 1, with forces of at most the width d of x and m,
    // for times of about d^(1/2): x moves by some d^2, ten times.
    const auto widened = [](double d) {
      const std::string half = std::to_string(d / 2);
      const Enclosure result =
          run("[parameters]\nm = \"2 +- " + half + "\"\n[variables]\nx = \"0 +- " + half + R"toml("
v = 0
[model]
equations = ["der(x) = v", "der(v) = 2*sin(pi*t) - x - m*sign(v)"]
[run]
t = [0, 10]
)toml",
              at({10}));
      REQUIRE_FALSE(result.lost.has_value());
      CHECK(result.pieces == 1);
      REQUIRE(result.rows.size() == 1);
      CHECK(result.rows.front().flag == Flag::unique);
      CHECK(holds(result, 10, {0, 0}, 0));
      CHECK(holds(result, 10, {d / 4, 0}, 0));  // with m = 2 + d/2 it never slips
      return width(result.rows.front().box[0]) - d;
    };
    CHECK(widened(0x1p-6) < 10 * 0x1p-12);
    CHECK(widened(0x1p-8) < 10 * 0x1p-16);
  }

  TEST_CASE("a jump that may be touched is passed, but not claimed unique") {
    EncloseOptions options = at({0.5, 2});
    options.tube = true;
    const Enclosure result = run(R"toml(
[variables]
x = 0
v = 1
y = 0
[model]
equations = ["der(x) = v", "der(v) = -1", "der(y) = step(x - 0.5)"]
[run]
t = [0, 2]
)toml",
                                 options);
    REQUIRE_FALSE(result.lost.has_value());
    CHECK_FALSE(any_is_unique(result, 1));
    CHECK(holds(result, 2, {0, -1, 0}, 1e-15));
    CHECK(width(result.rows.back().box[2]) < 1e-6);
    double end = 0;
    for (const auto& row : result.tube) {
      CHECK(row.from <= end);
      end = std::max(end, row.to);
    }
    CHECK(end == 2);
    CHECK(std::any_of(result.events.begin(), result.events.end(), [](const auto& event) {
      return event.type == "crossing" && !event.unique && event.t.contains(1.0);
    }));
  }

  TEST_CASE("multipliers without bounds and resets are not followed while they are undecided") {
    const Enclosure contact = run(R"toml(
[variables]
x = 0.5
v = -1
[model]
laws = ["f in complementarity(x)"]
equations = ["der(x) = v", "der(v) = 1 + f"]
[run]
t = [0, 2]
)toml",
                                  at({0.5, 2}));
    REQUIRE(contact.lost.has_value());
    CHECK(contact.lost->t.lo <= 1);
    const Enclosure reset = run(R"toml(
[variables]
x = 0.5
v = -1
[model]
equations = ["der(x) = v", "der(v) = 1"]
when = [{ condition = "x", direction = -1, set = { v = "2" } }]
[run]
t = [0, 2]
)toml",
                                at({0.5, 2}));
    REQUIRE(reset.lost.has_value());
    CHECK(reset.lost->t.lo <= 1);
  }
}
