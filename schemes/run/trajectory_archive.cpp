// Trajectories and their parts as bytes: called where the state of a run is kept.
#include <perp/schemes/run/trajectory_archive.hpp>

namespace perp {
namespace {

void transfer_vectors(Archive& archive, Trajectory::Vectors& vectors) {
  std::size_t size = vectors.size();
  archive(size);
  if (archive.is_reading()) vectors = {};
  for (std::size_t k = 0; k < size; ++k) {
    Vector values = archive.is_reading() ? Vector() : vectors[k];
    archive(values);
    if (archive.is_reading()) vectors.push_back(values);
  }
}

/// As spans: how long each mode stays.
void transfer_modes(Archive& archive, Trajectory::Modes& modes) {
  std::vector<std::pair<std::size_t, Mode>> spans;
  for (std::size_t k = 0; k < modes.size(); ++k) {
    if (spans.empty() || spans.back().second != modes[k]) spans.emplace_back(0, modes[k]);
    ++spans.back().first;
  }
  archive(spans);
  if (!archive.is_reading()) return;
  modes = {};
  for (const auto& [times, mode] : spans)
    for (std::size_t k = 0; k < times; ++k) modes.push_back(mode);
}

}  // namespace

void transfer(Archive& archive, Step& step) {
  archive(step.t, step.x, step.lambda, step.w, step.mode, step.dx_dq, step.dlambda_dq);
}

void transfer(Archive& archive, Event& event) {
  archive(event.kind, event.t, event.t_before, event.t_after, event.law, event.from, event.to, event.x_before,
          event.x_after, event.size, event.note, event.continuations, event.is_weak, event.dt_dq, event.condition,
          event.pieces);
}

void transfer(Archive& archive, Trajectory& trajectory) {
  archive(trajectory.t);
  for (Trajectory::Vectors* vectors : {&trajectory.x, &trajectory.lambda, &trajectory.w}) transfer_vectors(archive, *vectors);
  transfer_modes(archive, trajectory.mode);
  archive(trajectory.dx_dq, trajectory.dlambda_dq, trajectory.events, trajectory.status, trajectory.message, trajectory.counts,
          trajectory.provenance);
}

}  // namespace perp
