#pragma once

#include <string>
#include <utility>
#include <vector>

#include <perp/io/plot/phase/phase_layers.hpp>
#include <perp/io/plot/run_plot.hpp>

namespace perp::io {

/// The states of one run for a phase picture.
struct PhasePath {
  Curves curves{};
  std::vector<ModeSpan> modes{};
};

/// What stands in a phase picture, for all kinds of files.
struct PhaseDrawing {
  using Vectors = std::vector<std::pair<PlanePoint, PlanePoint>>;  ///< from, to
  struct Lines {
    std::string name{}, colour{};
    bool is_wide = false;
    std::vector<std::vector<PlanePoint>> pieces{};
  };
  /// Points of equilibria of one kind, as gnuplot counts its signs.
  struct Marks {
    std::string name{}, colour{};
    int sign = 7;
    std::vector<PlanePoint> points{};
  };
  std::string x_label{}, y_label{};
  Range x{inf, -inf}, y{inf, -inf};  ///< of the paths
  bool is_x_logarithmic = false, is_y_logarithmic = false;
  std::vector<Lines> modes{};      ///< the paths, by mode
  Vectors directions{};            ///< short stretches of the paths
  Vectors jumps{};
  std::vector<PlanePoint> starts{}, ends{};
  std::vector<Lines> surfaces{};
  Vectors flow{};
  std::string flow_name{};
  std::vector<Marks> equilibria{};

  /// A point in shares of the picture.
  [[nodiscard]] PlanePoint shares(const PlanePoint& point) const;
};

/// Throws InvalidInput where the layers cannot be drawn in the plane of these columns (places in drawn_columns).
void check_layers(const Model& model, const PhaseLayers& layers, int horizontal, int vertical);

/// The second of two columns (places in plot.drawn) over the first, for the runs `paths`, of which the first is that of
/// `plot`, with the layers. Throws InvalidInput: there is no state, a logarithmic axis has values that are not positive,
/// see phase_plane.
PhaseDrawing phase_drawing(const RunPlot& plot, const std::vector<PhasePath>& paths, const PhaseLayers& layers,
                           int horizontal, int vertical);

/// The run of a model from another start, sampled at these columns.
PhasePath phase_path(const Model& model, const std::vector<int>& columns, const Span& window);

}  // namespace perp::io
