#include <doctest/doctest.h>
#include <cmath>

#include <perp/analysis/hybrid/hybrid_modes.hpp>
#include <perp/models/language/hybrid/read_hybrid.hpp>
#include <perp/tests/analysis/hybrid/mode_judge.hpp>
#include <perp/tests/from_environment.hpp>
#include <perp/tests/thinned.hpp>

namespace {

using namespace perp;
using namespace perp::test;

constexpr unsigned usual = is_sanitized ? 40 : 200;

/// How many models: PERP_HYBRID_MODELS in the environment, else as many as seconds allow.
unsigned models() { return test::from_environment("PERP_HYBRID_MODELS", usual); }

/// What `perp modes` would say, by the names of the signals.
struct Answer {
  HybridContinuations found;
  std::vector<std::vector<double>> y;
  std::string text;

  [[nodiscard]] const HybridContinuation* chosen() const {
    return found.chosen ? &found.list[static_cast<std::size_t>(*found.chosen)] : nullptr;
  }
};

Answer ask(const RandomHybrid& m, const Writing& writing) {
  Answer answer;
  answer.text = HybridText(m, writing).text();
  const HybridModel model = *read_hybrid_model_text(answer.text, "m.toml");
  std::vector<double> previous(m.previous.begin(), m.previous.end());
  HybridModes modes(model);
  answer.found = modes.continuations(0, model.head.x0(), previous);
  for (const HybridContinuation& c : answer.found.list) {
    std::vector<double> y;
    for (int i = 0; i < m.p; ++i)
      for (int j = 0; j < model.n(); ++j)
        if (model.head.variables[static_cast<std::size_t>(j)].name == "y" + std::to_string(i + 1))
          y.push_back(c.x[j] / (writing.units.empty()
                                    ? 1
                                    : writing.units[static_cast<std::size_t>(m.y(i))]));
    answer.y.push_back(std::move(y));
  }
  return answer;
}

bool is_near(double a, double b, double tolerance) {
  return std::abs(a - b) <= tolerance * std::max(1.0, std::abs(b));
}

bool is_same(const JudgedContinuation& judged, const HybridContinuation& c,
             const std::vector<double>& y) {
  if (judged.released != c.released || judged.is_strict != c.is_strict) return false;
  for (std::size_t i = 0; i < c.z.size(); ++i)
    if (!is_near(c.z[i], to_double(judged.z[i]), 1e-9)) return false;
  for (std::size_t i = 0; i < y.size(); ++i)
    if (!is_near(y[i], to_double(judged.y[i]), 1e-9)) return false;
  return true;
}

std::string shown(const std::vector<JudgedContinuation>& list) {
  std::string text;
  for (const JudgedContinuation& c : list) {
    for (const Rational& z : c.z) text += z.str() + " ";
    for (const Rational& y : c.y) text += "y " + y.str() + " ";
    text += c.is_strict ? "strict\n" : "weak\n";
  }
  return text;
}

std::string shown(const Answer& answer) {
  std::string text = answer.found.decided_by + "\n";
  for (std::size_t k = 0; k < answer.found.list.size(); ++k) {
    for (const double z : answer.found.list[k].z) text += std::to_string(z) + " ";
    for (const double y : answer.y[k]) text += "y " + std::to_string(y) + " ";
    text += answer.found.list[k].is_strict ? "strict\n" : "weak\n";
  }
  for (const Exclusion& exclusion : answer.found.excluded) {
    text += "not ";
    for (const int z : exclusion.z) text += std::to_string(z) + " ";
    for (const int row : exclusion.rows) text += "row " + std::to_string(row) + " ";
    text += exclusion.why + "\n";
  }
  return text;
}

bool agrees(const std::vector<JudgedContinuation>& judged, const Answer& answer) {
  if (judged.size() != answer.found.list.size()) return false;
  std::vector<char> taken(judged.size(), 0);
  for (std::size_t k = 0; k < judged.size(); ++k) {
    std::size_t i = 0;
    while (i < judged.size() &&
           (taken[i] != 0 || !is_same(judged[i], answer.found.list[k], answer.y[k])))
      ++i;
    if (i == judged.size()) return false;
    taken[i] = 1;
  }
  return true;
}

/// Another way to write the same model.
Writing rewritten(const RandomHybrid& m, HybridGenerator& random, bool has_units) {
  Writing w;
  const auto shuffled = [&](int count) {
    std::vector<int> order;
    for (int k = 0; k < count; ++k)
      order.insert(order.begin() + random.whole(0, k), k);
    return order;
  };
  w.equations = shuffled(m.n + m.p);
  w.constraints = shuffled(static_cast<int>(m.rows.size()));
  w.variables = shuffled(m.n + m.p);
  for (std::size_t l = 0; l < m.rows.size(); ++l)
    w.factors.push_back(std::array{1e-6, 0.3, 1.0, 7.0, 1e5}[static_cast<std::size_t>(random.whole(0, 4))]);
  for (int v = 0; has_units && v < m.n + m.p; ++v)
    w.units.push_back(std::array{1e-9, 0.001, 1.0, 1.8, 3e6}[static_cast<std::size_t>(random.whole(0, 4))]);
  return w;
}

bool is_same_choice(const Answer& a, const Answer& b) {
  if (a.found.chosen.has_value() != b.found.chosen.has_value()) return false;
  if (a.found.decided_by != b.found.decided_by) return false;
  if (!a.found.chosen) return true;
  if (a.chosen()->released != b.chosen()->released) return false;
  for (std::size_t i = 0; i < a.chosen()->z.size(); ++i)
    if (!is_near(a.chosen()->z[i], b.chosen()->z[i], 1e-9)) return false;
  const std::vector<double>& y = a.y[static_cast<std::size_t>(*a.found.chosen)];
  const std::vector<double>& w = b.y[static_cast<std::size_t>(*b.found.chosen)];
  for (std::size_t i = 0; i < y.size(); ++i)
    if (!is_near(y[i], w[i], 1e-9)) return false;
  return true;
}

TEST_CASE(
    "random models: continuations are those that a judge finds value by value in rational numbers, "
    "and the choice does not depend on orders, factors and units") {
  int judged_models = 0, none = 0, several = 0, sliding = 0, weak = 0, two_roots = 0, bad = 0, not_shown = 0;
  for (unsigned seed = 1; seed <= models(); ++seed) {
    HybridGenerator random(seed);
    const RandomHybrid m = random.draw(seed % 8 == 0 ? 8 : 4);
    ModeJudge judge(m);
    const std::vector<JudgedContinuation> wanted = judge.continuations(3);
    if (!judge.is_judged) continue;
    ++judged_models;
    none += wanted.empty() ? 1 : 0;
    several += wanted.size() > 1 ? 1 : 0;
    two_roots += m.roots.first >= 0 ? 1 : 0;
    for (const JudgedContinuation& c : wanted) {
      sliding += c.released.empty() ? 0 : 1;
      weak += c.is_strict ? 0 : 1;
    }
    const Answer answer = ask(m, {});
    CAPTURE(seed);
    CAPTURE(answer.text);
    CAPTURE(shown(wanted));
    CAPTURE(shown(answer));
    const bool is_right = agrees(wanted, answer);
    CHECK(is_right);
    not_shown += answer.found.is_complete ? 0 : 1;
    CHECK(answer.found.status == (wanted.empty() ? Status::no_solution : Status::solved));
    for (const bool has_units : {false, true}) {
      const Answer other = ask(m, rewritten(m, random, has_units));
      CAPTURE(other.text);
      CAPTURE(shown(other));
      CHECK(agrees(wanted, other));
      CHECK(is_same_choice(answer, other));
      bad += is_right && agrees(wanted, other) ? 0 : 1;
    }
    if (bad > 8) break;
  }
  MESSAGE(judged_models, " models, ", none, " none, ", several, " several, ", sliding, " sliding, ",
          weak, " weak, ", two_roots, " two roots");
  CHECK(judged_models > static_cast<int>(models()) / 2);
  CHECK(none > 0);
  CHECK(not_shown <= judged_models / 20);  // sliding values where states multiply binaries: no bounds yet
  CHECK(several > judged_models / 10);
  CHECK(sliding > 0);
}

}  // namespace
