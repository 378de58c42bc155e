#include <doctest/doctest.h>
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <numbers>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <perp/analysis/sweep/counter_random.hpp>
#include <perp/analysis/sweep/sobol.hpp>
#include <perp/analysis/sweep/sweep.hpp>
#include <perp/core/base/error.hpp>
#include <perp/models/language/read_model.hpp>

using namespace perp;

namespace {

const std::string decay =
    "[parameters]\nk = 1\n[variables]\nx = 1\n[model]\nequations = [\"der(x) = -k*x\"]\n"
    "[run]\nt = [0, 2]\nh = 0.5\nscheme = \"located\"\ntol = 1e-11\n";

/// x' = r x - x^3 has the two attractors ±sqrt(r) for r > 0.
const std::string pitchfork =
    "[parameters]\nr = 1\n[variables]\nx = 0.001\n[model]\nequations = [\"der(x) = r*x - x^3 + 0.01\"]\n"
    "[run]\nt = [0, 400]\nh = 100\nscheme = \"located\"\n";

SweepRequest request_of(const std::string& text) {
  SweepRequest request;
  request.read = [text](const std::vector<Override>& set) { return read_model_text(text, "swept.toml", set); };
  return request;
}

SweepResult made(SweepRequest request) {
  request.points.prepare(request.read({}));
  return sweep(request);
}

}  // namespace

TEST_SUITE("analysis/sweep") {
  TEST_CASE("where runs have other variables than the first one their measures stand side by side, their states do not") {
    const std::string family =
        "[parameters]\nN = 3\n[variables]\nx = { size = \"N\", start = \"i\" }\ny = 100\n[model]\n"
        "equations = [\"for i in 1:N: der(x[i]) = 0\", \"der(y) = 1\"]\n[run]\nt = [0, 1]\nh = 0.5\n";
    SweepRequest request = request_of(family);
    request.points.axes = {{"N", {2, 3, 4}}};
    request.measures = {"e=end(y)"};
    for (const SweepRun& run : made(request).runs) CHECK(*run.measures[0].value == 101);
    SweepRequest followed = request, kept = request, sectioned = request;
    followed.follow = Follow::up;
    kept.keeps = true;
    sectioned.section = "every:0.5";
    for (const SweepRequest& states : {followed, kept, sectioned}) CHECK_THROWS_AS(made(states), InvalidInput);
  }

  TEST_CASE("a grid is run in its order with the same numbers for any number of threads") {
    SweepRequest request = request_of(decay);
    request.points.axes = {{"k", {0.5, 1, 2}}, {"x", {1, 3}}};
    request.measures = {"e=end(x)", "n=count(jump)"};
    const SweepResult one = made(request);
    REQUIRE(one.runs.size() == 6);
    for (long k = 0; k < 6; ++k) {
      const SweepRun& run = one.runs[static_cast<std::size_t>(k)];
      const double rate = request.points.axes[0].values[static_cast<std::size_t>(k / 2)];
      const double start = request.points.axes[1].values[static_cast<std::size_t>(k % 2)];
      CHECK(run.status == Status::solved);
      CHECK(*run.measures[0].value == doctest::Approx(start * std::exp(-2 * rate)).epsilon(1e-9));
    }
    request.threads = 3;
    const SweepResult three = made(request);
    for (std::size_t k = 0; k < 6; ++k) CHECK(three.runs[k].measures[0].value == one.runs[k].measures[0].value);
  }

  TEST_CASE("axes side by side give one run for each pair of values, and must be of one length") {
    SweepRequest request = request_of(decay);
    request.points.axes = {{"k", {0.5, 1}}, {"x(0)", {1, 3}}};
    request.points.side_by_side = true;
    request.measures = {"e=end(x)"};
    const SweepResult result = made(request);
    REQUIRE(result.runs.size() == 2);
    CHECK(*result.runs[1].measures[0].value == doctest::Approx(3 * std::exp(-2)).epsilon(1e-9));
    request.points.axes[0].values.push_back(2);
    CHECK_THROWS_AS(made(request), InvalidInput);
  }

  TEST_CASE("draws depend on seed, name and run alone and have the distributions that they name") {
    const Model model = read_model_text(decay, "decay.toml");
    SweepPoints points;
    points.runs = 20000;
    points.draws = {parse_draw(model, "k", "normal(1, 0.1)"), parse_draw(model, "x", "uniform(-1, k)")};
    points.prepare(model);
    double sum = 0, squares = 0, low = 1, high = -1;
    for (long k = 0; k < points.runs; ++k) {
      const std::vector<double> values = points.values(k);
      sum += values[0] - 1;
      squares += (values[0] - 1) * (values[0] - 1);
      low = std::min(low, values[1]);
      high = std::max(high, values[1]);
    }
    CHECK(std::abs(sum / 20000) < 4 * 0.1 / std::sqrt(20000.0));
    CHECK(std::sqrt(squares / 20000) == doctest::Approx(0.1).epsilon(0.03));
    CHECK(low == doctest::Approx(-1).epsilon(1e-3));
    CHECK(high == doctest::Approx(1).epsilon(1e-3));
    SweepPoints alone = points;
    alone.draws.erase(alone.draws.begin());
    alone.runs = 10;
    CHECK(alone.values(7)[0] == points.values(7)[1]);
    const std::vector<double> third = points.values(3);
    points.seed = 2;
    CHECK(points.values(3) != third);
  }

  TEST_CASE("a Latin hypercube has one draw of each name in each of its parts") {
    const Model model = read_model_text(decay, "decay.toml");
    SweepPoints points;
    points.runs = 100;
    points.sampling = Sampling::latin_hypercube;
    points.draws = {parse_draw(model, "k", "uniform(0, 1)"), parse_draw(model, "x", "uniform(0, 1)")};
    points.prepare(model);
    for (std::size_t name = 0; name < 2; ++name) {
      std::set<int> parts;
      for (long k = 0; k < 100; ++k) parts.insert(static_cast<int>(100 * points.values(k)[name]));
      CHECK(parts.size() == 100);
    }
  }

  TEST_CASE("a Sobol sequence: each dyadic part of a line holds one of 2^m points, each dyadic cell of the first two coordinates too") {
    const std::uint32_t count = 256;
    for (std::size_t d = 0; d < sobol_dimensions; ++d)
      for (const std::uint32_t first : {0U, 5 * count}) {
        std::set<std::uint32_t> parts;
        for (std::uint32_t k = 0; k < count; ++k) parts.insert(sobol(d, first + k) >> 24U);
        CHECK(parts.size() == count);
      }
    for (unsigned int bits = 0; bits <= 8; ++bits) {
      std::set<std::uint32_t> cells;
      for (std::uint32_t k = 0; k < count; ++k)
        cells.insert(static_cast<std::uint32_t>((std::uint64_t{sobol(0, k)} >> (32 - bits)) << (8 - bits) |
                                                std::uint64_t{sobol(1, k)} >> (24 + bits)));
      CHECK(cells.size() == count);
    }
    // Joe and Kuo's points 1 to 3 of three coordinates, times 8.
    const std::array<std::array<unsigned int, 3>, 3> points{{{4, 4, 4}, {2, 6, 6}, {6, 2, 2}}};
    for (std::uint32_t k = 1; k <= 3; ++k)
      for (std::size_t d = 0; d < 3; ++d) CHECK((sobol(d, k) >> 29U) == points[k - 1][d]);
  }

  TEST_CASE("draws of a Sobol sequence: a mean of a smooth function is some hundred times nearer than of random ones, in any order of names") {
    const Model model = read_model_text(decay, "decay.toml");
    const auto error_of = [&](Sampling sampling, std::uint64_t seed) {
      SweepPoints points;
      points.runs = 4096;
      points.seed = seed;
      points.sampling = sampling;
      points.draws = {parse_draw(model, "k", "uniform(0, 1)"), parse_draw(model, "x", "uniform(0, 1)")};
      points.prepare(model);
      double sum = 0;
      for (long k = 0; k < points.runs; ++k) {
        const std::vector<double> u = points.values(k);
        CHECK((u[0] > 0 && u[0] < 1 && u[1] > 0 && u[1] < 1));
        sum += u[0] * std::exp(u[1]);
      }
      return std::abs(sum / 4096 - (std::numbers::e - 1) / 2);
    };
    double of_sobol = 0, of_random = 0;
    for (std::uint64_t seed = 1; seed <= 8; ++seed) {
      of_sobol += error_of(Sampling::sobol, seed);
      of_random += error_of(Sampling::random, seed);
    }
    CHECK(30 * of_sobol < of_random);
    SweepPoints points, turned;
    for (SweepPoints* one : {&points, &turned}) one->runs = 8, one->sampling = Sampling::sobol;
    points.draws = {parse_draw(model, "k", "normal(0, 1)"), parse_draw(model, "x", "uniform(0, 1)")};
    turned.draws = {points.draws[1], points.draws[0]};
    points.prepare(model);
    turned.prepare(model);
    for (long k = 0; k < 8; ++k) {
      CHECK(points.values(k)[0] == turned.values(k)[1]);
      CHECK(points.values(k)[1] == turned.values(k)[0]);
    }
    std::string many = "[parameters]\n";
    for (std::size_t k = 0; k <= sobol_dimensions; ++k) many += "p" + std::to_string(k) + " = 1\n";
    const Model wide = read_model_text(many + "[variables]\nx = 0\n[model]\nequations = [\"der(x) = p0\"]\n[run]\nt = [0, 1]\nh = 1\n", "wide.toml");
    turned.draws.clear();
    for (std::size_t k = 0; k < sobol_dimensions; ++k) turned.draws.push_back(parse_draw(wide, "p" + std::to_string(k), "uniform(0, 1)"));
    CHECK_NOTHROW(turned.prepare(wide));
    turned.draws.push_back(parse_draw(wide, "p" + std::to_string(sobol_dimensions), "uniform(0, 1)"));
    CHECK_THROWS_WITH_AS(turned.prepare(wide), "sampling sobol: 33 names are drawn; expected at most 32, or sampling lhs", InvalidInput);
    CHECK_THROWS_AS(parse_sampling("sobl", "--sampling"), InvalidInput);
    CHECK(parse_sampling("sobol", "--sampling") == Sampling::sobol);
  }

  TEST_CASE("the generator gives the published words of Philox 4x32-10, and streams that differ") {
    using Block = std::array<std::uint32_t, 4>;
    CHECK(philox({0, 0, 0, 0}, 0) == Block{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8});
    CHECK(philox({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, 0x299f31d0a4093822) ==
          Block{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1});
    const CounterRandom a(1, "a");
    CHECK(a.uniform(0) != CounterRandom(1, "b").uniform(0));
    CHECK(a.uniform(0) != CounterRandom(2, "a").uniform(0));
    CHECK(a.uniform(0) != a.uniform(1));
  }

  TEST_CASE("skip leaves out the first points of each section, and no others") {
    SweepRequest request = request_of(decay);
    request.points.axes = {{"k", {1, 2}}};
    request.section = "every:1/4";
    request.points.prepare(request.read({}));
    const SweepResult all = sweep(request);
    request.skip = 2;
    const SweepResult later = sweep(request);
    for (std::size_t run = 0; run < 2; ++run) {
      REQUIRE(all.runs[run].section.size() > 3);
      REQUIRE(later.runs[run].section.size() + 2 == all.runs[run].section.size());
      CHECK(later.runs[run].section.front().t == all.runs[run].section[2].t);
    }
    request.skip = 1000;
    CHECK(sweep(request).runs[0].section.empty());
    request.section = "";
    CHECK_THROWS_AS(check_sweep(request), InvalidInput);
  }

  TEST_CASE("the argument of a law passes 0 where its formula does, by every scheme") {
    for (const std::string scheme : {"backward_euler", "theta", "located"}) {
      CAPTURE(scheme);
      SweepRequest request = request_of(
          "[parameters]\na = 0.1\n[variables]\nx = 0\nv = 1\n[model]\n"
          "equations = [\"der(x) = v\", \"der(v) = -x - a*sign(v + 0.5)\"]\n[run]\nt = [0, 40]\nh = 0.003\nscheme = \"" + scheme + "\"\n");
      request.points.axes = {{"a", {0.05, 0.1}}};
      for (const std::string way : {"up", "down"}) {
        request.section = "w1=0:" + way;
        const SweepResult argument = made(request);
        request.section = "v+0.5=0:" + way;
        const SweepResult formula = made(request);
        for (std::size_t run = 0; run < 2; ++run) {
          REQUIRE(formula.runs[run].section.size() >= 2);
          REQUIRE(argument.runs[run].section.size() == formula.runs[run].section.size());
          for (std::size_t k = 0; k < formula.runs[run].section.size(); ++k)
            CHECK(std::abs(argument.runs[run].section[k].t - formula.runs[run].section[k].t) <= 0.0031);  // a step, where it slides between
        }
      }
    }
  }

  TEST_CASE("a stroboscope shows the end of the span where only rounding lies between") {
    SweepRequest request = request_of(decay);
    request.points.axes = {{"k", {1}}};
    for (const auto& [period, count] : {std::pair("0.1", 20U), std::pair("0.4", 5U), std::pair("0.025", 80U), std::pair("2/3", 3U), std::pair("0.3", 6U)}) {
      request.section = std::string("every:") + period;
      CHECK(made(request).runs[0].section.size() == count);
    }
  }

  TEST_CASE("sections: stroboscopic, before events, and where a formula passes a value") {
    SweepRequest request = request_of(
        "[parameters]\nw = 1\n[variables]\nx = 0\nv = 1\n[model]\nequations = [\"der(x) = v\", \"der(v) = -w^2*x\"]\n"
        "[run]\nt = [0, 20]\nh = 1\nscheme = \"located\"\ntol = 1e-12\n");
    request.points.axes = {{"w", {1, 2}}};
    request.section = "every:2*pi/w";
    request.after = "pi";
    const SweepResult every = made(request);
    REQUIRE(every.runs[0].section.size() == 3);
    REQUIRE(every.runs[1].section.size() == 6);
    for (const SweepRun& run : every.runs)
      for (const SectionPoint& point : run.section) {
        CHECK(std::abs(point.x[0]) < 1e-9);
        CHECK(point.x[1] == doctest::Approx(1).epsilon(1e-9));
      }
    request.section = "x=0.5/w:down";
    const SweepResult passing = made(request);
    REQUIRE(passing.runs[0].section.size() == 2);
    for (std::size_t k = 0; k < 2; ++k)
      CHECK(passing.runs[0].section[k].t ==
            doctest::Approx(M_PI * (5.0 / 6 + 2 * static_cast<double>(k + 1))).epsilon(1e-10));
    request.section = "every:0";
    CHECK_THROWS_AS(made(request), InvalidInput);
    request.section = "crosing";
    CHECK_THROWS_AS(made(request), InvalidInput);
  }

  TEST_CASE("a sweep that follows finds both attractors where they coexist") {
    SweepRequest request = request_of(pitchfork);
    SweepAxis axis{"r", {}};
    for (int k = 0; k <= 10; ++k) axis.values.push_back(-0.2 + 0.12 * k);
    request.points.axes = {axis};
    request.measures = {"x=end(x)"};
    request.follow = Follow::both;
    const SweepResult result = made(request);
    REQUIRE(result.runs.size() == 22);
    CHECK_FALSE(result.runs[20].is_down);
    CHECK(result.runs[21].is_down);
    for (const SweepRun& run : result.runs) {
      const double r = axis.values[static_cast<std::size_t>(run.point)], x = *run.measures[0].value;
      CHECK(std::abs(r * x - x * x * x + 0.01) < 1e-6);
    }
    request.points.draws = {parse_draw(request.read({}), "x", "uniform(0,1)")};
    request.points.runs = 2;
    CHECK_THROWS_AS(made(request), InvalidInput);
  }

  TEST_CASE("a run that ends early is a row with its status, wrong input names its run") {
    SweepRequest request = request_of(
        "[parameters]\na = 1\n[variables]\nx = 1\n[model]\nequations = [\"der(x) = a*x^2\"]\n"
        "[run]\nt = [0, 2]\nh = 0.1\nscheme = \"located\"\n");
    request.points.axes = {{"a", {0.1, 1}}};
    request.measures = {"e=end(x)"};
    const SweepResult result = made(request);
    CHECK(result.runs[0].status == Status::solved);
    CHECK(result.runs[1].status != Status::solved);
    CHECK(result.runs[1].t_end <= 1);
    CHECK(result.is_complete);
    request.after = "3*a";
    try {
      made(request);
      FAIL("accepted");
    } catch (const InvalidInput& error) {
      CHECK(std::string(error.what()).find("run 2 (a=1)") != std::string::npos);
    }
    request.after.clear();
    request.points.axes = {{"b", {0.1, 1}}};
    CHECK_THROWS_AS(made(request), InvalidInput);
  }

  TEST_CASE("measures of events, modes and ends are those of runs that tell every row, by every scheme, of several parts and binaries too") {
    const std::string two_parts =
        "[parameters]\nk = 1\n[variables]\nx = 1\ny = 2\nx1 = 0\n[model]\nequations = [\"der(x) = -k*sign(x)\", "
        "\"der(y) = -k*sign(y - 1)\", \"0 = x1 - y - sign(y - 1)\"]\n[run]\nt = [0, 3]\nh = 0.01\n";
    const ModelText binaries = read_model_file(find_model("three_tank_binaries"), {.hybrid = true});
    for (const char* scheme : {"backward_euler", "theta", "located"})
      for (const bool is_hybrid : {false, true}) {
        SweepRequest request;
        request.read = [&](std::vector<Override> set) {
          set.push_back({"run.scheme", scheme});
          return is_hybrid ? binaries.read(set) : read_model_text(two_parts, "swept.toml", set);
        };
        request.points.axes = {{is_hybrid ? "c" : "k", is_hybrid ? std::vector<double>{4000, 4400} : std::vector<double>{0.5, 2}}};
        request.measures = {"n=count(mode_change) + count(sliding_entry)", "e=end(x1)"};
        const SweepResult few = made(request);
        request.measures.emplace_back("m=max(x1)");
        const SweepResult all = made(request);
        for (std::size_t k = 0; k < 2; ++k)
          for (std::size_t i = 0; i < 2; ++i) {
            CAPTURE(scheme);
            CAPTURE(is_hybrid);
            REQUIRE(all.runs[k].measures[i].value.has_value());
            CHECK(few.runs[k].measures[i].value == all.runs[k].measures[i].value);
          }
      }
  }

  TEST_CASE("a window beyond the span is as long as the span, at the end of a longer run") {
    SweepRequest request = request_of(decay);  // t in [0, 2]
    request.points.axes = {{"k", {0.5, 1, 2}}};
    request.measures = {"e=end(x)", "m=mean(x)"};
    request.after = "3/k";
    request.extends_span = true;
    const SweepResult result = made(request);
    for (const SweepRun& run : result.runs) {
      const double k = run.values[0], from = 3 / k, end = from < 2 ? 2 : from + 2;
      CHECK(run.t_end == doctest::Approx(end).epsilon(1e-15));
      CHECK(*run.measures[0].value == doctest::Approx(std::exp(-k * end)).epsilon(1e-9));
      const double mean = (std::exp(-k * from) - std::exp(-k * end)) / k / (end - from);
      CHECK(*run.measures[1].value == doctest::Approx(mean).epsilon(1e-9));
    }
    request.extends_span = false;
    CHECK_THROWS_AS(made(request), InvalidInput);
  }
}
