#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <optional>

#include <perp/lcp/point_maps.hpp>
#include <perp/lcp/triangular_form.hpp>
#include <perp/lcp/triangular_search.hpp>

namespace perp {
namespace {

using Real = long double;

// A shifted q_i below the first is rounding beside its terms; between the two it has lost digits.
constexpr Real rounding = 0x1p-46L, doubtful = 0x1p-16L;

/// One piece of a part, and where its points are known better than in double, these.
struct PartPiece {
  Piece piece;
  std::vector<Real> point;  ///< empty for a continuum
};

/// A part with what it needs of the other unknowns and what was found for each q so far.
struct Part {
  struct Entry {
    std::size_t row;   ///< of the part's q = (q1, q2)
    std::size_t from;  ///< unknown of the block
    Real value;
  };

  Block block;                       ///< indices in the whole block
  Mlcp problem;                      ///< q as if the other unknowns were 0
  std::vector<std::size_t> unknown;  ///< place of each of its unknowns among all (u, λ)
  std::vector<Entry> coupling;
  std::vector<std::size_t> needs{};  ///< numbers of the earlier parts that it needs
  std::unique_ptr<PointMaps> maps;   ///< null if there are none
  std::map<std::vector<Real>, std::vector<PartPiece>> found{};
};

/// Joins parts i..., given in increasing order, to one.
Block joined(const std::vector<Block>& parts, const std::vector<std::size_t>& which) {
  Block all;
  for (const std::size_t i : which)
    for (auto list : {&Block::u, &Block::lambda, &Block::equations})
      (all.*list).insert((all.*list).end(), (parts[i].*list).begin(), (parts[i].*list).end());
  for (auto list : {&Block::u, &Block::lambda, &Block::equations})
    std::sort((all.*list).begin(), (all.*list).end());
  return all;
}

class TriangularSearch {
 public:
  TriangularSearch(const Mlcp& problem, std::vector<Block> parts, const EnumerateOptions& options)
      : p_(problem.p()), m_(problem.m()), options_(options) {
    for (Block& block : parts) parts_.push_back(make(problem, std::move(block)));
    y_.resize(static_cast<std::size_t>(p_ + m_), 0);
    mode_.resize(static_cast<std::size_t>(m_));
    chosen_.resize(parts_.size());
    find_needs();
    std::vector<int> laws;
    for (const Part& part : parts_)
      laws.insert(laws.end(), part.block.lambda.begin(), part.block.lambda.end());
    laws_in_order_ = std::is_sorted(laws.begin(), laws.end());
  }

  /// Goes through all solutions, or until a limit ends the search. Nothing is decided if a part is
  /// `stuck` or digits were lost.
  void run() {
    result_.finished = descend(0, 1);
    if (result_.finished) result_.explored = 1;
    std::sort(result_.pieces.begin(), result_.pieces.end(),
              [](const Piece& a, const Piece& b) { return a.modes < b.modes; });
  }

  /// A part with a continuum, which must be searched together with what needs it.
  [[nodiscard]] std::optional<std::size_t> stuck() const { return stuck_; }
  /// Was the q of a part lost by cancellation?
  [[nodiscard]] bool lost() const { return lost_; }

  [[nodiscard]] BlockFindings& result() { return result_; }

 private:
  Part make(const Mlcp& problem, Block block) const {
    Part part{.block = std::move(block), .problem = {}, .unknown = {}, .coupling = {}, .maps = {}};
    part.problem = subproblem(problem, part.block);
    std::vector<bool> own(static_cast<std::size_t>(p_ + m_), false);
    for (const int j : part.block.u) part.unknown.push_back(static_cast<std::size_t>(j));
    for (const int j : part.block.lambda) part.unknown.push_back(static_cast<std::size_t>(p_ + j));
    for (const std::size_t j : part.unknown) own[j] = true;
    std::size_t row = 0;
    const auto read = [&](const Matrix& left, const Matrix& right, int i) {
      for (int j = 0; j < p_ + m_; ++j) {
        const double value = j < p_ ? left(i, j) : right(i, j - p_);
        const auto from = static_cast<std::size_t>(j);
        if (value != 0 && !own[from]) part.coupling.push_back({row, from, value});
      }
      ++row;
    };
    for (const int i : part.block.equations) read(problem.M11, problem.M12, i);
    for (const int i : part.block.lambda) read(problem.M21, problem.M22, i);
    if (!part.coupling.empty()) part.maps = std::make_unique<PointMaps>(part.problem);
    if (part.maps && !part.maps->usable()) part.maps.reset();
    return part;
  }

  void find_needs() {
    std::vector<std::size_t> owner(y_.size());
    for (std::size_t index = 0; index < parts_.size(); ++index)
      for (const std::size_t j : parts_[index].unknown) owner[j] = index;
    for (Part& part : parts_) {
      for (const Part::Entry& entry : part.coupling) part.needs.push_back(owner[entry.from]);
      std::sort(part.needs.begin(), part.needs.end());
      part.needs.erase(std::unique(part.needs.begin(), part.needs.end()), part.needs.end());
    }
    blamed_.assign(parts_.size() + 1, std::vector<char>(parts_.size(), 0));
  }

  /// The part's q for the present values of the unknowns it needs; nothing if digits were lost.
  [[nodiscard]] std::optional<std::vector<Real>> shifted(const Part& part) const {
    std::vector<Real> q;
    for (const Vector* given : {&part.problem.q1, &part.problem.q2})
      q.insert(q.end(), given->begin(), given->end());
    std::vector<Real> size(q.size());
    for (std::size_t i = 0; i < q.size(); ++i) size[i] = std::abs(q[i]);
    for (const Part::Entry& entry : part.coupling) {
      const Real term = entry.value * y_[entry.from];
      q[entry.row] += term;
      size[entry.row] += std::abs(term);
    }
    for (std::size_t i = 0; i < q.size(); ++i) {
      if (std::abs(q[i]) <= rounding * size[i]) q[i] = 0;
      if (q[i] != 0 && std::abs(q[i]) < doubtful * size[i]) return std::nullopt;
    }
    return q;
  }

  /// What the part has for the present values; null if a limit ended the search or it is stuck.
  const std::vector<PartPiece>* solutions(std::size_t index) {
    Part& part = parts_[index];
    std::optional<std::vector<Real>> q = shifted(part);
    lost_ = !q;
    if (lost_) return nullptr;
    if (const auto known = part.found.find(*q); known != part.found.end()) return &known->second;
    std::vector<PartPiece> pieces;
    if (part.maps && result_.nodes + part.maps->modes() > options_.max_nodes) return nullptr;
    if (!by_maps(part, *q, pieces) && !by_search(part, *q, pieces)) return nullptr;
    const bool last = index + 1 == parts_.size();
    for (const PartPiece& piece : pieces)
      if (piece.piece.dimension > 0 && !last) {
        stuck_ = index;
        return nullptr;
      }
    return &part.found.emplace(std::move(*q), std::move(pieces)).first->second;
  }

  bool by_maps(Part& part, const std::vector<Real>& q, std::vector<PartPiece>& pieces) {
    std::vector<ModalPoint> points;
    if (!part.maps || !part.maps->solve(q, points)) return false;
    result_.nodes += part.maps->modes();
    for (ModalPoint& point : points) {
      Piece piece{
          .modes = std::move(point.modes), .dimension = 0, .vertices = {}, .rays = {}, .lines = {}};
      pieces.push_back({std::move(piece), std::move(point.y)});
    }
    return true;
  }

  bool by_search(Part& part, const std::vector<Real>& q, std::vector<PartPiece>& pieces) {
    Mlcp problem = part.problem;
    const auto p = static_cast<std::size_t>(problem.p());
    for (std::size_t i = 0; i < q.size(); ++i)
      (i < p ? problem.q1[static_cast<Eigen::Index>(i)]
             : problem.q2[static_cast<Eigen::Index>(i - p)]) = static_cast<double>(q[i]);
    EnumerateOptions left = options_;
    left.max_nodes -= std::min(result_.nodes, left.max_nodes);
    left.max_solutions -= result_.modes;
    BlockFindings found = search_block(problem, left);
    result_.nodes += found.nodes;
    result_.rejected += found.rejected;
    for (Piece& piece : found.pieces) {
      std::vector<Real> point;
      if (piece.dimension == 0)
        point.assign(piece.vertices.col(0).begin(), piece.vertices.col(0).end());
      pieces.push_back({std::move(piece), std::move(point)});
    }
    return found.finished;
  }

  /// Goes through the solutions of the parts from `index` on, the given share of the search. False
  /// if it must end. Where nothing is found, blamed_[index] holds the parts before that it is owed
  /// to: as long as these keep their points, there is no solution whatever the others are.
  bool descend(std::size_t index, double share) {
    if (index == parts_.size()) {
      result_.explored += share;
      return keep();
    }
    const std::vector<PartPiece>* found = solutions(index);
    if (found == nullptr) return false;
    if (found->empty()) result_.explored += share;
    std::vector<char>& blamed = blamed_[index];
    std::fill(blamed.begin(), blamed.end(), 0);
    for (const std::size_t part : parts_[index].needs) blamed[part] = 1;
    const double one = share / static_cast<double>(found->size());
    for (const PartPiece& piece : *found) {
      if (result_.nodes >= options_.max_nodes) return false;
      ++result_.nodes;
      chosen_[index] = &piece;
      for (std::size_t j = 0; j < piece.point.size(); ++j)
        y_[parts_[index].unknown[j]] = piece.point[j];
      const long before = result_.modes;
      if (!descend(index + 1, one)) return false;
      if (result_.modes > before) continue;
      const std::vector<char>& deeper = blamed_[index + 1];
      if (deeper[index] == 0) {  // the other pieces end there too
        blamed = deeper;
        result_.explored += one * static_cast<double>(&found->back() - &piece);
        break;
      }
      for (std::size_t part = 0; part < index; ++part)
        blamed[part] = static_cast<char>(blamed[part] != 0 || deeper[part] != 0);
    }
    return true;
  }

  /// Stores the product of the chosen pieces. False if there is no room.
  bool keep() {
    long count = 1;
    for (const PartPiece* piece : chosen_) count *= static_cast<long>(piece->piece.modes.size());
    if (result_.modes + count > options_.max_solutions) return false;
    Piece whole{.modes = {},
                .dimension = chosen_.back()->piece.dimension,
                .vertices = {},
                .rays = {},
                .lines = {}};
    whole.modes.reserve(static_cast<std::size_t>(count));
    write_modes(0, whole.modes);
    if (!laws_in_order_) std::sort(whole.modes.begin(), whole.modes.end());
    write_generators(whole);
    result_.modes += count;
    result_.pieces.push_back(std::move(whole));
    return true;
  }

  /// The product of the modes of the parts from `index` on, after the present ones of the others.
  void write_modes(std::size_t index, std::vector<Mode>& modes) {
    if (index == parts_.size()) return modes.push_back(mode_);
    const std::vector<int>& laws = parts_[index].block.lambda;
    for (const Mode& part : chosen_[index]->piece.modes) {
      for (std::size_t j = 0; j < laws.size(); ++j)
        mode_[static_cast<std::size_t>(laws[j])] = part[j];
      write_modes(index + 1, modes);
    }
  }

  /// The points of the parts with the generators of the last one.
  void write_generators(Piece& whole) const {
    const Eigen::Index n = p_ + m_;
    const PartPiece& last = *chosen_.back();
    const auto count = [](const Matrix& matrix) { return matrix.cols(); };
    whole.vertices.resize(n, last.point.empty() ? count(last.piece.vertices) : 1);
    for (std::size_t i = 0; i < parts_.size(); ++i)
      for (std::size_t j = 0; j < chosen_[i]->point.size(); ++j)
        whole.vertices.row(static_cast<Eigen::Index>(parts_[i].unknown[j]))
            .setConstant(static_cast<double>(chosen_[i]->point[j]) + 0.0);
    whole.rays = Matrix::Zero(n, count(last.piece.rays));
    whole.lines = Matrix::Zero(n, count(last.piece.lines));
    if (!last.point.empty()) return;
    for (std::size_t j = 0; j < parts_.back().unknown.size(); ++j) {
      const auto to = static_cast<Eigen::Index>(parts_.back().unknown[j]);
      const auto from = static_cast<Eigen::Index>(j);
      whole.vertices.row(to) = last.piece.vertices.row(from);
      whole.rays.row(to) = last.piece.rays.row(from);
      whole.lines.row(to) = last.piece.lines.row(from);
    }
  }

  int p_, m_;
  EnumerateOptions options_;
  std::vector<Part> parts_;
  std::vector<Real> y_;  ///< values of the parts that are chosen
  Mode mode_;
  std::vector<const PartPiece*> chosen_;   ///< one of each part
  std::vector<std::vector<char>> blamed_;  ///< of each part, see `descend`
  std::optional<std::size_t> stuck_;
  bool lost_ = false;
  bool laws_in_order_ = false;  ///< products of sorted modes are sorted then
  BlockFindings result_;
};

/// The parts with `stuck` and all that need it put together at the end; `joint` is where a part at
/// the end was put together before, which then is taken in too.
void put_together(const Mlcp& problem, std::vector<Block>& parts, std::size_t stuck, bool joint) {
  std::vector<bool> taken(static_cast<std::size_t>(problem.p() + problem.m()), false);
  const auto take = [&](const Block& part) {
    for (const int j : part.u) taken[static_cast<std::size_t>(j)] = true;
    for (const int j : part.lambda) taken[static_cast<std::size_t>(problem.p() + j)] = true;
  };
  const auto holds_taken = [&](const Matrix& left, const Matrix& right, int i) {
    for (int j = 0; j < problem.p(); ++j)
      if (left(i, j) != 0 && taken[static_cast<std::size_t>(j)]) return true;
    for (int j = 0; j < problem.m(); ++j)
      if (right(i, j) != 0 && taken[static_cast<std::size_t>(problem.p() + j)]) return true;
    return false;
  };
  const auto needs_taken = [&](const Block& part) {
    return std::any_of(part.equations.begin(), part.equations.end(),
                       [&](int i) { return holds_taken(problem.M11, problem.M12, i); }) ||
           std::any_of(part.lambda.begin(), part.lambda.end(),
                       [&](int i) { return holds_taken(problem.M21, problem.M22, i); });
  };
  std::vector<std::size_t> together;
  std::vector<Block> rest;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const bool end = joint && i + 1 == parts.size();
    if (i == stuck || end || needs_taken(parts[i])) {
      take(parts[i]);
      together.push_back(i);
    } else {
      rest.push_back(parts[i]);
    }
  }
  rest.push_back(joined(parts, together));
  parts = std::move(rest);
}

}  // namespace

BlockFindings search_triangular(const Mlcp& block, const EnumerateOptions& options) {
  std::vector<Block> parts = triangular_parts(block);
  EnumerateOptions left = options;
  BlockFindings wasted;
  for (bool joint = false; parts.size() > 1; joint = true) {
    TriangularSearch search(block, parts, left);
    search.run();
    wasted.nodes += search.result().nodes;
    if (search.lost()) {
      parts.clear();
    } else if (search.stuck()) {
      put_together(block, parts, *search.stuck(), joint);
    } else {
      search.result().nodes = wasted.nodes;
      return std::move(search.result());
    }
    left.max_nodes = std::max(0L, options.max_nodes - wasted.nodes);
  }
  BlockFindings found = search_block(block, left);
  found.nodes += wasted.nodes;
  return found;
}

}  // namespace perp
