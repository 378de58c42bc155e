#pragma once

#include <string>
#include <vector>

#include <perp/core/base/types.hpp>

namespace perp {

/// One straight piece of the graph of a law:
///     a w + b λ = c,   w ∈ [w.lower, w.upper],   λ ∈ [lambda.lower, lambda.upper]
struct Branch {
  double a = 0;        ///< of w
  double b = 0;        ///< of λ
  double c = 0;        ///< right side
  Range w;             ///< where w may be
  Range lambda;        ///< where λ may be
  std::string name{};  ///< used in logs and tables; empty: `describe` makes one from the data

  friend bool operator==(const Branch&, const Branch&) = default;
};

/// A set-valued relation between the scalars w and λ, as data: the union of its branches.
/// Conventions, written once for all of perp:
///     complementarity   0 ≤ w ⊥ λ ≥ 0
///     sign              λ ∈ sign(w),  that is  w ∈ N_[-1,1](λ)
/// Codes that put the minus sign elsewhere are converted at the border.
struct Law {
  std::string name;              ///< used in logs and tables
  std::vector<Branch> branches;  ///< at least one; those of a monotone law in the order of w
  /// A law with memory leaves its present branch only when no solution stays in it, whatever the
  /// selector: this is what tells the two overlapping branches of a hysteresis apart.
  bool memory = false;

  friend bool operator==(const Law&, const Law&) = default;
};

/// One branch index per law.
using Mode = std::vector<int>;

/// The next mode in lexicographic order; after the last one false, and the first again.
bool next_mode(Mode& mode, const std::vector<Law>& laws);

/// Is w fixed on this branch while λ moves (sliding, contact)? Then b = 0.
bool is_vertical(const Branch& branch);

/// The values of w on a branch; on a sloped one its bounds of λ count as bounds of w.
Range w_range(const Branch& branch);

/// Is this branch the inner, bounded, vertical one of its law: a sliding mode?
bool is_sliding(const Law& law, int branch);

/// Readable name of a branch: its own, else its range in formulas, e.g. "w=0", "lambda=-1, w<=0".
std::string describe(const Branch& branch);

/// Readable mode: the branches of all laws but constraints, e.g. "[w>=0 | w=0]".
std::string describe(const std::vector<Law>& laws, const Mode& mode);

/// Distance of (w, λ) from the graph of the law, max norm over (w/w_scale, λ/lambda_scale)
/// of the smallest correction branch by branch; 0 on the graph.
double distance(const Law& law, double w, double lambda, double w_scale = 1,
                double lambda_scale = 1);

/// The branch nearest to (w, λ) in that sense, the first of equally near ones; `except` (-1: none)
/// is left out unless the law has no other.
int nearest_branch(const Law& law, double w, double lambda, int except = -1);

/// Checks that a law is usable. Throws InvalidInput: no branch, a = b = 0, an empty or NaN range.
void validate(const Law& law);

// Named laws ------------------------------------------------------------------------------------

Law complementarity();                  ///< 0 ≤ w ⊥ λ ≥ 0; branches λ = 0, w = 0
Law sign();                             ///< λ ∈ sign(w); branches λ = -1, w = 0, λ = 1
Law relay(double lower, double upper);  ///< λ = lower | [lower, upper] | upper, as w <, =, > 0
Law step();                             ///< relay(0, 1)
Law normal_cone(double lower, double upper);  ///< w ∈ N_[lower,upper](λ); bounds may be infinite
/// -w ∈ N_[lower,upper](λ), the box of mixed complementarity: λ = lower where w > 0, λ = upper
/// where w < 0. box(0, inf) is complementarity, box(-inf, inf) is equality, lower = upper fixes λ.
Law box(double lower, double upper);
Law equality();                              ///< w = 0, λ free
Law saturation(double lower, double upper);  ///< λ = min(max(w, lower), upper)
Law dead_zone(double lower, double upper);   ///< λ = w - lower | 0 | w - upper
Law absolute();                              ///< λ = |w|
Law abs_plus_sign();                         ///< λ ∈ |w| + sign(w), [RAB] eq. (11')
/// λ = 0 until w reaches upper, then 1 until w falls to lower. With memory.
Law hysteresis(double lower, double upper);

/// The constraint w <= 0 as a law: its only branch has λ = 0. Whoever asks a law for its range asks
/// the constraint too; where it is violated no mode is left. No named law: files write constraints.
Law constraint(const std::string& name);
/// Is it one of those?
bool is_constraint(const Law& law);

/// How a model file names a law and how many numbers it takes, e.g. {"relay", 2, ...}.
struct NamedLaw {
  const char* name;                      ///< as in model files
  int arguments;                         ///< how many numbers it takes
  const char* meaning;                   ///< one line for people
  Law (*make)(const double* arguments);  ///< the law of these numbers
};

/// Every named law, in alphabetical order.
const std::vector<NamedLaw>& named_laws();

}  // namespace perp
