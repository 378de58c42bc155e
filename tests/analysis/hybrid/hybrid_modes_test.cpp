#include <doctest/doctest.h>
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <string>

#include <perp/analysis/hybrid/hybrid_modes.hpp>
#include <perp/core/base/error.hpp>
#include <perp/models/language/hybrid/read_hybrid.hpp>
#include <perp/tests/paths.hpp>

// The cases of tests/data/hybrid_modes are exact: rational arithmetic, every candidate confirmed by
// a short integration.
namespace {

using nlohmann::json;
using perp::HybridContinuation;
using perp::HybridContinuations;
using perp::HybridModel;
using perp::HybridModes;
using perp::Vector;

/// "53/2", or a number.
double number(const json& value) {
  if (value.is_number()) return value.get<double>();
  const std::string text = value.get<std::string>();
  const std::size_t slash = text.find('/');
  return slash == std::string::npos
             ? std::stod(text)
             : std::stod(text.substr(0, slash)) / std::stod(text.substr(slash + 1));
}

struct Case {
  json data;
  HybridModel model;
  Vector x;
  double t = 0;
  std::vector<double> previous;
};

std::string quoted(const json& list) {
  std::string text;
  for (const auto& item : list) text += "  " + item.dump() + ",\n";
  return "[\n" + text + "]\n";
}

std::string text_of(const json& data, const json& equations, const json& constraints,
                    const std::vector<std::string>& variables) {
  std::string text = "[parameters]\n";
  if (data.contains("parameters"))
    for (const auto& [name, value] : data["parameters"].items())
      text += name + " = " + value.dump() + "\n";
  text += "[variables]\n";
  for (const std::string& name : variables) text += name + " = 0\n";
  text += "[binaries]\n";
  for (const auto& name : data["binaries"]) text += name.get<std::string>() + " = {}\n";
  text += "[model]\nequations = " + quoted(equations) + "constraints = " + quoted(constraints);
  return text + "[run]\nt = [0, 10]\n";
}

Case read_case(const std::filesystem::path& file, bool reversed = false) {
  Case result;
  result.data = json::parse(std::ifstream(file));
  json& data = result.data;
  json equations = data["equations"], constraints = data["constraints"];
  std::vector<std::string> variables;
  for (const auto& name : data["states"]) variables.push_back(name);
  if (data.contains("algebraic"))
    for (const auto& name : data["algebraic"]) variables.push_back(name);
  if (reversed) {
    std::reverse(equations.begin(), equations.end());
    std::reverse(constraints.begin(), constraints.end());
    std::reverse(variables.begin(), variables.end());
  }
  result.model = *perp::read_hybrid_model_text(text_of(data, equations, constraints, variables),
                                               file.filename().string());
  result.x = Vector::Zero(static_cast<Eigen::Index>(variables.size()));
  for (std::size_t j = 0; j < variables.size(); ++j)
    if (data["at"]["x"].contains(variables[j]))
      result.x[static_cast<Eigen::Index>(j)] = number(data["at"]["x"][variables[j]]);
  if (data["at"].contains("t")) result.t = number(data["at"]["t"]);
  for (const auto& name : data["binaries"])
    result.previous.push_back(data["z_previous"][name.get<std::string>()]);
  return result;
}

std::vector<std::filesystem::path> case_files() {
  std::vector<std::filesystem::path> files;
  for (const auto& entry :
       std::filesystem::directory_iterator(perp::test::data_path("/hybrid_modes")))
    files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  return files;
}

std::vector<std::string> names(const HybridModel& model, const std::vector<int>& binaries) {
  std::vector<std::string> list;
  for (const int i : binaries) list.push_back(model.binaries[static_cast<std::size_t>(i)].name);
  return list;
}

bool has_values(const HybridModel& model, const HybridContinuation& c, const json& z) {
  for (std::size_t i = 0; i < c.z.size(); ++i)
    if (std::abs(c.z[i] - number(z[model.binaries[i].name])) > 1e-12) return false;
  return true;
}

void check_rows(const HybridContinuation& found, const json& wanted) {
  REQUIRE(found.constraints.size() == wanted.size());
  for (std::size_t l = 0; l < wanted.size(); ++l) {
    CHECK(found.constraints[l].is_void == wanted[l].contains("void"));
    CHECK(found.constraints[l].is_held == wanted[l].contains("held"));
    if (!wanted[l].contains("derivatives")) continue;
    const json& exact = wanted[l]["derivatives"];
    REQUIRE(found.constraints[l].derivatives.size() == exact.size());
    for (std::size_t k = 0; k < exact.size(); ++k)
      CHECK(found.constraints[l].derivatives[k] ==
            doctest::Approx(number(exact[k])).epsilon(1e-11));
  }
}

void check_continuation(const Case& given, const HybridContinuations& found, const json& wanted) {
  const json slides = wanted.contains("slides") ? wanted["slides"] : json::array();
  const auto same = [&](const HybridContinuation& c) {
    return has_values(given.model, c, wanted["z"]) &&
           json(names(given.model, c.released)) == slides;
  };
  REQUIRE(std::count_if(found.list.begin(), found.list.end(), same) == 1);
  const HybridContinuation& c = *std::find_if(found.list.begin(), found.list.end(), same);
  CHECK(c.is_strict == (wanted["verdict"] == "strict"));
  CHECK(c.outside == wanted["distance"]["outside"]);
  CHECK(c.inside == wanted["distance"]["inside"]);
  for (std::size_t j = 0; j < given.model.head.variables.size(); ++j) {
    const std::string& name = given.model.head.variables[j].name;
    const auto at = static_cast<Eigen::Index>(j);
    if (wanted["der"].contains(name))
      CHECK(c.rates[at] == doctest::Approx(number(wanted["der"][name])).epsilon(1e-12));
    if (wanted.contains("y") && wanted["y"].contains(name))
      CHECK(c.x[at] == doctest::Approx(number(wanted["y"][name])).epsilon(1e-12));
  }
  check_rows(c, wanted["constraints"]);
}

TEST_CASE(
    "the modes that continue are those of the exact cases, and so is the choice and what decides "
    "it") {
  REQUIRE(case_files().size() == 21);
  for (const auto& file : case_files()) {
    const Case given = read_case(file);
    CAPTURE(given.data["name"].get<std::string>());
    HybridModes modes(given.model);
    const HybridContinuations found = modes.continuations(given.t, given.x, given.previous);
    const json& wanted = given.data["continuations"];
    CHECK(found.is_complete);
    REQUIRE(found.list.size() == wanted.size());
    for (const auto& item : wanted) check_continuation(given, found, item);
    CHECK(found.decided_by == given.data["decided_by"].get<std::string>());
    CHECK(found.chosen.has_value() == !given.data["chosen"].is_null());
    if (found.chosen)
      CHECK(has_values(given.model, found.list[static_cast<std::size_t>(*found.chosen)],
                       given.data["chosen"]));
    if (!found.chosen) CHECK(found.status == perp::Status::no_solution);
  }
}

TEST_CASE("violated rows and called binaries are those of the exact cases") {
  for (const auto& file : case_files()) {
    const Case given = read_case(file);
    CAPTURE(given.data["name"].get<std::string>());
    HybridModes modes(given.model);
    const HybridContinuations found = modes.continuations(given.t, given.x, given.previous);
    std::vector<std::string> violated;
    for (const int row : found.violated) violated.push_back(given.model.row_name(row));
    CHECK(json(violated) == given.data["violated_by_previous"]);
    std::set<std::string> called;
    for (const int block : found.called)
      for (const int unknown : modes.structure().blocks[static_cast<std::size_t>(block)].unknowns)
        if (unknown >= given.model.n())
          called.insert(unknown_name(given.model, modes.structure(), unknown));
    CHECK(json(called) == json(given.data["called"].get<std::set<std::string>>()));
  }
}

TEST_CASE("sub-problems are those of the exact cases") {
  for (const auto& file : case_files()) {
    const Case given = read_case(file);
    CAPTURE(given.data["name"].get<std::string>());
    const perp::HybridStructure structure = structure_of(given.model);
    std::set<std::pair<std::set<std::string>, std::set<std::string>>> found, wanted;
    for (const perp::SubProblem& block : structure.blocks) {
      std::set<std::string> rows, unknowns;
      for (const int row : block.rows) rows.insert(given.model.row_name(row));
      for (const int unknown : block.unknowns)
        unknowns.insert(unknown_name(given.model, structure, unknown));
      found.insert({rows, unknowns});
    }
    for (const auto& block : given.data["blocks"])
      wanted.insert({block["rows"].get<std::set<std::string>>(),
                     block["unknowns"].get<std::set<std::string>>()});
    CHECK(found == wanted);
  }
}

TEST_CASE("the choice does not see the order of equations, constraints and variables") {
  for (const auto& file : case_files()) {
    const Case given = read_case(file, true);
    CAPTURE(given.data["name"].get<std::string>());
    HybridModes modes(given.model);
    const HybridContinuations found = modes.continuations(given.t, given.x, given.previous);
    CHECK(found.list.size() == given.data["continuations"].size());
    CHECK(found.decided_by == given.data["decided_by"].get<std::string>());
    if (found.chosen)
      CHECK(has_values(given.model, found.list[static_cast<std::size_t>(*found.chosen)],
                       given.data["chosen"]));
  }
}

HybridModel model_of(const std::string& text) {
  return *perp::read_hybrid_model_text(text + "[run]\nt = [0, 10]\n", "m.toml");
}

const std::string relay = R"(
[variables]
x1 = 1
[binaries]
z1 = {}
[model]
equations = ["der(x1) = a - x1 + P*z1"]
constraints = ["(x1 - 1)*(2*z1 - 1) <= 0"]
[parameters]
)";

TEST_CASE("a sliding binary stays released until its value leaves [0, 1]") {
  // z = (1 - a)/P holds x1 = 1.
  HybridModes slides(model_of(relay + "a = 0\nP = 2\n"));
  const HybridContinuations stays = slides.continuations(0, Vector::Ones(1), {0.5});
  CHECK(stays.decided_by == "previous mode continues");
  CHECK(stays.violated.empty());
  HybridModes leaves(model_of(relay + "a = 1.5\nP = 2\n"));
  const HybridContinuations left = leaves.continuations(0, Vector::Ones(1), {0.5});
  REQUIRE(left.violated.size() == 1);
  CHECK(left.violated[0] == 2);  // behind f1 and g1: the binary leaves [0, 1]
  REQUIRE(left.list.size() == 1);
  CHECK(left.list[0].z[0] == 0);
}

TEST_CASE(
    "without a previous mode all continuations are listed and the smallest rate norm decides") {
  HybridModes modes(model_of(relay + "a = 2.5\nP = -3\n"));
  const HybridContinuations found = modes.continuations(0, Vector::Ones(1), {});
  CHECK(found.list.size() == 3);  // repelling surface: both values, and sliding
  REQUIRE(found.chosen);
  CHECK(found.list[0].rate_norm <= found.list[1].rate_norm);
  CHECK(found.notes.size() == 1);
}

TEST_CASE("a constraint of a model without binaries is a check of the state") {
  HybridModes modes(model_of(
      "[variables]\nx = 1\n[model]\nequations = [\"der(x) = -1\"]\nconstraints = [\"x >= 0\"]\n"));
  CHECK(modes.continuations(0, Vector::Ones(1), {}).status == perp::Status::solved);
  const HybridContinuations ends = modes.continuations(0, Vector::Zero(1), {});
  CHECK(ends.status == perp::Status::no_solution);
  REQUIRE(ends.excluded.size() == 1);
  CHECK(ends.excluded[0].rows == std::vector<int>{1});
}

TEST_CASE("rows with factors of any size have their rates") {
  for (int k = 0; k <= 100; k += 10) {
    CAPTURE(k);
    HybridModes modes(model_of("[variables]\nx1 = 0.3\nx2 = 0.5\n[binaries]\nz = 0\n[model]\nequations = [\"der(x1) = -1 + " +
                               std::to_string(std::ldexp(1.0, k)) +
                               "*z\", \"der(x2) = x1\"]\nconstraints = [\"z <= 0\"]\n"));
    const HybridContinuations found = modes.continuations(0, Vector{{0.3, 0.5}}, {0});
    REQUIRE(found.list.size() == 1);
    CHECK(found.is_complete);
    CHECK(found.list[0].rates == Vector{{-1, 0.3}});
  }
}

TEST_CASE("twenty independent bands: the choice is found although 3^20 values cannot be listed") {
  std::string variables = "[variables]\n", binaries = "[binaries]\n", equations, constraints;
  for (int i = 1; i <= 20; ++i) {
    const std::string k = std::to_string(i);
    variables += "x" + k + " = 0\n";
    binaries += "z" + k + " = {}\n";
    equations += "\"der(x" + k + ") = 2*z" + k + " - 1\", ";
    constraints += "\"(-1 - x" + k + ")*(1 - z" + k + ") + (x" + k + " - 1)*z" + k + " <= 0\", ";
  }
  HybridModes modes(model_of(variables + binaries + "[model]\nequations = [" + equations +
                             "]\nconstraints = [" + constraints + "]\n"));
  Vector x = Vector::Zero(20);
  x[4] = 1;
  x[11] = -1;
  std::vector<double> previous(20, 0);
  previous[4] = 1;
  const HybridContinuations found = modes.continuations(0, x, previous);
  CHECK_FALSE(found.is_complete);
  REQUIRE(found.chosen);
  std::vector<double> wanted(20, 0);
  wanted[11] = 1;  // z5 falls, z12 rises, nothing else moves
  CHECK(found.list[0].z == wanted);
  CHECK(found.list[0].outside == 0);
  CHECK(found.list[0].inside == 2);
  CHECK(found.decided_by == "fewest changes outside the called sub-problems");
}

TEST_CASE("several roots are several continuations, the nearest first; what may have more is not complete") {
  const auto ask = [](const std::string& equations) {
    HybridModes modes(
        model_of("[variables]\nx = 1\ny1 = 1\ny2 = 1\n[binaries]\nz = {}\n[model]\n"
                 "equations = [\"der(x) = y1 + z\", " + equations + "]\n"
                 "constraints = [\"(x - 2)*(2*z - 1) <= 0\"]\n"));
    Vector x(3);
    x << 1, 1.9, 0.6;
    return modes.continuations(0, x, {0});
  };
  const HybridContinuations two = ask("\"y1*y2 = 1\", \"y1 + y2 = 5/2\"");
  CHECK(two.is_complete);
  CHECK(two.decided_by == "nearest root of the equations");
  REQUIRE(two.list.size() == 2);
  CHECK(two.list[0].x[1] == doctest::Approx(2).epsilon(1e-14));
  CHECK(two.list[1].x[1] == doctest::Approx(0.5).epsilon(1e-14));
  const HybridContinuations open = ask("\"exp(y1)*y2 = 1\", \"y1 + y2 = 5/2\"");
  CHECK_FALSE(open.is_complete);
  CHECK(open.notes.size() == 1);
}

}  // namespace
