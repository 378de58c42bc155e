#pragma once

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include <perp/lcp/solution_set.hpp>
#include <perp/tests/paths.hpp>

namespace perp::test {

/// A polyhedron of the reference data, vertices in exact fractions beside their values.
struct ReferencePiece {
  std::set<std::string> active_sets;
  int dimension = 0;
  std::vector<Vector> vertices;
  std::set<std::vector<std::string>> exact_vertices;
  std::vector<Vector> rays;
  std::vector<Vector> lines;
};

/// One file of tests/data/mlcp: a problem over boxes with all its solutions.
struct ReferenceProblem {
  std::string name;
  std::string family;
  Mlcp problem;
  std::string class_of_all;
  long count_of_all = 0;  // -1: continuum
  std::string class_of_u;
  long count_of_u = 0;
  std::vector<ReferencePiece> pieces;
  Norm norm;
  Vector weights;  // p+m: of the squares, 0 where the norm does not see the unknown
  std::vector<int> norm_indices;
  bool solvable = false;
  double minimal_squared_norm = nan;
  std::vector<Vector> minimisers;  // coordinates `norm_indices`
};

inline double number(const nlohmann::json& value) {
  if (value.is_number()) return value.get<double>();
  const auto text = value.get<std::string>();
  return text == "inf" ? inf : text == "-inf" ? -inf : throw std::runtime_error("number " + text);
}

inline Vector vector_of(const nlohmann::json& values) {
  Vector result(static_cast<Eigen::Index>(values.size()));
  for (std::size_t i = 0; i < values.size(); ++i)
    result[static_cast<Eigen::Index>(i)] = number(values[i]);
  return result;
}

inline Matrix matrix_of(const nlohmann::json& rows, int row_count, int column_count) {
  Matrix result(row_count, column_count);
  for (int i = 0; i < row_count; ++i)
    if (column_count > 0) result.row(i) = vector_of(rows.at(static_cast<std::size_t>(i)));
  return result;
}

inline ReferencePiece piece_of(const nlohmann::json& data) {
  ReferencePiece piece;
  for (const auto& modes : data.at("active_sets"))
    piece.active_sets.insert(modes.get<std::string>());
  piece.dimension = data.at("dim").get<int>();
  for (const auto& vertex : data.at("vertices")) piece.vertices.push_back(vector_of(vertex));
  for (const auto& vertex : data.at("vertices_exact"))
    piece.exact_vertices.insert(vertex.get<std::vector<std::string>>());
  for (const auto& ray : data.at("rays")) piece.rays.push_back(vector_of(ray));
  for (const auto& line : data.at("lines")) piece.lines.push_back(vector_of(line));
  return piece;
}

inline ReferenceProblem read_reference_problem(const std::filesystem::path& file) {
  std::ifstream stream(file);
  const nlohmann::json data = nlohmann::json::parse(stream);
  const int p = data.at("p").get<int>(), m = data.at("m").get<int>();
  ReferenceProblem result;
  result.name = data.at("name").get<std::string>();
  result.family = data.at("family").get<std::string>();
  result.problem = {.M11 = matrix_of(data.at("Auu"), p, p),
                    .M12 = matrix_of(data.at("Aul"), p, m),
                    .q1 = vector_of(data.at("au")),
                    .M21 = matrix_of(data.at("Alu"), m, p),
                    .M22 = matrix_of(data.at("All"), m, m),
                    .q2 = vector_of(data.at("al")),
                    .laws = {}};
  const Vector lower = vector_of(data.at("lower")), upper = vector_of(data.at("upper"));
  for (int i = 0; i < m; ++i) result.problem.laws.push_back(box(lower[i], upper[i]));
  const auto& classes = data.at("class");
  const auto count = [&](const char* key) {
    return classes.at(key).is_null() ? -1L : classes.at(key).get<long>();
  };
  result.class_of_all = classes.at("u_lambda").get<std::string>();
  result.count_of_all = count("count_u_lambda");
  result.class_of_u = classes.at("u").get<std::string>();
  result.count_of_u = count("count_u");
  for (const auto& piece : data.at("pieces")) result.pieces.push_back(piece_of(piece));
  const auto& norm = data.at("norm");
  result.norm_indices = norm.at("indices").get<std::vector<int>>();
  const Vector reference = vector_of(norm.at("ref")), weights = vector_of(norm.at("weights"));
  result.norm = {Matrix::Zero(weights.size(), p + m), Vector::Zero(p + m)};
  result.weights = Vector::Zero(p + m);
  for (Eigen::Index i = 0; i < weights.size(); ++i) {
    // over u, over λ where there is no u; a weight multiplies the square
    const int j = result.norm_indices[static_cast<std::size_t>(i)];
    result.norm.W(i, j) = std::sqrt(weights[i]);
    result.weights[j] = weights[i];
    result.norm.center[j] = reference[i];
  }
  result.solvable = !data.at("minimal_norm").is_null();
  if (result.solvable) {
    result.minimal_squared_norm = data.at("minimal_norm").at("value_squared").get<double>();
    for (const auto& point : data.at("minimal_norm").at("minimisers"))
      result.minimisers.push_back(vector_of(point));
  }
  return result;
}

/// Every reference problem, in the order of the file names.
inline std::vector<ReferenceProblem> reference_problems() {
  std::vector<std::filesystem::path> files;
  for (const auto& entry :
       std::filesystem::directory_iterator(perp::test::data_path("/mlcp")))
    files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  std::vector<ReferenceProblem> problems;
  for (const auto& file : files) problems.push_back(read_reference_problem(file));
  return problems;
}

}  // namespace perp::test
