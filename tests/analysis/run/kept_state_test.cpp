#include <doctest/doctest.h>
#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include <perp/analysis/run/kept_run.hpp>
#include <perp/analysis/run/schemes.hpp>
#include <perp/core/base/archive.hpp>
#include <perp/core/base/error.hpp>
#include <perp/models/language/run_options.hpp>
#include <perp/models/language/read_model.hpp>
#include <perp/tests/thinned.hpp>

using namespace perp;

namespace {

/// All numbers of a run, bit by bit.
std::string bytes_of(Trajectory run) {
  Archive archive;
  archive(run);
  return archive.bytes();
}

bool same_bits(double a, double b) { return std::memcmp(&a, &b, sizeof a) == 0; }

bool same_bits(const Vector& a, const Vector& b) {
  return a.size() == b.size() && (a.size() == 0 || std::memcmp(a.data(), b.data(), sizeof(double) * static_cast<std::size_t>(a.size())) == 0);
}

bool same_bits(const Step& a, const Step& b) {
  return same_bits(a.t, b.t) && same_bits(a.x, b.x) && same_bits(a.lambda, b.lambda) && same_bits(a.w, b.w) && a.mode == b.mode;
}

struct Rows {
  std::vector<Step> list{};
  Trajectory end{};
};

/// The rows that are told, from `from` on, or from the start. `kept`: states behind these rows, by their number.
Rows rows_of(const Model& model, const std::string& from, const std::vector<std::size_t>& at, std::vector<std::string>* kept) {
  Rows rows;
  std::size_t next = 0;
  IntegrateOptions options;
  options.keep = false;
  options.bounds = model.bounds();
  options.observer = [&](const Step& step) {
    rows.list.push_back(step);
    return true;
  };
  options.state.from = from;
  if (kept != nullptr) {
    options.state.due = [&] { return next < at.size() && rows.list.size() > at[next]; };
    options.state.keep = [&](const std::string& state) {
      kept->push_back(state);
      while (next < at.size() && rows.list.size() > at[next]) ++next;
    };
  }
  rows.end = scheme(model.run.scheme).run(model, options);
  return rows;
}

Model model_of(const std::string& name, const std::string& scheme_name, const std::string& more) {
  std::vector<Override> overrides{{"run.scheme", scheme_name}};
  if (!more.empty()) overrides.push_back({"run.selector", more});
  Model model = read_model(find_model(name), overrides, {.hybrid = true});
  if (model.run.h == 0) model.run.h = (model.run.span.end - model.run.span.start) / 400;
  // Some hundred steps: what is kept is looked at step by step.
  model.run.h = std::max(model.run.h, (model.run.span.end - model.run.span.start) / 400);
  return model;
}

/// Rows behind which the state is kept: around the first events, and some others.
std::vector<std::size_t> places(const Rows& rows) {
  std::vector<std::size_t> list{0, rows.list.size() / 3, rows.list.size() / 2, rows.list.size() - 2};
  int events = 0;
  for (std::size_t k = 0; k + 1 < rows.list.size() && events < 2; ++k)
    if (rows.list[k].mode != rows.list[k + 1].mode) {
      list.insert(list.end(), {k, k + 1, k + 2});
      ++events;
    }
  std::sort(list.begin(), list.end());
  list.erase(std::unique(list.begin(), list.end()), list.end());
  std::erase_if(list, [&](std::size_t k) { return k + 1 >= rows.list.size(); });
  return list;
}

/// Of every state that is kept: the run from it is the rest of the undisturbed one.
void check_model(const Model& model) {
  const Rows undisturbed = rows_of(model, "", {}, nullptr);
  if (undisturbed.list.size() < 4) return;
  std::vector<std::string> kept;
  const Rows watched = rows_of(model, "", places(undisturbed), &kept);
  CHECK(bytes_of(watched.end) == bytes_of(undisturbed.end));
  CHECK_FALSE(kept.empty());
  for (const std::string& state : kept) {
    const Rows rest = rows_of(model, state, {}, nullptr);
    CHECK(bytes_of(rest.end) == bytes_of(undisturbed.end));
    REQUIRE(rest.list.size() < undisturbed.list.size());
    const std::size_t first = undisturbed.list.size() - rest.list.size();
    std::size_t wrong = 0;
    for (std::size_t k = 0; k < rest.list.size(); ++k)
      if (!same_bits(rest.list[k], undisturbed.list[first + k])) ++wrong;
    CHECK(wrong == 0);
  }
}

/// The end of a run without rows. `kept`: its states at every 15th question.
Trajectory end_of(const Model& model, const std::string& from, std::vector<std::string>* kept) {
  long questions = 0;
  IntegrateOptions options;
  options.keep = false;
  options.state.from = from;
  if (kept != nullptr) {
    options.state.due = [&questions] { return ++questions % 15 == 0; };
    options.state.keep = [kept](const std::string& state) { kept->push_back(state); };
  }
  return scheme(model.run.scheme).run(model, options);
}

/// The same where nobody asks for rows, and parts tell each other nothing.
void check_without_rows(const Model& model) {
  const std::string undisturbed = bytes_of(end_of(model, "", nullptr));
  std::vector<std::string> kept;
  CHECK(bytes_of(end_of(model, "", &kept)) == undisturbed);
  CHECK(kept.size() > 1);
  for (const std::string& state : kept) CHECK(bytes_of(end_of(model, state, nullptr)) == undisturbed);
}

}  // namespace

TEST_SUITE("analysis/run/kept_state") {
  TEST_CASE("a run of the zoo that goes on from a kept state has the bits of the undisturbed one") {
    for (const std::string scheme_name : {"backward_euler", "theta", "moreau_jean", "located"}) {
      int runs = 0;
      for (const std::string& name : test::thinned(zoo(), 4)) {
        CAPTURE(name);
        CAPTURE(scheme_name);
        try {
          const Model model = model_of(name, scheme_name, "");
          check_run(model);
          check_kept_state(model, "test");
          check_model(model);
          ++runs;
        } catch (const InvalidInput&) {
          continue;  // no model of this scheme, or of those whose state is not kept
        }
      }
      CHECK(runs >= (scheme_name == "moreau_jean" ? 2 : 20) / test::stride_of_cases(4));
    }
  }

  TEST_CASE("the same with the selectors that look at more than the present mode") {
    for (const std::string selector : {"minimal_norm", "continuation", "first"})
      for (const std::string name : {"switching_dae_repulsive", "switching_dae_jump", "stick_slip", "diode_bridge", "branch"}) {
        CAPTURE(selector);
        CAPTURE(name);
        check_model(model_of(name, "backward_euler", selector));
      }
  }

  TEST_CASE("parts that share no equation are kept with what waits between them") {
    for (const std::string scheme_name : {"backward_euler", "theta", "located"})
      for (const char* const second : {"der(v) = -sign(v) + 2*sin(3*t)", "der(v) = -v^3 + sin(3*t) - 0.4*sign(v - 0.3)"}) {
        CAPTURE(scheme_name);
        CAPTURE(second);
        const Model model = read_model_text(std::string(R"toml(
[variables]
x = 1
y = 0
v = 0.5
[model]
equations = ["der(x) = y", "der(y) = -x - 0.3*sign(y)", ")toml") + second + R"toml("]
[run]
t = [0, 7]
h = 0.02
)toml", "two.toml", {{"run.scheme", scheme_name}});
        check_model(model);
        check_without_rows(model);
      }
  }

  TEST_CASE("runs of binaries with many unknowns are kept within modes, by series and by whole steps") {
    for (const std::string name : {"rooms", "tanks"})
      for (const std::string scheme_name : {"backward_euler", "theta", "located"})
        for (const std::string N : {"9", "70"}) {
          if (N == "70" && scheme_name == "theta") continue;  // steps of dense matrices
          CAPTURE(name);
          CAPTURE(scheme_name);
          CAPTURE(N);
          Model model = read_model(find_model(name), {{"run.scheme", "located"}, {"N", N}}, {.hybrid = true});
          model.run.scheme = scheme_name;  // with its binaries, not with laws
          model.run.span.end = name == "rooms" ? 1.5 : 60;
          model.run.h = model.run.span.end / 60;
          REQUIRE(model.hybrid != nullptr);
          check_model(model);
          if (scheme_name != "located") check_without_rows(model);
        }
  }

  TEST_CASE("runs of few binaries, also such that slide, are kept within their modes") {
    int runs = 0;
    for (const std::string name : {"one_tank_sliding", "shared_flow_sliding", "three_tank_binaries", "converter", "overflow"})
      for (const std::string scheme_name : {"backward_euler", "theta", "located"}) {
        CAPTURE(name);
        CAPTURE(scheme_name);
        Model model = read_model(find_model(name), {{"run.scheme", "located"}}, {.hybrid = true});
        if (model.hybrid == nullptr) continue;  // laws stand for them
        ++runs;
        model.run.scheme = scheme_name;
        model.run.h = (model.run.span.end - model.run.span.start) / 400;
        check_model(model);
      }
    CHECK(runs >= 6);
  }

  TEST_CASE("the same of parts with binaries of their own, beside one that no binary holds") {
    for (const std::string scheme_name : {"backward_euler", "theta", "located"}) {
      CAPTURE(scheme_name);
      Model model = read_model_text(R"toml(
[parameters]
N = 9
[variables]
x = { size = "N", start = "19.3 + 0.0041*mod(37*(i - 1), 101)" }
y = { size = "N", start = "20.2 - 0.0031*mod(31*(i - 1), 101)" }
p = 1
q = 0
[binaries]
z = { size = "N", start = 0 }
s = { size = "N", start = 1 }
[model]
equations = [
  "for i in 1:N: der(x[i]) = -0.1*(x[i] - 5) + 0.2*(if(i > 1, x[i-1] - x[i], 0)) + 4*z[i]*(1 - if(i < N, 0.3*z[i+1], 0))",
  "for i in 1:N: der(y[i]) = -0.2*(y[i] - 5) + 0.1*(if(i < N, y[i+1] - y[i], 0)) + 6*s[i]*(1 - if(i < N, 0.3*s[i+1], 0))",
  "der(p) = q",
  "der(q) = -p - 0.1*q^3",
]
constraints = [
  "for i in 1:N: (19 + 0.01*mod(3*(i - 1), 7) - x[i])*(1 - z[i]) + (x[i] - 20 - 0.01*mod(5*(i - 1), 7))*z[i] <= 0",
  "for i in 1:N: (19.5 + 0.01*mod(3*(i - 1), 7) - y[i])*(1 - s[i]) + (y[i] - 20.5 - 0.01*mod(5*(i - 1), 7))*s[i] <= 0",
]
[run]
t = [0, 1.5]
h = 0.025
)toml", "two.toml", {{"run.scheme", "located"}}, {.hybrid = true});
      REQUIRE(model.hybrid != nullptr);
      model.run.scheme = scheme_name;
      check_model(model);
      check_without_rows(model);
    }
  }

  TEST_CASE("runs whose state is not kept are refused by name") {
    CHECK_THROWS_WITH_AS(check_kept_state(model_of("stick_slip", "enclosure", ""), "--checkpoint"),
                         doctest::Contains("scheme enclosure"), InvalidInput);
  }

  TEST_CASE("bytes that are no state of a run are refused") {
    const Model model = model_of("stick_slip", "backward_euler", "");
    std::vector<std::string> kept;
    rows_of(model, "", {50}, &kept);
    REQUIRE(kept.size() == 1);
    for (const std::string& state : {kept[0].substr(0, kept[0].size() / 2), kept[0] + "x", std::string("x")})
      CHECK_THROWS_AS(rows_of(model, state, {}, nullptr), ArchiveError);
  }
}
