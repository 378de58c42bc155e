#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <perp/analysis/run/reading.hpp>
#include <perp/models/language/model.hpp>
#include <perp/models/language/read_model.hpp>

namespace perp {

/// What a sweep varies over given values: a parameter, a variable (its start), an input or a key of [run].
struct SweepAxis {
  std::string name;
  std::vector<double> values;
};

/// What a sweep draws for each run.
struct SweepDraw {
  enum class Distribution { uniform, normal, lognormal };
  std::string name;
  Distribution distribution = Distribution::uniform;
  double a = 0, b = 1;  ///< uniform in (a, b); mean and standard deviation, of the logarithm for lognormal
  std::string text;     ///< as it was written
};

/// How numbers are drawn: each is uniform in (0, 1) before its distribution.
enum class Sampling {
  random,          ///< independent
  latin_hypercube, ///< those of one name fall once into each of `size()` equal parts
  sobol            ///< a Sobol sequence, moved by a random shift of the digits of each coordinate (Owen 1998)
};

/// The points of a sweep, a function of their number: grid or rows of axes, at each of which `runs` draws.
class SweepPoints {
 public:
  std::vector<SweepAxis> axes{};
  bool side_by_side = false;  ///< value k of one axis with value k of the others, else all combinations
  std::vector<SweepDraw> draws{};
  long runs = 1;  ///< draws at each point of the axes
  std::uint64_t seed = 1;
  Sampling sampling = Sampling::random;

  /// Throws InvalidInput where names are unknown or twice, axes of different lengths stand side by side,
  /// or there are too many points. Call it before the rest.
  void prepare(const Model& model);

  [[nodiscard]] long size() const;
  /// Names of axes and draws: "x(0)" is the start of the variable x.
  [[nodiscard]] std::vector<std::string> names() const;
  /// The values of point k, the last axis fastest, draws fastest of all.
  [[nodiscard]] std::vector<double> values(long k) const;
  [[nodiscard]] std::vector<Override> overrides(long k) const;
  /// Number of values of the last axis: the points of a line, along which a sweep may follow a solution.
  [[nodiscard]] long line_length() const;

 private:
  [[nodiscard]] long axis_points() const;
  void check_names(const Model& model) const;
  void check_size() const;
  void order_parts();
  void order_dimensions();
  [[nodiscard]] double share(std::size_t draw, long k) const;
  std::vector<std::vector<std::uint32_t>> parts_;  // of each draw, where they are Latin
  std::vector<std::size_t> dimensions_;            // of each draw, where they are of a Sobol sequence
};

/// Throws InvalidInput where what is varied is given a value as well: which of the two counts cannot be told.
void check_given_once(const SweepPoints& points, const std::vector<WrittenOverride>& given);

/// `count` values from `first` to `last`, >= 2: over [-a, a] exactly antisymmetric; evenly on a logarithmic scale.
///@{
std::vector<double> evenly_spaced(double first, double last, int count);
std::vector<double> log_spaced(double first, double last, int count);
///@}

/// "uniform(0, 1)", "normal(mean, deviation)", "lognormal(mean, deviation)" of parameters' formulas. Throws
/// InvalidInput.
SweepDraw parse_draw(const Model& model, const std::string& name, const std::string& text);

/// random (or empty), lhs or sobol. Throws InvalidInput, which calls it `what`, with the nearest one.
Sampling parse_sampling(const std::string& name, const std::string& what);
/// The word that `parse_sampling` reads.
const char* to_string(Sampling sampling);

}  // namespace perp
