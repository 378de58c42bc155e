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
