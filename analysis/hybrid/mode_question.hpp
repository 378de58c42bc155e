#pragma once

// What a question for the modes of a hybrid model goes through: the parts of HybridModes.

#include <cmath>
#include <memory>
#include <utility>
#include <vector>

#include <perp/analysis/hybrid/hybrid_modes.hpp>
#include <perp/analysis/hybrid/mode_jets.hpp>
#include <perp/analysis/hybrid/proofs/mode_bounds.hpp>
#include <perp/analysis/hybrid/values/near_search.hpp>

namespace perp {

struct HybridModes::Implementation {
  explicit Implementation(HybridModel given)
      : model(std::move(given)), structure(structure_of(model)) {}

  /// What looks at all values, made when it is first asked: of large models it may never be.
  struct Whole {
    Whole(const HybridModel& model, const HybridStructure& structure)
        : faces(model),
          search(model, structure, faces),
          bounds(model, structure, faces, search),
          jets(model, structure, faces, search, bounds) {}

    Faces faces;
    ValueSearch search;
    ModeBounds bounds;
    HybridJets jets;
  };
  NearSearch& near() {
    if (!near_) near_ = std::make_unique<NearSearch>(model, structure);
    return *near_;
  }
  Whole& whole() {
    if (!whole_) whole_ = std::make_unique<Whole>(model, structure);
    return *whole_;
  }

  /// NaN: it has no value before.
  static int branch_of(double z) {
    if (std::isnan(z)) return any_binary;
    return z == 0 ? 0 : (z == 1 ? 1 : released_binary);
  }
  void look_at_previous();
  [[nodiscard]] std::vector<int> constraints_at_zero(const HybridContinuation& c);
  void note_called_binaries();
  [[nodiscard]] std::vector<int> branches_before() const;
  void note_free(const std::vector<int>& z);
  void read_previous(const std::vector<double>& given);
  void note_ambiguity();
  [[nodiscard]] Status end_word(bool is_whole, bool are_shown) const;
  void count_changes(HybridContinuation& continuation) const;
  void begin_list();
  bool search_all(const ValueLimits& limits);
  bool search_inside(ValueLimits& limits);
  [[nodiscard]] ValueLimits near_limits() const;
  void search_near();
  void search_nearest();
  void search_by_series();
  bool search_tree();
  void judge_value(const std::vector<int>& z);
  std::optional<HybridContinuations> of_large_model();
  void exclude(const Exclusion& exclusion);
  struct Judged {
    HybridJets::Verdict verdict;
    bool is_bounded;  ///< by bounds of all errors
  };
  std::optional<HybridJets::Verdict> by_series(const ModeCandidate& candidate);
  Judged judged(const ModeCandidate& candidate);
  void judge(const ModeCandidate& candidate);
  bool show_exclusions();
  [[nodiscard]] bool has_rival(const HybridContinuation& c) const;
  void bound_rates();
  void note_nearest();
  void conclude(bool is_whole);
  bool find();

  HybridModel model;
  HybridStructure structure;
  std::unique_ptr<Whole> whole_;
  std::unique_ptr<NearSearch> near_;  // likewise

  // Of one question.
  double t = 0;
  Vector x;
  std::vector<double> previous;
  HybridModeOptions options;
  HybridContinuations result;
  bool previous_continues = false;
  bool nearest_inside = false;  // values with more changes inside of called sub-problems were not looked at
  bool has_open_modes = false;  // that do not determine what slides
  bool has_free = false;  // binaries without a value before, beside others with one
  std::vector<char> inside;  // of each binary
  // Excluded by their derivatives, and where they stand in result.excluded.
  std::vector<std::pair<ModeCandidate, std::size_t>> by_derivatives;
};

}  // namespace perp
