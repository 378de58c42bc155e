#include <doctest/doctest.h>
#include <algorithm>
#include <cmath>
#include <map>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <perp/analysis/enclosure/exact_model.hpp>

using namespace perp;
using enclosure::Box;
using enclosure::EncloseOptions;
using enclosure::Enclosure;
using enclosure::EnclosurePiece;
using enclosure::EnclosureRow;
using enclosure::Interval;

TEST_SUITE_BEGIN("analysis/enclosure/pieces/paving");

namespace {

enclosure::ExactModel model_of(const std::string& text) {
  return enclosure::read_exact_model(text + "[run]\nt = [0, 8]\n", "paving.toml");
}

Enclosure enclosed(const std::string& text, bool paving, int threads = 1, int pieces = 64) {
  EncloseOptions options;
  options.times = {0, 0.5, 1, 2, 3, 4, 8};
  options.paving = paving;
  options.threads = threads;
  options.pieces = pieces;
  return model_of(text).enclose(options);
}

bool is_same(const Box& a, const Box& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const Interval& x, const Interval& y) {
                      return (x.lo == y.lo && x.hi == y.hi) || (!x.has_value() && !y.has_value());
                    });
}

/// Do the pieces' rows of each time and branch have these rows as their hulls?
void check_hulls(const Enclosure& found) {
  std::map<std::pair<double, int>, std::vector<const EnclosureRow*>> rows;
  for (const EnclosurePiece& piece : found.paving)
    for (const EnclosureRow& row : piece.rows) rows[{row.t, row.branch}].push_back(&row);
  CHECK(rows.size() == found.rows.size());
  for (const EnclosureRow& row : found.rows) {
    CAPTURE(row.t);
    const auto& parts = rows[{row.t, row.branch}];
    REQUIRE(!parts.empty());
    EnclosureRow all = *parts.front();
    for (const EnclosureRow* part : parts) {
      for (std::size_t j = 0; j < row.box.size(); ++j) all.box[j] = hull(all.box[j], part->box[j]);
      if (part->flag == enclosure::Flag::all) all.flag = part->flag;
    }
    CHECK(is_same(all.box, row.box));
    CHECK(all.flag == row.flag);
  }
}

/// x' = -m x until x = 1/2, then -m x/4.
constexpr const char* decay = R"toml(
[parameters]
m = "[0.8, 1.6]"
[variables]
x = "[0.8, 1.2]"
[model]
equations = ["der(x) = -m*if(x > 0.5, 1, 0.25)*x"]
)toml";

double member(double m, double x0, double t) {
  const double met = std::log(2 * x0) / m;
  return t <= met ? x0 * std::exp(-m * t) : 0.5 * std::exp(-0.25 * m * (t - met));
}

/// The share of the interval `whole` that lies in pieces, of pieces of one dimension.
double covered(std::vector<Interval> sides) {
  std::sort(sides.begin(), sides.end(),
            [](const Interval& a, const Interval& b) { return a.lo < b.lo; });
  double sum = 0, end = -1e300;
  for (const Interval& side : sides) {
    sum += std::max(0.0, side.hi - std::max(side.lo, end));
    end = std::max(end, side.hi);
  }
  return sum;
}

constexpr const char* oscillator = R"toml(
[variables]
x = "[0.45, 0.55]"
v = "[0.95, 1.05]"
[model]
equations = ["der(x) = v", "der(v) = -sign(x)"]
)toml";

/// The same beside a system that shares its parameter only.
constexpr const char* beside = R"toml(
[parameters]
m = "[1, 1.25]"
[variables]
x = "[1, 1.1]"
y = "[0.9, 1]"
[model]
equations = ["der(x) = -m*if(x > 0.5, 1, 0.25)*x", "der(y) = -m*if(y > 0.7, 1, 0.5)*y"]
)toml";
constexpr double volume_beside = 0.25 * 0.1 * 0.1;

/// Of the pieces' parameter and both starts.
double volume(const Enclosure& found) {
  double sum = 0;
  for (const EnclosurePiece& piece : found.paving)
    sum += width(piece.parameters[0]) * width(piece.start[0]) * width(piece.start[1]);
  return sum;
}

}  // namespace

TEST_CASE("rows are the hulls of those of the pieces, and the same with and without a paving") {
  for (const char* text : {decay, oscillator, beside}) {
    const Enclosure plain = enclosed(text, false), found = enclosed(text, true);
    CAPTURE(text);
    CHECK(plain.paving.empty());
    CHECK(found.paving.size() > 1);
    REQUIRE(plain.rows.size() == found.rows.size());
    for (std::size_t k = 0; k < plain.rows.size(); ++k) {
      CHECK(is_same(plain.rows[k].box, found.rows[k].box));
      CHECK(plain.rows[k].flag == found.rows[k].flag);
    }
    check_hulls(found);
  }
}

TEST_CASE("every member is in a row of each piece that holds its start, at every time") {
  const enclosure::ExactModel model = model_of(decay);
  const Enclosure found = enclosed(decay, true);
  REQUIRE(!found.lost);
  CHECK(model.set_names() == std::vector<std::string>{"m", "x(0)"});
  std::mt19937 random(7);
  std::uniform_real_distribution<double> rate(0.8, 1.6), start(0.8, 1.2);
  double narrowest = 1;
  for (int k = 0; k < 2000; ++k) {
    const double m = rate(random), x0 = start(random);
    int holding = 0;
    for (const EnclosurePiece& piece : found.paving) {
      const Box set = model.set_of(piece);
      if (!set[0].contains(m) || !set[1].contains(x0)) continue;
      ++holding;
      for (const EnclosureRow& row : piece.rows) {
        const double x = member(m, x0, row.t);
        const bool is_inside = row.box[0].lo - 1e-14 <= x && x <= row.box[0].hi + 1e-14;
        if (!is_inside) CAPTURE(row.t);
        CHECK(is_inside);
        narrowest = std::min(narrowest, width(row.box[0]));
      }
    }
    CHECK(holding >= 1);
  }
  CHECK(narrowest < 0.1);  // a quarter of the whole set
}

TEST_CASE("pieces cover the set and overlap in their borders only") {
  const Enclosure found = enclosed(oscillator, true);
  double area = 0;
  for (const EnclosurePiece& piece : found.paving)
    area += width(piece.start[0]) * width(piece.start[1]);
  CHECK(area == doctest::Approx(0.01).epsilon(1e-9));
}

TEST_CASE("pieces of parts that share a parameter are those whose values of it meet") {
  const Enclosure found = enclosed(beside, true, 1, 512);
  REQUIRE(!found.lost);
  CHECK(found.paving.size() > 4);
  std::vector<Interval> values;
  for (const EnclosurePiece& piece : found.paving) values.push_back(piece.parameters[0]);
  CHECK(covered(values) == doctest::Approx(0.25));
  CHECK(volume(found) == doctest::Approx(volume_beside).epsilon(1e-9));
  for (const EnclosurePiece& piece : found.paving) {
    const double m = middle(piece.parameters[0]), x0 = middle(piece.start[0]);
    CHECK(!piece.rows.empty());
    for (const EnclosureRow& row : piece.rows) {
      const double x = member(m, x0, row.t);
      CHECK(row.box[0].lo - 1e-14 <= x);
      CHECK(x <= row.box[0].hi + 1e-14);
    }
  }
}

TEST_CASE("more combinations of pieces than the limit are joined, and hold every point still") {
  const auto separate = enclosed(beside, true, 1, 512).paving.size();
  const int limit = static_cast<int>(separate) - 1;
  const Enclosure found = enclosed(beside, true, 1, limit);
  CHECK(found.paving.size() < separate);
  CHECK(found.paving.size() > 1);
  check_hulls(found);
  CHECK(volume(found) == doctest::Approx(volume_beside).epsilon(1e-9));
}

TEST_CASE("pieces have the same bits on one thread and on two") {
  const Enclosure one = enclosed(oscillator, true, 1), two = enclosed(oscillator, true, 2);
  REQUIRE(one.paving.size() == two.paving.size());
  for (std::size_t k = 0; k < one.paving.size(); ++k) {
    const EnclosurePiece &a = one.paving[k], &b = two.paving[k];
    CHECK(is_same(a.start, b.start));
    REQUIRE(a.rows.size() == b.rows.size());
    for (std::size_t i = 0; i < a.rows.size(); ++i) CHECK(is_same(a.rows[i].box, b.rows[i].box));
  }
}

TEST_SUITE_END();
