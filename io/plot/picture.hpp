#pragma once

#include <string>

#include <perp/io/files/file_identity.hpp>

namespace perp::io {

/// A picture and what it is drawn from, side by side: out.svg, out.gp (a gnuplot script that people
/// may change), out.dat (its data). `gnuplot out.gp` in that folder draws it again.
class Picture {
 public:
  /// Throws InvalidInput unless the name ends in .svg, .png, .pdf or .html, FileError unless the folder exists.
  explicit Picture(const std::string& file);

  [[nodiscard]] const std::string& file() const { return file_; }
  /// A page stands alone: nothing is beside it.
  [[nodiscard]] bool is_page() const { return format_ == ".html"; }
  void write_page(const std::string& text) const;
  /// Names without folder, as the script uses them.
  [[nodiscard]] std::string data_name() const { return stem_ + ".dat"; }
  [[nodiscard]] std::string script_name() const { return stem_ + ".gp"; }
  [[nodiscard]] std::string matplotlib_name() const { return stem_ + "_matplotlib.py"; }
  /// Tells which files will be written: picture, script and data.
  void declare(FilesOfCommand& files, const std::string& option) const;
  /// The same picture with "_ending" added to its stem.
  [[nodiscard]] Picture sibling(const std::string& ending) const;

  /// The commands that begin a script: terminal of width×height (in units of a screen picture of
  /// 900×560) and output.
  [[nodiscard]] std::string preamble(int width, int height) const;

  /// Writes data and script and has gnuplot draw. Throws FileError if gnuplot is missing or fails,
  /// or the picture is cut short; script and data are kept.
  void draw(const std::string& script, const std::string& data) const;
  /// Writes a program for Python that draws the same data by matplotlib.
  void write_matplotlib(const std::string& program) const;

 private:
  void check_complete() const;

  std::string file_, folder_, stem_, format_;
};

/// "x [m]"; the name alone without a unit.
std::string with_unit(const std::string& name, const std::string& unit);

/// Text in gnuplot's single quotes. Control characters become blanks.
std::string gnuplot_text(const std::string& text);

/// A block of a data file with its comment, ended by two empty lines. A block without rows would
/// not count in gnuplot's `index`, so it gets one that draws nothing.
std::string data_block(const std::string& comment, const std::string& rows);

/// The range of an axis for values in [low, high]: gnuplot's own choice, or, where they differ by
/// rounding errors only, one in which they look constant.
std::string axis_range(double low, double high);

/// The command that gives gnuplot the colours of cells, from the least value to the greatest.
const char* palette_of_cells();

/// Colours that can be told apart by colour-blind readers (Okabe and Ito), without yellow.
const char* curve_colour(std::size_t k);

}  // namespace perp::io
