#pragma once

#include <string>
#include <vector>

#include <perp/models/model.hpp>

namespace perp {

/// `--set NAME=VALUE`: a parameter, a variable's start, or a key with its table ("run.h").
struct Override {
  std::string key;
  std::string value;
};

/// Reads a model file (TOML 1.0, matrix form). Throws InvalidInput with one line
/// "file:line:column: what was found, what was expected, nearest known name", FileError if it cannot be read.
Model read_model(const std::string& file, const std::vector<Override>& overrides = {});

/// The same from text; `name` stands for the file in messages.
Model read_model_text(const std::string& text, const std::string& name,
                      const std::vector<Override>& overrides = {});

/// MODEL of the command line: a path, or the name of a file of the zoo without ".toml". Throws
/// InvalidInput with the nearest known name.
std::string find_model(const std::string& model);

/// Names of the zoo's models, in alphabetical order.
std::vector<std::string> zoo();

}  // namespace perp
