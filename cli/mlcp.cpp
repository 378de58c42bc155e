#include <fmt/format.h>
#include <algorithm>
#include <CLI/CLI.hpp>
#include <cmath>
#include <memory>
#include <optional>

#include <perp/cli/command.hpp>
#include <perp/cli/input/mlcp_file.hpp>
#include <perp/cli/output/file_identity.hpp>
#include <perp/cli/output/output_file.hpp>
#include <perp/cli/output/provenance.hpp>
#include <perp/core/base/error.hpp>
#include <perp/lcp/enumeration/enumerate.hpp>
#include <perp/lcp/exact/exact_norm.hpp>
#include <perp/lcp/nearest/nearest_search.hpp>
#include <perp/lcp/solver.hpp>

namespace perp::cli {
namespace {

constexpr double most_modes_with_fractions = 4096;  // fractions are written up to here, and
constexpr int most_unknowns_with_fractions = 24;    // beyond where they are asked for
constexpr long most_pieces = 100'000;               // written

struct MlcpArguments {
  std::string file, output, solver;
  bool exact = false, in_double = false, nearest = false;
  std::optional<long> max_nodes{};  ///< where it is given

  [[nodiscard]] EnumerateOptions limits() const {
    EnumerateOptions options;
    options.max_nodes = max_nodes.value_or(options.max_nodes);
    return options;
  }
};

/// A piece of the whole problem: one piece of every block put together.
struct WholePiece {
  std::vector<std::string> active_sets;
  int dimension = 0;
  std::vector<std::vector<double>> vertices, rays, lines;
  std::vector<std::vector<std::string>> exact_vertices;
};

bool are_doubles(const WholePiece& piece) {
  return std::all_of(piece.vertices.begin(), piece.vertices.end(), [](const auto& vertex) {
    return std::all_of(vertex.begin(), vertex.end(), [](double v) { return std::isfinite(v); });
  });
}

/// The letters L, F, U, X of each mode of a piece, at the block's places.
std::vector<std::string> active_sets(const Mlcp& problem, const Block& block, const Piece& piece) {
  std::vector<std::string> sets;
  for (const Mode& mode : piece.modes) {
    std::string letters;
    for (std::size_t i = 0; i < mode.size(); ++i)
      letters +=
          active_set_letter(problem.laws[static_cast<std::size_t>(block.lambda[i])], mode[i]);
    sets.push_back(letters);
  }
  return sets;
}

/// Puts the pieces of the blocks together, one after the other.
class Product {
 public:
  Product(const Mlcp& problem, const SolutionSet& set, const Fractions* fractions)
      : problem_(problem), set_(set), fractions_(fractions) {}

  std::vector<WholePiece> operator()() {
    const auto total = static_cast<std::size_t>(problem_.p() + problem_.m());
    WholePiece start;
    start.active_sets.emplace_back(static_cast<std::size_t>(problem_.m()), '?');
    start.vertices.emplace_back(total, 0.0);
    start.exact_vertices.emplace_back(total, "0");
    std::vector<WholePiece> pieces{start};
    for (std::size_t b = 0; b < set_.blocks.size(); ++b) {
      std::vector<WholePiece> next;
      for (const WholePiece& whole : pieces)
        for (std::size_t k = 0; k < set_.blocks[b].pieces.size(); ++k) {
          if (static_cast<long>(next.size()) >= most_pieces)
            throw InvalidInput(fmt::format(
                "the solution set has more than {} pieces, too many to write", most_pieces));
          next.push_back(joined(whole, b, k));
        }
      pieces = std::move(next);
    }
    return pieces;
  }

 private:
  WholePiece joined(const WholePiece& whole, std::size_t b, std::size_t k) const {
    const Block& block = set_.blocks[b];
    const Piece& piece = block.pieces[k];
    WholePiece result;
    result.dimension = whole.dimension + piece.dimension;
    for (const std::string& outer : whole.active_sets)
      for (const std::string& inner : active_sets(problem_, block, piece)) {
        result.active_sets.push_back(outer);
        for (std::size_t i = 0; i < inner.size(); ++i)
          result.active_sets.back()[static_cast<std::size_t>(block.lambda[i])] = inner[i];
      }
    for (std::size_t v = 0; v < whole.vertices.size(); ++v)
      for (Eigen::Index c = 0; c < piece.vertices.cols(); ++c) {
        result.vertices.push_back(whole.vertices[v]);
        place(block, piece.vertices.col(c), result.vertices.back());
        if (fractions_ == nullptr) continue;
        result.exact_vertices.push_back(whole.exact_vertices[v]);
        const auto& exact = (*fractions_)[b][k][static_cast<std::size_t>(c)];
        for (std::size_t j = 0; j < exact.size(); ++j)
          result.exact_vertices.back()[coordinate(block, j)] = exact[j];
      }
    result.rays = directions(whole.rays, block, piece.rays);
    result.lines = directions(whole.lines, block, piece.lines);
    return result;
  }

  /// Where coordinate j of a block stands in (u, λ) of the whole problem.
  [[nodiscard]] std::size_t coordinate(const Block& block, std::size_t j) const {
    const std::size_t inner = block.u.size();
    return j < inner ? static_cast<std::size_t>(block.u[j])
                     : static_cast<std::size_t>(problem_.p() + block.lambda[j - inner]);
  }

  void place(const Block& block, const Eigen::Ref<const Vector>& from,
             std::vector<double>& to) const {
    for (Eigen::Index j = 0; j < from.size(); ++j)
      to[coordinate(block, static_cast<std::size_t>(j))] = from[j] == 0 ? 0.0 : from[j];
  }

  [[nodiscard]] std::vector<std::vector<double>> directions(std::vector<std::vector<double>> list,
                                                            const Block& block,
                                                            const Matrix& columns) const {
    for (Eigen::Index c = 0; c < columns.cols(); ++c) {
      list.emplace_back(static_cast<std::size_t>(problem_.p() + problem_.m()), 0.0);
      place(block, columns.col(c), list.back());
    }
    return list;
  }

  const Mlcp& problem_;
  const SolutionSet& set_;
  const Fractions* fractions_;
};

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

/// The least norm over the set, from its exact generators.
Json minimal_norm(const MlcpFile& file, const SolutionSet& set, bool with_fraction) {
  std::vector<Mode> modes;
  for (Piece& piece : pieces(set, most_pieces)) modes.push_back(std::move(piece.modes.front()));
  const std::optional<ExactMinimum> least = exact_minimum(file.problem, modes, file.weighted_norm);
  if (!least) return nullptr;
  Json json{{"value_squared", least->value_squared}, {"minimisers", least->minimisers}};
  if (with_fraction) json["value_squared_exact"] = least->square;
  return json;
}

bool is_small(const Mlcp& problem) {
  double modes = 1;
  for (const Law& law : problem.laws) modes *= static_cast<double>(law.branches.size());
  return modes <= most_modes_with_fractions &&
         problem.p() + problem.m() <= most_unknowns_with_fractions;
}

int emit(const std::string& output, const Json& json) {
  OutputFile file(output.empty() ? "-" : output);
  const std::string text = json.dump(1) + "\n";
  file.buffer().append(text.data(), text.data() + text.size());
  file.close();
  return exit_solved;
}

int enumerate_all(const MlcpArguments& arguments, const MlcpFile& file) {
  const Mlcp& problem = file.problem;
  const bool exact = arguments.exact || (!arguments.in_double && is_small(problem));
  Fractions fractions;
  const SolutionSet set = exact ? enumerate_exact(problem, arguments.limits(), &fractions)
                                : enumerate(problem, arguments.limits());
  const std::vector<WholePiece> whole = Product(problem, set, exact ? &fractions : nullptr)();
  Json pieces = Json::array();
  for (const WholePiece& piece : whole) {
    Json item{
        {"active_sets", piece.active_sets}, {"dim", piece.dimension}, {"vertices", piece.vertices}};
    if (exact) item["vertices_exact"] = piece.exact_vertices;
    item["rays"] = piece.rays;
    item["lines"] = piece.lines;
    pieces.push_back(std::move(item));
  }
  const bool none = multiplicity(set) == Multiplicity::none;
  const bool written = exact || std::all_of(whole.begin(), whole.end(), are_doubles);
  Json json{{"name", file.name},
            {"p", problem.p()},
            {"m", problem.m()},
            {"class", class_of(set)},
            {"pieces", pieces}};
  if (file.norm) {
    json["norm"] = file.norm_given;
    // of a part of the solutions it is the least that was found
    json[set.complete ? "minimal_norm" : "least_norm_found"] = minimal_norm(file, set, exact);
  }
  const Status status = !set.complete ? Status::not_enumerated
                        : none        ? Status::no_solution
                        : written     ? Status::solved
                                      : Status::not_solved;
  json["status"] = to_string(status);
  json["arithmetic"] = exact ? "rational" : "double";
  json["certificate"] = set.certificate;
  json["version"] = PERP_VERSION;
  emit(arguments.output, json);
  if (!set.complete)
    fmt::print(stderr, "perp mlcp: {}\n", set.certificate);
  else if (none)
    fmt::print(stderr, "perp mlcp: the problem has no solution ({})\n", set.certificate);
  else if (!written)
    fmt::print(stderr,
               "perp mlcp: a solution has coordinates beyond the largest double (null); --exact "
               "writes fractions\n");
  return exit_status(status);
}

/// The letters of the branches of a mode.
std::string active_set(const Mlcp& problem, const Mode& mode) {
  std::string letters;
  for (std::size_t i = 0; i < mode.size(); ++i)
    letters += active_set_letter(problem.laws[i], mode[i]);
  return letters;
}

int solve_one(const MlcpArguments& arguments, const MlcpFile& file) {
  const Mlcp& problem = file.problem;
  const SolveResult result = solve(solver(arguments.solver), problem);
  Json json{{"name", file.name},
            {"p", problem.p()},
            {"m", problem.m()},
            {"solver", arguments.solver},
            {"status", to_string(result.status)},
            {"message", result.message},
            {"iterations", result.iterations}};
  if (result.status == Status::solved) {
    json["u"] = to_json(result.solution.u);
    json["lambda"] = to_json(result.solution.lambda);
    json["w"] = to_json(result.solution.w);
    json["residual"] = to_json(result.solution.residual);
    json["active_set"] = active_set(problem, result.solution.mode);
  }
  json["version"] = PERP_VERSION;
  emit(arguments.output, json);
  if (result.status != Status::solved)
    fmt::print(stderr, "perp mlcp: {}: {}: {}\n", arguments.solver, to_string(result.status),
               result.message);
  return exit_status(result.status);
}

/// ‖u‖₂, of a problem without u ‖λ‖₂: the norm where the file gives none.
Norm euclidean(const Mlcp& problem) {
  const int n = problem.p() + problem.m(), rows = problem.p() > 0 ? problem.p() : n;
  Norm norm{Matrix::Zero(rows, n), Vector::Zero(n)};
  norm.W.leftCols(rows).setIdentity();
  return norm;
}

std::string name_of_default(const Mlcp& problem) {
  return problem.p() > 0 ? "||u||_2 (the file gives no norm)"
                         : "||lambda||_2 (the file gives no norm)";
}

/// The solution of minimal norm alone, with what was proved of the others.
int solve_nearest(const MlcpArguments& arguments, const MlcpFile& file) {
  const Norm norm = file.norm ? *file.norm : euclidean(file.problem);
  NearestSearchOptions options;
  options.max_nodes = arguments.max_nodes.value_or(options.max_nodes);
  const ProvedNearest found = find_nearest(file.problem, norm, options);
  Json json{{"name", file.name},
            {"p", file.problem.p()},
            {"m", file.problem.m()},
            {"norm", file.norm ? file.norm_given : Json(name_of_default(file.problem))},
            {"status", to_string(found.status)},
            {"certificate", found.certificate},
            {"nodes", found.nodes},
            {"value", to_json(found.norm)},
            {"bound", to_json(found.bound)}};
  if (!std::isnan(found.norm)) {
    json["u"] = to_json(found.solution.u);
    json["lambda"] = to_json(found.solution.lambda);
    json["w"] = to_json(found.solution.w);
    json["residual"] = to_json(found.solution.residual);
    json["active_set"] = active_set(file.problem, found.solution.mode);
  }
  json["version"] = PERP_VERSION;
  emit(arguments.output, json);
  if (found.status != Status::solved) fmt::print(stderr, "perp mlcp: {}\n", found.certificate);
  return exit_status(found.status);
}

int execute(const MlcpArguments& arguments) {
  if (arguments.exact && arguments.in_double)
    throw InvalidInput("--exact and --double exclude each other");
  if (arguments.max_nodes && *arguments.max_nodes <= 0)
    throw InvalidInput(
        fmt::format("--max-nodes must be positive but is {}", *arguments.max_nodes));
  if (arguments.nearest && (arguments.exact || arguments.in_double))
    throw InvalidInput("--nearest writes no fractions; leave --exact and --double out");
  if (!arguments.solver.empty()) {
    if (arguments.exact || arguments.in_double || arguments.nearest)
      throw InvalidInput("--solver finds one solution; it excludes --exact, --double, --nearest");
    solver(arguments.solver);  // is the name known?
    if (arguments.max_nodes)
      throw InvalidInput(fmt::format(
          "--max-nodes has no effect with --solver {}; the option that counts is: --output",
          arguments.solver));
  }
  FilesOfCommand files(FilesOfCommand::Text::none);  // what is written is the result alone
  files.reads(arguments.file, "FILE");
  files.writes(arguments.output, "-o");
  const MlcpFile file = read_mlcp(arguments.file);
  if (arguments.nearest) return solve_nearest(arguments, file);
  return arguments.solver.empty() ? enumerate_all(arguments, file) : solve_one(arguments, file);
}

Action configure_mlcp(CLI::App& app) {
  const auto arguments = std::make_shared<MlcpArguments>();
  app.add_option("FILE", arguments->file, "the problem as JSON, see below")
      ->required()
      ->type_name("");
  app.add_option("-o,--output", arguments->output, "write JSON to FILE, not to standard output")
      ->type_name("FILE");
  app.add_option("--solver", arguments->solver,
                 "find one solution by this method (perp list solvers), not all")
      ->type_name("NAME");
  app.add_option("--max-nodes", arguments->max_nodes,
                 "ends the enumeration; the answer then says how far it got")
      ->type_name("N");
  app.add_flag("--nearest", arguments->nearest,
               "find the solution of minimal norm alone, with a proof that none is nearer");
  app.add_flag("--exact", arguments->exact,
               "write the vertices as fractions too; the default for small problems");
  app.add_flag("--double", arguments->in_double,
               "write doubles alone, which is faster; the set is decided exactly all the same");
  return [arguments] { return execute(*arguments); };
}

}  // namespace

extern const Command mlcp;
const Command mlcp{
    "mlcp", "finds all solutions of one mixed linear complementarity problem in a JSON file",
    "FILE holds name, p, m, Auu, Aul, au, Alu, All, al, lower, upper and optionally norm:\n"
    "  0 = Auu u + Aul lam + au,   w = Alu u + All lam + al,   -w_i in N_[lower_i,upper_i](lam_i)\n"
    "that is lam_i = lower_i where w_i > 0, lam_i = upper_i where w_i < 0; bounds may be \"inf\" "
    "and\n"
    "\"-inf\". norm = {indices, ref, weights} measures u (lam where p = 0); without it --nearest\n"
    "takes ||u||_2 (||lam||_2 where p = 0). The result names the class (none, unique, finite,\n"
    "continuum; where a limit ended the search: none found, one found, k found), all maximal pieces with their active sets (L lower, F\n"
    "inside, U upper, X fixed), vertices, rays and lines in the coordinates (u, lam), and the\n"
    "points of minimal norm. Exit status 3: no solution, or not all were found.\n\n"
    "examples:\n  perp mlcp problem.json\n  perp mlcp problem.json --solver lemke -o solution.json",
    configure_mlcp};

}  // namespace perp::cli
