#include <algorithm>
#include <cmath>

#include <perp/core/linear/disjoint_sets.hpp>
#include <perp/lcp/structure/coupled_blocks.hpp>

namespace perp {

std::vector<int> coordinates(const Block& block, int p) {
  std::vector<int> indices = block.u;
  for (const int i : block.lambda) indices.push_back(p + i);
  return indices;
}

std::vector<CoupledBlocks> coupled_blocks(const SolutionSet& set, const Matrix& W) {
  const Matrix gram = W.transpose() * W;
  linear::DisjointSets sets(static_cast<int>(set.blocks.size()));
  std::vector<int> owner(static_cast<std::size_t>(gram.cols()), 0);
  for (std::size_t b = 0; b < set.blocks.size(); ++b)
    for (const int j : coordinates(set.blocks[b], set.p))
      owner[static_cast<std::size_t>(j)] = static_cast<int>(b);
  for (Eigen::Index j = 0; j < gram.cols(); ++j)
    for (Eigen::Index i = 0; i < j; ++i) {
      if (std::abs(gram(i, j)) <= 1e-14 * std::sqrt(gram(i, i) * gram(j, j))) continue;
      sets.join(owner[static_cast<std::size_t>(i)], owner[static_cast<std::size_t>(j)]);
    }
  std::vector<CoupledBlocks> groups;
  std::vector<int> number(set.blocks.size(), -1);
  for (std::size_t b = 0; b < set.blocks.size(); ++b) {
    int& group = number[static_cast<std::size_t>(sets.root(static_cast<int>(b)))];
    if (group < 0) {
      group = static_cast<int>(groups.size());
      groups.emplace_back();
    }
    groups[static_cast<std::size_t>(group)].members.push_back(static_cast<int>(b));
  }
  return groups;
}

bool combine_pieces(const SolutionSet& set, CoupledBlocks& group) {
  if (group.members.size() == 1) {
    group.block = set.blocks[static_cast<std::size_t>(group.members[0])];
    return true;
  }
  long count = 1;
  for (const int b : group.members) {
    const Block& member = set.blocks[static_cast<std::size_t>(b)];
    for (auto part : {&Block::u, &Block::lambda, &Block::equations})
      (group.block.*part)
          .insert((group.block.*part).end(), (member.*part).begin(), (member.*part).end());
    count *= static_cast<long>(member.pieces.size());
    if (count > coupled_piece_limit) return false;
  }
  for (auto part : {&Block::u, &Block::lambda, &Block::equations})
    std::sort((group.block.*part).begin(), (group.block.*part).end());
  // the members as a set of their own, numbered within the group
  SolutionSet own;
  own.p = static_cast<int>(group.block.u.size());
  own.m = static_cast<int>(group.block.lambda.size());
  const auto renumber = [](const std::vector<int>& whole, std::vector<int>& part) {
    for (int& i : part)
      i = static_cast<int>(std::lower_bound(whole.begin(), whole.end(), i) - whole.begin());
  };
  for (const int b : group.members) {
    own.blocks.push_back(set.blocks[static_cast<std::size_t>(b)]);
    renumber(group.block.u, own.blocks.back().u);
    renumber(group.block.lambda, own.blocks.back().lambda);
  }
  group.block.pieces = pieces(own, coupled_piece_limit);
  return true;
}

}  // namespace perp
