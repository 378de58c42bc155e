#include <algorithm>
#include <list>
#include <map>
#include <memory>
#include <optional>

#include <perp/core/base/index.hpp>
#include <perp/core/base/interruption.hpp>
#include <perp/lcp/enumeration/point_maps.hpp>
#include <perp/lcp/enumeration/triangular_search.hpp>
#include <perp/lcp/exact/exact_pieces.hpp>
#include <perp/lcp/structure/triangular_form.hpp>

namespace perp {
namespace {

using Number = PointMaps::Number;

struct Found;

/// One piece of a part; of a point also its coordinates with bounds, and as rational numbers where
/// these were asked for.
struct PartPiece {
  Piece piece;
  std::vector<Number> point;  ///< empty for a continuum
  Found* of = nullptr;        ///< what it is one of
  std::vector<Rational> exact{};
};

/// What a part has for one q = (q1, q2), which the pieces chosen of the parts it needs make.
struct Found {
  std::vector<PartPiece*> context{};
  std::vector<Rational> exact_q{};  ///< empty: not asked for yet
  std::vector<PartPiece> pieces{};
  bool exact = false;  ///< q is known without an error
};

/// A part with what it needs of the other unknowns and what was found for each q so far.
struct Part {
  struct Entry {
    std::size_t row;   ///< of the part's q = (q1, q2)
    std::size_t from;  ///< unknown of the block
    double value;
  };

  Block block;                       ///< indices in the whole block
  Mlcp problem;                      ///< q as if the other unknowns were 0
  std::vector<std::size_t> unknown;  ///< place of each of its unknowns among all (u, λ)
  std::vector<Entry> coupling;
  std::vector<std::size_t> needs{};  ///< numbers of the earlier parts that it needs
  std::unique_ptr<PointMaps> maps;   ///< null if there are none
  std::unique_ptr<AlgebraicProblem<Rational>> algebraic{};  ///< made when it is needed
  /// By the values of q: equal ones may still differ in their errors, and are compared exactly.
  std::map<std::vector<long double>, std::list<Found>> found{};
};

class TriangularSearch {
 public:
  TriangularSearch(const Mlcp& problem, std::vector<Block> parts, const EnumerateOptions& options)
      : p_(problem.p()), m_(problem.m()), options_(options) {
    for (Block& block : parts) parts_.push_back(make(problem, std::move(block)));
    y_.resize(static_cast<std::size_t>(p_ + m_));
    mode_.resize(static_cast<std::size_t>(m_));
    chosen_.resize(parts_.size());
    find_needs();
    std::vector<int> laws;
    for (const Part& part : parts_)
      laws.insert(laws.end(), part.block.lambda.begin(), part.block.lambda.end());
    laws_in_order_ = std::is_sorted(laws.begin(), laws.end());
  }

  /// Goes through all solutions, or until a limit ends the search. Nothing is decided if a part is
  /// `stuck` or needs a q that is no double.
  void run() {
    result_.finished = descend(0, 1);
    if (result_.finished) result_.explored = 1;
    std::sort(result_.pieces.begin(), result_.pieces.end(),
              [](const Piece& a, const Piece& b) { return a.modes < b.modes; });
  }

  /// A part with a continuum, which must be searched together with what needs it.
  [[nodiscard]] std::optional<std::size_t> stuck() const { return stuck_; }
  /// Has a part too many modes for its maps and a q that is no double?
  [[nodiscard]] bool between_doubles() const { return between_doubles_; }

  [[nodiscard]] BlockFindings& result() { return result_; }

 private:
  Part make(const Mlcp& problem, Block block) const {
    Part part{.block = std::move(block), .problem = {}, .unknown = {}, .coupling = {}, .maps = {}};
    part.problem = subproblem(problem, part.block);
    for (const int j : part.block.u) part.unknown.push_back(at(j));
    for (const int j : part.block.lambda) part.unknown.push_back(at(p_ + j));
    read_coupling(problem, part);
    part.maps = std::make_unique<PointMaps>(part.problem);
    if (!part.maps->usable()) part.maps.reset();
    return part;
  }

  /// What the rows of a part have of unknowns that are not its own.
  void read_coupling(const Mlcp& problem, Part& part) const {
    std::vector<bool> own(at(p_ + m_), false);
    for (const std::size_t j : part.unknown) own[j] = true;
    std::size_t row = 0;
    const auto read = [&](const Matrix& left, const Matrix& right, int i) {
      for (int j = 0; j < p_ + m_; ++j) {
        const double value = j < p_ ? left(i, j) : right(i, j - p_);
        if (value != 0 && !own[at(j)]) part.coupling.push_back({row, at(j), value});
      }
      ++row;
    };
    for (const int i : part.block.equations) read(problem.M11, problem.M12, i);
    for (const int i : part.block.lambda) read(problem.M21, problem.M22, i);
  }

  void find_needs() {
    owner_.resize(y_.size());
    for (std::size_t index = 0; index < parts_.size(); ++index)
      for (const std::size_t j : parts_[index].unknown) owner_[j] = index;
    for (Part& part : parts_) {
      for (const Part::Entry& entry : part.coupling) part.needs.push_back(owner_[entry.from]);
      std::sort(part.needs.begin(), part.needs.end());
      part.needs.erase(std::unique(part.needs.begin(), part.needs.end()), part.needs.end());
    }
    blamed_.assign(parts_.size() + 1, std::vector<char>(parts_.size(), 0));
  }

  /// The part's q for the present values of the unknowns it needs.
  [[nodiscard]] std::vector<Number> shifted(const Part& part) const {
    std::vector<Number> q;
    for (const Vector* given : {&part.problem.q1, &part.problem.q2})
      q.insert(q.end(), given->begin(), given->end());
    for (const Part::Entry& entry : part.coupling)
      subtract_product(q[entry.row], Number(-entry.value), y_[entry.from]);
    return q;
  }

  /// The same as rational numbers, made once.
  const std::vector<Rational>& exact_q(const Part& part, Found& found) {
    std::vector<Rational>& q = found.exact_q;
    if (!q.empty()) return q;
    for (const Vector* given : {&part.problem.q1, &part.problem.q2})
      q.insert(q.end(), given->begin(), given->end());
    for (const Part::Entry& entry : part.coupling) {
      const std::size_t owner = owner_[entry.from];
      const auto place = std::find(part.needs.begin(), part.needs.end(), owner);
      PartPiece& piece = *found.context[static_cast<std::size_t>(place - part.needs.begin())];
      const std::vector<std::size_t>& unknown = parts_[owner].unknown;
      const auto j = std::find(unknown.begin(), unknown.end(), entry.from) - unknown.begin();
      q[entry.row] += Rational(entry.value) * exact_point(parts_[owner], piece)[at(j)];
    }
    return q;
  }

  /// The part with this q.
  static const AlgebraicProblem<Rational>& with_q(Part& part, const std::vector<Rational>& q) {
    if (!part.algebraic)
      part.algebraic = std::make_unique<AlgebraicProblem<Rational>>(part.problem);
    for (std::size_t i = 0; i < q.size(); ++i) part.algebraic->rows[i].back() = q[i];
    return *part.algebraic;
  }

  const std::vector<Rational>& exact_point(Part& part, PartPiece& piece) {
    if (!piece.exact.empty()) return piece.exact;
    const std::vector<Rational> q = exact_q(part, *piece.of);
    bool overflow = false;
    piece.exact = exact_generators(with_q(part, q), piece.piece.modes.front(), overflow)
                      .vertices.front();
    return piece.exact;
  }

  /// What the part has for the present values; null if a limit ended the search or it is stuck.
  std::vector<PartPiece>* solutions(std::size_t index) {
    Part& part = parts_[index];
    const std::vector<Number> q = shifted(part);
    std::vector<long double> key;
    for (const Number& value : q) key.push_back(value.value);
    Found next;
    for (const std::size_t need : part.needs) next.context.push_back(chosen_[need]);
    std::list<Found>& same_values = part.found[key];
    next.exact = std::all_of(q.begin(), q.end(), [](const Number& v) { return v.error == 0; });
    for (Found& known : same_values)
      if (has_same_q(part, known, next)) return &known.pieces;
    same_values.push_back(std::move(next));
    if (solve(index, q, same_values.back())) return &same_values.back().pieces;
    same_values.pop_back();
    return nullptr;
  }

  /// By their errors or by what made them; else exactly.
  bool has_same_q(const Part& part, Found& a, Found& b) {
    return (a.exact && b.exact) || a.context == b.context || exact_q(part, a) == exact_q(part, b);
  }

  /// False if a limit ended the search, or if a part is stuck.
  bool solve(std::size_t index, const std::vector<Number>& q, Found& found) {
    Part& part = parts_[index];
    const bool last = index + 1 == parts_.size();
    const bool done = part.maps ? by_maps(part, q, found) : by_search(part, found, last);
    for (PartPiece& piece : found.pieces) {
      piece.of = &found;
      if (done && piece.piece.dimension > 0 && !last) stuck_ = index;
    }
    return done && !stuck_;
  }

  /// False if the budget is too small.
  bool by_maps(Part& part, const std::vector<Number>& q, Found& found) {
    if (result_.nodes + part.maps->modes() > options_.max_nodes) return false;
    result_.nodes += part.maps->modes();
    std::vector<ModalPoint> points;
    std::vector<Mode> undecided;
    part.maps->solve(q, points, undecided);
    for (ModalPoint& point : points)
      found.pieces.push_back({{{std::move(point.mode)}, 0, {}, {}, {}}, std::move(point.y)});
    std::vector<MeetingPoint> meetings;
    if (undecided.empty() || part.maps->solve_meetings(q, undecided, meetings)) {
      for (MeetingPoint& point : meetings)
        found.pieces.push_back({{std::move(point.modes), 0, {}, {}, {}}, std::move(point.y)});
      return true;
    }
    const std::vector<Rational> exact = exact_q(part, found);
    bool overflow = false;
    for (ModalPiece<Rational>& piece : exact_pieces(with_q(part, exact), undecided, overflow)) {
      std::sort(piece.generators.vertices.begin(), piece.generators.vertices.end());
      found.pieces.push_back(
          {rounded(std::move(piece.modes), piece.dimension, piece.generators), {}});
      if (piece.dimension > 0) continue;
      found.pieces.back().exact = std::move(piece.generators.vertices.front());
      write_point(found.pieces.back());
    }
    return !overflow;
  }

  static void write_point(PartPiece& piece) {
    for (const Rational& value : piece.exact) piece.point.push_back(with_bounds(value));
  }

  /// False if one of q is no double.
  static bool write_q(const std::vector<Rational>& q, Mlcp& problem) {
    const std::size_t p = at(problem.p());
    for (std::size_t i = 0; i < q.size(); ++i) {
      const double value = to_double(q[i]);
      if (!std::isfinite(value) || Rational(value) != q[i]) return false;
      (i < p ? problem.q1[static_cast<Eigen::Index>(i)] : problem.q2[static_cast<Eigen::Index>(i - p)]) = value;
    }
    return true;
  }

  /// False if a limit ended the search, or if q is no double.
  bool by_search(Part& part, Found& found, bool last) {
    Mlcp problem = part.problem;
    between_doubles_ = !write_q(exact_q(part, found), problem);
    if (between_doubles_) return false;
    EnumerateOptions left = options_;
    left.max_nodes -= std::min(result_.nodes, left.max_nodes);
    left.max_solutions -= result_.modes;
    BlockFindings all = search_block(problem, left);
    result_.nodes += all.nodes;
    for (Piece& piece : all.pieces) found.pieces.push_back({std::move(piece), {}});
    for (PartPiece& piece : found.pieces) {
      piece.of = &found;
      if (piece.piece.dimension > 0 || last) continue;
      exact_point(part, piece);
      write_point(piece);
    }
    return all.finished;
  }

  /// Goes through the solutions of the parts from `index` on, the given share of the search. False
  /// if it must end. Where nothing is found, blamed_[index] holds the parts before that it is owed
  /// to: as long as these keep their points, there is no solution whatever the others are.
  bool descend(std::size_t index, double share) {
    if (index == parts_.size()) {
      result_.explored += share;
      return keep();
    }
    std::vector<PartPiece>* found = solutions(index);
    if (found == nullptr) return false;
    if (found->empty()) result_.explored += share;
    return try_each(index, *found, share);
  }

  /// The same by these pieces of the part `index`.
  bool try_each(std::size_t index, std::vector<PartPiece>& pieces, double share) {
    std::vector<char>& blamed = blamed_[index];
    std::fill(blamed.begin(), blamed.end(), 0);
    for (const std::size_t part : parts_[index].needs) blamed[part] = 1;
    const double one = share / static_cast<double>(pieces.size());
    for (PartPiece& piece : pieces) {
      check_interruption();
      if (result_.nodes >= options_.max_nodes) return false;
      ++result_.nodes;
      choose(index, piece);
      const long before = result_.modes;
      if (!descend(index + 1, one)) return false;
      if (result_.modes > before) continue;
      const std::vector<char>& deeper = blamed_[index + 1];
      if (deeper[index] == 0) {  // the other pieces end there too
        blamed = deeper;
        result_.explored += one * static_cast<double>(&pieces.back() - &piece);
        break;
      }
      for (std::size_t part = 0; part < index; ++part)
        blamed[part] = static_cast<char>(blamed[part] | deeper[part]);
    }
    return true;
  }

  /// The piece of a part that the later ones go by.
  void choose(std::size_t index, PartPiece& piece) {
    chosen_[index] = &piece;
    for (std::size_t j = 0; j < piece.point.size(); ++j)
      y_[parts_[index].unknown[j]] = piece.point[j];
  }

  /// Stores the product of the chosen pieces. False if there is no room.
  bool keep() {
    long count = 1;
    for (const PartPiece* piece : chosen_) count *= static_cast<long>(piece->piece.modes.size());
    if (result_.modes + count > options_.max_solutions) return false;
    Piece whole{{}, chosen_.back()->piece.dimension, {}, {}, {}};
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
      for (std::size_t j = 0; j < laws.size(); ++j) mode_[at(laws[j])] = part[j];
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
            .setConstant(static_cast<double>(chosen_[i]->point[j].value) + 0.0);
    whole.rays = Matrix::Zero(n, count(last.piece.rays));
    whole.lines = Matrix::Zero(n, count(last.piece.lines));
    if (!last.point.empty()) return;
    const std::vector<std::size_t>& rows = parts_.back().unknown;
    whole.vertices(rows, Eigen::all) = last.piece.vertices;
    whole.rays(rows, Eigen::all) = last.piece.rays;
    whole.lines(rows, Eigen::all) = last.piece.lines;
  }

  int p_, m_;
  EnumerateOptions options_;
  std::vector<Part> parts_;
  std::vector<std::size_t> owner_;  ///< part of each unknown
  std::vector<Number> y_;           ///< values of the parts that are chosen
  Mode mode_;
  std::vector<PartPiece*> chosen_;         ///< one of each part
  std::vector<std::vector<char>> blamed_;  ///< of each part, see `descend`
  std::optional<std::size_t> stuck_;
  bool between_doubles_ = false;
  bool laws_in_order_ = false;  ///< products of sorted modes are sorted then
  BlockFindings result_;
};

}  // namespace

BlockFindings search_triangular(const Mlcp& block, const EnumerateOptions& options) {
  std::vector<Block> parts = triangular_parts(block);
  EnumerateOptions left = options;
  BlockFindings wasted;
  for (bool joint = false; parts.size() > 1; joint = true) {
    TriangularSearch search(block, parts, left);
    search.run();
    wasted.nodes += search.result().nodes;
    if (search.between_doubles()) {
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
