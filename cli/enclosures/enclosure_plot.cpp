// The picture of an enclosure.
#include <fmt/format.h>
#include <algorithm>
#include <cmath>
#include <map>
#include <sstream>

#include <perp/cli/enclosures/enclosure_plot.hpp>
#include <perp/io/plot/blocks/block_drawing.hpp>

namespace perp::cli {
namespace {

using enclosure::EnclosureRow;
using enclosure::Flag;

constexpr std::size_t most_stripes = 200;  // events; beyond, they hide the bands

/// Rows of one branch and one flag, and of one piece where pieces are drawn, that follow each
/// other.
struct Band {
  int branch = 0;
  Flag flag = Flag::unique;
  std::vector<const EnclosureRow*> rows{};
  int piece = -1;
};

std::vector<Band> bands_of(const EnclosureRun& run) {
  std::vector<Band> bands;
  std::map<std::pair<int, int>, std::size_t> open;  // the last band of each branch of each piece
  for (const TableRow& of : run.all_rows()) {
    const EnclosureRow& row = *of.row;
    const auto last = open.find({of.piece, row.branch});
    if (last == open.end() || bands[last->second].flag != row.flag) {
      bands.push_back({row.branch, row.flag, {}, of.piece});
      // What it goes on from: the bands meet.
      if (last != open.end()) bands.back().rows.push_back(bands[last->second].rows.back());
      open[{of.piece, row.branch}] = bands.size() - 1;
    }
    bands[open[{of.piece, row.branch}]].rows.push_back(&row);
  }
  return bands;
}

std::string title_of(const EnclosureRun& run) { return run.model.model.name + ": enclosure of all solutions"; }

/// Stretches of time that are drawn over the whole height.
struct Stripe {
  const char *name, *colour;
  std::string rows{};
};

/// The intervals of events, and where the proof ends.
std::vector<Stripe> stripes_of(const EnclosureRun& run) {
  std::vector<Stripe> stripes{{"event", "#C4C4C4"}, {"possible event", "#F0D9A8"}, {"not proved", "#F6DADA"}};
  if (run.result.events.size() <= most_stripes)
    for (const auto& event : run.result.events) stripes[event.unique ? 0 : 1].rows += fmt::format("{} {}\n", event.t.lo, event.t.hi);
  if (run.result.lost) stripes[2].rows = fmt::format("{} {}\n", run.result.lost->t.lo, run.model.span.end);
  return stripes;
}

std::string data_of(const EnclosureRun& run, const std::vector<Band>& bands,
                    const std::vector<int>& variables) {
  std::string heading = ": t";
  for (const int j : variables) {
    const std::string& name = run.model.variables[static_cast<std::size_t>(j)];
    heading += fmt::format(" {}_lo {}_hi", name, name);
  }
  std::string text;
  for (const Band& band : bands) {
    std::string rows;
    for (const EnclosureRow* row : band.rows) {
      rows += fmt::format("{}", row->t);
      for (const int j : variables) {
        const auto& value = row->box[static_cast<std::size_t>(j)];
        rows += fmt::format(" {} {}", value.lo, value.hi);
      }
      rows += '\n';
    }
    const std::string piece = band.piece < 0 ? "" : fmt::format("piece {}, ", band.piece);
    text += data_block(
        fmt::format("{}branch {}, {}{}", piece, band.branch, to_string(band.flag), heading), rows);
  }
  for (const Stripe& stripe : stripes_of(run)) text += data_block(fmt::format("{}: from, to", stripe.name), stripe.rows);
  return text;
}

std::string name_of(int branch, Flag flag) { return fmt::format("branch {}, {}", branch, to_string(flag)); }

const char* colour_of(int branch) { return curve_colour(static_cast<std::size_t>(branch)); }

/// What a program beside the picture, and a page, draw of `data_of`: a name for each branch and flag.
BlockDrawing drawing_of(const EnclosureRun& run, const std::string& title, const std::vector<Band>& bands, const std::vector<int>& variables) {
  BlockDrawing drawing{.title = title};
  for (const int j : variables) {
    const Variable& shown = run.model.model.variables[static_cast<std::size_t>(j)];
    drawing.panels.push_back({.x_label = "t", .y_label = with_unit(shown.name, shown.unit)});
  }
  for (const Band& band : bands)
    drawing.blocks.push_back({.kind = band.flag == Flag::unique ? DrawnBlock::Kind::band : DrawnBlock::Kind::hatched,
                              .name = name_of(band.branch, band.flag),
                              .colour = colour_of(band.branch)});
  for (const Stripe& stripe : stripes_of(run))
    drawing.blocks.push_back({.kind = DrawnBlock::Kind::stripes, .name = stripe.rows.empty() ? "" : stripe.name, .colour = stripe.colour});
  return drawing;
}

class EnclosureScript {
  // Heights and widths in units of a screen picture.
  static constexpr int width = 900, top = 46, gap = 16, axis = 56, row_height = 22, bottom = 12;
  static constexpr int left = 92, legend_columns = 4;

 public:
  EnclosureScript(const Picture& picture, const EnclosureRun& run, const std::vector<Band>& bands,
                  const std::vector<int>& variables)
      : run_(run), bands_(bands), variables_(variables) {
    for (const Band& band : bands_) {
      const std::pair<int, Flag> key{band.branch, band.flag};
      if (std::find(legend_.begin(), legend_.end(), key) == legend_.end()) legend_.push_back(key);
    }
    legend_.resize(std::min<std::size_t>(legend_.size(), 12));
    panel_ = variables.size() == 1 ? 400 : variables.size() == 2 ? 260 : 180;
    height_ = top + static_cast<int>(variables.size()) * (panel_ + gap) - gap + axis +
              row_height * legend_rows() + bottom;
    text_ = picture.preamble(width, height_);
  }

  std::string operator()() {
    settings();
    stripes();
    for (std::size_t k = 0; k < variables_.size(); ++k) draw_panel(k);
    draw_legend();
    text_ += "unset multiplot\n";
    return std::move(text_);
  }

 private:
  template <class... T>
  void line(fmt::format_string<T...> format, T&&... values) {
    text_ += fmt::format(format, std::forward<T>(values)...) + "\n";
  }

  [[nodiscard]] double screen(int from_top) const {
    return 1 - static_cast<double>(from_top) / height_;
  }

  /// Filled, or hatched where solutions may be several.
  static std::string fill(Flag flag) {
    return flag == Flag::unique ? "fs transparent solid 0.35 noborder"
                                : "fs transparent pattern 4 noborder";
  }

  void settings() {
    line("set multiplot");
    line("set border 3 lw 0.8 lc rgb '#333333'");
    line("set tics nomirror out scale 0.8,0.4 textcolor rgb '#333333'");
    line("set grid back lt 1 lw 0.5 lc rgb '#D0D0D0'");
    line("set xrange [{}:{}]", run_.model.span.start, run_.model.span.end);
    line("set lmargin at screen {:.4f}\nset rmargin at screen 0.97",
         static_cast<double>(left) / width);
    line("unset key\nset title {} noenhanced font ',14'", gnuplot_text(title_of(run_)));
  }

  /// At least a hair wide.
  void stripes() {
    const double hair = 0.0015 * (run_.model.span.end - run_.model.span.start);
    for (const Stripe& stripe : stripes_of(run_)) {
      std::istringstream rows(stripe.rows);
      for (double from = 0, to = 0; rows >> from >> to;) {
        const double widening = std::max(0.0, hair - (to - from)) / 2;
        line("set object rectangle from {},graph 0 to {},graph 1 behind fc rgb '{}' fs solid noborder", from - widening, to + widening,
             stripe.colour);
      }
    }
  }

  void draw_panel(std::size_t k) {
    const int from = top + static_cast<int>(k) * (panel_ + gap);
    const auto j = static_cast<std::size_t>(variables_[k]);
    double low = inf, high = -inf;
    for (const Band& band : bands_)
      for (const EnclosureRow* row : band.rows) {
        low = std::min(low, row->box[j].lo);
        high = std::max(high, row->box[j].hi);
      }
    const bool is_last = k + 1 == variables_.size();
    line("\nset tmargin at screen {:.4f}\nset bmargin at screen {:.4f}", screen(from),
         screen(from + panel_));
    line("set format x {}\nset xlabel {}", is_last ? "'%g'" : "''", is_last ? "'t'" : "''");
    const std::string& unit = run_.model.model.variables[j].unit;
    line("set ylabel {} noenhanced", gnuplot_text(with_unit(run_.model.variables[j], unit)));
    line("set yrange {}", axis_range(low, high));
    std::string plots;
    for (std::size_t b = 0; b < bands_.size(); ++b) {
      const std::string columns = fmt::format("{}:{}", 2 * k + 2, 2 * k + 3);
      const char* tone = colour_of(bands_[b].branch);
      plots += fmt::format(
          "{}data index {} using 1:{} with filledcurves {} lc rgb '{}', "
          "data index {} using 1:{} with lines lw 1.2 lc rgb '{}', "
          "data index {} using 1:{} with lines lw 1.2 lc rgb '{}'",
          plots.empty() ? "" : ", \\\n     ", b, columns, fill(bands_[b].flag), tone, b, 2 * k + 2,
          tone, b, 2 * k + 3, tone);
    }
    line("plot {}", plots);
    if (k == 0) line("unset title");
  }

  [[nodiscard]] int legend_rows() const { return 1 + (static_cast<int>(legend_.size()) - 1) / legend_columns; }

  void draw_legend() {
    line("\nunset object\nunset border\nunset tics\nunset xlabel\nunset ylabel\nunset grid");
    line("set tmargin at screen {:.4f}\nset bmargin at screen 0", screen(height_ - bottom - row_height * legend_rows() - row_height / 2));
    line("set key noenhanced at screen {:.4f},{:.4f} left bottom vertical maxcols {} maxrows {} reverse Left samplen 2",
         static_cast<double>(left) / width, static_cast<double>(bottom) / height_, legend_columns, legend_rows());
    std::string keys;
    for (const auto& [branch, flag] : legend_)
      keys += fmt::format(", \\\n     keyentry with boxes {} lc rgb '{}' title {}", fill(flag), colour_of(branch),
                          gnuplot_text(name_of(branch, flag)));
    line("plot [0:1] [0:1] NaN notitle{}", keys);
  }

  const EnclosureRun& run_;
  const std::vector<Band>& bands_;
  const std::vector<int>& variables_;
  std::vector<std::pair<int, Flag>> legend_;
  int panel_ = 0, height_ = 0;
  std::string text_;
};

}  // namespace

void draw_enclosure(const Picture& picture, const EnclosureRun& run,
                    const std::vector<int>& variables) {
  const std::vector<Band> bands = bands_of(run);
  draw_blocks(picture, drawing_of(run, title_of(run), bands, variables), EnclosureScript(picture, run, bands, variables)(),
              data_of(run, bands, variables));
}

}  // namespace perp::cli
