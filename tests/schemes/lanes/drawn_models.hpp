#pragma once

#include <fmt/format.h>
#include <random>
#include <string>
#include <vector>

#include <perp/models/language/read_model.hpp>

namespace perp::test {

/// A model and the interval from which its one parameter, {p} in its text, is drawn.
struct Drawn {
  std::string name, text;
  double least, most;
};

inline std::vector<Model> models_of(const Drawn& what, int count, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<Model> models;
  for (int k = 0; k < count; ++k) {
    const double p = what.least + (what.most - what.least) * static_cast<double>(random()) / 4294967296.0;
    std::string text = what.text;
    text.replace(text.find("{p}"), 3, fmt::format("{}", p));
    models.push_back(read_model_text(text, "drawn.toml"));
  }
  return models;
}

}  // namespace perp::test
