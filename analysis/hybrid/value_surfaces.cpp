// Surfaces on which binaries slide: the search over their values asks for them.
#include <algorithm>

#include <perp/analysis/hybrid/value_search.hpp>
#include <perp/core/base/index.hpp>
#include <perp/core/base/interruption.hpp>

namespace perp {
namespace {

/// The next of all combinations of 0 and 1 at these places, the first place fastest. False: they begin again.
bool to_next_corner(const std::vector<int>& moved, std::vector<int>& corner) {
  for (const int i : moved) {
    corner[at(i)] = 1 - corner[at(i)];
    if (corner[at(i)] == 1) return true;
  }
  return false;
}

}  // namespace

/// Visits z with the released binaries but `except` at all combinations of their ends; false where
/// a visit says so.
template <class Visit>
bool ValueSearch::at_corners(const std::vector<int>& z, int except, const Visit& visit) {
  std::vector<int> moved;
  for (int i = 0; i < static_cast<int>(z.size()); ++i)
    if (z[at(i)] == released_binary && i != except) moved.push_back(i);
  std::vector<int> corner = z;
  std::replace(corner.begin(), corner.end(), any_binary, 0);
  for (const int i : moved) corner[at(i)] = 0;
  do {
    check_interruption();
    if (!visit(corner)) return false;
  } while (to_next_corner(moved, corner));
  return true;
}

/// Is it a constraint of the sub-problem that determines the binary, and holds it?
bool ValueSearch::may_call(int constraint, int binary) const {
  return structure_.block_of_row[model_.f.size() + at(constraint)] ==
             structure_.block_of_unknown[at(model_.n() + binary)] &&
         faces_.holds(constraint, binary);
}

/// Is g_k|z=1 a negative multiple of s for a k?
bool ValueSearch::has_opposite(std::vector<int>& corner, int binary, const SparsePolynomial& s) {
  corner[at(binary)] = 1;
  for (int k = 0; k < faces_.constraints(); ++k) {
    if (!may_call(k, binary)) continue;
    const SparsePolynomial* high = faces_.face(k, corner);
    if (high == nullptr) continue;
    const std::optional<double> kappa = ratio(*high, s);
    if (kappa && !(*kappa >= 0)) return true;
  }
  return false;
}

/// s with g_l|z=0 a positive and g_k|z=1 a negative multiple of it; `row` becomes l.
const SparsePolynomial* ValueSearch::surface_at(std::vector<int>& corner, int binary, int& row) {
  for (int l = 0; l < faces_.constraints(); ++l) {
    if (!may_call(l, binary)) continue;
    corner[at(binary)] = 0;
    const SparsePolynomial* low = faces_.face(l, corner);
    if (low == nullptr || low->is_zero() || !has_opposite(corner, binary, *low)) continue;
    row = l;
    return low;
  }
  return nullptr;
}

int ValueSearch::surface(const std::vector<int>& z, int binary) {
  const SparsePolynomial* first = nullptr;
  int found = -1;
  const bool is_one = at_corners(z, binary, [&](std::vector<int>& corner) {
    int row = -1;
    const SparsePolynomial* here = surface_at(corner, binary, row);
    if (here == nullptr) return false;
    if (first == nullptr) {
      first = here;
      found = row;
      return true;
    }
    const std::optional<double> kappa = ratio(*here, *first);
    return kappa && *kappa > 0;
  });
  return is_one ? found : -1;
}

bool ValueSearch::is_held(const std::vector<int>& z, int constraint) {
  const std::vector<int>& own = faces_.binaries_of(constraint);
  if (std::none_of(own.begin(), own.end(), [&](int i) { return z[at(i)] == released_binary; }))
    return false;
  std::vector<const SparsePolynomial*> surfaces;
  for (int i = 0; i < static_cast<int>(z.size()); ++i) {
    if (z[at(i)] != released_binary) continue;
    at_corners(z, i, [&](std::vector<int>& corner) {
      int row = -1;
      if (const SparsePolynomial* surface = surface_at(corner, i, row)) surfaces.push_back(surface);
      return false;
    });
  }
  return at_corners(z, -1, [&](std::vector<int>& corner) {
    const SparsePolynomial* face = faces_.face(constraint, corner);
    if (face == nullptr) return false;
    return face->is_zero() ||
           std::any_of(surfaces.begin(), surfaces.end(), [&](const SparsePolynomial* surface) {
             return ratio(*face, *surface).has_value();
           });
  });
}

bool ValueSearch::check_surfaces(int block) {
  for (const int i : blocks_[at(block)].binaries)
    if (z_[at(i)] == released_binary && surface(z_, i) < 0) return false;
  return true;
}

/// A binary slides on a surface: of its constraints one is 0 with its value 0, and one with its value 1.
bool ValueSearch::may_slide(int block, int binary) {
  const int equations = static_cast<int>(model_.f.size());
  Number& input = inputs_[at(model_.binary_input(binary))];
  const Number between = input;
  const auto is_surface = [&](int row) {
    return row >= equations && faces_.holds(row - equations, binary) && row_sign(row) == 0;
  };
  const std::vector<int>& rows = structure_.blocks[at(block)].rows;
  bool at_both = true;
  for (const double end : {0.0, 1.0}) {
    input = Number(end);
    at_both = at_both && std::any_of(rows.begin(), rows.end(), is_surface);
  }
  input = between;
  return at_both;
}

}  // namespace perp
