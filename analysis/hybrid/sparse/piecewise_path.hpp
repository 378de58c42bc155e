#pragma once

#include <optional>
#include <queue>
#include <span>
#include <vector>

#include <perp/analysis/hybrid/sparse/local_rates.hpp>
#include <perp/analysis/hybrid/sparse/path_choice.hpp>
#include <perp/core/base/number_set.hpp>
#include <perp/core/base/types.hpp>

namespace perp {

/// The path of the states through a step of backward Euler in which binaries change:
///     x(s) = x + ∫ r dσ,   0 = f(t + h, r, x⁺, y, z(σ)),   0 <= s <= h,
/// lines between the changes, with rates at the end x⁺ of the step. A binary changes where a
/// constraint that holds it becomes positive along x(s); changes come in the order of these
/// moments, and each computes again only the rates of the sub-problems that follow from it. The
/// step that leads from x + shift to x⁺,
///     shift = ∫ (r − r(z⁺)) dσ,
/// in the last values z⁺ ends where this path ends.
class PiecewisePath {
 public:
  /// `needs_more`: of each constraint, whether it holds rates or algebraic variables.
  /// `rows`: of the equations and constraints, without parameters.
  PiecewisePath(const HybridModel& model, const HybridStructure& structure, ConeTape rows,
                const std::vector<char>& needs_more);
  PiecewisePath(const PiecewisePath&) = delete;  // its parts refer to each other
  PiecewisePath& operator=(const PiecewisePath&) = delete;

  /// A step of length h from (t, x, z). `constraints`: their values there, empty where they are not
  /// known. All three are to stay where they are until the next step.
  void begin(double t, double h, const Vector& x, const std::vector<int>& z,
             const Vector& constraints);

  /// What is known of the end of the step.
  struct End {
    const std::vector<double>&
        point;                  ///< inputs (t, ẋ, x, z), solved with the values of the last path
    const double* constraints;  ///< at the point
    const double* errors;       ///< of these: up to them they are 0
    /// Inputs of the point that differ from that of the path before; null: nobody knows.
    const NumberSet* changed = nullptr;
  };
  /// The path to this end. False: it is not decided by these means.
  bool follow(const End& end);
  /// The last path with the same changes, to this end in its last values: of equations that are affine with one
  /// matrix, whose rates change by the same numbers at each change. Changes that share unknowns stay in their order.
  /// How far moments move, as a share of the step. Empty: another path is needed.
  std::optional<double> retime(const End& end);
  /// Has the last path ended where a binary would change back at once: where it slides?
  [[nodiscard]] bool slides() const { return slides_; }

  /// Of the last path.
  ///@{
  [[nodiscard]] const std::vector<PathChange>& changes() const { return changes_; }
  [[nodiscard]] const std::vector<int>& z() const { return z_; }
  /// States that it shifts, binaries that have changed.
  ///@{
  [[nodiscard]] const std::vector<int>& moved() const { return moved_; }
  [[nodiscard]] const std::vector<int>& flipped() const { return flipped_; }
  ///@}
  /// Shifts the start: to be called with x.
  void shift(Vector& x) const;
  [[nodiscard]] LocalRates& rates() { return rates_; }
  /// The ends of the states that leave the line to the end of the step.
  void guess(Vector& x) const;
  /// Has it the changes of the path before, at moments that are as near as `share` of the step?
  [[nodiscard]] bool is_settled(double share) const;
  ///@}

  /// On the path so far: a state at s, a constraint there, its sign, the inputs at the end of the
  /// step with the present binaries.
  ///@{
  [[nodiscard]] double position(int state, double s) const;
  double constraint(int l, double s);
  [[nodiscard]] int sign(int l, double g) const {
    return g > surface(l) ? 1 : g < -surface(l) ? -1 : 0;
  }
  [[nodiscard]] bool is_line(int l) const { return !watches_[static_cast<std::size_t>(l)].needs_more; }
  [[nodiscard]] double error(int l) const { return errors_[l]; }
  /// What later paths depend on.
  void transfer(Archive& archive) { archive(choice_); }
  std::vector<double>& point() { return point_; }
  std::vector<double>& end() { return now_; }
  [[nodiscard]] const std::vector<double>& end() const { return now_; }
  ///@}

 private:
  struct Crossing {
    double s;
    int constraint;
    int from;  ///< the change behind which it lies, -1: none
    long version;
    bool operator>(const Crossing& other) const {
      return s != other.s ? s > other.s : constraint > other.constraint;
    }
  };
  struct Place {
    double s = 0, x = 0;
    bool is_known = false;
  };
  struct Value {
    double s, g;
  };
  /// Of each change: the one behind which its constraint becomes positive, -1: none, and what follows from it.
  struct Course {
    int from;
    std::size_t jumps_end;  ///< behind its own
  };
  struct Jump {
    int unknown;
    double size;
  };
  [[nodiscard]] double rate(int state) const { return now_[static_cast<std::size_t>(1 + state)]; }
  [[nodiscard]] double surface(int l) const;
  void rewind(const End& end);
  void keep_room(std::vector<PathChange>& changes);
  void take_end(const End& end);
  void set_binary(int i, int z);
  bool solve_followers();
  bool turn_back();
  void mark(int l);
  void stand(int state, double s, double x);
  void find_crossings();
  void watch(int l, double s);
  std::optional<double> crossing(int l, double s);
  std::optional<double> place_between(int l, Value from, double g_end);
  [[nodiscard]] bool meets(int l, double s, int block) const;
  static bool is_between(double s, const Value& a, const Value& b) { return s > a.s && s < b.s; }
  double zero_between(int l, Value a, Value b);
  bool pass(const Crossing& crossing);
  [[nodiscard]] bool turns_at_once(const Crossing& crossing) const;
  bool apply(PathChange change, const Crossing& crossing);
  void go_back();
  bool use(int unknown, double s);
  bool is_in_order(std::size_t k, std::span<const Jump> jumps, double s);
  bool repeat(std::size_t k);
  void watch_followers(const PathChange& change, double s);
  template <class Visit>
  void for_unknowns(const Visit& visit) const;
  void add(std::span<const int> constraints);

  const HybridModel& model_;
  const HybridStructure& structure_;
  LocalRates rates_;
  int n_, equations_, constraints_;
  /// Of a constraint: where it becomes positive, the number of that place, its sub-problem.
  struct Watch {
    double pending = inf;
    long version = 0;
    int block = -1;
    bool is_touched = false, needs_more = false;
  };
  std::vector<Watch> watches_;

  double t_ = 0, h_ = 0;
  const double *x_ = nullptr, *start_ = nullptr;  // of the step; null: not known
  const int* z_before_ = nullptr;
  std::vector<int> z_;
  const double* errors_ = nullptr;
  const double* at_end_ = nullptr;
  // Inputs at the end with the present binaries; on the path, of lines: t, their states and
  // binaries.
  std::vector<double> now_, point_;
  NumberSet written_;                  // inputs of now_ that this path has changed
  std::vector<Place> places_;          // of the states that leave their lines
  std::vector<int> moved_, flipped_;   // states that leave them, binaries that have changed
  std::vector<int> own_, blocks_, changed_;  // binaries of one sub-problem; of one change: sub-problems that follow, constraints
  std::vector<double> old_;            // and the unknowns before it
  std::vector<char> has_flipped_;
  std::vector<int> touched_;     // constraints
  bool is_open_ = false, slides_ = false;
  std::priority_queue<Crossing, std::vector<Crossing>, std::greater<>> queue_;
  std::vector<PathChange> changes_, before_, room_;  // room_: for others
  std::vector<Course> courses_;
  std::vector<Jump> jumps_;         // of the unknowns
  std::vector<int> changed_blocks_;  // of all changes, one after the other
  std::vector<double> used_;         // of each unknown: where a repeated change has used it last, -1: none has
  std::vector<int> met_;             // unknowns that one has used
  PathChoice choice_;
};

}  // namespace perp
