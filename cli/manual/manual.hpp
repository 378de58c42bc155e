#pragma once

#include <string>
#include <vector>

namespace perp::cli {

/// The manual page of a command, or of the program where no command is named, in the language of man(7); made of the
/// options themselves. Throws InvalidInput.
std::string manual_page(const std::vector<std::string>& arguments);

/// What completes the words of a command line in the shell {"bash"}, which zsh reads too. Throws InvalidInput.
std::string completion(const std::vector<std::string>& arguments);

}  // namespace perp::cli
