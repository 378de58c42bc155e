#include <doctest/doctest.h>

#include <perp/lcp/enumeration/enumerate.hpp>

#include <perp/tests/lcp/reference_problems.hpp>

using namespace perp;

TEST_SUITE("lcp/exact") {
  TEST_CASE("the exact enumeration gives the reference data's fractions and integer directions") {
    for (const auto& reference : test::reference_problems()) {
      CAPTURE(reference.name);
      Fractions fractions;
      const SolutionSet set = enumerate_exact(reference.problem, {}, &fractions);
      CHECK(set.complete);
      CHECK(count(set) == reference.count_of_all);
      CHECK(count_of_u(set) == reference.count_of_u);
      REQUIRE(fractions.size() == set.blocks.size());
      if (set.blocks.size() > 1) continue;  // the reference lists products, not blocks
      REQUIRE(fractions[0].size() == reference.pieces.size());
      for (std::size_t k = 0; k < fractions[0].size(); ++k) {
        const std::set<std::vector<std::string>> vertices(fractions[0][k].begin(),
                                                          fractions[0][k].end());
        const auto match =
            std::find_if(reference.pieces.begin(), reference.pieces.end(),
                         [&](const auto& piece) { return piece.exact_vertices == vertices; });
        REQUIRE(match != reference.pieces.end());
        const Piece& piece = set.blocks[0].pieces[k];
        for (const auto& [found, wanted] :
             {std::pair{piece.rays, match->rays}, {piece.lines, match->lines}}) {
          CHECK(found.cols() == static_cast<Eigen::Index>(wanted.size()));
          for (const Vector& direction : wanted) {
            bool present = false;
            for (Eigen::Index j = 0; j < found.cols(); ++j)
              present = present || found.col(j) == direction;
            CHECK(present);
          }
        }
      }
    }
  }
}
