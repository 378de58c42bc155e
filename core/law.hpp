#pragma once

#include <string>
#include <vector>

#include <perp/core/base/shared_list.hpp>
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
  SharedList<Branch> branches;  ///< at least one; those of a monotone law in the order of w
  /// A law with memory leaves its present branch only when no solution stays in it, whatever the
  /// selector: this is what tells the two overlapping branches of a hysteresis apart.
  bool memory = false;

  friend bool operator==(const Law&, const Law&) = default;
};

/// The laws of a system.
using Laws = SharedList<Law>;

/// One branch index per law.
using Mode = std::vector<int>;

/// Readable name of a branch: its own, else its range in formulas, e.g. "w=0", "lambda=-1, w<=0".
std::string describe(const Branch& branch);

/// Readable mode: the branches of all laws but constraints, e.g. "[w>=0 | w=0]".
std::string describe(const std::vector<Law>& laws, const Mode& mode);

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

}  // namespace perp
