#include <fmt/format.h>
#include <algorithm>
#include <cmath>

#include <perp/io/plot/html/html_page.hpp>
#include <perp/io/plot/matplotlib/matplotlib_script.hpp>
#include <perp/io/plot/mode_colours.hpp>
#include <perp/io/plot/run_plot.hpp>
#include <perp/io/plot/time/panels.hpp>

namespace perp::io {
namespace {

constexpr std::size_t most_bands = 300;
constexpr std::size_t most_edges = 60;  // beyond, the colours alone show where modes change
constexpr std::size_t most_named_modes = 12;
constexpr int letter = 9;  // width of one in a legend

/// The stretches that have a width.
std::vector<ModeSpan> shaded(std::vector<ModeSpan> modes) {
  std::erase_if(modes, [](const ModeSpan& span) { return !(span.end > span.start); });
  return modes;
}

/// Digits that tell the ticks between two numbers apart.
int tick_digits(double low, double high) {
  const double size = std::max(std::abs(low), std::abs(high));
  if (!(size > 0) || !(high - low > 1e-9 * size)) return 6;  // see axis_range
  return std::clamp(static_cast<int>(std::floor(std::log10(size / (high - low)))) + 4, 6, 17);
}

/// `usual` where its six digits do.
std::string tick_format(double low, double high, const char* usual) {
  const int digits = tick_digits(low, high);
  return digits == 6 ? usual : fmt::format("%.{}g", digits);
}

/// Writes the script of one picture.
class Script {
 public:
  Script(const Picture& picture, const RunPlot& plot)
      : plot_(plot), panels_(panels_of(plot)), times_(shown_times(plot)), colours_(plot.model.laws(), shaded(plot.modes), shaded(plot.whole)) {
    measure_ticks();
    measure_legends();
    panel_height_ = panels_.size() == 1 ? 400 : panels_.size() == 2 ? 260 : 180;
    height_ = top + static_cast<int>(panels_.size()) * (panel_height_ + gap) - gap + axis +
              static_cast<int>(legend_rows_) * row + bottom;
    text_ = picture.preamble(width, height_);
  }

  [[nodiscard]] const std::vector<CurvePanel>& curve_panels() const { return panels_; }

  std::string operator()() {
    settings();
    if (has_bands()) bands();
    if (plot_.ends_early) mark_end();
    for (std::size_t k = 0; k < panels_.size(); ++k) panel(k);
    legend();
    text_ += "unset multiplot\n";
    return std::move(text_);
  }

 private:
  // Heights and widths in units of a screen picture.
  static constexpr int width = 900, top = 46, gap = 16, axis = 56, row = 22, bottom = 12;

  template <class... T>
  void line(fmt::format_string<T...> format, T&&... values) {
    text_ += fmt::format(format, std::forward<T>(values)...) + "\n";
  }

  /// Widths and columns from the longest names.
  void measure_legends() {
    std::size_t longest = 0;
    for (std::size_t j = 0; j < plot_.drawn.size(); ++j)
      longest = std::max(longest, legend_name(plot_.drawn[j]).size());
    for (const OtherRun& other : plot_.others) longest = std::max(longest, other.name.size());
    right_ = std::clamp(56 + letter * static_cast<int>(longest), 110, 320);
    if (!has_bands()) return;
    longest = 0;
    for (const ModeColours::Entry& entry : colours_.entries())
      longest = std::max(longest, entry.text.size());
    const std::size_t count = std::min(colours_.entries().size(), most_named_modes);
    const int fitting = (width - left_) / (70 + letter * static_cast<int>(longest));
    legend_columns_ = static_cast<std::size_t>(std::clamp(fitting, 1, 4));
    legend_rows_ = (count + legend_columns_ - 1) / legend_columns_;
  }

  /// Long numbers beside the axes need room.
  void measure_ticks() {
    for (const CurvePanel& part : panels_) left_ = std::max(left_, 92 + letter * (tick_digits(part.low, part.high) - 7));
  }

  /// A list of names of at most so many letters: its first ones and the last. Empty: that will not do.
  static std::string shortened_list(const std::string& text, std::size_t letters) {
    const std::size_t last = text.rfind(", ");
    for (std::size_t at = last; at != std::string::npos && at > 0; at = text.rfind(", ", at - 1))
      if (at < last && at + 3 + text.size() - last <= letters) return text.substr(0, at) + ", …" + text.substr(last);
    return {};
  }

  /// A text of at most so many letters; where it is longer its middle is left out, of a list whole names if that will do.
  static std::string fitting(const std::string& text, int room) {
    const auto letters = static_cast<std::size_t>(std::max(room / letter, 8));
    if (text.size() <= letters) return text;
    if (std::string list = shortened_list(text, letters); !list.empty()) return list;
    const auto is_inside = [&](std::size_t k) { return (static_cast<unsigned char>(text[k]) & 0xC0U) == 0x80U; };  // of a letter
    std::size_t from = letters / 2, to = text.size() - (letters - letters / 2 - 1);
    while (from > 0 && is_inside(from)) --from;
    while (to < text.size() && is_inside(to)) ++to;
    return text.substr(0, from) + "…" + text.substr(to);
  }

  [[nodiscard]] double screen(int from_top) const {
    return 1 - static_cast<double>(from_top) / height_;
  }
  [[nodiscard]] bool has_bands() const {
    return !plot_.model.laws().empty() && plot_.modes.size() <= most_bands;
  }

  void settings() {
    line("set title {} noenhanced font ',14' offset 0,-0.3", gnuplot_text(fitting(plot_.model.name, width)));
    line("set border 3 lw 0.8 lc rgb '#333333'");
    line("set tics nomirror out scale 0.6 textcolor rgb '#333333'");
    line("set grid back lt 1 lw 0.5 lc rgb '#D0D0D0'");
    line("set key noenhanced reverse Left samplen 2.2 spacing 1.2");
    line("set xrange [{}:{}]", times_.lower, times_.upper);
    if (plot_.is_time_logarithmic) line("set logscale x");
    line("set lmargin at screen {:.4f}", static_cast<double>(left_) / width);
    line("set rmargin at screen {:.4f}", 1 - static_cast<double>(right_) / width);
    for (std::size_t k = 0; k < 7; ++k)
      line("set style line {} lw 2 lc rgb '{}'", k + 1, curve_colour(k));
    line("set multiplot");
  }

  void bands() {
    line("\n# a band for each stretch in one mode");
    for (const ModeSpan& span : plot_.modes) {
      const double start = std::max(span.start, times_.lower);
      if (!(span.end > start)) continue;
      line(
          "set object rectangle from {}, graph 0 to {}, graph 1 behind fc rgb '{}' fs solid "
          "noborder",
          start, span.end, colours_.entries()[colours_.index(span.mode)].light);
    }
    for (std::size_t k = 1; k < plot_.modes.size() && plot_.modes.size() <= most_edges; ++k)
      if (plot_.modes[k].start > times_.lower)
        line(
          "set arrow from {0}, graph 0 to {0}, graph 1 nohead back lw 0.7 dt solid lc rgb "
          "'#A8A8A8'",
          plot_.modes[k].start);
  }

  void mark_end() {
    line("\n# where the solution ends");
    line(
        "set arrow from {0}, graph 0 to {0}, graph 1 nohead front lw 3 dt solid lc rgb '#A00000'\n"
        "set label 2 'no solution' at {0}, graph 0.96 right offset -0.8,0 tc rgb '#A00000' front",
        times_.upper);
  }

  [[nodiscard]] const DrawnColumn& column(int curve) const { return plot_.drawn[static_cast<std::size_t>(curve)]; }

  void panel(std::size_t k) {
    const CurvePanel& part = panels_[k];
    const bool is_last = k + 1 == panels_.size();
    const int from = top + static_cast<int>(k) * (panel_height_ + gap);
    line("\nset tmargin at screen {:.4f}\nset bmargin at screen {:.4f}", screen(from),
         screen(from + panel_height_));
    line("set key at screen {:.4f},{:.4f} left top vertical maxcols 1",
         1 - static_cast<double>(right_ - 10) / width, screen(from));
    line("set format x '{}'", is_last ? tick_format(times_.lower, times_.upper, "%g") : "");
    line("set format y '{}'", part.is_logarithmic ? "% h" : tick_format(part.low, part.high, "% h"));
    line("set xlabel {}", is_last ? "'t' offset 0,0.3" : "''");
    line("set ylabel {} noenhanced offset 0.5,0", gnuplot_text(fitting(part.label, panel_height_)));
    line("set yrange {}", axis_range(part.low, part.high));
    line("{} logscale y", part.is_logarithmic ? "set" : "unset");
    std::string curves;
    for (std::size_t j = 0; j < part.curves.size(); ++j) curves += curve_of(part.curves[j], j);
    for (std::size_t r = 0; r < plot_.others.size(); ++r) curves += other_curves(part, r);
    line("plot {}", curves);
    if (k == 0) line("unset title");
  }

  /// A curve and its jumps.
  std::string curve_of(int curve, std::size_t style) {
    const bool dashed = is_algebraic_variable(column(curve));
    std::string text = fmt::format("{}data index 0 using 1:{} with lines ls {}{} title {}",
                                   style > 0 ? ", \\\n     " : "", curve + 2, style + 1,
                                   dashed ? " dt (9,5)" : "", gnuplot_text(legend_name(column(curve))));
    const auto has_jump = [&](const Curves::Jump& jump) { return jump.curve == curve; };
    if (std::any_of(plot_.curves.jumps.begin(), plot_.curves.jumps.end(), has_jump))
      text += fmt::format(
          ", \\\n     data index 1 using 1:(column(4) == {} ? column(2) : NaN):(0):(column(3) - "
          "column(2)) with vectors nohead ls {} lw 2 dt (1.5,3.5) notitle",
          curve + 2, style + 1);
    return text;
  }

  /// The curves of another run, thin and dotted in their colours, one entry of the legend for all that it has.
  std::string other_curves(const CurvePanel& part, std::size_t run) {
    std::string text;
    for (const int curve : part.curves)
      if (plot_.others[run].has(curve))
        text += fmt::format(
            ", \\\n     data index {} using 1:{} with lines lw 1.4 dt ({}) lc rgb '{}' {}", 2 + run, curve + 2,
            run == 0 ? "2,3" : "7,3,2,3", "#222222", text.empty() ? "title " + gnuplot_text(plot_.others[run].name) : "notitle");
    return text;
  }

  /// The modes' colours below the panels.
  void legend() {
    if (!has_bands()) {
      if (plot_.modes.size() > most_bands) tell_too_many();
      return;
    }
    const auto& entries = colours_.entries();
    line("\n# the colours of the modes");
    line(
        "unset object\nunset arrow\nunset label 2\nunset border\nunset tics\nunset xlabel\nunset "
        "ylabel\nunset logscale");
    line("set tmargin at screen {:.4f}\nset bmargin at screen 0",
         screen(height_ - bottom - static_cast<int>(legend_rows_) * row - row / 2));
    line(
        "set key at screen {:.4f},{:.4f} left bottom vertical maxcols {} maxrows {} samplen 2 "
        "reverse Left",
        static_cast<double>(left_) / width, static_cast<double>(bottom) / height_, legend_columns_,
        legend_rows_);
    std::string keys;
    for (std::size_t k = 0; k < std::min(entries.size(), most_named_modes); ++k) {
      std::string name = entries[k].text;
      if (k + 1 == most_named_modes && entries.size() > most_named_modes)
        name = fmt::format("... {} modes in all", entries.size());
      keys += fmt::format(
          ", \\\n     keyentry with boxes fs solid 1.0 border lc rgb '#909090' fc rgb '{}' title "
          "{}",
          entries[k].light, gnuplot_text(name));
    }
    line("plot [0:1] [0:1] NaN notitle{}", keys);
  }

  /// In the place of bands and their legend.
  void tell_too_many() {
    line("\nset label 1 {} at screen {:.4f},{:.4f} noenhanced font ',9'",
         gnuplot_text(fmt::format("{} changes of mode: too many for bands", plot_.modes.size())),
         static_cast<double>(left_) / width, screen(top - 8));
    line("unset object\nunset arrow\nunset label 2\nunset border\nunset tics\nunset xlabel\nunset ylabel\nunset logscale");
    line("plot [0:1] [0:1] NaN notitle");
  }

  const RunPlot& plot_;
  std::vector<CurvePanel> panels_;
  Range times_;
  ModeColours colours_;
  int left_ = 92, right_ = 150;
  std::size_t legend_rows_ = 0, legend_columns_ = 1;
  int panel_height_ = 0, height_ = 0;
  std::string text_;
};

/// A row of the data: t and the curves, NaN where one is interrupted.
std::string row_text(double t, const Vector& values) {
  std::string text = fmt::format("{}", t);
  for (const double value : values) text += std::isnan(value) ? " NaN" : fmt::format(" {}", value);
  return text + '\n';
}

std::string data_of(const RunPlot& plot) {
  std::string heading = "index 0: t";
  for (const DrawnColumn& column : plot.drawn) heading += " " + column.name;
  std::string rows;
  for (const Curves::Row& row : plot.curves.rows) rows += row_text(row.t, row.x);
  std::string jumps;
  for (const Curves::Jump& jump : plot.curves.jumps)
    jumps += fmt::format("{} {} {} {}\n", jump.t, jump.from, jump.to, jump.curve + 2);
  std::string others;
  for (std::size_t r = 0; r < plot.others.size(); ++r) {
    std::string lines;
    for (std::size_t k = 0; k < plot.others[r].t.size(); ++k) lines += row_text(plot.others[r].t[k], plot.others[r].x[k]);
    others += data_block(fmt::format("index {}: the same of {}", 2 + r, plot.others[r].name), lines);
  }
  return data_block(heading + "; NaN where a curve is interrupted", rows) +
         data_block("index 1, jumps: t from to column", jumps) + others;
}

}  // namespace

void draw_over_time(const Picture& picture, const RunPlot& plot) {
  if (picture.is_page()) return picture.write_page(page_over_time(plot));
  Script script(picture, plot);
  picture.write_matplotlib(matplotlib_script(plot, script.curve_panels(), picture));
  picture.draw(script(), data_of(plot));
}

}  // namespace perp::io
