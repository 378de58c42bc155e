#pragma once

#include <deque>
#include <memory>
#include <vector>

#include <perp/analysis/hybrid/run/hybrid_run.hpp>
#include <perp/models/language/hybrid/hybrid_parts.hpp>

namespace perp {

/// A run of a model whose sets of signals do not act on each other: each of them is run as a model
/// of its own, with its own steps and its own choice of modes, so that the others change no bit of
/// it. Rows are those of all of them; a part that has none at a time is read from the course of
/// its step there. The run ends where the first of them ends.
class HybridProduct {
 public:
  /// Throws InvalidInput as HybridRun does.
  HybridProduct(const Model& model, const HybridSchemes& schemes, const IntegrateOptions& output,
                const IndependentSets& sets);

  Trajectory operator()();

 private:
  /// What lies between two times of a part, at nodes of its polynomial.
  struct Piece {
    double start, end;
    Mode mode{};
    Matrix nodes{};  ///< x, λ and w, a column for each of Chebyshev's points
    /// x, λ and w at t
    [[nodiscard]] Vector at(double t) const;
  };
  struct Member {
    HybridPart part;
    Model model;
    IntegrateOptions output;
    std::unique_ptr<HybridRun> run;
    std::deque<Step> rows{};     ///< that are not in the trajectory yet
    std::deque<Piece> pieces{};  ///< that others may still ask for
    Step last{};                 ///< of its rows in the trajectory, or its start
    std::size_t events = 0;      ///< of its run that are in the trajectory
    [[nodiscard]] Step at(double t) const;
  };
  void add(HybridPart part, const HybridSchemes& schemes);
  void watch(Member& member) const;
  [[nodiscard]] Member* earliest() const;
  [[nodiscard]] const Member* first_to_end() const;
  [[nodiscard]] double next_row() const;
  void emit(double until, bool with_end);
  void emit_rows(double t);
  void emit_events(double until, bool with_end);
  void tell_course(double t);
  void record(const Step& step);
  void put(const Member& member, const Step& own, Step& all) const;
  [[nodiscard]] Step state_at(double t) const;
  [[nodiscard]] Event of_all(const Member& member, Event event) const;
  void finish();
  void take_counts();
  void take_provenance();

  const Model& model_;
  const IntegrateOptions& output_;
  int n_, q_, m_;
  std::vector<std::unique_ptr<Member>> members_;
  double told_, end_;
  Step last_;
  bool is_stopped_ = false;  // by the observer
  Trajectory result_;
};

}  // namespace perp
