#include <fmt/format.h>
#include <algorithm>
#include <cmath>

#include <perp/core/base/error.hpp>
#include <perp/io/plot/mode_colours.hpp>
#include <perp/io/plot/run_plot.hpp>

namespace perp::io {
namespace {

constexpr int arrows = 5;
constexpr double arrow_length = 0.02;  // share of the picture
constexpr std::size_t most_modes = 8;  // drawn in colours of their own

struct Point {
  double x, y;
};

/// The path in the plane: pieces in one mode, jumps, and places for arrows.
class Path {
 public:
  Path(const RunPlot& plot, int horizontal, int vertical, const ModeColours& colours)
      : single_(colours.entries().size() > most_modes) {
    pieces_.resize(single_ ? 1 : std::max<std::size_t>(colours.entries().size(), 1));
    bool joined = false;
    std::size_t mode = 0;
    for (const Curves::Row& row : plot.curves.rows) {
      const Point point{row.x[horizontal], row.x[vertical]};
      if (std::isnan(point.x) || std::isnan(point.y)) {
        joined = false;
        continue;
      }
      const std::size_t next = single_ || colours.entries().empty() ? 0 : colours.index(row.mode);
      if (all_.empty()) {
        start_piece(next, point);
      } else if (!joined) {
        if (distance(all_.back(), point) > 0) jumps_.emplace_back(all_.back(), point);
        start_piece(next, point);
      } else if (next != mode) {
        start_piece(next, all_.back());
        pieces_[next].back().push_back(point);
      } else {
        pieces_[next].back().push_back(point);
      }
      mode = next;
      joined = true;
      all_.push_back(point);
    }
    scale();
  }

  [[nodiscard]] const Range& x() const { return x_; }
  [[nodiscard]] const Range& y() const { return y_; }
  [[nodiscard]] bool is_empty() const { return all_.empty(); }
  [[nodiscard]] bool is_single() const { return single_; }
  [[nodiscard]] bool has_jumps() const { return !jumps_.empty(); }

  [[nodiscard]] std::string data() const {
    std::string text;
    for (std::size_t k = 0; k < pieces_.size(); ++k) {
      std::string rows;
      for (const auto& piece : pieces_[k]) {
        if (!rows.empty()) rows += '\n';
        for (const Point& point : piece) rows += fmt::format("{} {}\n", point.x, point.y);
      }
      text += data_block(fmt::format("index {}: path in mode {}", k, k + 1), rows);
    }
    const std::size_t next = pieces_.size();
    const auto point = [](const Point& at) { return fmt::format("{} {}\n", at.x, at.y); };
    text += data_block(fmt::format("index {}: start", next), point(all_.front()));
    text += data_block(fmt::format("index {}: end", next + 1), point(all_.back()));
    text +=
        data_block(fmt::format("index {}: direction, x y dx dy", next + 2), vectors(directions()));
    text += data_block(fmt::format("index {}: jumps, x y dx dy", next + 3), vectors(jumps_));
    return text;
  }

 private:
  static std::string vectors(const std::vector<std::pair<Point, Point>>& list) {
    std::string rows;
    for (const auto& [from, to] : list)
      rows += fmt::format("{} {} {} {}\n", from.x, from.y, to.x - from.x, to.y - from.y);
    return rows;
  }

  void start_piece(std::size_t mode, Point point) { pieces_[mode].push_back({point}); }

  void scale() {
    for (const Point& point : all_) {
      x_ = {std::min(x_.lower, point.x), std::max(x_.upper, point.x)};
      y_ = {std::min(y_.lower, point.y), std::max(y_.upper, point.y)};
    }
    const auto extent = [](const Range& range) {
      const double size = std::max(std::abs(range.lower), std::abs(range.upper));
      return std::max(range.upper - range.lower, size > 0 ? 1e-9 * size : 1);
    };
    width_ = extent(x_);
    height_ = extent(y_);
  }

  [[nodiscard]] double distance(Point a, Point b) const {
    return std::hypot((a.x - b.x) / width_, (a.y - b.y) / height_);
  }

  /// Short stretches of the path at equal distances along it.
  [[nodiscard]] std::vector<std::pair<Point, Point>> directions() const {
    double length = 0;
    for (const auto& pieces : pieces_)
      for (const auto& piece : pieces)
        for (std::size_t k = 1; k < piece.size(); ++k) length += distance(piece[k - 1], piece[k]);
    std::vector<std::pair<Point, Point>> list;
    if (length == 0) return list;
    // Pieces are walked mode by mode: for the arrows only the way along each of them counts.
    const double spacing = length / arrows;
    double walked = spacing / 2;
    for (const auto& pieces : pieces_)
      for (const auto& piece : pieces)
        for (std::size_t k = 1; k < piece.size(); ++k) {
          const double step = distance(piece[k - 1], piece[k]);
          walked += step;
          if (walked < spacing || step == 0) continue;
          walked = std::fmod(walked, spacing);
          const double share = std::min(1.0, arrow_length / step);
          const Point to = piece[k];
          list.emplace_back(
              Point{to.x - share * (to.x - piece[k - 1].x), to.y - share * (to.y - piece[k - 1].y)},
              to);
        }
    return list;
  }

  bool single_;
  std::vector<std::vector<std::vector<Point>>> pieces_;  // by mode
  std::vector<std::pair<Point, Point>> jumps_;
  std::vector<Point> all_;
  Range x_{inf, -inf}, y_{inf, -inf};
  double width_ = 1, height_ = 1;
};

std::string axis_label(const DrawnColumn& column) {
  return gnuplot_text(column.unit.empty() ? column.name : column.name + " [" + column.unit + "]");
}

std::string script_of(const Picture& picture, const RunPlot& plot, int horizontal, int vertical,
                      const ModeColours& colours, const Path& path) {
  const auto column = [&](int curve) -> const DrawnColumn& { return plot.drawn[static_cast<std::size_t>(curve)]; };
  const std::size_t modes =
      path.is_single() ? 1 : std::max<std::size_t>(colours.entries().size(), 1);
  std::size_t longest = 16;
  if (!path.is_single())
    for (const ModeColours::Entry& entry : colours.entries())
      longest = std::max(longest, entry.text.size());
  constexpr int width = 760, panel = 560, row = 22, left = 92, letter = 9;
  const int columns = std::clamp((width - left) / (70 + letter * static_cast<int>(longest)), 1, 3);
  const int entries = static_cast<int>(modes) + 2 + (path.has_jumps() ? 1 : 0);
  const int rows = (entries + columns - 1) / columns;
  const int height = 46 + panel + 60 + rows * row + 12;
  std::string text = picture.preamble(width, height);
  text += fmt::format(
      "set title {} noenhanced font ',14'\nset xlabel {} noenhanced\nset ylabel {} noenhanced\n"
      "set border 3 lw 0.8 lc rgb '#333333'\n"
      "set tics nomirror out scale 0.6 textcolor rgb '#333333'\n"
      "set grid back lt 1 lw 0.5 lc rgb '#D0D0D0'\n"
      "set offsets graph 0.04, graph 0.04, graph 0.04, graph 0.04\nset xrange {}\nset yrange {}\n"
      "set lmargin at screen {:.4f}\nset rmargin at screen 0.97\nset tmargin at screen {:.4f}\n"
      "set bmargin at screen {:.4f}\n"
      "set key at screen {:.4f},{:.4f} left bottom vertical maxcols {} maxrows {} noenhanced "
      "reverse Left samplen 2.2 spacing 1.2\n\nplot ",
      gnuplot_text(plot.model.name), axis_label(column(horizontal)),
      axis_label(column(vertical)), axis_range(path.x().lower, path.x().upper),
      axis_range(path.y().lower, path.y().upper), static_cast<double>(left) / width,
      1 - 46.0 / height, 1 - static_cast<double>(46 + panel) / height,
      static_cast<double>(left) / width, 12.0 / height, columns, rows);
  for (std::size_t k = 0; k < modes; ++k) {
    const bool named = !path.is_single() && k < colours.entries().size();
    const bool sliding = named && colours.entries()[k].sliding;
    text += fmt::format("data index {} with lines lw {} lc rgb '{}' title {}, \\\n     ", k,
                        sliding ? 4 : 2, named ? colours.entries()[k].strong : curve_colour(0),
                        gnuplot_text(named ? colours.entries()[k].text : "path, all modes"));
  }
  text += fmt::format(
      "data index {} using 1:2:3:4 with vectors head filled size screen 0.016,22 fixed lw 1.5 "
      "lc rgb '#000000' notitle, \\\n     ",
      modes + 2);
  // A jump is dotted and has its arrow in the middle.
  if (path.has_jumps())
    text += fmt::format(
        "data index {0} using 1:2:3:4 with vectors nohead lw 2 dt (1.5,3.5) lc rgb '#555555' title "
        "'jump', \\\n     "
        "data index {0} using ($1 + 0.5*$3):($2 + 0.5*$4):(0.03*$3):(0.03*$4) with vectors head "
        "nofilled size screen 0.016,22 fixed lw 1.5 lc rgb '#555555' notitle, \\\n     ",
        modes + 3);
  text += fmt::format(
      "data index {} with points pt 7 ps 1.2 lc rgb '#FFFFFF' notitle, \\\n     "
      "data index {} with points pt 6 ps 1.2 lw 2 lc rgb '#000000' title 'start', \\\n     "
      "data index {} with points pt 5 ps 1.1 lc rgb '#000000' title 'end'\n",
      modes, modes, modes + 1);
  return text;
}

}  // namespace

void draw_phase(const Picture& picture, const RunPlot& plot, int horizontal, int vertical) {
  const ModeColours colours(plot.model.laws(), plot.modes);
  const Path path(plot, horizontal, vertical, colours);
  if (path.is_empty()) throw InvalidInput("there is no phase picture: the run has no state for it");
  picture.draw(script_of(picture, plot, horizontal, vertical, colours, path), path.data());
}

}  // namespace perp::io
