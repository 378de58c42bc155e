#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include <perp/tests/cli/program.hpp>

namespace perp::test {

/// A run of `perp converge` with its table as data.
struct ConvergenceStudy {
  Outcome run;
  Csv table;
  nlohmann::json about;

  /// The fitted order of a variant and a kind of error, NaN where there is none.
  [[nodiscard]] double order(const std::string& kind, std::size_t variant = 0) const {
    const nlohmann::json& value = about.at("variants").at(variant).at("fits").at(kind).at("order");
    return value.is_number() ? value.get<double>() : NAN;
  }
  [[nodiscard]] int rows(const std::string& kind, std::size_t variant = 0) const {
    return about.at("variants").at(variant).at("fits").at(kind).at("rows").get<int>();
  }
  [[nodiscard]] const std::string& refused(std::size_t row, const std::string& kind) const {
    return table.rows.at(row).at(table.column("refused_" + kind));
  }
  [[nodiscard]] bool says(const std::string& text) const {
    return run.out.find(text) != std::string::npos;
  }
};

inline ConvergenceStudy converge(const Folder& folder, std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), "converge");
  arguments.insert(arguments.end(), {"-o", "study.csv"});
  ConvergenceStudy study{perp_program(folder, std::move(arguments)), {}, {}};
  const std::string about = read_text(folder / "study.csv.json");
  if (about.empty()) return study;
  study.table = parse_csv(read_text(folder / "study.csv"));
  study.about = nlohmann::json::parse(about);
  return study;
}

}  // namespace perp::test
