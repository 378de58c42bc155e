#include <doctest/doctest.h>
#include <map>
#include <string>

#include <perp/analysis/enclosure/exact_model.hpp>
#include <perp/analysis/enclosure/pieces/row_union.hpp>

using namespace perp;
using enclosure::Box;
using enclosure::EncloseOptions;
using enclosure::Enclosure;
using enclosure::EnclosureRow;
using enclosure::Flag;
using enclosure::Interval;
using enclosure::RowBounds;

TEST_SUITE_BEGIN("analysis/enclosure/pieces/pieces");

namespace {

Enclosure enclosed(const std::string& text, int pieces) {
  EncloseOptions options;
  options.times = {0, 1, 2, 5, 10};
  options.threads = 1;
  options.pieces = pieces;
  return enclosure::read_exact_model(text + "[run]\nt = [0, 10]\n", "pieces.toml").enclose(options);
}

/// Of all rows of a time.
std::map<double, EnclosureRow> hulls(const Enclosure& found) {
  std::map<double, EnclosureRow> all;
  for (const EnclosureRow& row : found.rows) {
    const auto [place, is_new] = all.try_emplace(row.t, row);
    if (!is_new) enclosure::widen(place->second, row);
  }
  return all;
}

bool contains(const Box& outer, const Box& inner) {
  for (std::size_t k = 0; k < outer.size(); ++k)
    if (!(outer[k].lo <= inner[k].lo && inner[k].hi <= outer[k].hi)) return false;
  return true;
}

}  // namespace

TEST_CASE("a budget of pieces that does not last gives no wider rows than one piece") {
  constexpr const char* loop = R"toml(
[variables]
x = "[-3, 3]"
v = 0
[model]
equations = ["der(x) = v", "der(v) = -sat(3*x + v, -1, 1) - v"]
)toml";
  const std::map<double, EnclosureRow> one = hulls(enclosed(loop, 1));
  for (const int pieces : {2, 8}) {
    CAPTURE(pieces);
    const std::map<double, EnclosureRow> several = hulls(enclosed(loop, pieces));
    REQUIRE(several.size() == one.size());
    for (const auto& entry : one) {
      const EnclosureRow& row = entry.second;
      const EnclosureRow& other = several.at(entry.first);
      CAPTURE(row.t);
      CHECK(contains(row.box, other.box));
      CHECK(contains(row.multipliers, other.multipliers));
      CHECK((row.flag == Flag::all || other.flag == Flag::unique));
    }
  }
}

TEST_CASE("where a piece is lost that is not bisected any more, rows go on with those of the whole as one piece") {
  constexpr const char* slantwise = R"toml(
[variables]
x = "[0.3, 1.3]"
y = "[0.7, 1.7]"
[model]
equations = ["der(x) = 1.7*step(sin(2*t)) - 1.1*sign(x)", "der(y) = -1.3*sat(x - y, -1, 1)"]
)toml";
  const Enclosure one = enclosed(slantwise, 1), several = enclosed(slantwise, 6);
  REQUIRE(!one.lost);
  CHECK(!several.lost);
  CHECK(several.pieces == 6);
  CHECK(several.steps > one.steps);
  REQUIRE(several.rows.size() == one.rows.size());
  CHECK(several.rows.back().t == 10);
  CHECK(several.rows.back().flag == Flag::unique);
  // Of the middle, x' = 0.6 until π/2.
  const EnclosureRow at_1 = hulls(several).at(1);
  CHECK(at_1.box[0].contains(0.8 + 0.6));
}

TEST_CASE("bounds of a whole set narrow the rows of its parts, and say that solutions are unique") {
  RowBounds bounds;
  bounds.add({.t = 1, .branch = 0, .box = {Interval(0, 1), Interval(5, 6)}, .multipliers = {Interval(-1, 1)}});
  bounds.add({.t = 1, .branch = 1, .box = {Interval(2, 3), Interval(5, 7)}, .multipliers = {Interval::none()}});
  EnclosureRow row{.t = 1, .flag = Flag::all, .box = {Interval(-4, 2), Interval(6, 9)}, .multipliers = {Interval(-5, 5)}};
  bounds.narrow(row);
  CHECK(row.box[0].lo == 0);
  CHECK(row.box[0].hi == 2);
  CHECK(row.box[1].lo == 6);
  CHECK(row.box[1].hi == 7);
  CHECK(row.multipliers[0].lo == -5);  // of one of the branches nothing is known
  CHECK(row.multipliers[0].hi == 5);
  CHECK(row.flag == Flag::unique);

  // Of another time nothing is known, and a row that holds no solution stays.
  EnclosureRow other = row;
  other.t = 2;
  other.flag = Flag::all;
  bounds.narrow(other);
  CHECK(other.flag == Flag::all);
  EnclosureRow empty{.t = 1, .box = {Interval(8, 9), Interval(5, 6)}, .multipliers = {Interval(0)}};
  bounds.narrow(empty);
  CHECK(empty.box[0].lo == 8);
  CHECK(empty.box[1].hi == 6);
}
