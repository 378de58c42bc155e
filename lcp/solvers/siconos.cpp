#include <AVI_cst.h>
#include <fmt/format.h>
#include <lcp_cst.h>
#include <MCP_cst.h>
#include <MixedComplementarityProblem.h>
#include <MixedLinearComplementarityProblem.h>
#include <mlcp_cst.h>
#include <relay_cst.h>
#include <RelayProblem.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include <perp/core/linear/lu.hpp>
#include <perp/core/linear/spectra.hpp>
#include <perp/lcp/forms/standard_forms.hpp>
#include <perp/lcp/refine.hpp>
#include <perp/lcp/siconos_library.hpp>
#include <perp/lcp/solver.hpp>

// The one door to Siconos numerics. What its methods do in trouble, and what is done about it here:
//   * It keeps results in the options, and a method may change their identity: options are made
//     anew for every call, and no other state lives between calls (its verbosity is per thread).
//   * A method may print or assert when a matrix is singular or its path ends in a ray: such
//     methods are offered only where that cannot happen (P-matrices, regular equations).
//   * A method may call NaN or a wrong point a success, or leave z unset: the point is looked at
//     whatever the method says, completed by one linear solve in its mode, and judged by
//     `residual`.
//   * mlcp_enum and mlcp_lemke leak some memory at each call (a few hundred bytes and, for the
//     latter, the size of M12), which cannot be reached from outside.

namespace perp {
namespace {

/// What a method works on.
enum class Form { lcp, relay, mlcp, mcp };

struct Method {
  int id;                       // constant of Siconos
  Form form;                    // lcp and relay: free unknowns are eliminated first
  bool needs_p_matrix = false;  // else it might print, or stop the program
  bool one_sided = false;       // no two-sided boxes (their pairs make a P0-matrix only)
  int max_pairs = 1 << 20;      // 2^pairs linear systems
  bool needs_free = false;      // at least one free unknown
  double tol = 1e-12;           // of its own error measure
  int max_iterations = 100'000;
};

// Problems in Siconos' structs --------------------------------------------------------------------

/// A dense matrix of ours in Siconos' struct; the numbers stay ours.
class DenseView {
 public:
  explicit DenseView(Matrix& matrix) {
    siconos_library().NM_fill(&view_, NM_DENSE, static_cast<int>(matrix.rows()),
                              static_cast<int>(matrix.cols()), matrix.data());
  }
  DenseView(const DenseView&) = delete;
  DenseView& operator=(const DenseView&) = delete;
  ~DenseView() {
    view_.matrix0 = nullptr;
    siconos_library().NM_clear(&view_);
  }
  [[nodiscard]] NumericsMatrix* get() { return &view_; }

 private:
  NumericsMatrix view_{};
};

struct DeleteOptions {
  void operator()(SolverOptions* options) const {
    siconos_library().solver_options_delete(options);
    std::free(options);
  }
};
using Options = std::unique_ptr<SolverOptions, DeleteOptions>;

Options fresh_options(const Method& method, const SolveOptions& wanted) {
  Options options(siconos_library().solver_options_create(method.id));
  options->iparam[SICONOS_IPARAM_MAX_ITER] =
      std::clamp(wanted.max_iterations, 1, method.max_iterations);
  options->dparam[SICONOS_DPARAM_TOL] = method.tol;
  if (method.form == Form::lcp)  // its answer for one unknown ignores the sign of M
    options->iparam[SICONOS_LCP_IPARAM_SKIP_TRIVIAL] = SICONOS_LCP_SKIP_TRIVIAL_YES;
  return options;
}

Vector run_lcp(BoxForm& form, SolverOptions* options) {
  Vector z = Vector::Zero(form.n()), w = Vector::Zero(form.n());
  DenseView M(form.N);
  LinearComplementarityProblem problem{form.n(), M.get(), form.r.data()};
  siconos_library().linearComplementarity_driver(&problem, z.data(), w.data(), options);
  return z;
}

Vector run_relay(BoxForm& form, SolverOptions* options) {
  Vector z = Vector::Zero(form.n()), w = Vector::Zero(form.n());
  DenseView M(form.N);
  RelayProblem problem{form.n(), M.get(), form.r.data(), form.lower.data(), form.upper.data()};
  siconos_library().relay_driver(&problem, z.data(), w.data(), options);
  return z;
}

/// Both of Siconos' storages: enumeration reads M and q, the others read A ... b. In its words
///     0 = A u + C v + a,   w = D u + B v + b
Vector run_mlcp(BoxForm& form, SolverOptions* options) {
  const int n = form.free;
  const int m = form.n() - n;
  Vector z = Vector::Zero(n + m), w = Vector::Zero(n + m);
  Matrix A = form.N.topLeftCorner(n, n), C = form.N.topRightCorner(n, m);
  Matrix D = form.N.bottomLeftCorner(m, n), B = form.N.bottomRightCorner(m, m);
  DenseView M(form.N);
  std::array<int, 3> rows{0, n, n + m};
  std::array<int, 2> complementary{0, 1};
  const int skip = n == 0 ? 1 : 0;  // no empty block of equations
  const bool enumerates = options->solverId == SICONOS_MLCP_ENUM;
  MixedLinearComplementarityProblem problem{};
  problem.isStorageType1 = enumerates ? 1 : 0;
  problem.isStorageType2 = enumerates ? 0 : 1;
  problem.n = n;
  problem.m = m;
  problem.blocksRows = rows.data() + skip;
  problem.blocksIsComp = complementary.data() + skip;
  problem.M = M.get();
  problem.q = form.r.data();
  problem.A = A.data();
  problem.B = B.data();
  problem.C = C.data();
  problem.D = D.data();
  problem.a = form.r.data();
  problem.b = form.r.data() + n;
  if (enumerates) {
    // It warns on stdout if it may not try all 2^m systems.
    options->iparam[SICONOS_IPARAM_MAX_ITER] = 1 << m;
    siconos_library().mlcp_driver(&problem, z.data(), w.data(), options);
    return z;
  }
  int info = 0;
  siconos_library().numerics_set_verbose(-1);  // it reports a ray at verbosity 0
  siconos_library().mlcp_lcp_lemke(&problem, z.data(), w.data(), &info, options);
  siconos_library().numerics_set_verbose(0);
  return z;
}

Vector run_mcp(BoxForm& form, SolverOptions* options) {
  Vector z = Vector::Zero(form.n()), w = Vector::Zero(form.n());
  Matrix jacobian = form.N;
  DenseView J(jacobian);
  MixedComplementarityProblem problem{};
  problem.n1 = form.free;
  problem.n2 = form.n() - form.free;
  problem.env = &form;
  problem.nabla_Fmcp = J.get();
  problem.compute_Fmcp = [](void* env, int n, double* at, double* F) {
    const BoxForm& data = *static_cast<const BoxForm*>(env);
    Eigen::Map<Vector>(F, n) = data.N * Eigen::Map<const Vector>(at, n) + data.r;
  };
  problem.compute_nabla_Fmcp = [](void* env, int n, double* /*at*/, NumericsMatrix* value) {
    Eigen::Map<Matrix>(value->matrix0, n, n) = static_cast<const BoxForm*>(env)->N;
  };
  siconos_library().mcp_driver(&problem, z.data(), w.data(), options);
  return z;
}

// Classes of problems -----------------------------------------------------------------------------

/// Is the symmetric part, scaled to diagonal 1, positive definite with something to spare?
bool clearly_definite(const Matrix& N) {
  constexpr double margin = 1e-9;
  const Vector diagonal = N.diagonal();
  if (!(diagonal.minCoeff() > 0)) return false;
  const Vector s = diagonal.cwiseSqrt().cwiseInverse();
  const Matrix S = s.asDiagonal() * (0.5 * (N + N.transpose())) * s.asDiagonal();
  if (!S.allFinite()) return false;
  return linear::symmetric_eigenvalues(S)[0] > margin;
}

/// Is N an H-matrix with positive diagonal: ⟨N⟩ x = 1 with x > 0 for its comparison matrix ⟨N⟩?
bool dominated_by_diagonal(const Matrix& N) {
  if (!(N.diagonal().minCoeff() > 0)) return false;
  Matrix comparison = -N.cwiseAbs();
  comparison.diagonal() = N.diagonal();
  const Vector inverse_diagonal = N.diagonal().cwiseInverse();
  comparison = inverse_diagonal.asDiagonal() * comparison;
  const Vector x = linear::Lu(comparison).solve(Vector(Vector::Ones(N.rows())));
  return x.allFinite() && x.minCoeff() > 0 && x.maxCoeff() < 1e9;
}

/// Sufficient for a P-matrix (all principal minors positive), which is too costly to decide.
bool is_p_matrix(const Matrix& N) {
  return N.size() > 0 && N.allFinite() && (clearly_definite(N) || dominated_by_diagonal(N));
}

struct Prepared {
  std::string reason;  // why not, or empty
  BoxForm form;        // what the method is given
};

/// The reduced form (without free unknowns) of the problem and of the scaled one: scaling of rows
/// keeps P-matrices, but may hide from the tests that one is.
bool has_p_matrix(const Mlcp& problem, const BoxForm& reduced) {
  if (is_p_matrix(reduced.N)) return true;
  BoxForm unscaled = box_form(problem);
  return eliminate_free(unscaled) && is_p_matrix(unscaled.N);
}

/// Why a method cannot take problems of this shape, or empty; `regular`: free unknowns can be eliminated.
std::string shape_refused(const Method& method, const BoxForm& form, bool regular) {
  if (method.id != SICONOS_MLCP_ENUM && !regular)
    return "the equations do not determine the free unknowns";
  if (method.needs_free && form.free == 0)
    return "there is no free unknown: this is a pure complementarity problem";
  const bool keeps_free = method.form == Form::mlcp || method.form == Form::mcp;
  if (keeps_free && form.n() == form.free) return "there is no complementarity pair";
  return "";
}

bool has_both_bounds(const BoxForm& form, int i) {
  return form.lower[i] > -inf && form.upper[i] < inf;
}

/// Why a method cannot take these bounds, or empty.
std::string bounds_refused(const Method& method, const BoxForm& form) {
  int pairs = 0;
  for (int i = form.free; i < form.n(); ++i) {
    const bool both = has_both_bounds(form, i);
    pairs += both ? 2 : 1;
    if (method.form == Form::relay && !both)
      return "a relay solver needs two finite bounds for every law";
    if (method.one_sided && both)
      return "its Jacobian may be singular where a law has two finite bounds";
  }
  if (pairs > method.max_pairs)
    return fmt::format("it tries 2^{} modes; offered up to 2^{}", pairs, method.max_pairs);
  return "";
}

/// Why a method cannot take the form of a problem, or empty. `reduced`: the form, which loses its free
/// unknowns if they can be eliminated.
std::string form_refused(const Method& method, const Mlcp& problem, const BoxForm& form,
                         BoxForm& reduced) {
  const bool regular = eliminate_free(reduced);
  std::string reason = shape_refused(method, form, regular);
  if (reason.empty()) reason = bounds_refused(method, form);
  if (!reason.empty()) return reason;
  if (method.needs_p_matrix && reduced.n() > 0 && !has_p_matrix(problem, reduced))
    return "its matrix is not found to be a P-matrix (definite or dominated by its diagonal)";
  return "";
}

Prepared prepared(const Method& method, const Mlcp& problem, const Scaling& scaling) {
  Prepared result;
  result.reason = siconos_library().missing;
  if (result.reason.empty()) result.reason = no_box_form(problem);
  if (!result.reason.empty()) return result;
  result.form = box_form(scaled(problem, scaling));
  BoxForm reduced = result.form;
  result.reason = form_refused(method, problem, result.form, reduced);
  if (!result.reason.empty()) return result;
  if (method.form == Form::lcp || method.form == Form::relay) result.form = reduced;
  if (method.form != Form::relay) result.form = to_pairs(result.form);
  return result;
}

// Methods -----------------------------------------------------------------------------------------

Vector run(const Method& method, BoxForm& form, SolverOptions* options) {
  switch (method.form) {
    case Form::lcp: return run_lcp(form, options);
    case Form::relay: return run_relay(form, options);
    case Form::mlcp: return run_mlcp(form, options);
    case Form::mcp: break;
  }
  return run_mcp(form, options);
}

template <const Method& method>
std::string unsupported(const Mlcp& problem) {
  const std::string reason = no_box_form(problem);
  return reason.empty() ? prepared(method, problem, equilibrate(problem)).reason : reason;
}

template <const Method& method>
SolveResult solve_with(const Mlcp& problem, const SolveOptions& options) {
  const Scaling scaling = equilibrate(problem);
  Prepared ready = prepared(method, problem, scaling);
  SolveResult result;
  result.status = Status::not_solved;
  BoxForm& form = ready.form;
  Vector y(0);
  if (form.n() > 0) {
    const Options siconos = fresh_options(method, options);
    y = run(method, form, siconos.get());
    result.iterations = siconos->iparam[SICONOS_IPARAM_ITER_DONE];
  }
  const Vector point = form.back * y + form.back0;
  if (!point.allFinite()) {
    result.message = "Siconos returned a point that is not finite";
    return result;
  }
  const Mlcp in_units = scaled(problem, scaling);
  const Mode mode = nearest_mode(in_units, point.head(problem.p()), point.tail(problem.m()));
  const Vector u = scaling.u_scale.cwiseProduct(point.head(problem.p()));
  const Vector lambda = scaling.lambda_scale.cwiseProduct(point.tail(problem.m()));
  result.solution = refined(problem, u, lambda, mode);
  if (result.solution.residual <= options.tol)
    result.status = Status::solved;
  else
    result.message = fmt::format("Siconos found no solution; its last point has residual {:.1e}",
                                 result.solution.residual);
  return result;
}

constexpr Method lcp_lemke{.id = SICONOS_LCP_LEMKE, .form = Form::lcp};
constexpr Method lcp_pivot{.id = SICONOS_LCP_PIVOT, .form = Form::lcp, .needs_p_matrix = true};
constexpr Method lcp_avi{.id = SICONOS_LCP_AVI_CAOFERRIS, .form = Form::lcp};
constexpr Method lcp_newton_fb{.id = SICONOS_LCP_NEWTON_FB_FBLSA,
                               .form = Form::lcp,
                               .needs_p_matrix = true,
                               .one_sided = true,
                               .tol = 1e-10,
                               .max_iterations = 500};
constexpr Method lcp_newton_min{.id = SICONOS_LCP_NEWTON_MIN_FBLSA,
                                .form = Form::lcp,
                                .needs_p_matrix = true,
                                .one_sided = true,
                                .tol = 1e-10,
                                .max_iterations = 500};
constexpr Method relay_lemke{.id = SICONOS_RELAY_LEMKE, .form = Form::relay};
constexpr Method relay_avi{.id = SICONOS_RELAY_AVI_CAOFERRIS, .form = Form::relay};
constexpr Method mlcp_enum_{.id = SICONOS_MLCP_ENUM, .form = Form::mlcp, .max_pairs = 14};
constexpr Method mlcp_lemke{.id = SICONOS_MLCP_LCP_LEMKE, .form = Form::mlcp, .needs_free = true};
constexpr Method mcp_newton_fb{.id = SICONOS_MCP_NEWTON_FB_FBLSA,
                               .form = Form::mcp,
                               .needs_p_matrix = true,
                               .one_sided = true,
                               .tol = 1e-10,
                               .max_iterations = 500};
constexpr Method mcp_newton_min{.id = SICONOS_MCP_NEWTON_MIN_FBLSA,
                                .form = Form::mcp,
                                .needs_p_matrix = true,
                                .one_sided = true,
                                .tol = 1e-10,
                                .max_iterations = 500};

template <const Method& method>
constexpr MlcpSolver entry(const char* name, const char* description) {
  return {name, description, unsupported<method>, solve_with<method>};
}

constexpr MlcpSolver siconos_methods[] = {
    entry<lcp_lemke>("siconos_lcp_lemke", "Siconos LCP_LEMKE (200), lexicographic Lemke"),
    entry<lcp_pivot>("siconos_lcp_pivot", "Siconos LCP_PIVOT (215), P-matrices"),
    entry<lcp_avi>("siconos_lcp_avi_caoferris", "Siconos LCP_AVI_CAOFERRIS (214)"),
    entry<lcp_newton_fb>("siconos_lcp_newton_fb",
                         "Siconos LCP_NEWTON_FB_FBLSA (209), P-matrices, one-sided boxes"),
    entry<lcp_newton_min>("siconos_lcp_newton_min",
                          "Siconos LCP_NEWTON_MIN_FBLSA (218), P-matrices, one-sided boxes"),
    entry<relay_lemke>("siconos_relay_lemke", "Siconos RELAY_LEMKE (303), two-sided boxes"),
    entry<relay_avi>("siconos_relay_avi_caoferris",
                     "Siconos RELAY_AVI_CAOFERRIS (306), two-sided boxes"),
    entry<mlcp_enum_>("siconos_mlcp_enum",
                      "Siconos MLCP_ENUM (105), up to 14 pairs (leaks some bytes a call)"),
    entry<mlcp_lemke>(
        "siconos_mlcp_lemke",
        "Siconos MLCP_LCP_LEMKE (115), with free unknowns (leaks some memory a call)"),
    entry<mcp_newton_fb>("siconos_mcp_newton_fb",
                         "Siconos MCP_NEWTON_FB_FBLSA (700), P-matrices, one-sided boxes"),
    entry<mcp_newton_min>("siconos_mcp_newton_min",
                          "Siconos MCP_NEWTON_MIN_FBLSA (701), P-matrices, one-sided boxes"),
};

}  // namespace

extern const MlcpSolvers siconos;
const MlcpSolvers siconos{siconos_methods};

}  // namespace perp
