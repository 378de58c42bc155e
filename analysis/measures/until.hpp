#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include <perp/analysis/measures/event_choice.hpp>
#include <perp/core/base/archive.hpp>
#include <perp/core/trajectory.hpp>
#include <perp/models/language/model.hpp>
#include <perp/schemes/integrate.hpp>

namespace perp {

/// A run that ends with an event instead of the end of its span:  EVENT  or  EVENT:n, the n-th of those that are meant (see
/// EventChoice). Schemes know an event when the steps after it are made; so the run is made twice, first to find the event, then
/// with the user's observers up to the end of the step that holds it. Its rows are those of the run over the whole span. A
/// state that is kept holds the event: no run that goes on from it looks for it again.
class UntilEvent {
 public:
  /// Throws InvalidInput with the nearest known name. The model must outlive it.
  UntilEvent(const Model& model, std::string_view text);

  /// The run, status `solved` where it ends with the event. `goes_on` false ends the search. Without the event the run goes to the
  /// end of its span, and `happened` is false.
  Trajectory run(const IntegrateOptions& options, const std::function<bool()>& goes_on);
  [[nodiscard]] bool happened() const { return happened_; }
  /// "sliding_entry (2 of them)"
  [[nodiscard]] std::string text() const;

 private:
  /// The event and the last row up to which the run goes.
  struct End {
    Event event;
    long row = 0;

    void transfer(Archive& archive);
  };
  [[nodiscard]] std::optional<End> find(const IntegrateOptions& options, const std::function<bool()>& goes_on) const;
  [[nodiscard]] const Event* nth(const Trajectory& run) const;

  const Model& model_;
  EventChoice choice_;
  long number_ = 1;
  bool happened_ = false;
};

}  // namespace perp
