#include <doctest/doctest.h>
#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>

#include <perp/tests/cli/program.hpp>
#include <perp/tests/lcp/compare_pieces.hpp>
#include <perp/tests/lcp/reference_problems.hpp>
#include <perp/tests/lcp/transformed_problem.hpp>
#include <perp/tests/thinned.hpp>

using namespace perp;
using nlohmann::json;
using perp::test::Folder;
using perp::test::Outcome;
using perp::test::perp_program;

namespace {

json rows_of(const Matrix& matrix) {
  json rows = json::array();
  for (const auto& row : matrix.rowwise())
    rows.push_back(std::vector<double>(row.begin(), row.end()));
  return rows;
}

json list_of(const Vector& values) {
  json list = json::array();
  for (const double value : values)
    list.push_back(std::isfinite(value) ? json(value) : json(value > 0 ? "inf" : "-inf"));
  return list;
}

/// The bounds of a law that is a box.
Range box_of(const Law& law) {
  Range range{inf, -inf};
  for (const Branch& branch : law.branches) {
    if (branch.a != 0) return branch.lambda;  // w = 0
    range.lower = std::min(range.lower, branch.c / branch.b);
    range.upper = std::max(range.upper, branch.c / branch.b);
  }
  return range;
}

/// The problem and the norm as `perp mlcp` reads them. The weights are exact: a unit is a power of
/// two.
json file_of(const test::ReferenceProblem& reference, const test::Transformed& other) {
  const Mlcp& problem = other.problem;
  const int p = problem.p(), m = problem.m();
  Vector lower(m), upper(m);
  for (int i = 0; i < m; ++i) {
    const Range box = box_of(problem.laws[static_cast<std::size_t>(i)]);
    lower[i] = box.lower;
    upper[i] = box.upper;
  }
  json indices = json::array(), centre = json::array(), weights = json::array();
  for (int j = 0; j < p + m; ++j) {
    const int from = other.order[static_cast<std::size_t>(j)];
    if (reference.weights[from] == 0) continue;
    indices.push_back(j);
    centre.push_back(reference.norm.center[from] / other.unit[j]);
    weights.push_back(reference.weights[from] * other.unit[j] * other.unit[j]);
  }
  return {{"name", reference.name},
          {"p", p},
          {"m", m},
          {"Auu", rows_of(problem.M11)},
          {"Aul", rows_of(problem.M12)},
          {"au", list_of(problem.q1)},
          {"Alu", rows_of(problem.M21)},
          {"All", rows_of(problem.M22)},
          {"al", list_of(problem.q2)},
          {"lower", list_of(lower)},
          {"upper", list_of(upper)},
          {"norm", {{"indices", indices}, {"ref", centre}, {"weights", weights}}}};
}

/// The letters in the given order of the laws.
std::set<std::string> letters_back(const test::Transformed& other, const json& active_sets) {
  std::set<std::string> words;
  for (const json& item : active_sets) {
    const auto there = item.get<std::string>();
    std::string word = there;
    for (std::size_t i = 0; i < there.size(); ++i)
      word[static_cast<std::size_t>(other.laws[i])] = there[i];
    words.insert(word);
  }
  return words;
}

Matrix columns_of(const json& points, Eigen::Index rows) {
  Matrix columns(rows, static_cast<Eigen::Index>(points.size()));
  for (std::size_t k = 0; k < points.size(); ++k)
    columns.col(static_cast<Eigen::Index>(k)) = test::vector_of(points[k]);
  return columns;
}

void check_pieces(const test::ReferenceProblem& reference, const test::Transformed& other,
                  const json& pieces, double tol) {
  CHECK(pieces.size() == reference.pieces.size());
  const Eigen::Index n = other.unit.size();
  for (const json& piece : pieces) {
    const std::set<std::string> words = letters_back(other, piece["active_sets"]);
    const auto wanted =
        std::find_if(reference.pieces.begin(), reference.pieces.end(),
                     [&](const test::ReferencePiece& item) { return item.active_sets == words; });
    REQUIRE(wanted != reference.pieces.end());
    const Piece found{{},
                      piece["dim"].get<int>(),
                      other.back(columns_of(piece["vertices"], n)),
                      other.back(columns_of(piece["rays"], n)),
                      other.back(columns_of(piece["lines"], n))};
    CHECK(test::same_polyhedron(found, *wanted, tol));
  }
}

void check_class(const test::ReferenceProblem& reference, const json& found) {
  const auto count = [](const json& value) { return value.is_null() ? -1L : value.get<long>(); };
  CHECK(found["class"]["u_lambda"] == reference.class_of_all);
  CHECK(count(found["class"]["count_u_lambda"]) == reference.count_of_all);
  CHECK(found["class"]["u"] == reference.class_of_u);
  CHECK(count(found["class"]["count_u"]) == reference.count_of_u);
}

}  // namespace

TEST_SUITE("cli/mlcp_invariance") {
  TEST_CASE(
      "every reference problem reordered, scaled and in other units: class, pieces, minimal norm") {
    const Folder folder;
    unsigned seed = 1;
    int problems = 0;
    for (const test::ReferenceProblem& reference :
         test::thinned(test::reference_problems(), 4)) {
      CAPTURE(reference.name);
      const auto [change, other] = test::transformations(reference.problem, seed++, true).back();
      folder.write("other.json", file_of(reference, other).dump());
      const int status = reference.solvable ? 0 : 3;
      for (const char* arithmetic : {"", "--double"}) {
        std::vector<std::string> arguments{"mlcp", "other.json"};
        if (*arithmetic != '\0') arguments.emplace_back(arithmetic);
        const Outcome run = perp_program(folder, arguments);
        REQUIRE_MESSAGE(run.status == status, run.err);
        const json found = json::parse(run.out);
        check_class(reference, found);
        check_pieces(reference, other, found["pieces"], 1e-9);
        if (!reference.solvable) continue;
        const double value = reference.minimal_squared_norm;
        CHECK(std::abs(found["minimal_norm"]["value_squared"].get<double>() - value) <=
              1e-9 * std::max(1e-3, value));
        CHECK(found["minimal_norm"]["minimisers"].size() == reference.minimisers.size());
      }
      const Outcome run = perp_program(folder, {"mlcp", "other.json", "--nearest"});
      REQUIRE_MESSAGE(run.status == status, run.err);
      const json nearest = json::parse(run.out);
      CHECK(nearest["status"] == (reference.solvable ? "solved" : "no_solution"));
      if (reference.solvable) {
        const double wanted = std::sqrt(reference.minimal_squared_norm);
        const double size = wanted + 1e-2 * (reference.norm.W * reference.norm.center).norm();
        CHECK(std::abs(nearest["value"].get<double>() - wanted) <= 1e-7 * size + 1e-12);
        CHECK(nearest["bound"].get<double>() <= wanted + 1e-9 * size + 1e-12);
        CHECK(nearest["bound"].get<double>() >= wanted - 1e-6 * size - 1e-9);
      }
      ++problems;
    }
    CHECK(problems >= 76 / test::stride_of_cases(4));
  }
}
