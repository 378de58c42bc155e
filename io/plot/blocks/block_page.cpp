// Blocks of data as pages for a browser: each a curve of the page.
#include <fmt/format.h>
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>

#include <perp/io/plot/blocks/block_page.hpp>
#include <perp/io/plot/html/html_page.hpp>

namespace perp::io {
namespace {

using Row = std::vector<double>;
using Piece = std::vector<Row>;
using Kind = DrawnBlock::Kind;
using Corners = std::vector<std::pair<double, double>>;

Row row_of(const std::string& line) {
  Row row;
  const char* at = line.c_str();
  for (char* end = nullptr;; at = end) {
    const double value = std::strtod(at, &end);
    if (end == at) return row;
    row.push_back(value);
  }
}

/// The pieces of each block: an empty line ends a piece, two of them a block.
std::vector<std::vector<Piece>> blocks_of(const std::string& data) {
  std::vector<std::vector<Piece>> blocks;
  std::size_t empty = 2;
  for (std::size_t from = 0; from < data.size();) {
    const std::size_t end = std::min(data.find('\n', from), data.size());
    const std::string line = data.substr(from, end - from);
    from = end + 1;
    if (line.empty()) {
      ++empty;
      continue;
    }
    if (empty >= 2) blocks.emplace_back();
    if (empty >= 1) blocks.back().emplace_back();
    empty = 0;
    if (!line.starts_with('#')) blocks.back().back().push_back(row_of(line));
  }
  return blocks;
}

double number(const Row& row, std::size_t column) { return column < row.size() ? row[column] : nan; }

bool is_one_of(Kind kind, std::initializer_list<Kind> kinds) { return std::ranges::find(kinds, kind) != kinds.end(); }

Corners rectangle(double x0, double x1, double y0, double y1) { return {{x0, y0}, {x1, y0}, {x1, y1}, {x0, y1}}; }

bool is_seen(const PageCurve& curve) {
  return !curve.lines.empty() || !curve.dotted.empty() || !curve.points.empty() || !curve.areas.empty();
}

/// A panel in the making.
class PanelOfBlocks {
 public:
  PanelOfBlocks(const DrawnAxes& axes, std::size_t place) : place_(place) {
    panel_.x_label = axes.x_label, panel_.y_label = axes.y_label;
    panel_.is_x_logarithmic = axes.is_x_logarithmic, panel_.is_y_logarithmic = axes.is_y_logarithmic;
    shown_x_ = axes.x, shown_y_ = axes.y;
  }

  void add(const DrawnBlock& block, const std::vector<Piece>& pieces) {
    if (block.kind == Kind::stripes) return add_stripes(block, pieces);
    if (block.kind == Kind::cells) return add_cells(block, pieces);
    PageCurve curve{.name = block.name, .colour = block.colour};
    for (const Piece& piece : pieces) add_piece(block, piece, curve);
    if (block.kind == Kind::crosses) return add_crosses(std::move(curve));
    give_look(block, curve);
    if (is_seen(curve)) panel_.curves.push_back(std::move(curve));
  }

  /// With the crosses on its lower end, and stripes at least a hair wide.
  PagePanel operator()() {
    for (const auto& [range, shown] : {std::pair(&panel_.x, shown_x_), std::pair(&panel_.y, shown_y_)}) {
      if (shown.lower <= shown.upper) *range = shown;
      if (!(range->lower <= range->upper)) *range = {0, 1};
    }
    const double hair = 0.0015 * (panel_.x.upper - panel_.x.lower);
    for (PageBand& band : panel_.bands) {
      const double widening = std::max(0.0, hair - (band.x.upper - band.x.lower)) / 2;
      band.x = {band.x.lower - widening, band.x.upper + widening};
    }
    for (PageCurve& curve : crosses_) {
      for (auto& [x, y] : curve.points) y = panel_.y.lower;
      panel_.curves.push_back(std::move(curve));
    }
    return std::move(panel_);
  }

 private:
  static void give_look(const DrawnBlock& block, PageCurve& curve) {
    curve.is_hollow = block.kind == Kind::hollow;
    curve.point_size = std::clamp(1.5 * block.size, 2.0, 9.0);
    switch (block.kind) {
      case Kind::dashed: curve.dash = "8 4"; break;
      case Kind::line: curve.width = 1.2 * block.size; break;
      case Kind::arrows: curve.width = 1; break;
      case Kind::bars: curve.opacity = 0.6; break;
      case Kind::band: curve.width = 1, curve.opacity = 0.35; break;
      case Kind::hatched: curve.width = 1, curve.opacity = 0.15, curve.dash = "3 3"; break;
      default: break;
    }
  }

  static void widen(Range& range, double value, bool is_logarithmic) {
    if (!std::isfinite(value) || (is_logarithmic && !(value > 0))) return;
    range.lower = std::min(range.lower, value), range.upper = std::max(range.upper, value);
  }
  std::pair<double, double> seen(double x, double y) {
    widen(panel_.x, x, panel_.is_x_logarithmic);
    widen(panel_.y, y, panel_.is_y_logarithmic);
    return {x, y};
  }
  Corners seen(Corners corners) {
    for (const auto& [x, y] : corners) seen(x, y);
    return corners;
  }

  void add_piece(const DrawnBlock& block, const Piece& piece, PageCurve& curve) {
    if (is_one_of(block.kind, {Kind::band, Kind::hatched})) return add_band(piece, block.size > 0, curve);
    if (is_one_of(block.kind, {Kind::arrows, Kind::jumps})) return add_arrows(block.kind, piece, curve);
    if (is_one_of(block.kind, {Kind::areas, Kind::bars})) return add_areas(block, piece, curve);
    if (block.kind == Kind::crosses) return add_places(piece, curve);
    if (is_one_of(block.kind, {Kind::line, Kind::dashed, Kind::joined})) add_line(piece, curve);
    if (!is_one_of(block.kind, {Kind::line, Kind::dashed})) add_points(piece, curve);
  }

  /// What is no number interrupts it.
  void add_line(const Piece& piece, PageCurve& curve) {
    curve.lines.emplace_back();
    for (const Row& row : piece) curve.lines.back().push_back(seen(number(row, 0), number(row, 1 + place_)));
  }

  void add_points(const Piece& piece, PageCurve& curve) {
    for (const Row& row : piece)
      if (std::isfinite(number(row, 1 + place_))) curve.points.push_back(seen(row[0], row[1 + place_]));
  }

  void add_places(const Piece& piece, PageCurve& curve) {
    for (const Row& row : piece) {
      widen(panel_.x, number(row, 0), panel_.is_x_logarithmic);
      if (std::isfinite(number(row, 0))) curve.points.emplace_back(row[0], 0.0);
    }
  }

  void add_areas(const DrawnBlock& block, const Piece& piece, PageCurve& curve) {
    for (const Row& row : piece) {
      const double x = number(row, 0), half = block.size / 2;
      if (!std::isfinite(x)) continue;
      curve.areas.push_back(seen(block.kind == Kind::bars ? rectangle(x - half, x + half, 0, number(row, 1))
                                                          : rectangle(x, number(row, 1), number(row, 2), number(row, 3))));
    }
  }

  /// Heads at the ends, those of jumps in the middle.
  void add_arrows(Kind kind, const Piece& piece, PageCurve& curve) {
    for (const Row& row : piece) {
      if (!std::isfinite(number(row, 3))) continue;
      const auto from = seen(row[0], row[1]), to = seen(row[0] + row[2], row[1] + row[3]);
      const double share = kind == Kind::jumps ? 0.5 : 1;
      (kind == Kind::jumps ? curve.dotted : curve.lines).push_back({from, to});
      curve.arrows.push_back({from, std::pair(row[0] + share * row[2], row[1] + share * row[3])});
    }
  }

  /// Along the lower ends and back along the upper ones; both are lines too where it has edges.
  void add_band(const Piece& piece, bool has_edges, PageCurve& curve) {
    Corners lower, upper;
    for (const Row& row : piece) {
      const double low = number(row, 1 + 2 * place_), high = number(row, 2 + 2 * place_);
      if (!std::isfinite(low) || !std::isfinite(high)) continue;
      lower.push_back(seen(row[0], low)), upper.push_back(seen(row[0], high));
    }
    if (has_edges) curve.lines.insert(curve.lines.end(), {lower, upper});
    lower.insert(lower.end(), upper.rbegin(), upper.rend());
    curve.areas.push_back(std::move(lower));
  }

  void add_crosses(PageCurve curve) {
    curve.point_size = 5;
    if (!curve.points.empty()) crosses_.push_back(std::move(curve));
  }

  void add_stripes(const DrawnBlock& block, const std::vector<Piece>& pieces) {
    for (const Piece& piece : pieces)
      for (const Row& row : piece)
        if (std::isfinite(number(row, 1))) panel_.bands.push_back({{row[0], row[1]}, block.name, block.colour});
  }

  /// The range of the values of cells.
  static Range values_of(const std::vector<Piece>& pieces) {
    Range values{inf, -inf};
    for (const Piece& piece : pieces)
      for (const Row& row : piece) widen(values, number(row, 2), false);
    return values;
  }

  /// In ten equal parts of their values, each a name with its colour.
  void add_cells(const DrawnBlock& block, const std::vector<Piece>& pieces) {
    static constexpr std::array colours{"#440154", "#482878", "#3e4989", "#31688e", "#26828e",
                                        "#1f9e89", "#35b779", "#6ece58", "#b5de2b", "#fde725"};
    const Range values = block.values.lower <= block.values.upper ? block.values : values_of(pieces);
    const double width = (values.upper - values.lower) / colours.size();
    std::array<PageCurve, colours.size()> curves;
    for (const Piece& piece : pieces)
      for (const Row& row : piece) {
        if (!std::isfinite(number(row, 2))) continue;
        const auto part = width > 0 ? static_cast<std::size_t>((row[2] - values.lower) / width) : 0;
        curves.at(std::min(part, colours.size() - 1)).areas.push_back(seen(rectangle(number(row, 3), number(row, 4), number(row, 5), number(row, 6))));
      }
    for (std::size_t k = 0; k < colours.size(); ++k) {
      if (curves.at(k).areas.empty()) continue;
      curves.at(k).colour = colours.at(k);
      curves.at(k).name = width > 0 ? fmt::format("{} {:.4g} to {:.4g}", block.name, values.lower + static_cast<double>(k) * width,
                                                  values.lower + static_cast<double>(k + 1) * width)
                                    : fmt::format("{} = {:.4g}", block.name, values.lower);
      panel_.curves.push_back(std::move(curves.at(k)));
    }
  }

  std::size_t place_;
  PagePanel panel_;
  Range shown_x_, shown_y_;
  std::vector<PageCurve> crosses_;
};

}  // namespace

std::string block_page(const BlockDrawing& drawing, const std::string& data) {
  const std::vector<std::vector<Piece>> blocks = blocks_of(data);
  Page page{.title = drawing.title, .shares_x = drawing.panels.size() > 1};
  for (std::size_t k = 0; k < drawing.panels.size(); ++k) {
    PanelOfBlocks panel(drawing.panels[k], k);
    for (std::size_t block = 0; block < drawing.blocks.size(); ++block)
      if (const int only = drawing.blocks[block].panel; only < 0 || only == static_cast<int>(k)) panel.add(drawing.blocks[block], blocks.at(block));
    page.panels.push_back(panel());
  }
  return html_page(page);
}

}  // namespace perp::io
