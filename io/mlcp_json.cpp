// Answers to one complementarity problem as JSON.
#include <fmt/format.h>
#include <cmath>

#include <perp/io/mlcp_json.hpp>

namespace perp::io {
namespace {

/// The word for a number of solutions; what a limit cut off leaves "k found". A continuum that was
/// found is one.
std::string word_of(const SolutionSet& set, Multiplicity multiplicity, long count) {
  if (set.complete || multiplicity == Multiplicity::continuum) return to_string(multiplicity);
  if (count == 0) return "none found";
  return count == 1 ? "one found" : fmt::format("{} found", count);
}

Json class_of(const SolutionSet& set) {
  const auto number = [&](Multiplicity multiplicity, long count) {
    return multiplicity == Multiplicity::continuum || !set.complete ? Json(nullptr) : Json(count);
  };
  // Where there is no u the class is that of λ.
  const bool has_u = set.p > 0;
  const Multiplicity of_all = multiplicity(set), of_u = has_u ? multiplicity_of_u(set) : of_all;
  const long all = count(set), u = has_u ? count_of_u(set) : all;
  return {{"u_lambda", word_of(set, of_all, all)},
          {"count_u_lambda", number(of_all, all)},
          {"u", word_of(set, of_u, u)},
          {"count_u", number(of_u, u)}};
}

Json minimum_to_json(const std::optional<ExactMinimum>& least, bool with_fraction) {
  if (!least) return nullptr;
  Json json{{"value_squared", least->value_squared}, {"minimisers", least->minimisers}};
  if (with_fraction) json["value_squared_exact"] = least->square;
  return json;
}

std::string name_of_default(const Mlcp& problem) {
  return problem.p() > 0 ? "||u||_2 (the file gives no norm)"
                         : "||lambda||_2 (the file gives no norm)";
}

Json start_of(const MlcpFile& file) {
  return {{"name", file.name}, {"p", file.problem.p()}, {"m", file.problem.m()}};
}

void add_solution(const MlcpFile& file, const Solution& solution, Json& json) {
  json["u"] = to_json(solution.u);
  json["lambda"] = to_json(solution.lambda);
  json["w"] = to_json(solution.w);
  json["residual"] = to_json(solution.residual);
  json["active_set"] = active_set(file.problem, solution.mode);
}

}  // namespace

Json to_json(const MlcpFile& file, const MlcpAnswer& answer) {
  Json pieces = Json::array();
  for (const WholePiece& piece : answer.pieces) {
    Json item{
        {"active_sets", piece.active_sets}, {"dim", piece.dimension}, {"vertices", piece.vertices}};
    if (answer.is_exact) item["vertices_exact"] = piece.exact_vertices;
    item["rays"] = piece.rays;
    item["lines"] = piece.lines;
    pieces.push_back(std::move(item));
  }
  Json json = start_of(file);
  json["class"] = class_of(answer.set);
  json["pieces"] = pieces;
  if (file.norm) {
    json["norm"] = file.norm_given;
    // of a part of the solutions it is the least that was found
    json[answer.set.complete ? "minimal_norm" : "least_norm_found"] =
        minimum_to_json(answer.minimum, answer.is_exact);
  }
  json["status"] = to_string(answer.status);
  json["arithmetic"] = answer.is_exact ? "rational" : "double";
  json["certificate"] = answer.set.certificate;
  json["version"] = PERP_VERSION;
  return json;
}

Json to_json(const MlcpFile& file, const std::string& solver, const SolveResult& result) {
  Json json = start_of(file);
  json["solver"] = solver;
  json["status"] = to_string(result.status);
  json["message"] = result.message;
  json["iterations"] = result.iterations;
  if (result.status == Status::solved) add_solution(file, result.solution, json);
  json["version"] = PERP_VERSION;
  return json;
}

Json to_json(const MlcpFile& file, const ProvedNearest& found) {
  Json json = start_of(file);
  json["norm"] = file.norm ? file.norm_given : Json(name_of_default(file.problem));
  json["status"] = to_string(found.status);
  json["certificate"] = found.certificate;
  json["nodes"] = found.nodes;
  json["value"] = to_json(found.norm);
  json["bound"] = to_json(found.bound);
  if (!std::isnan(found.norm)) add_solution(file, found.solution, json);
  json["version"] = PERP_VERSION;
  return json;
}

}  // namespace perp::io
