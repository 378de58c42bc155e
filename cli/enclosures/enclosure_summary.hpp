#pragma once

#include <cstdio>
#include <string>
#include <vector>

#include <perp/cli/enclosures/enclosure_run.hpp>
#include <perp/io/provenance.hpp>

namespace perp::cli {

/// What an enclosure says to people.
void print_enclosure(std::FILE* stream, const EnclosureRun& run,
                     const std::vector<std::string>& files);

/// What made it: program, model with the intervals of its numbers, options, counts, events and the
/// end of the proof. The same input gives the same text.
Json enclosure_provenance(const EnclosureRun& run, const enclosure::EncloseOptions& options,
                          const std::vector<std::string>& set);

}  // namespace perp::cli
