#include <doctest/doctest.h>
#include <fmt/format.h>
#include <cmath>
#include <string>

#include <perp/analysis/run/schemes.hpp>
#include <perp/models/language/read_model.hpp>

namespace {

/// Rooms in a ring, each with a band of its own, of which laws with memory stand for the binaries.
std::string ring(int n) {
  std::string variables, binaries, equations, constraints;
  for (int i = 0; i < n; ++i) {
    variables += fmt::format("x{} = {}\n", i, 19.3 + 0.37 * (i * 7 % n) / n);
    binaries += fmt::format("z{} = {}\n", i, i % 3 == 2 ? 1 : 0);
    equations += fmt::format("\"der(x{0}) = -0.1*(x{0} - 5) + 0.2*(x{1} - x{0}) + 4*z{0}\",", i, (i + 1) % n);
    constraints += fmt::format("\"({1} - x{0})*(1 - z{0}) + (x{0} - {2})*z{0} <= 0\",", i, 19.03 + 0.01 * (i % 5), 20.05 + 0.01 * (i % 3));
  }
  return fmt::format("[variables]\n{}[binaries]\n{}[model]\nequations = [{}]\nconstraints = [{}]\n[run]\nt = [0, 1]\nh = 0.01\n",
                     variables, binaries, equations, constraints);
}

}  // namespace

TEST_SUITE("analysis/hybrid/run/many_laws") {
  TEST_CASE("affine models of more laws with memory than all modes are looked at for run as the located scheme does") {
    for (const int n : {6, 10, 16}) {
      CAPTURE(n);
      const perp::Model captured = perp::read_model_text(ring(n), "ring.toml", {{"run.scheme", "backward_euler"}}, {.hybrid = true});
      const perp::Model located = perp::read_model_text(ring(n), "ring.toml", {{"run.scheme", "located"}}, {.hybrid = true});
      const perp::Trajectory steps = perp::scheme("backward_euler").run(captured, {}), exact = perp::scheme("located").run(located, {});
      REQUIRE(steps.status == perp::Status::solved);
      REQUIRE(exact.status == perp::Status::solved);
      REQUIRE(steps.events.size() >= static_cast<std::size_t>(n));
      for (int j = 0; j < n; ++j) CHECK(std::abs(steps.x.back()[j] - exact.x.back()[j]) < 0.03);
    }
  }
}
