#pragma once

#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include <perp/core/base/types.hpp>
#include <perp/models/language/hybrid/hybrid_model.hpp>
#include <perp/models/language/data/sparse_entries.hpp>

namespace perp {

/// Functions that are linear in every single signal, in normalised CP form, [WL] eq. (6)-(7):
///     f_j = Σ_k Φf_jk π_k,   g_j = Σ_k Φg_jk π_k,   π_k = Π_i (1 − |S_ik| + S_ik v_i)
/// Rows of S are the signals ẋ, x, u, y, z; products stay factored.
class MultilinearForm {
 public:
  /// Throws InvalidInput where sizes do not fit, an entry is out of range or not finite.
  MultilinearForm(const SparseEntries& S, const SparseEntries& phi_f, const SparseEntries& phi_g);

  [[nodiscard]] int signals() const { return signals_; }
  [[nodiscard]] int columns() const { return static_cast<int>(factor_start_.size()) - 1; }
  [[nodiscard]] int equations() const { return equations_; }
  [[nodiscard]] int constraints() const { return constraints_; }
  [[nodiscard]] long structure_entries() const { return static_cast<long>(factors_.size()); }
  [[nodiscard]] long parameter_entries() const { return static_cast<long>(weights_.size()); }

  /// f, then g, at the signals v.
  [[nodiscard]] Vector values(const Vector& v) const;

  /// The derivatives of f, then g, by the signals, ordered by row and column; those that no column
  /// holds are left out.
  [[nodiscard]] std::vector<SparseEntry> jacobian(const Vector& v) const;

  /// The matrices, entries ordered by column and row.
  ///@{
  [[nodiscard]] SparseEntries S() const;
  [[nodiscard]] SparseEntries phi_f() const;
  [[nodiscard]] SparseEntries phi_g() const;
  ///@}

  struct Factor {
    int signal = 0;
    double S = 0;
  };
  /// The factors of column k, by signal.
  [[nodiscard]] std::vector<Factor> factors(int k) const;

 private:
  struct Weight {
    int row = 0;  ///< of f, then g
    double phi = 0;
  };
  /// 1 − |S| + S v, right to some units in its last place also where it cancels.
  [[nodiscard]] static double factor(const Factor& f, const Vector& v) {
    const double a = 1 - std::abs(f.S), b = f.S * v[f.signal], sum = a + b;
    return 4 * std::abs(sum) >= std::abs(a) + std::abs(b) ? sum : cancelled_factor(f.S, v[f.signal]);
  }
  static double cancelled_factor(double S, double v);
  [[nodiscard]] SparseEntries weights_of(int first, int count) const;
  void check(const Vector& v) const;

  int signals_ = 0, equations_ = 0, constraints_ = 0;
  std::vector<int> factor_start_, weight_start_;  // of each column
  std::vector<Factor> factors_;
  std::vector<Weight> weights_;
};

/// Names of the signals in the order of the rows of S: der(x), x, u, y, z.
std::vector<std::string> multilinear_signals(const HybridModel& model);
/// The signals at the values that are given by name, 0 elsewhere. Throws InvalidInput.
Vector signals_at(const HybridModel& model, const std::vector<std::pair<std::string, double>>& given);

/// A model in this form, parameters as numbers. Products are multiplied out only where factors
/// share a signal or are sums over several; columns that are equal over all rows are one. Throws
/// InvalidInput with the row where one is not multilinear, and where products would be multiplied
/// out to more than a million columns.
MultilinearForm multilinear_form(const HybridModel& model);

}  // namespace perp
