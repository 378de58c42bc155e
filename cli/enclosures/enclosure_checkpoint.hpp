#pragma once

#include <string>
#include <vector>

#include <perp/analysis/enclosure/exact_model.hpp>
#include <perp/cli/enclosures/enclose_command.hpp>
#include <perp/cli/input/command_line.hpp>
#include <perp/io/files/file_identity.hpp>

namespace perp::cli {

/// The options --checkpoint and --resume.
void add_checkpoints_to(CommandLine& line, EncloseArguments& arguments);

/// FILE.checkpoint, beside what is written or drawn.
std::string kept_file(const EncloseArguments& arguments);

/// What --checkpoint and --resume read and write. Throws InvalidInput, FileError.
void declare_checkpoint(const EncloseArguments& arguments, io::FilesOfCommand& files);

/// Goes on from the file of --resume, and keeps what is computed with --checkpoint. The arguments outlive the enclosure. Throws
/// InvalidInput, FileError.
void set_checkpoints(const EncloseArguments& arguments, const enclosure::ExactModel& model, const std::vector<double>& times,
                     enclosure::EncloseOptions& options);

}  // namespace perp::cli
