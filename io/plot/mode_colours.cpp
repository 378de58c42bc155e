#include <array>

#include <perp/core/branches.hpp>
#include <perp/io/plot/mode_colours.hpp>

namespace perp::io {
namespace {

struct Colours {
  const char* light;
  const char* strong;
};

// Told apart by lightness as well as by hue; ten of each kind before the first comes again.
constexpr std::array<Colours, 10> smooth{{{"#DCEAF6", "#0072B2"},
                                          {"#F4F4F4", "#555555"},
                                          {"#D3EBDD", "#009E73"},
                                          {"#E5DBEF", "#7A5BA6"},
                                          {"#C9DDEA", "#56B4E9"},
                                          {"#E3E8C8", "#6B7F1A"},
                                          {"#CFE9EC", "#007C85"},
                                          {"#F6DDEA", "#CC79A7"},
                                          {"#D4D8F0", "#2B3A9E"},
                                          {"#E2DED6", "#6F5F4A"}}};
constexpr std::array<Colours, 10> sliding_colours{{{"#FFE0A6", "#D55E00"},
                                                   {"#F4B8A0", "#A63C00"},
                                                   {"#FFF7B0", "#B38600"},
                                                   {"#F5BFD0", "#B3202A"},
                                                   {"#FFD9C9", "#E8743B"},
                                                   {"#F3DFA2", "#7F6000"},
                                                   {"#F2C9DC", "#A8005C"},
                                                   {"#FFCF9E", "#8A4B08"},
                                                   {"#EFD2BE", "#5E2A12"},
                                                   {"#FFE9D6", "#FF8C1A"}}};

}  // namespace

ModeColours::ModeColours(const std::vector<Law>& laws, const std::vector<ModeSpan>& spans, const std::vector<ModeSpan>& whole) {
  std::map<Mode, Colours> colours;
  std::size_t smooth_count = 0, sliding_count = 0;
  for (const auto* list : {&whole, &spans})
    for (const ModeSpan& span : *list)
      if (!colours.contains(span.mode))
        colours[span.mode] = is_sliding(laws, span.mode) ? sliding_colours[sliding_count++ % sliding_colours.size()]
                                                         : smooth[smooth_count++ % smooth.size()];
  for (const ModeSpan& span : spans)
    if (index_.emplace(span.mode, entries_.size()).second)
      entries_.push_back({describe_briefly(laws, span.mode), colours[span.mode].light, colours[span.mode].strong, is_sliding(laws, span.mode)});
}

}  // namespace perp::io
