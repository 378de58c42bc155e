#include <algorithm>
#include <cmath>

#include <perp/schemes/jumps/consistent_jumps.hpp>

namespace perp {
namespace {

constexpr std::size_t most_combined = 4096;  // continuations or ends of one product

/// One jump of each of the first blocks.
struct FactorChoice {
  double amplitude = 0;
  std::vector<int> jumps{};
};

/// The smallest products; of equal ones those first whose blocks come first in the list.
std::vector<FactorChoice> smallest(const std::vector<JumpBlock>& blocks, long most) {
  std::vector<FactorChoice> list{{}};
  for (const JumpBlock& block : blocks) {
    std::vector<FactorChoice> next;
    for (const FactorChoice& choice : list)
      for (std::size_t k = 0; k < block.jumps.size(); ++k) {
        next.push_back({std::hypot(choice.amplitude, block.jumps[k].amplitude), choice.jumps});
        next.back().jumps.push_back(static_cast<int>(k));
      }
    std::stable_sort(next.begin(), next.end(),
                     [](const FactorChoice& a, const FactorChoice& b) { return a.amplitude < b.amplitude; });
    // What is left out here has at least so many smaller ones in every further product.
    if (static_cast<long>(next.size()) > most) next.resize(static_cast<std::size_t>(most));
    list = std::move(next);
  }
  return list;
}

/// Puts one jump of each block together.
class Product {
 public:
  Product(const std::vector<JumpBlock>& blocks, int n, int m) : blocks_(blocks), n_(n), m_(m) {}

  ConsistentJump operator()(const FactorChoice& choice) const {
    ConsistentJump whole{.continuations = {{Mode(static_cast<std::size_t>(m_), 0), Vector::Zero(n_),
                                            Vector::Zero(m_)}},
                         .amplitude = choice.amplitude,
                         .impulse_x = Vector::Zero(n_),
                         .impulse_lambda = Vector::Zero(m_)};
    for (std::size_t b = 0; b < blocks_.size(); ++b) {
      const JumpBlock& block = blocks_[b];
      const ConsistentJump& part = block.jumps[static_cast<std::size_t>(choice.jumps[b])];
      add_continuations(block, part, whole.continuations);
      whole.impulse_x(block.x) = part.impulse_x;
      whole.impulse_lambda(block.lambda) = part.impulse_lambda;
      whole.is_continuum = whole.is_continuum || part.is_continuum;
    }
    if (whole.is_continuum) write_continuum(choice, whole);
    return whole;
  }

 private:
  static void add_continuations(const JumpBlock& block, const ConsistentJump& part,
                                std::vector<ContinuousStart>& list) {
    std::vector<ContinuousStart> next;
    for (const ContinuousStart& before : list)
      for (const ContinuousStart& own : part.continuations) {
        if (next.size() == most_combined) break;
        next.push_back(before);
        for (std::size_t i = 0; i < own.mode.size(); ++i)
          next.back().mode[static_cast<std::size_t>(block.lambda[i])] = own.mode[i];
        next.back().x(block.x) = own.x;
        next.back().lambda(block.lambda) = own.lambda;
      }
    list = std::move(next);
  }

  /// The ends are the products of the parts' ends, a direction is one of a part.
  void write_continuum(const FactorChoice& choice, ConsistentJump& whole) const {
    std::vector<Vector> ends{Vector::Zero(n_)}, directions;
    for (std::size_t b = 0; b < blocks_.size(); ++b) {
      const JumpBlock& block = blocks_[b];
      const ConsistentJump& part = block.jumps[static_cast<std::size_t>(choice.jumps[b])];
      const Matrix own = part.is_continuum ? part.vertices : Matrix(part.x());
      std::vector<Vector> next;
      for (const Vector& end : ends)
        for (Eigen::Index k = 0; k < own.cols() && next.size() < most_combined; ++k) {
          next.push_back(end);
          next.back()(block.x) = own.col(k);
        }
      ends = std::move(next);
      for (Eigen::Index k = 0; k < part.directions.cols(); ++k) {
        directions.emplace_back(Vector::Zero(n_));
        directions.back()(block.x) = part.directions.col(k);
      }
    }
    whole.vertices = beside(ends);
    whole.directions = beside(directions);
  }

  [[nodiscard]] Matrix beside(const std::vector<Vector>& columns) const {
    Matrix result(n_, static_cast<Eigen::Index>(columns.size()));
    for (std::size_t k = 0; k < columns.size(); ++k)
      result.col(static_cast<Eigen::Index>(k)) = columns[k];
    return result;
  }

  const std::vector<JumpBlock>& blocks_;
  int n_, m_;
};

}  // namespace

bool ConsistentJumps::has_continuum() const {
  return !jumps.empty() && std::any_of(blocks.begin(), blocks.end(), [](const JumpBlock& block) {
    return std::any_of(block.jumps.begin(), block.jumps.end(),
                       [](const ConsistentJump& jump) { return jump.is_continuum; });
  });
}

Integer ConsistentJumps::count() const {
  Integer product = 1;
  for (const JumpBlock& block : blocks) product *= block.jumps.size();
  return product;
}

void list_products(ConsistentJumps& jumps, int n, int m, long most) {
  const Product product(jumps.blocks, n, m);
  jumps.jumps.clear();
  for (const FactorChoice& choice : smallest(jumps.blocks, most)) jumps.jumps.push_back(product(choice));
  jumps.all_listed = jumps.count() == jumps.jumps.size();
}

}  // namespace perp
