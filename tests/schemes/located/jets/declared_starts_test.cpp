#include <doctest/doctest.h>
#include <fmt/format.h>
#include <string>

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
}
