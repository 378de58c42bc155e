#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <perp/core/trajectory.hpp>
#include <perp/models/language/model.hpp>

namespace perp {

/// Which events of a run are meant:  CHOICE | CHOICE | ...  with  CHOICE = KIND, LAW, LAW.KIND or the name of a
/// reset, and behind it :FROM->TO where branches are meant, each by its text (`describe`) or `*`. Spaces do not count.
class EventChoice {
 public:
  /// Throws InvalidInput with the nearest known name.
  EventChoice(const Model& model, std::string_view text);

  /// Is it one of them?
  [[nodiscard]] bool holds(const Event& event) const;
  /// The resets that are meant and made this event, which may be one of several; none where it is of no reset.
  [[nodiscard]] std::vector<std::string> resets_in(const Event& event) const;
  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  struct Choice {
    int law = any, from = any, to = any;
    int kind = any;
    std::string reset{};  ///< empty: any
    std::string input{};  ///< whose data jump; empty: any
  };
  static constexpr int any = -1;
  struct Head {
    std::string name;
    std::string_view ends;
    Choice choice;
  };
  static std::vector<Head> heads_of(const Model& model);
  static Choice parse(const Model& model, std::string_view& text);
  static Choice parse_head(const Model& model, std::string_view& text);
  static void refuse_head(const Model& model, std::string_view text);
  static bool meets(const Choice& choice, const Event& event);

  std::string text_;
  std::vector<std::string> resets_;  // of the model
  std::vector<Choice> choices_;
};

/// A mode of one law (LAW:BRANCH, or BRANCH where there is one law), or `sliding`: some law slides.
class ModeChoice {
 public:
  /// Throws InvalidInput with the nearest known name.
  ModeChoice(const Model& model, std::string_view text);

  [[nodiscard]] bool holds(const Mode& mode) const;

 private:
  const std::vector<Law>& laws_;
  int law_ = -1;  ///< -1: sliding
  int branch_ = -1;
};

}  // namespace perp
