#pragma once

#include <string>

#include <perp/analysis/enclosure/enclose.hpp>
#include <perp/cli/input/model_options.hpp>

namespace perp::cli {

/// The arguments of `perp enclose`; files are empty where they are not asked for.
struct EncloseArguments {
  ModelOptions model;
  std::string output{}, events{}, tube{}, proof{}, times{}, plot{}, plot_variables{}, tol{}, checkpoint{}, resume{};
  int order = enclosure::StepOptions{}.order;
  int pieces = enclosure::EncloseOptions{}.pieces;
  int threads = 0;  ///< 0: one for each core
  bool by_pieces = false;
  bool quiet = false;
  std::string program = "perp enclose";  ///< who speaks in notes
};

/// Encloses the model, writes what was asked for and says what was proved; returns the exit status.
/// Throws InvalidInput, FileError.
int enclose_model(EncloseArguments arguments);

}  // namespace perp::cli
