#include <doctest/doctest.h>

#include <perp/lcp/enumerate.hpp>

#include "reference_problems.hpp"

using namespace perp;

namespace {

bool close(const Vector& a, const Vector& b, double tol) {
  return (a - b).cwiseAbs().maxCoeff() <= tol * std::max(1.0, b.cwiseAbs().maxCoeff());
}

/// Same set of points up to order, each compared within tol relative to max(1, size).
bool same_points(const Matrix& found, const std::vector<Vector>& wanted, double tol) {
  if (found.cols() != static_cast<Eigen::Index>(wanted.size())) return false;
  return std::all_of(wanted.begin(), wanted.end(), [&](const Vector& point) {
    for (Eigen::Index k = 0; k < found.cols(); ++k)
      if (close(found.col(k), point, tol)) return true;
    return false;
  });
}

/// Same directions up to order and positive scale.
bool same_directions(const Matrix& found, std::vector<Vector> wanted) {
  Matrix normalised = found;
  for (auto column : normalised.colwise()) column /= column.cwiseAbs().maxCoeff();
  for (Vector& direction : wanted) direction /= direction.cwiseAbs().maxCoeff();
  return same_points(normalised, wanted, 1e-12);
}

std::set<std::string> letters(const Mlcp& problem, const std::vector<Mode>& modes) {
  std::set<std::string> words;
  for (const Mode& mode : modes) {
    std::string word;
    for (std::size_t i = 0; i < mode.size(); ++i)
      word += active_set_letter(problem.laws[i], mode[i]);
    words.insert(word);
  }
  return words;
}

void check_pieces(const test::ReferenceProblem& reference, const SolutionSet& set) {
  const std::vector<Piece> found = pieces(set, 1000);
  REQUIRE(found.size() == reference.pieces.size());
  for (const test::ReferencePiece& wanted : reference.pieces) {
    const auto match = std::find_if(found.begin(), found.end(), [&](const Piece& piece) {
      return letters(reference.problem, piece.modes) == wanted.active_sets;
    });
    REQUIRE_MESSAGE(match != found.end(), *wanted.active_sets.begin());
    CHECK(match->dimension == wanted.dimension);
    CHECK(same_points(match->vertices, wanted.vertices, 1e-12));
    CHECK(same_directions(match->rays, wanted.rays));
    CHECK(same_directions(match->lines, wanted.lines));
  }
}

}  // namespace

TEST_SUITE("lcp/enumerate") {
  TEST_CASE("every reference problem is reproduced: class, counts, pieces with all their modes") {
    const auto problems = test::reference_problems();
    REQUIRE(problems.size() >= 76);
    for (const auto& reference : problems) {
      CAPTURE(reference.name);
      const SolutionSet set = enumerate(reference.problem);
      CHECK(set.complete);
      CHECK(to_string(multiplicity(set)) == reference.class_of_all);
      CHECK(count(set) == reference.count_of_all);
      CHECK(to_string(multiplicity_of_u(set)) == reference.class_of_u);
      CHECK(count_of_u(set) == reference.count_of_u);
      check_pieces(reference, set);
    }
  }
}
