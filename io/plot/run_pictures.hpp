#pragma once

#include <optional>
#include <string>
#include <vector>

#include <perp/analysis/run/history.hpp>
#include <perp/core/trajectory.hpp>
#include <perp/io/plot/curves.hpp>
#include <perp/io/plot/field/field_samples.hpp>
#include <perp/io/plot/phase/phase_layers.hpp>
#include <perp/io/plot/picture.hpp>
#include <perp/models/language/model.hpp>

namespace perp::io {

/// The pictures of a run that are asked for.
struct RunPictures {
  std::optional<Picture> over_time{}, phase{}, field{};
  std::vector<int> drawn{};            ///< columns over time: places in `drawn_columns`
  std::vector<std::vector<int>> panels{};  ///< places in `drawn` of each panel; empty: by unit and size
  Span window{-inf, inf};                  ///< what is drawn of the run
  int horizontal = -1, vertical = -1;      ///< columns of the phase picture
  std::vector<int> logarithmic{};          ///< columns whose axes are
  bool is_time_logarithmic = false;
  std::vector<std::string> others{};       ///< files of runs for comparison
  PhaseLayers layers{};                    ///< of the phase picture
  ArrayColumns array{};                    ///< of the picture of an array

  /// Columns whose samples the pictures need, each once.
  [[nodiscard]] std::vector<int> sampled() const;
};

/// Draws them from the samples of a run, `field` those of its array; the names of those that are drawn are added to `files`, also
/// where a later one fails. Throws InvalidInput where the run has no state, FileError.
void draw(const RunPictures& pictures, const Model& model, const std::vector<ModeSpan>& modes,
          Samples& samples, FieldSamples& field, const Trajectory& run, std::vector<std::string>& files);

}  // namespace perp::io
