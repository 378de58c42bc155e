#include <doctest/doctest.h>
#include <fmt/format.h>
#include <random>
#include <string>
#include <vector>

#include <perp/analysis/run/schemes.hpp>
#include <perp/models/language/read_model.hpp>

using namespace perp;

namespace {

Trajectory run_of(const std::string& text) {
  const Model model = read_model_text(text, "start.toml");
  return scheme(model.run.scheme).run(model, {});
}

}  // namespace

TEST_SUITE("schemes/located") {
  TEST_CASE("a law with memory on the end of its declared branch stays there where the run does, whatever branch another one cannot have") {
    // y = 1 lets h1 be high alone: x' = -2 from the upper end of h0's low branch.
    const std::string first = "{ law = \"h0 in hysteresis(x, -1.0, 0.25)\", start = \"low\" }";
    for (const std::string scheme : {"located", "backward_euler", "theta"})
      for (const std::string start : {", start = \"low\"", ", start = \"high\"", ""})
        for (const bool swapped : {false, true})
          for (const bool by_name : {false, true}) {
            const std::string second = fmt::format("{{ law = \"h1 in hysteresis({}, -0.75, 0.5)\"{} }}", by_name ? "z" : "y", start);
            const std::string text = fmt::format(
                "[variables]\nx = 0.25\ny = 1\n{}[model]\nequations = [\"der(x) = 1 + 1.5*h0 - 3*h1\", \"der(y) = 0\"{}]\nlaws = [{}, {}]\n"
                "[run]\nt = [0, 0.4]\nh = 0.01\nscheme = \"{}\"\n",
                by_name ? "z = 1\n" : "", by_name ? ", \"z = y\"" : "", swapped ? second : first, swapped ? first : second, scheme);
            CAPTURE(text);
            const Trajectory run = run_of(text);
            REQUIRE(run.status == Status::solved);
            CHECK(run.x.back()[0] == doctest::Approx(-0.55).epsilon(1e-9));
          }
  }

  TEST_CASE("random laws with memory on their ends start as short steps of backward Euler do") {
    std::mt19937 random(3);
    const auto one_of = [&](const auto& list) { return list[random() % list.size()]; };
    const std::vector<double> rates{-3, -2, -1, 1, 1.5, 3}, places{-1, 0.25, 0.5, -0.75, 1, 2, 0};
    const std::vector<std::string> starts{"", ", start = \"low\"", ", start = \"high\""};
    for (int k = 0; k < 60; ++k) {
      std::string text = fmt::format("[variables]\nx = {}\ny = {}\n[model]\n", one_of(places), one_of(places));
      text += fmt::format("equations = [\"der(x) = {} + {}*h0 + {}*h1\", ", one_of(rates), one_of(rates), one_of(rates));
      text += fmt::format("\"der(y) = {}*({} + {}*h0 + {}*h1)\"]\n", random() % 3 == 0 ? 1 : 0, one_of(rates), one_of(rates), one_of(rates));
      text += fmt::format("laws = [{{ law = \"h0 in hysteresis(x, -1.0, 0.25)\"{} }}, ", one_of(starts));
      text += fmt::format("{{ law = \"h1 in hysteresis(y, -1.0, 0.25)\"{} }}]\n", one_of(starts));
      CAPTURE(text);
      const std::string span = "[run]\nt = [0, 0.1]\nh = 0.0001\n";
      const Trajectory located = run_of(text + span + "scheme = \"located\"\n"), steps = run_of(text + span + "scheme = \"backward_euler\"\n");
      REQUIRE(located.status == steps.status);
      CHECK((located.x.back() - steps.x.back()).cwiseAbs().maxCoeff() < 0.01);  // a tenth of the least difference of rates
    }
  }
}
