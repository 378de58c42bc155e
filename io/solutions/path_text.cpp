// The path of a step's solution in its length, as text and as JSON.
#include <fmt/format.h>

#include <perp/io/solutions/path_text.hpp>

namespace perp::io {
namespace {

std::string name_of(const std::vector<Law>& laws, const Mode& mode) {
  return mode.empty() ? "the present state" : fmt::format("[{}]", describe(laws, mode));
}

}  // namespace

std::string describe(const StepPath& path, const Mode& present, const std::vector<Law>& laws) {
  std::string text = name_of(laws, present);
  for (const StepPath::Break& change : path.breaks) {
    const bool folds = change.jump > 0;
    // Where the present mode is not known the path begins with the choice of one.
    const bool begins = change.h == 0 && present.empty();
    if (!begins)
      text += change.h > 0 ? fmt::format(" up to h = {:.10g}", change.h) : " ends at once";
    text += folds ? fmt::format(", where the solutions fold back: a jump of {:.6g} to {}",
                                change.jump, name_of(laws, change.after))
                  : ", then " + name_of(laws, change.after);
  }
  if (path.status != Status::solved)
    text += fmt::format(" up to h = {:.10g}: {}", path.end.h, path.message);
  return text;
}

Json to_json(const StepPath& path, const Mode& present, const std::vector<Law>& laws) {
  Json breaks = Json::array();
  for (const StepPath::Break& change : path.breaks)
    breaks.push_back(
        {{"h", change.h}, {"to", describe(laws, change.after)}, {"jump", to_json(change.jump)}});
  return {{"status", to_string(path.status)},
          {"from", present.empty() ? Json(nullptr) : Json(describe(laws, present))},
          {"h", path.end.h},
          {"breaks", breaks}};
}

}  // namespace perp::io
