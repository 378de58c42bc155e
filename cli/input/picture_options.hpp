#pragma once

#include <string>
#include <vector>

#include <perp/cli/input/command_line.hpp>
#include <perp/io/plot/run_pictures.hpp>

namespace perp::cli {

/// The options of a command that draws a run.
struct PictureOptions {
  std::string plot, phase, field, variables, panels, window, logarithmic, starts, layers;
  std::vector<std::string> others;
  void add_to(CommandLine& line);
};

/// The pictures that they ask for. Throws InvalidInput, FileError.
io::RunPictures pictures_of(const PictureOptions& options, const Model& model);

}  // namespace perp::cli
