#pragma once

#include <optional>
#include <random>
#include <string>
#include <vector>

#include <perp/tests/relations/grids/large_run.hpp>
#include <perp/tests/relations/grids/large_text.hpp>
#include <perp/tests/relations/relations.hpp>

namespace perp::relations {

/// A large model with its runs, made when they are first asked for.
class LargeSubject {
 public:
  explicit LargeSubject(unsigned seed);
  [[nodiscard]] const LargeDraw& draw() const { return draw_; }
  [[nodiscard]] const LargeModel& model() const { return draw_.model; }
  [[nodiscard]] const LargeSettings& settings() const { return settings_; }
  /// The run of its equations, split at events as it is drawn, or not.
  const LargeRun& run(bool splits);
  /// Does it differ from itself when its numbers change in their last digits?
  bool is_at_tie(bool splits);

 private:
  LargeDraw draw_;
  LargeSettings settings_;
  std::optional<LargeRun> runs_[2];
};

struct LargeRelation {
  const char* name;
  Judgement (*judge)(LargeSubject& subject, std::mt19937& random);
};

/// Every relation of large models, in the order of the table.
const std::vector<LargeRelation>& large_relations();

/// Random choices depend on seed and relation alone.
Judgement judge(const LargeRelation& relation, LargeSubject& subject);

}  // namespace perp::relations
