#pragma once

#include <string>
#include <vector>

#include <perp/models/language/multilinear/linearization.hpp>

namespace perp::io {

/// "multilinear  3 signals, 5 columns, 7 entries of S, 5 of Phi"
std::string multilinear_counts_text(const MultilinearForm& form);

/// A row for each equation and constraint: its value and its derivatives at v.
std::string multilinear_values_text(const HybridModel& model, const MultilinearForm& form,
                                    const Vector& v);

/// E, A, B, C, D with the names of rows and columns, and f and g at the point.
std::string linearization_text(const HybridModel& model, const MultilinearLinearization& linear);

/// Writes S.mtx, Phi_f.mtx, Phi_g.mtx and model.toml, which is read like any other model, to a
/// folder, which is made. Throws FileError.
void write_multilinear(const std::string& folder, const HybridModel& model,
                       const MultilinearForm& form);
/// The same for E.mtx, A.mtx, B.mtx, C.mtx, D.mtx.
void write_linearization(const std::string& folder, const MultilinearLinearization& linear);

}  // namespace perp::io
