#include <fmt/format.h>
#include <algorithm>
#include <numeric>

#include <perp/analysis/counts.hpp>
#include <perp/analysis/solutions/listed_solutions.hpp>
#include <perp/io/text/jumps_text.hpp>
#include <perp/io/text/run_summary.hpp>
#include <perp/io/text/text_table.hpp>

namespace perp::io {
namespace {

constexpr std::size_t page = 32;  // more jumps, or modes of one, are written block by block

/// A part of the model whose jumps stand in one list: a block, or everything.
struct Part {
  std::vector<int> x, differential;  ///< variables
  std::vector<int> lambda;           ///< laws
  std::vector<Law> laws;             ///< these
};

Part part_of(const Model& model, const std::vector<int>& x, const std::vector<int>& lambda) {
  Part part{x, {}, lambda, {}};
  const std::vector<int> differential = model.differential_variables();
  std::set_intersection(x.begin(), x.end(), differential.begin(), differential.end(),
                        std::back_inserter(part.differential));
  for (const int i : lambda) part.laws.push_back(model.laws()[static_cast<std::size_t>(i)]);
  return part;
}

Part everything(const Model& model) {
  std::vector<int> x(model.variables.size()), lambda(model.laws().size());
  std::iota(x.begin(), x.end(), 0);
  std::iota(lambda.begin(), lambda.end(), 0);
  return part_of(model, x, lambda);
}

const std::string& name_of(const Model& model, int variable) {
  return model.variables[static_cast<std::size_t>(variable)].name;
}

/// Place of a variable in the vectors of a part.
Eigen::Index place(const Part& part, int variable) {
  return std::lower_bound(part.x.begin(), part.x.end(), variable) - part.x.begin();
}

std::string point(const Model& model, const Part& part, const Vector& x) {
  std::string text;
  for (const int j : part.differential)
    text += fmt::format("{}{} = {}", text.empty() ? "" : ", ", name_of(model, j),
                        short_number(x[place(part, j)]));
  return text;
}

/// "z: 2", the impulses that are not 0.
std::string impulses(const Model& model, const Part& part, const ConsistentJump& jump) {
  std::string text;
  const auto add = [&](const std::string& name, double value) {
    if (value != 0)
      text += fmt::format("{}{}: {}", text.empty() ? "" : ", ", name, short_number(value));
  };
  for (std::size_t j = 0; j < part.x.size(); ++j)
    add(name_of(model, part.x[j]), jump.impulse_x[static_cast<Eigen::Index>(j)]);
  for (std::size_t i = 0; i < part.lambda.size(); ++i)
    add(fmt::format("lambda_{}", part.lambda[i] + 1),
        jump.impulse_lambda[static_cast<Eigen::Index>(i)]);
  return text.empty() ? "-" : text;
}

std::string modes(const Part& part, const ConsistentJump& jump) {
  std::string text;
  for (const ContinuousStart& continuation : jump.continuations)
    text += (text.empty() ? "" : "; ") + describe(part.laws, continuation.mode);
  return text;
}

/// Where a continuum of jumps leads.
std::string continuum_text(const Model& model, const Part& part, const ConsistentJump& jump) {
  std::string text = fmt::format("infinitely many in {}:\n", modes(part, jump));
  for (Eigen::Index k = 0; k < jump.vertices.cols(); ++k)
    text += fmt::format("  end        {}\n", point(model, part, jump.vertices.col(k)));
  for (Eigen::Index k = 0; k < jump.directions.cols(); ++k)
    text += fmt::format("  direction  {}\n", point(model, part, jump.directions.col(k)));
  return text;
}

std::string table(const Model& model, const Part& part, const std::vector<ConsistentJump>& jumps) {
  std::vector<std::string> header{""};
  for (const int j : part.differential) header.push_back(name_of(model, j));
  for (const char* name : {"amplitude", "impulses", "mode afterwards"}) header.emplace_back(name);
  TextTable rows(header);
  for (const ConsistentJump& jump : jumps) {
    std::vector<std::string> row{&jump == &jumps.front() ? "*" : ""};
    for (const int j : part.differential) row.push_back(short_number(jump.x()[place(part, j)]));
    row.push_back(short_number(jump.amplitude));
    row.push_back(impulses(model, part, jump));
    row.push_back(modes(part, jump));
    rows.add(row);
  }
  std::string text = rows.text();
  for (const ConsistentJump& jump : jumps)
    if (jump.is_continuum) text += continuum_text(model, part, jump);
  return text;
}

bool has_continuum(const std::vector<ConsistentJump>& jumps) {
  return std::any_of(jumps.begin(), jumps.end(),
                     [](const ConsistentJump& jump) { return jump.is_continuum; });
}

/// Without a proof that there is no other one it is what was found.
std::string number_of(bool continuum, const Integer& count, bool proved) {
  if (!proved && !continuum)
    return count == 0   ? "none found"
           : count == 1 ? "one found"
                        : fmt::format("{} found", short_count(count));
  return continuum    ? "infinitely many"
         : count == 0 ? "none"
         : count == 1 ? "unique"
                      : fmt::format("several ({})", short_count(count));
}

std::string class_of(const ModelJumps& model_jumps) {
  const ConsistentJumps& found = model_jumps.jumps;
  const bool proved = model_jumps.is_proved && found.status != Status::not_enumerated;
  const std::string text = number_of(found.has_continuum(), found.count(), proved);
  if (found.status == Status::not_enumerated) return text + "; " + found.message;
  return text + fmt::format(" ({})", model_jumps.proof);
}

/// Does a block leave something to choose or to do?
bool is_silent(const JumpBlock& block) {
  return block.complete && block.jumps.size() == 1 && block.jumps[0].amplitude == 0 &&
         block.jumps[0].continuations.size() == 1 && !block.jumps[0].is_continuum;
}

/// "x, y".
std::string names_of(const Model& model, const std::vector<int>& variables) {
  std::string text;
  for (const int j : variables) text += (text.empty() ? "" : ", ") + name_of(model, j);
  return text;
}

/// The jumps of one block after the other, blocks that go on without a choice in one line.
std::string product_form(const Model& model, const ConsistentJumps& found) {
  std::string text =
      fmt::format("one jump of each of {} independent blocks:\n", found.blocks.size());
  std::string silent;
  for (std::size_t b = 0; b < found.blocks.size(); ++b) {
    const JumpBlock& block = found.blocks[b];
    const Part part = part_of(model, block.x, block.lambda);
    const std::string names = names_of(model, block.x);
    if (is_silent(block)) {
      silent += (silent.empty() ? "" : ", ") + names;
      continue;
    }
    text += fmt::format("block {}, {}: {}{}\n", b + 1, names,
                        number_of(has_continuum(block.jumps), block.jumps.size(), block.complete),
                        block.complete ? "" : ", not proved complete");
    if (!block.jumps.empty()) text += table(model, part, block.jumps);
  }
  if (!silent.empty()) text += fmt::format("no jump and one way to go on: {}\n", silent);
  return text;
}

bool fits_a_page(const ConsistentJumps& found) {
  return found.all_listed && found.jumps.size() <= page &&
         std::all_of(found.jumps.begin(), found.jumps.end(), [](const ConsistentJump& jump) {
           return jump.continuations.size() <= page &&
                  static_cast<std::size_t>(jump.vertices.cols()) <= page;
         });
}

Json columns_to_json(const Matrix& matrix) {
  Json list = Json::array();
  for (Eigen::Index k = 0; k < matrix.cols(); ++k) list.push_back(to_json(Vector(matrix.col(k))));
  return list;
}

Json list_to_json(const Part& part, const std::vector<ConsistentJump>& jumps) {
  Json list = Json::array();
  for (const ConsistentJump& jump : jumps) {
    Json continuations = Json::array();
    for (const ContinuousStart& after : jump.continuations)
      continuations.push_back({{"mode", describe(part.laws, after.mode)},
                               {"x", to_json(after.x)},
                               {"lambda", to_json(after.lambda)}});
    Json item{{"x", to_json(jump.x())},
              {"amplitude", to_json(jump.amplitude)},
              {"impulse_x", to_json(jump.impulse_x)},
              {"impulse_lambda", to_json(jump.impulse_lambda)},
              {"continuations", continuations},
              {"continuum", jump.is_continuum},
              {"minimal", &jump == &jumps.front()}};
    if (jump.is_continuum) {
      item["vertices"] = columns_to_json(jump.vertices);
      item["directions"] = columns_to_json(jump.directions);
    }
    list.push_back(std::move(item));
  }
  return list;
}

Json blocks_to_json(const Model& model, const std::vector<JumpBlock>& blocks) {
  Json list = Json::array();
  for (const JumpBlock& block : blocks) {
    const Part part = part_of(model, block.x, block.lambda);
    Json names = Json::array(), laws = Json::array();
    for (const int j : block.x) names.push_back(name_of(model, j));
    for (const int i : block.lambda) laws.push_back(i + 1);
    list.push_back({{"variables", names},
                    {"laws", laws},
                    {"complete", block.complete},
                    {"jumps", list_to_json(part, block.jumps)}});
  }
  return list;
}

}  // namespace

std::string jumps_text(const Model& model, const ModelJumps& model_jumps, const Vector& x,
                       double t) {
  const ConsistentJumps& found = model_jumps.jumps;
  const Part all = everything(model);
  std::string text = fmt::format("model  {}\nfrom   {} at t = {:.10g}\njumps  {}\n", title(model),
                                 point(model, all, x), t, class_of(model_jumps));
  if (found.jumps.empty()) return text;
  const bool whole = fits_a_page(found) || found.blocks.size() < 2;
  text += whole ? table(model, all, found.jumps) : product_form(model, found);
  text += "* the smallest";
  if (found.starts_continuously())
    text += ": a continuous solution starts here, no jump is needed";
  else if (!whole)
    text += fmt::format(", together of amplitude {}", short_number(found.jumps[0].amplitude));
  return text + "\n";
}

Json jumps_to_json(const Model& model, const ModelJumps& model_jumps, const Vector& x, double t) {
  const ConsistentJumps& found = model_jumps.jumps;
  const Part all = everything(model);
  Json from = Json::object();
  for (const int j : all.differential) from[name_of(model, j)] = x[j];
  return {{"version", PERP_VERSION},
          {"model", {{"name", model.name}, {"file", model.file}, {"hash", model.hash}}},
          {"t", t},
          {"from", from},
          {"status", to_string(found.status)},
          {"class", class_of(model_jumps)},
          {"count", found.has_continuum() ? Json(nullptr) : count_to_json(found.count())},
          {"starts_continuously", found.starts_continuously()},
          {"norm", "||E (x+ - x)||_2"},
          {"jumps", list_to_json(all, found.jumps)},
          {"all_listed", found.all_listed},
          {"blocks", blocks_to_json(model, found.blocks)}};
}

}  // namespace perp::io
