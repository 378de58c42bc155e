#include <doctest/doctest.h>

#include <perp/lcp/enumerate.hpp>

#include "reference_problems.hpp"

using namespace perp;

TEST_SUITE("lcp/nearest") {
  TEST_CASE("minimal norm and all minimisers of every reference problem to 1e-12") {
    for (const auto& reference : test::reference_problems()) {
      CAPTURE(reference.name);
      const SolutionSet set = enumerate(reference.problem);
      const Nearest found = nearest(reference.problem, set, reference.norm);
      if (!reference.solvable) {
        CHECK(found.status == Status::no_solution);
        CHECK(found.minimisers.empty());
        continue;
      }
      REQUIRE(found.status == Status::solved);
      const double value = reference.minimal_squared_norm;
      CHECK(std::abs(found.norm * found.norm - value) <= 1e-12 * std::max(1.0, value));
      std::vector<Vector> points;  // in the coordinates of the norm, repeated ones once
      for (const Solution& solution : found.minimisers) {
        CHECK(solution.residual <= solution_tolerance);
        Vector y(solution.u.size() + solution.lambda.size());
        y << solution.u, solution.lambda;
        const Vector point = y(reference.norm_indices);
        if (std::none_of(points.begin(), points.end(), [&](const Vector& other) {
              return (other - point).norm() <= 1e-9 * std::max(1.0, point.norm());
            }))
          points.push_back(point);
      }
      REQUIRE(points.size() == reference.minimisers.size());
      for (const Vector& wanted : reference.minimisers)
        CHECK(std::any_of(points.begin(), points.end(), [&](const Vector& point) {
          return (point - wanted).cwiseAbs().maxCoeff() <=
                 1e-12 * std::max(1.0, wanted.cwiseAbs().maxCoeff());
        }));
    }
  }
}
