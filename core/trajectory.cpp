#include <perp/core/trajectory.hpp>

namespace perp {

const char* to_string(EventKind kind) {
  switch (kind) {
    case EventKind::mode_change: return "mode_change";
    case EventKind::kink: return "kink";
    case EventKind::crossing: return "crossing";
    case EventKind::sliding_entry: return "sliding_entry";
    case EventKind::sliding_exit: return "sliding_exit";
    case EventKind::jump: return "jump";
    case EventKind::inconsistent_start: return "inconsistent_start";
    case EventKind::bound: return "bound";
    case EventKind::accumulation: return "zeno";
    case EventKind::no_solution: return "no_solution";
    case EventKind::stopped: return "stopped";
  }
  return "unknown";
}

void Trajectory::append(const Step& step) {
  t.push_back(step.t);
  x.push_back(step.x);
  lambda.push_back(step.lambda);
  w.push_back(step.w);
  mode.push_back(step.mode);
  if (step.dx_dq.size() == 0) return;
  dx_dq.push_back(step.dx_dq);
  dlambda_dq.push_back(step.dlambda_dq);
}

}  // namespace perp
