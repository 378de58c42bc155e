// The solutions of one step as a table and as JSON.
#include <fmt/format.h>
#include <algorithm>

#include <perp/analysis/counts.hpp>
#include <perp/analysis/run/columns.hpp>
#include <perp/core/branches.hpp>
#include <perp/io/solutions/solutions_text.hpp>
#include <perp/io/text/run_summary.hpp>
#include <perp/io/text/text_table.hpp>

namespace perp::io {
namespace {

constexpr std::size_t most_modes_named = 4;  // of one piece, in a table
constexpr std::size_t most_columns = 128;    // of unknowns; of more the first ones stand in one column

std::string numbers(const Eigen::Ref<const Vector>& values) {
  std::string text;
  for (const double value : values) text += (text.empty() ? "" : ", ") + short_number(value);
  return values.size() == 1 ? text : "(" + text + ")";
}

std::string modes_of(const Piece& piece, const std::vector<Law>& laws) {
  std::string text;
  for (std::size_t k = 0; k < std::min(piece.modes.size(), most_modes_named); ++k)
    text += (k > 0 ? " and " : "") + (laws.size() > most_columns ? describe_briefly(laws, piece.modes[k]) : describe(laws, piece.modes[k]));
  if (piece.modes.size() > most_modes_named)
    text += fmt::format(" and {} more", piece.modes.size() - most_modes_named);
  return text;
}

std::string shape_of(const Piece& piece) {
  if (piece.dimension == 0) return "";
  std::string text = fmt::format("dimension {}", piece.dimension);
  const auto part = [&](Eigen::Index count, const char* one, const char* many) {
    if (count > 0) text += fmt::format(", {} {}", count, count == 1 ? one : many);
  };
  part(piece.vertices.cols(), "vertex", "vertices");
  part(piece.rays.cols(), "ray", "rays");
  part(piece.lines.cols(), "line", "lines");
  return text;
}

/// Vertices, rays and lines of a continuum, one a line.
std::string lines_of(const Piece& piece, int n, const std::string& indent) {
  std::string text;
  const auto add = [&](const char* what, const Matrix& columns) {
    for (const auto& column : columns.colwise())
      text += fmt::format("{}     {:<7} x = {}  lambda = {}\n", indent, what,
                          numbers(column.head(n)), numbers(column.tail(column.size() - n)));
  };
  add("vertex", piece.vertices);
  add("ray", piece.rays);
  add("line", piece.lines);
  return text;
}

bool is_wide(const Model& model) { return model.variables.size() + 2 * model.laws().size() > most_columns; }

/// Variables, multipliers and arguments of the laws.
std::vector<std::string> names_of_unknowns(const Model& model) {
  if (is_wide(model)) return {"x"};
  const Columns columns = columns_of(model);
  std::vector<std::string> list = columns.x;
  for (const auto* names : {&columns.lambda, &columns.w}) list.insert(list.end(), names->begin(), names->end());
  return list;
}

/// Names of the columns of a table of solutions.
std::vector<std::string> header_of(const ListedSolutions& solutions, const Model& model) {
  std::vector<std::string> header{" ", "#"};
  if (solutions.problem.m() > 0) header.emplace_back("mode");
  for (std::string& name : names_of_unknowns(model)) header.push_back(std::move(name));
  const char* residual = solutions.note.empty() ? "residual" : "residual/rounding";
  for (const char* name : {"||E (x+ - x)||", residual, ""}) header.emplace_back(name);
  return header;
}

/// Solution number k, counted from 0.
std::vector<std::string> row_of(const ListedSolutions& solutions, std::size_t k, const Model& model) {
  const ListedSolution& item = solutions.listed[k];
  std::vector<std::string> row{item.chosen ? "*" : " ", fmt::format("{}", k + 1)};
  if (solutions.problem.m() > 0) row.push_back(modes_of(item.piece, model.laws()));
  if (is_wide(model))
    row.push_back(named_values(variable_names(model), item.nearest.u));
  else
    for (const Vector* values : {&item.nearest.u, &item.nearest.lambda, &item.nearest.w})
      for (const double value : *values) row.push_back(short_number(value));
  row.push_back(short_number(item.norm));
  row.push_back(fmt::format("{:.1e}", item.nearest.residual));
  row.push_back(shape_of(item.piece));
  return row;
}

Json generators_to_json(const Matrix& columns) {
  Json list = Json::array();
  for (const auto& column : columns.colwise()) list.push_back(to_json(Vector(column)));
  return list;
}

}  // namespace

std::string describe_class(const ListedSolutions& solutions) {
  const SolutionSet& set = solutions.set;
  std::string text = fmt::format(
      "(x, lambda): {}; x: {}", describe_count(multiplicity(set), count(set), set.complete),
      solutions.has_one_x ? "unique, by a certificate of the step" : describe_count(multiplicity_of_u(set), count_of_u(set), set.complete));
  if (!solutions.note.empty())
    text += "; " + solutions.note;
  else if (!set.complete)
    text += "; " + set.certificate;
  return text;
}

std::string table_of(const ListedSolutions& solutions, const Model& model,
                     const std::string& indent) {
  TextTable table(header_of(solutions, model));
  for (std::size_t k = 0; k < solutions.listed.size(); ++k) table.add(row_of(solutions, k, model));
  std::string text = table.text(indent);
  for (std::size_t k = 0; k < solutions.listed.size(); ++k) {
    const Piece& piece = solutions.listed[k].piece;
    if (piece.dimension == 0) continue;
    text += fmt::format("{}  solution {} is a continuum, its point nearest to x is listed above:\n",
                        indent, k + 1);
    text += lines_of(piece, solutions.problem.p(), indent);
  }
  if (!solutions.all_listed) text += indent + "  ... more than can be listed\n";
  return text;
}

Json to_json(const ListedSolutions& solutions, const Model& model) {
  const SolutionSet& set = solutions.set;
  const auto word = [&](Multiplicity multiplicity, long number) {
    return set.complete ? to_string(multiplicity) : describe_count(multiplicity, number, false);
  };
  const auto count_to_json = [](long number) { return number < 0 ? Json(nullptr) : Json(number); };
  Json json{{"class",
             {{"x_lambda", word(multiplicity(set), count(set))},
              {"count_x_lambda", count_to_json(count(set))},
              {"x", word(multiplicity_of_u(set), count_of_u(set))},
              {"count_x", count_to_json(count_of_u(set))}}},
            {"complete", set.complete},
            {"certificate", set.certificate}};
  Json list = Json::array();
  for (const ListedSolution& item : solutions.listed) {
    Json texts = Json::array();
    for (const Mode& mode : item.piece.modes) texts.push_back(describe(model.laws(), mode));
    list.push_back({{"chosen", item.chosen},
                    {"modes", texts},
                    {"branches", item.piece.modes},
                    {"dimension", item.piece.dimension},
                    {"x", to_json(item.nearest.u)},
                    {"lambda", to_json(item.nearest.lambda)},
                    {"w", to_json(item.nearest.w)},
                    {"norm", to_json(item.norm)},
                    {solutions.note.empty() ? "residual" : "residual_in_roundings",
                     to_json(item.nearest.residual)},
                    {"vertices", generators_to_json(item.piece.vertices)},
                    {"rays", generators_to_json(item.piece.rays)},
                    {"lines", generators_to_json(item.piece.lines)}});
  }
  json["solutions"] = list;
  json["all_listed"] = solutions.all_listed;
  return json;
}

}  // namespace perp::io
