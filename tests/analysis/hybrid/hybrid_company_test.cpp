#include <doctest/doctest.h>
#include <algorithm>
#include <string>
#include <tuple>
#include <vector>

#include <perp/analysis/run/schemes.hpp>
#include <perp/models/language/hybrid/hybrid_model.hpp>
#include <perp/models/language/read_model.hpp>

namespace {

using namespace perp;

/// A part of a model: its names end with a suffix, so that parts stand beside each other.
struct Part {
  std::string variables, binaries, equations, constraints;
};

std::string with_suffix(std::string text, const std::string& suffix) {
  for (std::size_t k = 0; (k = text.find('#', k)) != std::string::npos;) text.replace(k, 1, suffix);
  return text;
}

Part named(const Part& part, const std::string& suffix) {
  return {with_suffix(part.variables, suffix), with_suffix(part.binaries, suffix),
          with_suffix(part.equations, suffix), with_suffix(part.constraints, suffix)};
}

std::string text_of(const std::vector<Part>& parts) {
  Part all;
  for (const Part& part : parts) {
    all.variables += part.variables;
    all.binaries += part.binaries;
    all.equations += part.equations;
    all.constraints += part.constraints;
  }
  return "[variables]\n" + all.variables + "[binaries]\n" + all.binaries +
         "[model]\nequations = [\n" + all.equations + "]\nconstraints = [\n" + all.constraints +
         "]\n[run]\nt = [0, 8]\nh = 0.004\n";
}

// Two heaters with a tie at every switching on; the level of a vessel that overflows and drains.
const Part heaters{
    "T# = 21\n", "a# = 0\nb# = 0\n", "\"der(T#) = 5 - 0.5*T# + 7*a# + 8*b#\",\n",
    "\"(20 - T#)*(1 - a#)*(1 - b#) <= 0\",\n\"(T# - 22)*(1 - (1 - a#)*(1 - b#)) <= 0\",\n"};
const Part vessel{"x# = 1\ny# = 0\n", "s# = 0\n",
                  "\"der(x#) = 3 - t - 0.5*x# - y#\",\n\"(1 - s#)*y# + s#*(x# - 2) = 0\",\n",
                  "\"(1 - s#)*(x# - 2) - s#*y# <= 0\",\n"};

// For these laws stand: a band, a relay that slides, a pump with a bound beside it, in which states are multiplied.
const Part room{"R# = 19.7\n", "h# = 1\n", "\"der(R#) = 2.5 - 0.15*R# + 1.7*h#\",\n",
                "\"(19.5 - R#)*(1 - h#) + (R# - 20.25)*h# <= 0\",\n"};
const Part relay{"w# = 0.5\n", "r# = {}\n", "\"der(w#) = 1.5*sin(t) - 2*r# + 0.75\",\n",
                 "\"w#*(1 - 2*r#) <= 0\",\n"};
const Part pump{"p# = 1\nm# = 2\n", "o# = 0\n",
                "\"der(p#) = 0.5*m# - p#*m#*o#\",\n\"der(m#) = 0.25 - 0.125*m#*p#\",\n",
                "\"(p# - 1.5)*(1 - o#) + (0.75 - p#)*o# <= 0\",\n\"m# <= 40\",\n"};

Trajectory run_of(const std::vector<Part>& parts, const std::string& name,
                  const std::vector<double>& times, Model& model) {
  ReadOptions known;
  known.hybrid = true;
  model = read_model_text(text_of(parts), "m.toml", {{"run.scheme", name}}, known);
  IntegrateOptions options;
  options.times = times;
  options.only_times = true;
  return scheme(name).run(model, options);
}

/// 0, 1, or 2 where it slides: laws may have their branches in another order.
int value_of(const Model& model, int law, int branch) {
  const Branch& of_law = model.laws()[static_cast<std::size_t>(law)].branches[static_cast<std::size_t>(branch)];
  return of_law.lambda.lower == of_law.lambda.upper ? static_cast<int>(of_law.lambda.lower) : 2;
}

/// Moments, words and branches of the events of binaries whose names end with a suffix.
std::vector<std::tuple<double, double, double, std::string, int, int, std::string>> events_of(
    const Trajectory& run, const Model& model, const std::string& suffix) {
  std::vector<std::tuple<double, double, double, std::string, int, int, std::string>> list;
  for (const Event& event : run.events)
    if (event.law >= 0 && model.multipliers[static_cast<std::size_t>(event.law)].ends_with(suffix))
      list.emplace_back(event.t, event.t_before, event.t_after,
                        model.multipliers[static_cast<std::size_t>(event.law)], value_of(model, event.law, event.from),
                        value_of(model, event.law, event.to),
                        event.note.substr(std::min(event.note.size(), event.note.find(';'))));  // constraints have other numbers
  return list;
}

/// Variables, binaries and events of the part with this suffix are those of its run alone, to the
/// bit.
void check_alone(const Part& part, const std::string& suffix, const Trajectory& together,
                 const Model& of_all, const std::string& name, const std::vector<double>& times) {
  Model model;
  const Trajectory alone = run_of({named(part, suffix)}, name, times, model);
  REQUIRE(alone.status == Status::solved);
  REQUIRE(alone.t == together.t);
  for (std::size_t k = 0; k < alone.t.size(); ++k) {
    CAPTURE(alone.t[k]);
    for (std::size_t j = 0; j < model.variables.size(); ++j)
      for (std::size_t i = 0; i < of_all.variables.size(); ++i)
        if (of_all.variables[i].name == model.variables[j].name)
          CHECK(alone.x[k][static_cast<Eigen::Index>(j)] ==
                together.x[k][static_cast<Eigen::Index>(i)]);
    for (std::size_t j = 0; j < model.binaries.size(); ++j)
      for (std::size_t i = 0; i < of_all.binaries.size(); ++i)
        if (of_all.multipliers[i] == model.multipliers[j])
          CHECK(alone.lambda[k][static_cast<Eigen::Index>(j)] ==
                together.lambda[k][static_cast<Eigen::Index>(i)]);
  }
  const auto own = events_of(alone, model, suffix);
  CHECK(own.size() > 1);
  CHECK((own == events_of(together, of_all, suffix)));
}

TEST_CASE("what stands beside a hybrid model changes no bit of it, also where events coincide") {
  std::vector<double> times;
  for (int k = 0; k <= 63; ++k) times.push_back(k / 8.0 + 0.001 * (k > 0 ? 1 : 0));
  for (const std::string name : {"located", "backward_euler", "theta"}) {
    CAPTURE(name);
    Model model;
    const std::vector<Part> copies{named(heaters, "1"), named(heaters, "2"), named(vessel, "3")};
    const Trajectory together = run_of(copies, name, times, model);
    CHECK(together.status == Status::solved);
    CHECK(together.provenance.at("sub-sets").starts_with("3 "));
    check_alone(heaters, "1", together, model, name, times);
    check_alone(heaters, "2", together, model, name, times);
    check_alone(vessel, "3", together, model, name, times);
  }
}

TEST_CASE("what stands beside a model whose binaries are laws changes no bit of it, laws or not") {
  const std::vector<double> times{0, 0.3, 1.7, 2.9, 4.4, 5.05, 6.1, 7.25, 8};
  const std::vector<std::pair<Part, std::string>> laws{{room, "1"}, {room, "2"}, {relay, "3"}, {pump, "4"}};
  for (const std::string name : {"located", "backward_euler"})
    for (const bool has_other : {false, true}) {
      CAPTURE(name);
      CAPTURE(has_other);
      std::vector<Part> copies;
      for (const auto& [part, suffix] : laws) copies.push_back(named(part, suffix));
      if (has_other) copies.push_back(named(heaters, "5"));
      Model model;
      const Trajectory together = run_of(copies, name, times, model);
      CHECK((model.hybrid != nullptr) == has_other);
      REQUIRE(together.status == Status::solved);
      CHECK(together.provenance.at("sub-sets").starts_with(has_other ? "5 " : "4 "));
      for (const auto& [part, suffix] : laws) check_alone(part, suffix, together, model, name, times);
      if (has_other) check_alone(heaters, "5", together, model, name, times);
    }
}

TEST_CASE("binaries and constraints of time alone change no bit of what stands beside them") {
  const Part clock{"", "c# = 0\n", "", "\"(t - 1.5)*(1 - c#) + (1.4 - t)*c# <= 0\",\n\"t - 100 <= 0\",\n"};
  const std::vector<double> times{0, 1.4, 1.6, 8};
  for (const std::string name : {"located", "backward_euler", "theta"}) {
    CAPTURE(name);
    Model model;
    const Trajectory together = run_of({named(heaters, "1"), named(clock, "2")}, name, times, model);
    REQUIRE(together.status == Status::solved);
    check_alone(heaters, "1", together, model, name, times);
    const auto changes = events_of(together, model, "2");
    REQUIRE(changes.size() == 1);
    CHECK(std::get<0>(changes[0]) == doctest::Approx(1.5).epsilon(1e-9));
    CHECK(together.lambda[2][2] == 1);
  }
}

TEST_CASE("the course of models beside each other covers the run, and its states are those of other rows") {
  ReadOptions known;
  known.hybrid = true;
  const Model model = read_model_text(text_of({named(heaters, "1"), named(vessel, "3")}), "m.toml",
                                      {{"run.scheme", "located"}}, known);
  IntegrateOptions asked;
  asked.only_times = true;
  asked.times.push_back(0);
  for (int k = 0; k < 56; ++k) asked.times.push_back((k + 0.3) / 7);  // no event there
  asked.times.push_back(8);
  const Trajectory rows = scheme("located").run(model, asked);
  REQUIRE(rows.status == Status::solved);
  REQUIRE(rows.t == asked.times);
  double told = 0, largest = 0;
  std::size_t next = 0;
  IntegrateOptions options;
  options.course = [&](const StepCourse& course) {
    CHECK(course.start == told);
    told = course.end;
    for (; next < rows.t.size() && rows.t[next] <= course.end; ++next) {
      const double share = (rows.t[next] - course.start) / (course.end - course.start);
      largest = std::max(largest, (course.at(share).x - rows.x[next]).cwiseAbs().maxCoeff());
    }
  };
  scheme("located").run(model, options);
  CHECK(told == 8);
  CHECK(next == rows.t.size());
  CHECK(largest <= 1e-8);
}

TEST_CASE("rows of models beside each other hold the values of binaries, and the modes, to the bit") {
  const Part tank{"p# = 0.3\n", "k# = 1\nl# = 1\n", "\"der(p#) = 1.1*k# - 0.4 - 0.2*p#*p#\",\n",
                  "\"(0.2 - p#)*(1 - k# + l#) <= 0\",\n\"(p# - 0.45)*(1 - l# + k#) <= 0\",\n"};
  std::vector<double> times;
  for (int k = 1; k < 400; ++k) times.push_back(8 * k / 400.0);
  for (const std::string name : {"located", "backward_euler"}) {
    CAPTURE(name);
    Model model;
    const Trajectory run = run_of({named(heaters, "1"), named(tank, "2")}, name, times, model);
    REQUIRE(run.size() > 300);
    for (std::size_t row = 1; row < run.size(); ++row)
      for (int i = 0; i < model.hybrid->q(); ++i) {
        const double z = run.lambda[row][i];
        CHECK((z == 0 || z == 1));
        CHECK(run.mode[row][static_cast<std::size_t>(i)] == static_cast<int>(z));
      }
  }
}

TEST_CASE("models beside each other end where the first of them ends, with its word") {
  const Part ending{"w# = 1\nv# = 1\n", "z# = 0\n",
                    "\"der(w#) = -0.25 + z#\",\n\"der(v#) = 0\",\n",
                    "\"-w#*(1 - z#) + z# <= 0\",\n\"v#*z# <= 0\",\n"};
  for (const std::string name : {"located", "backward_euler"}) {
    CAPTURE(name);
    Model model;
    const Trajectory run = run_of({named(heaters, "1"), named(ending, "2")}, name, {}, model);
    CHECK(run.status != Status::solved);
    CHECK(run.status == run_of({named(ending, "2")}, name, {}, model).status);
    CHECK(run.message.find("4") != std::string::npos);
    for (const Event& event : run.events) CHECK(event.t <= 4 + 1e-9);
    CHECK(run.t.back() <= 4 + 1e-9);
  }
}

}  // namespace
