#include <doctest/doctest.h>
#include <fmt/format.h>
#include <algorithm>
#include <cmath>
#include <sstream>
#include <string>
#include <vector>

#include <perp/tests/cli/program.hpp>

using perp::test::Folder;
using perp::test::lines;
using perp::test::Outcome;
using perp::test::perp_program;
using perp::test::read_text;

namespace {

const std::string text_of_string = R"toml(
[parameters]
N = 30
[variables]
u = { size = "N", start = "0.1*sin(pi*i/(N+1))" }
[model]
equations = ["for i in 1:N: der(u[i]) = (N+1)^2*(if(i > 1, u[i-1], 0) - 2*u[i] + if(i < N, u[i+1], 0)) - 8 + r[i]"]
laws = ["for i in 1:N: 0 <= u[i] + 0.05 perp r[i] >= 0"]
[run]
t = [0, 0.05]
h = 1e-3
)toml";

/// Each cell of a block of numbers "x y value x0 x1 y0 y1".
using Cell = std::vector<double>;
std::vector<std::vector<Cell>> blocks_of(const std::string& data) {
  std::vector<std::vector<Cell>> blocks;
  for (const std::string& line : lines(data)) {
    if (line.starts_with('#')) blocks.emplace_back();
    std::istringstream stream(line);
    Cell cell;
    for (double value = 0; stream >> value;) cell.push_back(value);
    if (cell.size() == 7) blocks.back().push_back(cell);
  }
  return blocks;
}

/// The rows of a CSV file, its last column, the mode, left out.
std::vector<std::vector<double>> rows_of(const std::string& csv) {
  std::vector<std::vector<double>> rows;
  for (const std::string& line : lines(csv)) {
    std::vector<double> row;
    std::istringstream stream(line);
    for (std::string entry; std::getline(stream, entry, ',');)
      if (!entry.empty() && entry.find_first_not_of("0123456789.e+-") == std::string::npos) row.push_back(std::stod(entry));
    if (row.size() > 1) rows.push_back(row);
  }
  return rows;
}

double area_of(const std::vector<Cell>& cells) {
  double area = 0;
  for (const Cell& cell : cells) area += (cell[4] - cell[3]) * (cell[6] - cell[5]);
  return area;
}

}  // namespace

TEST_SUITE("cli/run/field_pictures") {
  TEST_CASE("a row of elements is drawn over time: each cell has the value of the row of its time, and no place is left out") {
    const Folder folder;
    folder.write("m.toml", text_of_string);
    const Outcome run = perp_program(folder, {"run", "m.toml", "--plot", "a.svg", "--plot-field", "u", "-o", "a.csv"});
    REQUIRE(run.status == 0);
    CHECK(run.out.find("written     a_field.svg") != std::string::npos);
    CHECK(read_text(folder / "a_field.svg").find("<svg") != std::string::npos);
    const auto blocks = blocks_of(read_text(folder / "a_field.dat"));
    REQUIRE(blocks.size() == 1);
    CHECK(area_of(blocks[0]) == doctest::Approx(0.05 * 30).epsilon(1e-12));
    std::size_t found = 0;
    for (const std::vector<double>& row : rows_of(read_text(folder / "a.csv")))
      for (const Cell& cell : blocks[0])
        if (cell[0] == row[0]) {
          CHECK(cell[2] == row[static_cast<std::size_t>(cell[1])]);
          ++found;
        }
    CHECK(found == blocks[0].size());
  }

  TEST_CASE("a grid of elements is drawn at six times of the window, multipliers too, and the colours are those of all six") {
    const Folder folder;
    folder.write("m.toml", R"toml(
[variables]
u = { size = [3, 4], start = "i + 10*j" }
[model]
equations = ["for i in 1:3, j in 1:4: der(u[i,j]) = -j + r[i,j]"]
laws = ["for i in 1:3, j in 1:4: 0 <= u[i,j] - 12 perp r[i,j] >= 0"]
[run]
t = [0, 10]
h = 0.25
)toml");
    REQUIRE(perp_program(folder, {"run", "m.toml", "--plot", "a.png", "--plot-field", "u", "--plot-window", "0,5", "--quiet"}).status == 0);
    const auto blocks = blocks_of(read_text(folder / "a_field.dat"));
    REQUIRE(blocks.size() == 6);
    for (std::size_t k = 0; k < 6; ++k) {
      CHECK(area_of(blocks[k]) == 12);
      for (const Cell& cell : blocks[k])
        CHECK(cell[2] == doctest::Approx(std::max(cell[0] + 10 * cell[1] - cell[1] * static_cast<double>(k), 12.0)).epsilon(1e-12));
    }
    CHECK(read_text(folder / "a_field.gp").find("set cbrange [12:43]") != std::string::npos);
    REQUIRE(perp_program(folder, {"run", "m.toml", "--plot", "r.html", "--plot-field", "r", "--quiet"}).status == 0);
    const std::string page = read_text(folder / "r_field.html");  // 0 to 4 in ten parts
    CHECK(page.find("r 0 to 0.4") != std::string::npos);
    CHECK(page.find("r 3.6 to 4") != std::string::npos);
  }

  TEST_CASE("of many elements every so many are drawn, and cells reach to the next ones") {
    const Folder folder;
    folder.write("m.toml", "[variables]\nu = { size = 1000, start = \"i\" }\n[model]\nequations = [\"for i in 1:1000: der(u[i]) = 0\"]\n[run]\nt = [0, 1]\nh = 0.5\n");
    REQUIRE(perp_program(folder, {"run", "m.toml", "--plot", "a.svg", "--plot-field", "u", "--quiet"}).status == 0);
    const auto blocks = blocks_of(read_text(folder / "a_field.dat"));
    REQUIRE(blocks.size() == 1);
    CHECK(blocks[0].size() == 2 * 250);
    for (const Cell& cell : blocks[0]) {
      CHECK(cell[1] == cell[2]);
      CHECK(cell[6] - cell[5] == 4);
    }
  }

  TEST_CASE("a run that ends early is drawn up to its last state") {
    const Folder folder;
    folder.write("m.toml", "[variables]\nu = { size = 2, start = 1 }\n[model]\nequations = [\"for i in 1:2: der(u[i]) = -step(u[i])\"]\n"
                           "[run]\nt = [0, 2]\nh = 0.1\n");
    const Outcome run = perp_program(folder, {"run", "m.toml", "--plot", "a.svg", "--plot-field", "u", "--until", "sliding_entry", "-o", "a.csv", "--quiet"});
    REQUIRE(run.status == 0);
    const auto blocks = blocks_of(read_text(folder / "a_field.dat"));
    REQUIRE(blocks.size() == 1);
    const double end = rows_of(read_text(folder / "a.csv")).back()[0];
    CHECK(end < 1.2);
    CHECK(area_of(blocks[0]) == doctest::Approx(2 * end).epsilon(1e-12));
  }

  TEST_CASE("the legend and `perp check` tell modes of many laws by numbers, and names of arrays by their ranges") {
    const Folder folder;
    folder.write("m.toml", text_of_string);
    REQUIRE(perp_program(folder, {"run", "m.toml", "--set", "N=60", "--plot", "a.svg", "--quiet"}).status == 0);
    CHECK(read_text(folder / "a.svg").find("60 x lambda=0") != std::string::npos);
    const Outcome check = perp_program(folder, {"check", "m.toml", "--set", "N=60"});
    CHECK(check.status == 0);
    CHECK(check.out.find("(u[1:60])") != std::string::npos);
    CHECK(check.out.find("starts in 60 x lambda=0") != std::string::npos);
    CHECK(check.out.find("10 more") != std::string::npos);
    for (const std::string& line : lines(check.out)) CHECK(line.size() < 1000);
  }

  TEST_CASE("an array that is not there is refused before the run") {
    const Folder folder;
    folder.write("m.toml", text_of_string);
    const auto error = [&](const std::vector<std::string>& arguments) {
      const Outcome run = perp_program(folder, arguments);
      CHECK(run.status == 2);
      return run.err;
    };
    CHECK(error({"run", "m.toml", "--plot", "a.svg", "--plot-field", "uu"}).find("unknown array 'uu'; expected one of r, u, w_r; did you mean 'u'?") != std::string::npos);
    CHECK(error({"run", "m.toml", "--plot-field", "u"}).find("need --plot FILE") != std::string::npos);
    CHECK(error({"run", "stick_slip", "--plot", "a.svg", "--plot-field", "x"}).find("the model has no array") != std::string::npos);
  }
}
