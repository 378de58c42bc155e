// Pages for a browser: called by the pictures of runs whose file ends in .html.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <algorithm>
#include <array>
#include <cmath>
#include <set>

#include <perp/io/plot/html/html_page.hpp>
#include <perp/io/plot/html/page_parts.hpp>

namespace perp::io {
namespace {

constexpr double width = 1000;  // of the plane of a panel, and its height
constexpr int least_height = 200, height_of_one = 420;

/// Text between tags and in attributes.
std::string escaped(const std::string& text) {
  std::string result;
  for (const char c : text) {
    if (c == '&')
      result += "&amp;";
    else if (c == '<')
      result += "&lt;";
    else if (c == '>')
      result += "&gt;";
    else if (c == '"')
      result += "&quot;";
    else
      result += c;
  }
  return result;
}

/// One axis: from numbers to shares of the plane, log10 first on a logarithmic one.
struct Axis {
  double low = 0, high = 1;
  bool is_logarithmic = false;

  Axis(const Range& range, bool logarithmic) : is_logarithmic(logarithmic) {
    low = value(range.lower), high = value(range.upper);
    const double size = std::max(std::abs(low), std::abs(high));
    if (high - low > 1e-9 * size) return;  // else rounding, which is to look constant
    const double half = size > 0 ? 0.1 * size : 1;
    low -= half, high += half;
  }
  [[nodiscard]] double value(double number) const {
    if (!is_logarithmic) return number;
    return number > 0 ? std::log10(number) : nan;
  }
  [[nodiscard]] double share(double number) const { return width * ((value(number) - low) / (high - low)); }
};

/// A panel as SVG.
class Drawing {
 public:
  Drawing(const PagePanel& panel, double margin)
      : panel_(panel), x_(panel.x, panel.is_x_logarithmic), y_(enlarged(panel.y, panel.is_y_logarithmic), panel.is_y_logarithmic) {
    if (margin == 0) return;
    const double more = margin * (x_.high - x_.low);
    x_.low -= more, x_.high += more;
  }

  [[nodiscard]] std::string operator()(int height, const std::vector<std::string>& names) const {
    std::string text = fmt::format(
        "<svg class=\"panel\" viewBox=\"0 0 900 {}\" data-x=\"{},{}\" data-y=\"{},{}\" data-log=\"{}{}\" data-xlabel=\"{}\" data-ylabel=\"{}\">\n"
        "<svg class=\"plane\" x=\"80\" y=\"8\" width=\"800\" height=\"{}\" viewBox=\"0 0 1000 1000\" "
        "preserveAspectRatio=\"none\">\n",
        height, x_.low, x_.high, y_.low, y_.high, x_.is_logarithmic ? "x" : "", y_.is_logarithmic ? "y" : "",
        escaped(panel_.x_label), escaped(panel_.y_label), height - 52);
    for (const PageBand& band : panel_.bands) text += band_text(band, names);
    for (const PageCurve& curve : panel_.curves) text += curve_text(curve, names);
    return text + "</svg>\n<g class=\"axes\"></g>\n</svg>\n";
  }

 private:
  /// A little above and below the curves.
  static Range enlarged(const Range& range, bool logarithmic) {
    const double more = 0.04 * (range.upper - range.lower);
    if (!logarithmic) return {range.lower - more, range.upper + more};
    const double factor = std::pow(range.upper / range.lower, 0.04);
    return {range.lower / factor, range.upper * factor};
  }

  static std::size_t place(const std::string& name, const std::vector<std::string>& names) {
    return static_cast<std::size_t>(std::ranges::find(names, name) - names.begin());
  }

  [[nodiscard]] std::string band_text(const PageBand& band, const std::vector<std::string>& names) const {
    const double from = std::isnan(x_.value(band.x.lower)) ? 0 : x_.share(band.x.lower), to = x_.share(band.x.upper);
    if (!(to > from)) return {};
    return fmt::format("<rect class=\"k{}\" x=\"{:.9g}\" y=\"-1e7\" width=\"{:.9g}\" height=\"2e7\" fill=\"{}\"/>\n",
                       place(band.name, names), from, to - from, band.colour);
  }

  /// "M0 1L2 3": the pieces between what has no place.
  [[nodiscard]] std::string path(const std::vector<std::vector<std::pair<double, double>>>& lines) const {
    std::string text;
    for (const auto& line : lines) {
      bool is_open = false;
      for (const auto& [x, y] : line) {
        const double u = x_.share(x), v = width - y_.share(y);
        const bool is_number = std::isfinite(u) && std::isfinite(v);
        if (is_number) text += fmt::format("{}{:.9g} {:.9g}", is_open ? 'L' : 'M', u, v);
        is_open = is_number;
      }
    }
    return text;
  }

  /// "M0 1L2 3Z": those whose every corner has a place.
  [[nodiscard]] std::string areas_path(const PageCurve& curve) const {
    std::string text;
    for (const auto& area : curve.areas) {
      const auto has_place = [this](const std::pair<double, double>& at) { return std::isfinite(x_.share(at.first)) && std::isfinite(y_.share(at.second)); };
      if (area.empty() || !std::ranges::all_of(area, has_place)) continue;
      for (const auto& [x, y] : area) text += fmt::format("{}{:.9g} {:.9g}", &x == &area.front().first ? 'M' : 'L', x_.share(x), width - y_.share(y));
      text += 'Z';
    }
    return text;
  }

  /// The points of a curve. A line of no length with round ends keeps its size on the screen.
  [[nodiscard]] std::string dots_text(const PageCurve& curve) const {
    std::string dots;
    for (const auto& [x, y] : curve.points)
      if (const double u = x_.share(x), v = width - y_.share(y); std::isfinite(u) && std::isfinite(v))
        dots += fmt::format("M{0:.9g} {1:.9g}L{0:.9g} {1:.9g}", u, v);
    if (dots.empty()) return {};
    return fmt::format("<path d=\"{0}\" stroke-width=\"{1}\" stroke-linecap=\"round\"/>{2}", dots, curve.point_size,
                       curve.is_hollow ? fmt::format("<path d=\"{}\" stroke=\"#fff\" stroke-width=\"5\" stroke-linecap=\"round\"/>", dots) : "");
  }

  [[nodiscard]] std::string curve_text(const PageCurve& curve, const std::vector<std::string>& names) const {
    std::string text = fmt::format("<g class=\"k{}\" stroke=\"{}\" fill=\"none\">", place(curve.name, names), curve.colour);
    if (const std::string d = areas_path(curve); !d.empty())
      text += fmt::format("<path d=\"{}\" fill=\"{}\" fill-opacity=\"{}\" stroke=\"none\"/>", d, curve.colour, curve.opacity);
    if (const std::string d = path(curve.lines); !d.empty())
      text += fmt::format("<path d=\"{}\" stroke-width=\"{}\"{}/>", d, curve.width,
                          curve.dash.empty() ? "" : fmt::format(" stroke-dasharray=\"{}\"", curve.dash));
    if (const std::string d = path(curve.dotted); !d.empty())
      text += fmt::format("<path d=\"{}\" stroke-width=\"1.4\" stroke-dasharray=\"2 4\"/>", d);
    return text + dots_text(curve) + heads_text(curve) + "</g>\n";
  }

  /// "x0 y0 x1 y1;...", of which the script makes heads that keep their size and form on the screen.
  [[nodiscard]] std::string heads_text(const PageCurve& curve) const {
    std::string heads;
    for (const auto& [from, to] : curve.arrows) {
      const std::array ends{x_.share(from.first), width - y_.share(from.second), x_.share(to.first), width - y_.share(to.second)};
      if (std::ranges::all_of(ends, [](double end) { return std::isfinite(end); }))
        heads += fmt::format("{}{:.9g}", heads.empty() ? "" : ";", fmt::join(ends, " "));
    }
    return heads.empty() ? "" : fmt::format("<path class=\"heads\" data-heads=\"{}\" fill=\"{}\" stroke=\"none\"/>", heads, curve.colour);
  }

  const PagePanel& panel_;
  Axis x_, y_;
};

/// The names of the legend in their order, each once, with its colour.
std::vector<std::pair<std::string, std::string>> keys_of(const Page& page) {
  std::vector<std::pair<std::string, std::string>> keys;
  std::set<std::string> known;
  for (const PagePanel& panel : page.panels)
    for (const PageCurve& curve : panel.curves)
      if (!curve.name.empty() && known.insert(curve.name).second) keys.emplace_back(curve.name, curve.colour);
  for (const PagePanel& panel : page.panels)
    for (const PageBand& band : panel.bands)
      if (known.insert(band.name).second) keys.emplace_back(band.name, band.colour);
  return keys;
}

}  // namespace

std::string html_page(const Page& page) {
  std::string text = page_head(escaped(page.title));
  const auto keys = keys_of(page);
  std::vector<std::string> names;
  for (const auto& [name, colour] : keys) names.push_back(name);
  const int count = static_cast<int>(page.panels.size());
  const int height = count == 1 ? height_of_one : std::max(least_height, 640 / count);
  text += fmt::format("<div id=\"panels\"{}>\n", page.shares_x ? " class=\"shared\"" : "");
  for (const PagePanel& panel : page.panels) text += Drawing(panel, page.shares_x ? 0 : 0.04)(height, names);
  text += "</div>\n<p id=\"legend\">\n";
  for (std::size_t k = 0; k < keys.size(); ++k)
    text += fmt::format("<button data-key=\"k{}\" aria-pressed=\"true\"><i style=\"background:{}\"></i>{}</button>\n", k,
                        keys[k].second, escaped(keys[k].first));
  return text + "</p>\n" + page_tail();
}

}  // namespace perp::io
