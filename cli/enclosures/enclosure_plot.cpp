// The picture of an enclosure.
#include <fmt/format.h>
#include <algorithm>
#include <cmath>
#include <map>

#include <perp/cli/enclosures/enclosure_plot.hpp>

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
  return text;
}

class EnclosureScript {
  // Heights and widths in units of a screen picture.
  static constexpr int width = 900, top = 46, gap = 16, axis = 56, row_height = 22, bottom = 12;
  static constexpr int left = 92;

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
              row_height * (1 + static_cast<int>(legend_.size() - 1) / 4) + bottom;
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

  static const char* colour(int branch) { return curve_colour(static_cast<std::size_t>(branch)); }

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
    line("unset key\nset title {} noenhanced font ',14'", gnuplot_text(title()));
  }

  [[nodiscard]] std::string title() const {
    return run_.model.model.name + ": enclosure of all solutions";
  }

  /// The intervals of events, at least a hair wide, and where the proof ends.
  void stripes() {
    const double hair = 0.0015 * (run_.model.span.end - run_.model.span.start);
    const auto stripe = [&](double from, double to, const char* tone) {
      const double widening = std::max(0.0, hair - (to - from)) / 2;
      line("set object rectangle from {},graph 0 to {},graph 1 behind fc rgb '{}' fs solid "
           "noborder",
           from - widening, to + widening, tone);
    };
    if (run_.result.events.size() <= most_stripes)
      for (const auto& event : run_.result.events)
        stripe(event.t.lo, event.t.hi, event.unique ? "#C4C4C4" : "#F0D9A8");
    if (run_.result.lost) stripe(run_.result.lost->t.lo, run_.model.span.end, "#F6DADA");
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
    line("set ylabel {} noenhanced",
         gnuplot_text(run_.model.variables[j] + (unit.empty() ? "" : " / " + unit)));
    line("set yrange {}", axis_range(low, high));
    std::string plots;
    for (std::size_t b = 0; b < bands_.size(); ++b) {
      const std::string columns = fmt::format("{}:{}", 2 * k + 2, 2 * k + 3);
      const char* tone = colour(bands_[b].branch);
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

  void draw_legend() {
    line("\nunset object\nunset border\nunset tics\nunset xlabel\nunset ylabel\nunset grid");
    line("set tmargin at screen {:.4f}\nset bmargin at screen 0", screen(height_ - 20));
    line("set key noenhanced at screen {:.4f},{:.4f} left bottom maxcols 4 reverse Left samplen 2",
         static_cast<double>(left) / width, static_cast<double>(bottom) / height_);
    std::string keys;
    for (const auto& [branch, flag] : legend_)
      keys += fmt::format(", \\\n     keyentry with boxes {} lc rgb '{}' title {}", fill(flag),
                          colour(branch),
                          gnuplot_text(fmt::format("branch {}, {}", branch, to_string(flag))));
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
  picture.draw(EnclosureScript(picture, run, bands, variables)(),
               data_of(run, bands, variables));
}

}  // namespace perp::cli
