#include <fmt/format.h>
#include <memory>
#include <optional>

#include <perp/analysis/mlcp.hpp>
#include <perp/cli/command.hpp>
#include <perp/cli/input/arguments.hpp>
#include <perp/cli/input/command_line.hpp>
#include <perp/core/base/error.hpp>
#include <perp/io/files/file_identity.hpp>
#include <perp/io/files/mlcp_file.hpp>
#include <perp/io/files/output_file.hpp>
#include <perp/io/mlcp_json.hpp>
#include <perp/lcp/solver.hpp>

namespace perp::cli {
namespace {

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

void emit(const std::string& output, const Json& json) {
  OutputFile file(output.empty() ? "-" : output);
  const std::string text = json.dump(1) + "\n";
  file.buffer().append(text.data(), text.data() + text.size());
  file.close();
}

int enumerate_all(const MlcpArguments& arguments, const MlcpFile& file) {
  const VertexArithmetic arithmetic = arguments.exact       ? VertexArithmetic::rational
                                      : arguments.in_double ? VertexArithmetic::floating
                                                            : VertexArithmetic::by_size;
  const MlcpAnswer answer = all_solutions(file.problem, arguments.limits(), arithmetic,
                                          file.norm ? &file.weighted_norm : nullptr);
  emit(arguments.output, to_json(file, answer));
  const std::string& certificate = answer.set.certificate;
  if (answer.status == Status::not_enumerated)
    fmt::print(stderr, "perp mlcp: {}\n", certificate);
  else if (answer.status == Status::no_solution)
    fmt::print(stderr, "perp mlcp: the problem has no solution ({})\n", certificate);
  else if (answer.status == Status::not_solved)
    fmt::print(stderr,
               "perp mlcp: a solution has coordinates beyond the largest double (null); --exact "
               "writes fractions\n");
  return exit_status(answer.status);
}

int solve_one(const MlcpArguments& arguments, const MlcpFile& file) {
  const SolveResult result = solve(solver(arguments.solver), file.problem);
  emit(arguments.output, to_json(file, arguments.solver, result));
  if (result.status != Status::solved)
    fmt::print(stderr, "perp mlcp: {}: {}: {}\n", arguments.solver, to_string(result.status),
               result.message);
  return exit_status(result.status);
}

/// The solution of minimal norm alone, with what was proved of the others.
int solve_nearest(const MlcpArguments& arguments, const MlcpFile& file) {
  NearestSearchOptions options;
  options.max_nodes = arguments.max_nodes.value_or(options.max_nodes);
  const ProvedNearest found =
      find_nearest(file.problem, file.norm ? *file.norm : euclidean_norm(file.problem), options);
  emit(arguments.output, to_json(file, found));
  if (found.status != Status::solved) fmt::print(stderr, "perp mlcp: {}\n", found.certificate);
  return exit_status(found.status);
}

/// Throws InvalidInput where --solver does not go with another option, or is not known.
void check_solver(const MlcpArguments& arguments) {
  if (arguments.exact || arguments.in_double || arguments.nearest)
    throw InvalidInput("--solver finds one solution; it excludes --exact, --double, --nearest");
  solver(arguments.solver);  // is the name known?
  if (arguments.max_nodes)
    throw InvalidInput(fmt::format(
        "--max-nodes has no effect with --solver {}; the option that counts is: --output",
        arguments.solver));
}

/// Throws InvalidInput where options do not fit each other.
void check(const MlcpArguments& arguments) {
  if (arguments.exact && arguments.in_double)
    throw InvalidInput("--exact and --double exclude each other");
  check_max_nodes(arguments.max_nodes);
  if (arguments.nearest && (arguments.exact || arguments.in_double))
    throw InvalidInput("--nearest writes no fractions; leave --exact and --double out");
  if (!arguments.solver.empty()) check_solver(arguments);
}

int execute(const MlcpArguments& arguments) {
  check(arguments);
  FilesOfCommand files(FilesOfCommand::Text::none);  // what is written is the result alone
  files.reads(arguments.file, "FILE");
  files.writes(arguments.output, "-o");
  const MlcpFile file = read_mlcp(arguments.file);
  if (arguments.nearest) return solve_nearest(arguments, file);
  return arguments.solver.empty() ? enumerate_all(arguments, file) : solve_one(arguments, file);
}

Action configure_mlcp(CommandLine& line) {
  const auto arguments = std::make_shared<MlcpArguments>();
  line.add_option("FILE", arguments->file, "the problem as JSON, see below")
      .required()
      .type_name("");
  line.add_option("-o,--output", arguments->output, "write JSON to FILE, not to standard output")
      .type_name("FILE");
  line.add_option("--solver", arguments->solver,
                 "find one solution by this method (perp list solvers), not all")
      .type_name("NAME");
  line.add_option("--max-nodes", arguments->max_nodes,
                 "ends the enumeration; the answer then says how far it got")
      .type_name("N");
  line.add_flag("--nearest", arguments->nearest,
               "find the solution of minimal norm alone, with a proof that none is nearer");
  line.add_flag("--exact", arguments->exact,
               "write the vertices as fractions too; the default for small problems");
  line.add_flag("--double", arguments->in_double,
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
    "continuum; where a limit ended the search: none found, one found, k found), all maximal "
    "pieces with their active sets (L lower, F\n"
    "inside, U upper, X fixed), vertices, rays and lines in the coordinates (u, lam), and the\n"
    "points of minimal norm. Exit status 3: no solution, or not all were found.\n\n"
    "examples:\n  perp mlcp problem.json\n  perp mlcp problem.json --solver lemke -o solution.json",
    configure_mlcp};

}  // namespace perp::cli
