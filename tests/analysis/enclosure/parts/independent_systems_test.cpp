#include <doctest/doctest.h>
#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include <perp/analysis/enclosure/exact_model.hpp>
#include <perp/analysis/enclosure/inconsistent_start.hpp>
#include <perp/analysis/enclosure/parts/independent_systems.hpp>

using namespace perp;
using enclosure::Box;
using enclosure::EncloseOptions;
using enclosure::Enclosure;
using enclosure::EnclosureEvent;
using enclosure::EnclosureRow;
using enclosure::Flag;
using enclosure::Interval;

TEST_SUITE_BEGIN("analysis/enclosure/parts");

namespace {

enclosure::ExactModel model_of(const std::string& text) {
  return enclosure::read_exact_model(text + "[run]\nt = [0, 8]\n", "parts.toml");
}

Enclosure enclosed(const std::string& text) {
  EncloseOptions options;
  options.times = {0, 1, 2, 4, 8};
  return model_of(text).enclose(options);
}

constexpr const char* mass = R"toml(
[variables]
x = "[1.995, 2.005]"
v = "[-0.005, 0.005]"
[model]
equations = ["der(x) = v", "der(v) = -sign(x)"]
)toml";

bool is_same(const Interval& a, const Interval& b) { return a.lo == b.lo && a.hi == b.hi; }

}  // namespace

TEST_CASE(
    "company without coupling, implicit, sliding or reset, changes no bit of rows and events") {
  const Enclosure alone = enclosed(mass);
  const Enclosure beside = enclosed(R"toml(
[variables]
q = "[0.69, 0.7]"
x = "[1.995, 2.005]"
w = 0
h = 1
v = "[-0.005, 0.005]"
u = 0
[model]
equations = ["w = q + q^3", "der(x) = v", "der(h) = u", "der(q) = 0.2 - w", "der(v) = -sign(x)", "der(u) = -1 - 0.1*sign(h - 0.9)"]
when = [{ condition = "h", direction = -1, set = { u = "-0.8*u" } }]
)toml");
  REQUIRE(!alone.lost);
  REQUIRE(!beside.lost);
  REQUIRE(alone.rows.size() == beside.rows.size());
  for (std::size_t k = 0; k < alone.rows.size(); ++k) {
    const EnclosureRow &row = beside.rows[k], &own = alone.rows[k];
    CHECK(row.t == own.t);
    CHECK(row.flag == own.flag);
    CHECK(is_same(row.box[1], own.box[0]));
    CHECK(is_same(row.box[4], own.box[1]));
    CHECK(row.box.size() == 6);
  }
  std::vector<EnclosureEvent> events = beside.events;
  const int law = static_cast<int>(alone.events.size());
  REQUIRE(law > 0);
  std::erase_if(events,
                [](const EnclosureEvent& event) { return event.law != 0 || event.reset >= 0; });
  const auto resets = std::count_if(beside.events.begin(), beside.events.end(),
                                    [](const EnclosureEvent& event) { return event.reset == 0; });
  CHECK(resets > 0);
  REQUIRE(events.size() == alone.events.size());
  for (std::size_t k = 0; k < events.size(); ++k) {
    CHECK(is_same(events[k].t, alone.events[k].t));
    CHECK(events[k].unique == alone.events[k].unique);
  }
}

TEST_CASE("two solutions of one part and one of the other are two branches, none of them unique") {
  const Enclosure found = enclosed(R"toml(
[variables]
x1 = 0
x2 = -1
z = 0
y = "[0.9, 1.1]"
[model]
equations = ["der(x1) = 1 - z", "der(x2) = 0.5*z", "x2 = abs(x1) + sign(x1)", "der(y) = -y"]
)toml");
  REQUIRE(!found.lost);
  const auto at_end = std::count_if(found.rows.begin(), found.rows.end(),
                                    [](const EnclosureRow& row) { return row.t == 8; });
  CHECK(at_end == 2);
  for (const EnclosureRow& row : found.rows) {
    CHECK((row.t == 0 || row.flag == Flag::all));
    CHECK(row.box[3].contains(std::exp(-row.t)));
    CHECK(row.box[3].lo > 0.89 * std::exp(-row.t));
  }
}

TEST_CASE("where combinations of branches are too many, rows hold branches of one part together") {
  const auto copies = [](int count) {
    std::string variables = "[variables]\n", equations = "[model]\nequations = [";
    for (int k = 1; k <= count; ++k) {
      const auto name = [k](const char* base) { return base + std::to_string(k); };
      variables += name("x") + " = 0\n" + name("y") + " = -1\n" + name("z") + " = 0\n";
      equations += "\"der(" + name("x") + ") = 1 - " + name("z") + "\", \"der(" + name("y") +
                   ") = 0.5*" + name("z") + "\", \"" + name("y") + " = abs(" + name("x") +
                   ") + sign(" + name("x") + ")\", ";
    }
    return model_of(variables + equations + "]\n");
  };
  EncloseOptions options;
  options.times = {0, 1, 2, 4, 8};
  options.branches = 4;
  const Enclosure one = copies(1).enclose(options), three = copies(3).enclose(options);
  REQUIRE(!one.lost);
  REQUIRE(!three.lost);
  CHECK(one.joined == 0);
  CHECK(three.joined == 2);
  const auto rows_at = [](const Enclosure& found, double t) {
    std::vector<EnclosureRow> rows = found.rows;
    std::erase_if(rows, [t](const EnclosureRow& row) { return row.t != t; });
    return rows;
  };
  for (const double t : {1.0, 8.0}) {
    const std::vector<EnclosureRow> single = rows_at(one, t), joint = rows_at(three, t);
    REQUIRE(single.size() == 2);
    CHECK(joint.size() == 4);
    for (unsigned chosen = 0; chosen < 8; ++chosen) {  // a solution for each part
      const auto holds = [&](const EnclosureRow& row) {
        for (std::size_t k = 0; k < 3; ++k)
          for (std::size_t i = 0; i < 3; ++i)
            if (!row.box[3 * k + i].contains(single[(chosen >> k) & 1U].box[i])) return false;
        return true;
      };
      CHECK(std::any_of(joint.begin(), joint.end(), holds));
    }
    for (const EnclosureRow& row : joint) CHECK(row.flag == Flag::all);
  }
  for (const EnclosureRow& row : copies(12).enclose({}).rows) CHECK(row.branch < 64);
}

TEST_CASE(
    "where one part is lost nothing is claimed of the others, and its law is that of the whole") {
  const Enclosure found = enclosed(R"toml(
[variables]
y = 3
x1 = -0.5
x2 = -0.5
z = 0
[model]
equations = ["der(y) = -sign(y)", "der(x1) = 1 + z", "der(x2) = 2*z", "x2 = abs(x1) + sign(x1)"]
)toml");
  REQUIRE(found.lost);
  CHECK(found.lost->t.contains(0.75));
  CHECK(found.lost->law > 0);
  CHECK(found.lost->mode.size() == 2);
  for (const EnclosureRow& row : found.rows) CHECK(row.t < 0.76);
  CHECK(found.rows.size() == 1);
  for (const EnclosureEvent& event : found.events) CHECK(event.t.lo <= 0.76);
}

TEST_CASE("an equation that the start does not fulfil is told by its number in the whole") {
  enclosure::ExactModel model = model_of(R"toml(
[variables]
y = 3
x1 = -5
x2 = 4
z = 0
[model]
equations = ["der(y) = -y", "der(x1) = 1 - 0.5*z", "der(x2) = z", "x2 = -x1 - 1"]
)toml");
  model.start[2] = Interval(3);
  model.exact = {};
  const auto try_it = [&] {
    enclosure::enclose(model.system, model.start, model.values, model.span);
  };
  CHECK_THROWS_WITH_AS(try_it(), doctest::Contains("equation 4"), enclosure::InconsistentStart);
}

TEST_CASE("laws, resets and shared algebraic unknowns couple, parameters and time do not") {
  const auto count = [](const std::string& text) {
    return enclosure::independent_systems(model_of(text).system).size();
  };
  const std::string start = "[parameters]\na = \"[1, 2]\"\n[variables]\nx = 1\ny = 1\n";
  CHECK(count(start + "[model]\nequations = [\"der(x) = -a*x*t\", \"der(y) = -a*y*t\"]\n") == 2);
  CHECK(count(start +
              "[model]\nequations = [\"der(x) = -sign(t - 1)\", \"der(y) = -sign(t - 1)\"]\n") ==
        1);
  CHECK(count(start + "[model]\nequations = [\"der(x) = -sign(y)\", \"der(y) = -y\"]\n") == 1);
  CHECK(count(start +
              "[model]\nequations = [\"der(x) = -x\", \"der(y) = -y\"]\n"
              "when = [{ condition = \"x - 0.5\", direction = -1, set = { y = \"1\" } }]\n") == 1);
  CHECK(count(start +
              "u = 0\n[model]\nequations = [\"der(x) = -x\", \"der(y) = -y\", \"u = sin(t)\"]\n") ==
        2);
}

TEST_SUITE_END();
