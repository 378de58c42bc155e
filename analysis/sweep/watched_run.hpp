#pragma once

#include <memory>
#include <utility>

#include <perp/analysis/measures/constant_expression.hpp>
#include <perp/analysis/sweep/kept_states.hpp>
#include <perp/analysis/sweep/sweep.hpp>

namespace perp {

/// A run and all that looks at it while it is made.
struct WatchedRun {
  WatchedRun(Model its_model, const SweepRequest& request)
      : model(std::move(its_model)),
        measures(model, request.measures, request.after),
        from(request.after.empty() ? model.run.span.start : constant_expression(model, request.after)),
        section(request.section.empty() ? nullptr : Section::read(model, request.section)),
        kept(request.times) {
    options.keep = false;
    options.bounds = model.bounds();
  }

  Model model;
  Measures measures;
  double from;
  std::unique_ptr<Section> section;
  ModeHistory history{};
  IntegrateOptions options{};
  KeptStates kept;
};

}  // namespace perp
