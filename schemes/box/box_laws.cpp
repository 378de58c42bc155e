#include <fmt/format.h>
#include <algorithm>

#include <perp/core/base/index.hpp>
#include <perp/core/branches.hpp>
#include <perp/schemes/box/box_laws.hpp>

namespace perp {
namespace {

/// On which side of the corner w is: 1 above, -1 below, 0 on neither alone.
int side_of(const Branch& branch, double corner) {
  if (branch.w.lower == corner && branch.w.upper == inf) return 1;
  return branch.w.upper == corner && branch.w.lower == -inf ? -1 : 0;
}

/// Puts a branch with a fixed λ at one end of the box. False: it is at none, or there is one already.
bool put_end(const Branch& branch, int number, BoxLaw& law) {
  const double value = branch.c / branch.b;
  const int side = side_of(branch, law.corner);
  const bool is_lower = value == law.lower;
  if (side == 0 || is_lower == (value == law.upper)) return false;
  int& place = is_lower ? law.at_lower : law.at_upper;
  const bool is_first = law.at_lower < 0 && law.at_upper < 0;
  const int own = is_lower ? side : -side;
  if (place >= 0 || (!is_first && own != law.side)) return false;
  place = number;
  law.side = own;
  return true;
}

/// The one branch on which w is fixed. False: there is none, or another one.
bool put_inside(const Law& law, BoxLaw& box) {
  if (std::ranges::count_if(law.branches, is_vertical) != 1) return false;
  const auto inside = std::ranges::find_if(law.branches, is_vertical);
  box.inside = static_cast<int>(inside - law.branches.begin());
  box.corner = inside->c / inside->a;
  box.lower = inside->lambda.lower;
  box.upper = inside->lambda.upper;
  return true;
}

/// Of one branch on which w is fixed, and at the finite ends of its λ others on which that is.
bool read(const Law& law, BoxLaw& box) {
  if (law.memory || !put_inside(law, box)) return false;
  for (int k = 0; k < static_cast<int>(law.branches.size()); ++k) {
    const Branch& branch = law.branches[at(k)];
    if (k != box.inside && (branch.a != 0 || !put_end(branch, k, box))) return false;
  }
  return (box.lower > -inf) == (box.at_lower >= 0) && (box.upper < inf) == (box.at_upper >= 0);
}

/// Does the law bound a variable whose equation alone holds its multiplier?
void find_variable(const SparseLcs& lcs, const linear::SparseMatrix& Bt, const linear::SparseMatrix& Dt, int i, BoxLaw& law) {
  const bool is_one_sided = (law.at_lower >= 0) != (law.at_upper >= 0);
  const bool is_alone = lcs.C.row(i).size() == 1 && Bt.row(i).size() == 1 && lcs.D.row(i).empty() && Dt.row(i).empty();
  if (!is_one_sided || !is_alone || lcs.C.row(i)[0].column != Bt.row(i)[0].column) return;
  law.variable = lcs.C.row(i)[0].column;
  law.c = lcs.C.row(i)[0].value;
  law.b = Bt.row(i)[0].value;
}

/// Two laws do not bound one variable: the later ones keep their multipliers.
void keep_first(std::vector<BoxLaw>& laws, int n) {
  std::vector<char> is_bounded(at(n), 0);
  for (BoxLaw& law : laws) {
    if (law.variable < 0) continue;
    if (is_bounded[at(law.variable)] != 0) law.variable = -1;
    else is_bounded[at(law.variable)] = 1;
  }
}

}  // namespace

BoxLaws box_laws(const SparseLcs& lcs) {
  BoxLaws result;
  for (int j = 0; j < lcs.n(); ++j)
    if (lcs.E(j, j) == 0) {
      result.unsupported = fmt::format("equation {} does not hold the rate of its own variable", j + 1);
      return result;
    }
  const linear::SparseMatrix Bt = lcs.B.transposed(), Dt = lcs.D.transposed();
  for (int i = 0; i < lcs.m(); ++i) {
    BoxLaw law;
    if (!read(lcs.laws[at(i)], law)) {
      result.unsupported = fmt::format("law '{}' is no box of its multiplier: a branch with w fixed between branches with lambda fixed", lcs.laws[at(i)].name);
      return result;
    }
    find_variable(lcs, Bt, Dt, i, law);
    result.list.push_back(law);
  }
  keep_first(result.list, lcs.n());
  return result;
}

}  // namespace perp
