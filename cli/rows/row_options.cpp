#include <fmt/format.h>

#include <perp/cli/input/arguments.hpp>
#include <perp/cli/rows/row_options.hpp>
#include <perp/core/base/error.hpp>

namespace perp::cli {
namespace {

/// Throws InvalidInput where an option has no effect on this file.
void check(const RowOptions& options, const std::string& file) {
  if (options.every > 0 && !options.times.empty()) throw InvalidInput("--every and --times both say which states are rows: expected one of them");
  if (options.every > 0 && file.empty())
    throw InvalidInput("--every says which states are rows of a file, and none is written: -o FILE.csv, FILE.h5 or -");
  if (options.is_compressed && !io::is_hdf5(file)) throw InvalidInput("--compress is of HDF5 files: -o FILE.h5");
}

}  // namespace

void RowOptions::add_to(CommandLine& line) {
  line.add_option("--times", times, "rows at these times only (a list, or a file of times), which steps hit exactly").type_name("T,T,...");
  line.add_option("--every", every, "rows of every K-th step of length h only, and the first and the last state").positive().type_name("K");
  line.add_flag("--compress", is_compressed, "pack the numbers of -o FILE.h5, without loss: smaller, and slower to write");
}

void RowOptions::put_into(io::Destinations& destinations, Span span) const {
  check(*this, destinations.data);
  if (!times.empty()) destinations.times = parse_times(times);
  for (const double t : destinations.times)
    if (t < span.start || t > span.end)
      throw InvalidInput(fmt::format("--times: {} is outside of the run's span [{}, {}]", t, span.start, span.end));
  destinations.every = every;
  destinations.is_compressed = is_compressed;
}

void RowOptions::declare(io::FilesOfCommand& files) const {
  if (!times.empty()) files.reads(times, "--times");
}

}  // namespace perp::cli
