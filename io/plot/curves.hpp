#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include <perp/analysis/run/history.hpp>
#include <perp/core/trajectory.hpp>
#include <perp/io/plot/drawn_columns.hpp>
#include <perp/models/language/model.hpp>

namespace perp::io {

/// The states of a run that a picture needs: all of a short run; of a long one, in every one of
/// some thousand equal shares of the steps, those where a variable is smallest or largest, so that
/// no peak is lost. The states around a change of mode are always kept.
class Samples {
 public:
  struct State {
    double t = 0;
    Vector x;
    Mode mode;
    void transfer(Archive& archive) { archive(t, x, mode); }
  };

  /// `drawn`: places of columns, see `drawn_columns`. States outside of `window` are left out; at its ends, within steps, stand
  /// those of the straight line between the states around them.
  Samples(const Model& model, std::vector<int> drawn, Span window, double expected_steps);
  void add(const Step& step);
  /// What is kept so far.
  void transfer(Archive& archive);
  /// All states kept; `x` holds what is drawn.
  const std::vector<State>& finish();

 private:
  void reduce();
  void keep(State state);
  [[nodiscard]] State at_end(const Step& next, double t);

  ColumnValues values_;
  Span window_;
  std::size_t share_;
  std::vector<State> pending_, kept_;
  bool is_window_ = false, is_closed_ = false;  // is part of the run drawn; is the rest behind it?
  Step last_;                                   // of a run of which part is drawn; empty: none
};

/// Curves with their jumps taken out: a jump is never a line.
struct Curves {
  struct Row {
    double t;
    Vector x;  ///< NaN: the curve is interrupted here
    Mode mode;
  };
  struct Jump {
    int curve;
    double t, from, to;
  };
  std::vector<Row> rows;
  std::vector<Jump> jumps;
};

/// What has to be known of the columns of some states.
struct CurveColumns {
  std::vector<char> is_algebraic{};  ///< it may jump wherever the mode changes
  std::vector<int> variable{};       ///< which variable it is; -1: none
  std::vector<char> is_time{};       ///< it is t; empty: none is
  std::function<bool(const Event& event)> is_reset{};  ///< is it a jump that a reset of the model made?
};

/// Inserts what events know: both sides of a jump of the differential variables; for algebraic
/// variables, which may change their value wherever the mode changes, both sides of such a change
/// (the value at the end of its step is left out where it is a mean of both).
/// The algebraic variables at the end of a step with a jump hold the impulse of the jump (they grow
/// like 1/h); they are left out.
Curves curves(const std::vector<Samples::State>& states, const CurveColumns& columns, const std::vector<ModeSpan>& modes,
              const std::vector<Event>& events);

/// The same of some columns of a model: `drawn`, whose values `values` gives.
Curves curves(const std::vector<Samples::State>& states, const std::vector<DrawnColumn>& drawn,
              const ColumnValues& values, const std::vector<ModeSpan>& modes, const std::vector<Event>& events);

}  // namespace perp::io
