#include <doctest/doctest.h>
#include <fmt/format.h>
#include <algorithm>
#include <string>
#include <vector>

#include <perp/models/language/read_model.hpp>
#include <perp/schemes/integrate.hpp>

using namespace perp;

namespace {

/// A relay with a chain of states behind it, each driven by the one before; `back` acts on the relay.
Model relay_with_chain(int length, double back = 0) {
  std::string variables = "[variables]\nx = -0.3\n",
              equations = fmt::format("\"der(x) = 0.4*sin(1.7*t) - sign(x - 0.1) - 0.3*x{}\"",
                                      back == 0 ? "" : fmt::format(" + {}*w{}", back, length));
  for (int k = 1; k <= length; ++k) {
    variables += fmt::format("w{} = 0\n", k);
    equations += fmt::format(", \"der(w{}) = {} - w{}\"", k, k == 1 ? "x" : fmt::format("w{}", k - 1), k);
  }
  return read_model_text(variables + "[model]\nequations = [" + equations + "]\n[run]\nt = [0, 10]\n", "a chain");
}

std::vector<EventKind> kinds(const Trajectory& run) {
  std::vector<EventKind> list;
  for (const Event& event : run.events) list.push_back(event.kind);
  return list;
}

}  // namespace

TEST_SUITE("schemes/capturing/chains") {
  TEST_CASE("states behind a relay change nothing of it, at any length of the chain and of the steps") {
    const Model alone = relay_with_chain(0);
    for (const double theta : {1.0, 0.5})
      for (const double h : {0.01, 0.003})
        for (const bool asks : {false, true}) {
          IntegrateOptions options;
          if (asks) options.times = {0.0, 0.7071, 1.2345, 5.4321, 10.0};  // steps of lengths of their own
          const Theta scheme{.h = h, .theta = theta};
          const Trajectory wanted = integrate(alone.lcs(), alone.x0(), {0, 10}, scheme, options);
          REQUIRE(wanted.status == Status::solved);
          REQUIRE(wanted.events.size() > 0);
          for (const int length : {13, 30, 66}) {
            CAPTURE(theta);
            CAPTURE(h);
            CAPTURE(asks);
            CAPTURE(length);
            const Model chain = relay_with_chain(length);
            const Trajectory run = integrate(chain.lcs(), chain.x0(), {0, 10}, scheme, options);
            REQUIRE(run.status == Status::solved);
            CHECK(kinds(run) == kinds(wanted));
            REQUIRE(run.x.size() == wanted.x.size());
            double apart = 0;
            for (std::size_t k = 0; k < run.x.size(); ++k)
              apart = std::max(apart, std::abs(run.x[k][0] - wanted.x[k][0]));
            CHECK(apart < 1e-12);
          }
        }
  }

  TEST_CASE("nor of a contact in front of seventy states and more, whose units are powers of a coarse step") {
    const auto model = [](int length) {
      std::string variables = "[variables]\nx1 = 1.836\nx2 = 1.798\nx3 = 0.902\nx4 = 1.822\n",
                  equations = "\"der(x1) = -0.672*x2 - 0.217*x3 + 0.479*x4\", "
                              "\"der(x2) = -0.708*x2 + 0.163*x1 + 1.137*x3 - 1.08*x4 + 0.45*s\", "
                              "\"der(x3) = -0.981*x4 + 0.823*cos(4.955*t + 0.3)\", \"der(x4) = -0.833*x4 - 1.082*x2\"";
      for (int k = 1; k <= length; ++k) {
        variables += fmt::format("w{} = 0\n", k);
        equations += fmt::format(", \"der(w{0}) = {1} - w{0}\"", k, k == 1 ? "x2" : fmt::format("w{}", k - 1));
      }
      return read_model_text(variables + "[model]\nlaws = [\"0 <= s perp 0.81*x4 - 0.96 + 0.472*s >= 0\"]\nequations = [" +
                                 equations + "]\n[run]\nt = [0, 3.8]\n",
                             "a chain");
    };
    const Theta scheme{.h = 0.0297578125, .theta = 1};
    const Model alone = model(0);
    const Trajectory wanted = integrate(alone.lcs(), alone.x0(), alone.run.span, scheme);
    REQUIRE(wanted.events.size() == 1);
    for (const int length : {64, 72, 90}) {
      CAPTURE(length);
      const Model chain = model(length);
      const Trajectory run = integrate(chain.lcs(), chain.x0(), chain.run.span, scheme);
      REQUIRE(run.status == Status::solved);
      REQUIRE(run.events.size() == 1);
      CHECK(run.events[0].t == doctest::Approx(wanted.events[0].t).epsilon(1e-12));
      REQUIRE(run.x.size() == wanted.x.size());
      for (std::size_t k = 0; k < run.x.size(); ++k) CHECK((run.x[k].head(4) - wanted.x[k]).norm() < 1e-11);
    }
  }

  TEST_CASE("nor does a chain that acts back by next to nothing") {
    const Model alone = relay_with_chain(0);
    const Theta scheme{.h = 0.01};
    const Trajectory wanted = integrate(alone.lcs(), alone.x0(), {0, 10}, scheme);
    for (const double back : {1e-12, 1e-30, 1e-100}) {
      CAPTURE(back);
      const Model chain = relay_with_chain(30, back);
      const Trajectory run = integrate(chain.lcs(), chain.x0(), {0, 10}, scheme);
      REQUIRE(run.status == Status::solved);
      CHECK(kinds(run) == kinds(wanted));
      CHECK(std::abs(run.x.back()[0] - wanted.x.back()[0]) < 1e-10);
    }
  }
}
