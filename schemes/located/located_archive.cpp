// The state of an event-located run as bytes: called where a run is kept or gone on with.
#include <perp/schemes/located/located_state.hpp>
#include <perp/schemes/located/mode_jets.hpp>
#include <perp/schemes/located/radau/mode_flow.hpp>
#include <perp/schemes/located/radau/radau.hpp>
#include <perp/schemes/run/trajectory_archive.hpp>

namespace perp {

void LocatedState::transfer(Archive& archive) { archive(now, moved_from, largest, law_sizes, passage); }

void ModeJets::transfer(Archive& archive) {
  archive(structures_, ends_, rests_);
  if (archive.is_reading()) tell_ends();
}

void ModeFlow::transfer(Archive& archive) {
  Mode mode = mode_;
  std::vector<char> velocity_level = velocity_level_;
  BranchForms::Ends ends = ends_;
  archive(mode, velocity_level, ends);
  if (archive.is_reading()) set_mode(mode, velocity_level, ends);
}

/// Every attempt makes its matrices anew; `start` gives them their sizes.
void Radau::transfer(Archive& archive) {
  double t = t_;
  Vector y = y_, rates = rates_;
  archive(t, y, rates);
  if (archive.is_reading()) start(t, y, rates);
  archive(h_, first_, attempted_, attempt_, last_, end_, error_, proposed_, estimated_, last_error_, last_h_, rejected_,
          counts_);
}

}  // namespace perp
