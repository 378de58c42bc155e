// Trajectories and their parts as bytes: called where the state of a run is kept.
#include <perp/schemes/run/trajectory_archive.hpp>

namespace perp {

void transfer(Archive& archive, Step& step) {
  archive(step.t, step.x, step.lambda, step.w, step.mode, step.dx_dq, step.dlambda_dq);
}

void transfer(Archive& archive, Event& event) {
  archive(event.kind, event.t, event.t_before, event.t_after, event.law, event.from, event.to, event.x_before,
          event.x_after, event.size, event.note, event.continuations, event.is_weak, event.dt_dq, event.condition,
          event.pieces);
}

void transfer(Archive& archive, Trajectory& trajectory) {
  archive(trajectory.t, trajectory.x, trajectory.lambda, trajectory.w, trajectory.mode, trajectory.dx_dq,
          trajectory.dlambda_dq, trajectory.events, trajectory.status, trajectory.message, trajectory.counts,
          trajectory.provenance);
}

}  // namespace perp
