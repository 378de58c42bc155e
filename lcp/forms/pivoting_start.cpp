// The complementary bases that Lemke's method starts from.
#include <algorithm>
#include <cmath>
#include <cstddef>

#include <perp/core/base/index.hpp>
#include <perp/lcp/forms/pivoting.hpp>

namespace perp {
namespace {

/// The bound at which an unknown of the box [lower, upper] starts: the wanted one if it is finite.
Place finite_bound(Place wanted, double lower, double upper) {
  Place place = wanted;
  if (place == Place::inside) place = Place::at_lower;
  if (place == Place::at_lower && lower == -inf) place = Place::at_upper;
  if (place == Place::at_upper && upper == inf) place = Place::at_lower;
  return place;
}

}  // namespace

bool Pivoting::start(const std::vector<Place>& places) {
  places_ = places;
  basic_.resize(at(n_));
  nonbasic_.resize(at(n_ + 1));
  where_.resize(at(2 * n_ + 1));
  idle_.assign(at(n_), 0);
  t_column_ = Vector::Zero(n_);
  t_upper_ = inf;
  for (int i = 0; i < n_; ++i) {
    if (i < form_.free) places_[at(i)] = Place::inside;
    const bool inside = places_[at(i)] == Place::inside;
    basic_[at(i)] = inside ? i : n_ + i;
    nonbasic_[at(i)] = inside ? n_ + i : i;
    where_[at(basic_[at(i)])] = i;
    where_[at(nonbasic_[at(i)])] = -1 - i;
  }
  nonbasic_[at(n_)] = t_;
  where_[at(t_)] = -1 - n_;
  return rebuild();
}

/// The row of an equality that is still basic and not redundant, else negative.
int Pivoting::open_row(int equality) const {
  const int row = where_[at(n_ + equality)];
  return row < 0 || idle_[at(row)] != 0 ? -1 : row;
}

/// The largest entry (row, column), beside its row, of the tableau between the equality rows still
/// basic and the free unknowns still outside.
Pivoting::Entry Pivoting::largest_free_entry() const {
  Entry best;
  double size = tiny_pivot;
  for (int i = 0; i < form_.free; ++i) {
    const int row = open_row(i);
    if (row < 0) continue;
    const double of_row = size_of_row(row);
    for (int j = 0; j < form_.free; ++j) {
      const int c = -1 - where_[at(j)];
      if (c < 0 || std::abs(tableau_(row, c)) <= size * of_row) continue;
      size = std::abs(tableau_(row, c)) / of_row;
      best = {row, c};
    }
  }
  return best;
}

/// The row of the basic one and the column of the nonbasic one of (y_k, F_k).
Pivoting::Entry Pivoting::entry_of_pair(int k) const {
  const bool inside = where_[at(k)] >= 0;
  return {where_[at(inside ? k : n_ + k)], -1 - where_[at(inside ? n_ + k : k)]};
}

/// The pair (y_k, F_k) through which an equality row and a free unknown are coupled most.
Pivoting::Coupling Pivoting::strongest_coupling() const {
  Coupling best;
  double size = tiny_pivot;
  for (int i = 0; i < form_.free; ++i) {
    const int row = open_row(i);
    if (row < 0) continue;
    for (int j = 0; j < form_.free; ++j) {
      const int c = -1 - where_[at(j)];
      if (c < 0) continue;
      for (int k = form_.free; k < n_; ++k) {
        const Entry of_pair = entry_of_pair(k);
        const double smaller_one =
            std::min(std::abs(tableau_(row, of_pair.column)), std::abs(tableau_(of_pair.row, c)));
        if (smaller_one <= size) continue;
        size = smaller_one;
        best = {{row, c}, k};
      }
    }
  }
  return best;
}

/// Where that block is zero: an equality row and a free unknown are pivoted together with the pair
/// (y_k, F_k) that couples them most. False if there is none.
bool Pivoting::pivot_with_pair() {
  const auto [outer, best] = strongest_coupling();
  if (best < 0) return false;
  const Entry inner = entry_of_pair(best);
  exchange(outer.row, inner.column);
  exchange(inner.row, outer.column);
  Place& place = places_[at(best)];
  if (place != Place::inside)
    place = Place::inside;
  else
    place = form_.lower[best] > -inf ? Place::at_lower : Place::at_upper;
  return true;
}

/// Does an equality row contain nothing but other equalities, that is zeros?
bool Pivoting::is_empty(int row) const {
  const double size = size_of_row(row);
  for (int c = 0; c <= n_; ++c) {
    const int id = nonbasic_[at(c)];
    const bool equality = id >= n_ && id < n_ + form_.free;
    if (!equality && std::abs(tableau_(row, c)) > tiny_pivot * size) return false;
  }
  return true;
}

/// Free unknowns into the basis, equality rows out of it; see start_at_bounds.
bool Pivoting::pivot_free_in() {
  for (int remaining = form_.free; remaining > 0; --remaining) {
    const Entry entry = largest_free_entry();
    if (entry.row >= 0) {
      exchange(entry.row, entry.column);
      continue;
    }
    if (pivot_with_pair()) continue;
    for (int i = 0; i < form_.free; ++i) {
      const int row = open_row(i);
      if (row < 0) continue;
      if (!is_empty(row)) return false;
      idle_[at(row)] = 1;
    }
    return true;
  }
  return true;
}

/// The start where the block of the free unknowns is singular: begins with all F basic and pivots.
bool Pivoting::start_from_equations() {
  for (int i = 0; i < n_; ++i) {
    basic_[at(i)] = n_ + i;
    nonbasic_[at(i)] = i;
    where_[at(n_ + i)] = i;
    where_[at(i)] = -1 - i;
  }
  return rebuild() && pivot_free_in() && rebuild();
}

bool Pivoting::start_at_bounds(std::vector<Place> places) {
  for (int i = 0; i < n_; ++i)
    places[at(i)] = finite_bound(places[at(i)], form_.lower[i], form_.upper[i]);
  if (!start(places) && !start_from_equations()) return false;
  for (int row = 0; row < n_; ++row)
    if (idle_[at(row)] != 0 && std::abs(beta_[row]) > tiny_pivot) return false;
  return true;
}

}  // namespace perp
