// A variable with derivative 1 beside a model is the time in every row: no step is told to be as long as
// another one that was made in its place.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include <perp/models/language/read_model.hpp>
#include <perp/schemes/integrate.hpp>
#include <perp/schemes/run/run.hpp>
#include <perp/tests/paths.hpp>

using namespace perp;

namespace {

/// Of h: rests of a step that are taken for its end.
constexpr double shortest_rest = 1e-9;

/// The text of a model of equations with a clock before its variables; empty: it is no such model.
std::string with_clock(std::string text) {
  const std::string variables = "[variables]\n", equations = "equations = [";
  const auto first = text.find(variables), second = text.find(equations);
  if (first == std::string::npos || second == std::string::npos) return {};
  const auto from = text.find("t = [", second);
  if (from == std::string::npos) return {};
  const double start = std::stod(text.substr(from + 5));
  text.insert(second + equations.size(), "\"der(own_clock) = 1\", ");
  text.insert(first + variables.size(), fmt::format("own_clock = {}\n", start));
  return text;
}

/// The largest |clock − t| in h, of all rows.
double largest_lag(const Trajectory& run, double h) {
  double largest = 0;
  for (std::size_t k = 0; k < run.size(); ++k)
    largest = std::max(largest, std::abs(run.x[k][0] - run.t[k]) / h);
  return largest;
}

void check_clock(const std::string& text, const std::string& name) {
  const Model model = read_model_text(text, name, {}, {.hybrid = true});
  if (model.hybrid != nullptr) return;  // its steps are those of modes
  if (model.system.affine() != nullptr) return;
  for (const double factor : {1.0, 3.0}) {
    const double h = factor * model.run.h;
    const Trajectory run =
        integrate(model.system.functions(), model.x0(), model.run.span, BackwardEuler{.h = h});
    INFO(name, ", h = ", h);
    const double rounding = std::numeric_limits<double>::epsilon() *
                            static_cast<double>(run.size()) *
                            std::max(std::abs(model.run.span.start), std::abs(model.run.span.end));
    CHECK(largest_lag(run, h) <= 100 * shortest_rest + rounding / h);
  }
}

std::string read_text(const std::filesystem::path& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// ẋ = 1 with a change of mode at every t ≥ 0.5 that is solved by the first attempt at the whole step
/// alone, as from a guess that is gone after a `restore`: what attempts leave is the state of another step.
class Forgetful final : public Scheme {
 public:
  Attempt start(double t, const Vector& x0, double /*h*/, std::vector<Event>& /*events*/) override {
    now_ = trial_ = {t, x0, Vector::Zero(1), Vector::Zero(1), {0}};
    return {Status::solved, true, 0, 0};
  }
  Attempt attempt(double t_next, double h) override {
    const bool is_new = t_next >= 0.5;
    const bool is_whole = h > 0.9 * whole;
    if (is_new && is_whole && has_failed_) return {Status::not_solved, false, 0, 0};
    has_failed_ = has_failed_ || (is_new && is_whole);
    trial_ = {t_next, now_.x + Vector::Constant(1, h), now_.lambda, now_.w, {is_new ? 1 : 0}};
    return {Status::solved, trial_.mode == now_.mode, 0, 0};
  }
  [[nodiscard]] const std::string& message() const override { return message_; }
  void accept() override { before_ = std::exchange(now_, trial_); }
  [[nodiscard]] double attempted_norm() const override { return (trial_.x - now_.x).norm(); }
  [[nodiscard]] const Vector& attempted() const override { return trial_.x; }
  [[nodiscard]] double t() const override { return now_.t; }
  [[nodiscard]] const Vector& x() const override { return now_.x; }
  const Vector& lambda() override { return now_.lambda; }
  const Vector& w() override { return now_.w; }
  [[nodiscard]] const Mode& mode() const override { return now_.mode; }
  void restore(const Step& state) override { now_ = state; }
  void interpolate(double s, Vector& x) const override { x = (1 - s) * before_.x + s * now_.x; }
  std::vector<Departure> departures() override { return {}; }
  std::vector<std::pair<Mode, double>> violations(double /*h*/) override { return {}; }
  void count(Counts& /*counts*/) const override {}

  static constexpr double whole = 0.2;

 private:
  Step now_, before_, trial_;
  bool has_failed_ = false;
  std::string message_ = "forgotten";
};

}  // namespace

TEST_SUITE("schemes/clocks") {
  TEST_CASE("a step that is not solved again is not taken by the state of a shorter one") {
    for (const bool split : {false, true}) {
      Forgetful scheme;
      const Law law{"law", {{1, 0, 0, {-inf, 0}, {}}, {1, 0, 0, {0, inf}, {}}}};
      const Trajectory trajectory = run(scheme, {law}, Vector::Zero(1), {0, 1}, Forgetful::whole,
                                        {.split = split}, {});
      CAPTURE(split);
      CHECK(trajectory.size() > 3);
      CHECK(largest_lag(trajectory, Forgetful::whole) <= shortest_rest);
    }
  }

  TEST_CASE("where the right side has no derivative on the surface every step is as long as it says") {
    for (const std::string right :
         {"-1.5*sqrt(abs(x))*sign(x) - 0.5", "if(x > 0, -1.5*sqrt(abs(x)), 1.5*sqrt(abs(x))) - 0.5",
          "-abs(x)^0.3*sign(x) - 0.5", "-1 + 0.2*abs(x)^0.3*sign(x)"})
      check_clock(with_clock("[variables]\nx = 0.1\n[model]\nequations = [\"der(x) = " + right +
                             "\"]\n[run]\nt = [0, 1]\nh = 0.001\n"),
                  right);
    check_clock(with_clock("[variables]\nx = 0.1\nv = -0.3\n[model]\nequations = [\n"
                           "\"der(x) = v\", \"der(v) = if(x < 0, 100*abs(x)^1.5, 0) - 0.2\"]\n"
                           "[run]\nt = [0, 3]\nh = 0.003\n"),
                "a contact after Hertz");
  }

  TEST_CASE("beside the models of the zoo and the hard ones a clock shows the time") {
    int models = 0;
    for (const std::string& folder : {test::models_path(""), test::data_path("/hard_models")})
      for (const auto& entry : std::filesystem::directory_iterator(folder)) {
        if (entry.path().extension() != ".toml") continue;
        const std::string text = with_clock(read_text(entry.path()));
        if (text.empty()) continue;
        check_clock(text, entry.path().filename().string());
        ++models;
      }
    CHECK(models > 20);
  }
}
