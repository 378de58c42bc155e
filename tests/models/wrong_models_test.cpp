#include <doctest/doctest.h>
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <perp/models/language/read_model.hpp>
#include <perp/tests/paths.hpp>

namespace {

namespace fs = std::filesystem;

std::string text_of(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// The models of tests/data/wrong_models, in alphabetical order.
std::vector<fs::path> wrong_models() {
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(fs::path(perp::test::data_path("")) / "wrong_models"))
    if (entry.path().extension() == ".toml") files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  return files;
}

}  // namespace

TEST_SUITE("models/wrong_models") {
  TEST_CASE("every wrong model is refused in one line with its place, as the text beside it says") {
    const std::vector<fs::path> files = wrong_models();
    CHECK(files.size() >= 30);
    for (const fs::path& file : files) {
      CAPTURE(file.string());
      std::string expected = text_of(fs::path(file).replace_extension(".txt"));
      REQUIRE(expected.ends_with('\n'));
      expected.pop_back();
      std::string found = "no error";
      try {
        (void)perp::read_model_text(text_of(file), file.filename().string());
      } catch (const perp::ModelError& error) {
        found = error.what();
        CHECK(error.excerpt().find('^') != std::string::npos);
      }
      CHECK(found == expected);
      CHECK(found.find('\n') == std::string::npos);
    }
  }
}
