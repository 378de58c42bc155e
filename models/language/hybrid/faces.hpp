#pragma once

#include <map>
#include <optional>
#include <vector>

#include <perp/core/expression/polynomial.hpp>
#include <perp/models/language/hybrid/hybrid_model.hpp>

namespace perp {

/// The constraints with numbers in place of their binaries, as polynomials in the other signals:
/// what is void, and what is a multiple of what, is decided on the coefficients and never by a
/// value at a point.
class Faces {
 public:
  explicit Faces(const HybridModel& model);
  Faces(const Faces&) = delete;  // its reader refers to its tape
  Faces& operator=(const Faces&) = delete;

  [[nodiscard]] int constraints() const { return static_cast<int>(binaries_.size()); }
  /// Binaries that occur in a constraint, increasing.
  [[nodiscard]] const std::vector<int>& binaries_of(int constraint) const {
    return binaries_[static_cast<std::size_t>(constraint)];
  }
  [[nodiscard]] bool holds(int constraint, int binary) const;

  /// g_l(·, z), z of all binaries, 0 or 1. Null where it is too large to be multiplied out.
  const SparsePolynomial* face(int constraint, const std::vector<int>& z);
  /// Does g_l vanish identically for these z? Not where it is too large to tell.
  bool is_void(int constraint, const std::vector<int>& z);

  /// f and g without parameters and known inputs: their tape with inputs t | ẋ | x | z and its
  /// lines.
  [[nodiscard]] const Tape& tape() const { return tape_; }
  [[nodiscard]] const std::vector<int>& rows() const { return rows_; }

 private:
  std::vector<int> rows_;
  Tape tape_;
  int equations_, first_binary_;
  PolynomialReader reader_;
  std::vector<std::vector<int>> binaries_;
  std::vector<std::map<std::vector<int>, std::optional<SparsePolynomial>>>
      known_;  // by the values of binaries_
};

}  // namespace perp
