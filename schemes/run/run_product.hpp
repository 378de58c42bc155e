#pragma once

#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <queue>
#include <utility>
#include <vector>

#include <perp/schemes/integrate.hpp>
#include <perp/schemes/run/stepwise_run.hpp>

namespace perp {

/// Runs side by side that share nothing but time: each of them has its own steps and its own choice of
/// modes, so that the others change no bit of it. Rows are those of all of them; a part that has none at a
/// time is read from the course of its step there. The run ends where the first of them ends.
class RunProduct {
 public:
  /// What the k-th entry of a part is in the whole.
  struct Places {
    std::vector<int> variables;
    std::vector<int> laws;  ///< also the entries of λ, w and the mode
    /// What the k-th branch of a law is there; empty, of all or of one: the same.
    std::vector<std::vector<int>> branches{};
    [[nodiscard]] int branch(std::size_t law, int k) const {
      const bool is_same = k < 0 || law >= branches.size() || branches[law].empty();
      return is_same ? k : branches[law][static_cast<std::size_t>(k)];
    }
  };
  /// Makes the run of a part, which hands its rows and courses to this output, and on a common clock the ends of
  /// its steps to the trace, unless that is null; both outlive the run.
  using Maker = std::function<std::unique_ptr<StepwiseRun>(const IntegrateOptions& output, StateTrace* trace)>;
  /// Do all parts make their steps on one grid of times, or each on its own?
  enum class Clock { common, own };

  /// Of n variables and m laws; `nodes`: of the polynomials that the courses of steps are.
  RunProduct(const IntegrateOptions& output, int n, int m, Span span, int nodes, Clock clock);

  void add(Places places, Maker make);
  [[nodiscard]] std::size_t parts() const { return members_.size(); }

  /// Once. Counts are sums over the parts, those of steps on one clock the largest.
  Trajectory operator()();

 private:
  /// What lies between two times of a part, at nodes of its polynomial.
  struct Piece {
    double start = 0, end = 0;
    Mode mode{};
    Matrix nodes{};  ///< x, λ and w, a column for each of Chebyshev's points
    /// x, λ and w at t
    [[nodiscard]] Vector at(double t, const std::vector<double>& points) const;
    void transfer(Archive& archive) { archive(start, end, mode, nodes); }
  };
  struct Member {
    Places places;
    Maker make;
    IntegrateOptions output;
    StateTrace trace;
    std::unique_ptr<StepwiseRun> run;
    std::deque<Step> rows{};     ///< that are not in the trajectory yet
    std::deque<Piece> pieces{};  ///< that others may still ask for
    Step last{};                 ///< of its rows in the trajectory, or its start
    std::size_t events = 0;      ///< of its run that are in the trajectory
    [[nodiscard]] Step at(double t, const std::vector<double>& points) const;
  };
  /// The earliest first, of one moment in their order.
  using Waiting = std::priority_queue<std::pair<double, std::size_t>, std::vector<std::pair<double, std::size_t>>,
                                      std::greater<>>;
  /// Beside the first and the last one?
  [[nodiscard]] bool takes_rows() const { return output_.asks_for_rows(); }
  /// What of its steps somebody asks for: nothing, variables at moments of events, or all.
  enum class Told { nothing, variables, courses };
  [[nodiscard]] Told needed(Clock clock) const;
  void make(Member& member);
  void watch(Member& member) const;
  void go();
  void start();
  void resume();
  void transfer(Archive& archive);
  void keep_if_due();
  void advance_all();
  void refuse();
  void end_with(const Member& member);
  [[nodiscard]] double next_row() const;
  void emit(double until, bool with_end);
  void emit_rows(double t);
  void emit_events(double until, bool with_end);
  void tell_course(double t);
  void record(const Step& step);
  static void put(const Member& member, const Step& own, Step& all);
  [[nodiscard]] Step state_at(double t) const;
  [[nodiscard]] Event of_all(const Member& member, Event event) const;
  [[nodiscard]] const Member* first_to_end() const;
  void put_own_ends(Step& end) const;
  void finish();
  void take_counts();
  void take_first_order();
  void take_provenance();

  const IntegrateOptions& output_;
  bool goes_on_ = false;  // from a state that was kept
  int n_, m_;
  Span span_;
  std::vector<double> nodes_;  // shares of a step
  Clock clock_;
  std::vector<std::unique_ptr<Member>> members_;
  double told_, end_;
  Step last_;
  bool is_stopped_ = false;  // by whoever is told of rows
  bool is_refused_ = false;  // a part has no start
  Told told_of_steps_;
  Trajectory result_;
};

}  // namespace perp
