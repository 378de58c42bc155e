#include <doctest/doctest.h>
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <limits>

#include <perp/tests/cli/program.hpp>
#include <perp/tests/thinned.hpp>

using perp::test::Folder;
using perp::test::Outcome;
using perp::test::parse_csv;
using perp::test::perp_program;

namespace {

constexpr double inf = std::numeric_limits<double>::infinity();

/// The numbers of a map of the switching DAE of [RAB] over B1, B2 = i/40, j/40, i, j = -80..80,
/// every one of them or every `stride`-th (every fourth at least under sanitizers).
struct MapOverB {
  int stride = 1;
  std::vector<std::string> header;
  std::vector<std::vector<double>> columns;

  [[nodiscard]] const std::vector<double>& operator[](const std::string& name) const {
    const auto found = std::find(header.begin(), header.end(), name);
    REQUIRE(found != header.end());
    return columns[static_cast<std::size_t>(found - header.begin())];
  }
};

MapOverB map_over_B(const Folder& folder, const std::string& model,
                    const std::vector<std::string>& more, int stride = 1) {
  stride = std::max(stride, perp::test::stride_of_cases(4));
  const int count = 160 / stride + 1;
  const std::string range = "-2:2:" + std::to_string(count);
  std::vector<std::string> arguments{"map",         model,    "--vary",
                                     "B1=" + range, "--vary", "B2=" + range};
  arguments.insert(arguments.end(), more.begin(), more.end());
  const Outcome run = perp_program(folder, arguments);
  REQUIRE_MESSAGE(run.status == 0, run.err);
  MapOverB map{.stride = stride, .header = {}, .columns = {}};
  map.header = parse_csv(run.out.substr(0, run.out.find('\n'))).header;
  map.columns.resize(map.header.size() - 1);  // without the region
  const char* place = run.out.c_str() + run.out.find('\n');
  for (int row = 0; row < count * count; ++row) {
    REQUIRE(*place == '\n');
    for (std::vector<double>& column : map.columns) {
      char* end = nullptr;
      const double value = std::strtod(place + 1, &end);
      column.push_back(end == place + 1 ? std::nan("") : value);  // an empty field
      place = end;
    }
    place = std::strchr(place, '\n');
  }
  CHECK(place[1] == '\0');
  return map;
}

/// Calls `check(row, i, j)` for B1 = i/40, B2 = j/40: integers, so that inequalities are exact.
template <class Check>
void for_each_B(const MapOverB& map, const Check& check) {
  std::size_t row = 0, misplaced = 0;
  const std::vector<double>&B1 = map["B1"], &B2 = map["B2"];
  for (int i = -80; i <= 80; i += map.stride)
    for (int j = -80; j <= 80; j += map.stride, ++row) {
      misplaced += B1[row] == i / 40.0 && B2[row] == j / 40.0 ? 0 : 1;
      check(row, i, j);
    }
  CHECK(misplaced == 0);
}

constexpr double open = -1;  ///< a number of solutions that the rounding of decimals decides

/// Number of rows whose column is not what is expected, so that a failure is one message.
struct Mismatches {
  long count = 0;
  std::string first;
  void compare(double found, double expected, int i, int j) {
    if (found == expected || expected == open) return;
    if (count++ == 0)
      first = "B1 = " + std::to_string(i) + "/40, B2 = " + std::to_string(j) + "/40: found " +
              std::to_string(found) + ", expected " + std::to_string(expected);
  }
};

/// Number of solutions x of 0 ∈ a x + |x| + c + sign(x), a = -B2/B1 = -j/i, c = C/(4 i) with a
/// whole number C; i ≠ 0. By the three branches, multiplied by |i|.
double solutions_of_inclusion(int i, int j, long C) {
  const int s = i > 0 ? 1 : -1;
  const long size = 4L * s * i;           // 4 |i| > 0
  const long c = s * C;                   // c in units of 1/(4 |i|)
  const long left = -4L * s * j - size;   // a - 1
  const long right = -4L * s * j + size;  // a + 1
  if ((left == 0 && c == size) || (right == 0 && c == -size)) return inf;
  // On the border between two numbers of solutions the doubles decide: i/40 and j/40 must be
  // doubles, or equal up to their signs.
  const bool is_exact = (i % 5 == 0 && j % 5 == 0) || i == j || i == -j || j == 0;
  if ((c == size || c == -size) && !is_exact) return open;
  double count = -size <= c && c <= size ? 1 : 0;                       // x = 0
  if (left != 0 && (c - size > 0) == (left > 0) && c != size) ++count;  // x = (1 - c)/(a - 1) < 0
  if (right != 0 && (c + size < 0) == (right > 0) && c != -size)
    ++count;  // x = -(1 + c)/(a + 1) > 0
  return count;
}

/// The solutions of [RAB] eq. (26) from (x1, x2) = (p, q)/4 with h = k/4; of eq. (18) where p + k
/// is 4 x1(t-).
double solutions_of_step(int i, int j, int p, int q, int k) {
  if (i != 0)
    return solutions_of_inclusion(i, j, -static_cast<long>(q) * i + static_cast<long>(j) * (p + k));
  // x1+ = x1 + h whatever z is; x2+ = x2 + h B2 z is where the constraint has it
  const int x1 = p + k;
  if (j != 0) return x1 == 0 ? inf : 1;
  const bool holds = x1 == 0 ? -4 <= q && q <= 4 : q == (x1 > 0 ? x1 + 4 : -x1 - 4);
  return holds ? inf : 0;  // z is free
}

}  // namespace

TEST_SUITE("cli/map_regions") {
  TEST_CASE(
      "continuous solutions start everywhere exactly where Proposition 2 and its proof say so") {
    const Folder folder;
    const MapOverB map = map_over_B(
        folder, "switching_dae_jump",
        {"--what", "ac", "--at", "x1=-1,x2=0", "--at", "x1=0,x2=-1", "--at", "x1=0,x2=0", "--at",
         "x1=0,x2=1", "--at", "x1=1,x2=2"},
        2);  // the lines i = 0 and i = ±j, on which the number changes, are among the points
    Mismatches wrong;
    for_each_B(map, [&](std::size_t row, int i, int j) {
      bool everywhere = true;
      for (std::size_t state = 2; state < 7; ++state)
        everywhere = everywhere && map.columns[state][row] >= 1;
      wrong.compare(everywhere, i != 0 && i * j <= 0 && i + j != 0, i, j);  // eq. (13)
      // and each mode alone: 1, 3 and 2
      wrong.compare(map.columns[2][row], i + j != 0, i, j);
      wrong.compare(map.columns[4][row], i != 0, i, j);
      wrong.compare(map.columns[6][row], i - j != 0, i, j);
    });
    CHECK_MESSAGE(wrong.count == 0, wrong.first);
  }

  TEST_CASE("the cones of figure 2b: crossing solutions are unique at A-, repulsive ones are two") {
    const Folder folder;
    for (const char* model : {"switching_dae_jump", "switching_dae_jump_lcp"}) {
      CAPTURE(model);
      const MapOverB map = map_over_B(folder, model, {"--what", "ac", "--at", "x1=0,x2=-1"},
                                      model == std::string("switching_dae_jump") ? 1 : 4);
      Mismatches wrong;
      for_each_B(map, [&](std::size_t row, int i, int j) {
        const bool slides = i != 0 && i * j <= 0;           // upwards, or stays
        const bool leaves = i + j != 0 && (i + j) * j < 0;  // into mode 1
        wrong.compare(map.columns[2][row], slides + leaves, i, j);
        const bool red = i != 0 && i * j <= 0 && j * (i + j) < 0;
        wrong.compare(map.columns[2][row] == 2, red, i, j);
      });
      CHECK_MESSAGE(wrong.count == 0, wrong.first);
    }
  }

  TEST_CASE(
      "jumps have the number of solutions of Proposition 3, by steps that end where x1 stays") {
    // Eq. (18) from x(t-) is eq. (26) from (x1(t-) - h, x2(t-)): the drift of the step is undone.
    const Folder folder;
    struct Start {
      int p, q;  // 4 x(t-), on the constraint
      int stride;
    };
    for (const Start start : {Start{0, -4, 1}, {0, 2, 4}, {0, 4, 4}, {-6, 2, 4}, {5, 9, 4}}) {
      CAPTURE(start.p);
      CAPTURE(start.q);
      const MapOverB map = map_over_B(
          folder, "switching_dae_jump",
          {"--what", "solutions", "--h", "0.25", "--at",
           "x1=" + std::to_string((start.p - 1) / 4.0) + ",x2=" + std::to_string(start.q / 4.0)},
          start.stride);
      Mismatches wrong;
      for_each_B(map, [&](std::size_t row, int i, int j) {
        const double count = map.columns[2][row];
        wrong.compare(count, solutions_of_step(i, j, start.p - 1, start.q, 1), i, j);
        if (i != 0 && (i > 0 ? j < -i : j > -i)) wrong.compare(count, 1, i, j);  // B2/B1 < -1
        if (i != 0) wrong.compare(count >= 1, 1, i, j);
        if (i == 0 && j != 0) wrong.compare(count, start.p == 0 ? inf : 1, i, j);
      });
      CHECK_MESSAGE(wrong.count == 0, wrong.first);
    }
  }

  TEST_CASE("steps have the number of solutions of Proposition 4, as corrected") {
    const Folder folder;
    struct Start {
      int p, q, k;  // 4 x1, 4 x2, 4 h
      int stride;
    };
    for (const Start start :
         {Start{-3, -1, 9, 1}, {-3, -1, 5, 4}, {-4, 0, 4, 4}, {0, -4, 2, 4}, {-2, 7, 1, 4}}) {
      CAPTURE(start.p);
      CAPTURE(start.q);
      CAPTURE(start.k);
      const MapOverB map = map_over_B(
          folder, "switching_dae_jump",
          {"--what", "solutions", "--h", std::to_string(start.k / 4.0), "--at",
           "x1=" + std::to_string(start.p / 4.0) + ",x2=" + std::to_string(start.q / 4.0)},
          start.stride);
      Mismatches wrong;
      for_each_B(map, [&](std::size_t row, int i, int j) {
        const double count = map.columns[2][row];
        wrong.compare(count, solutions_of_step(i, j, start.p, start.q, start.k), i, j);
        if (i != 0 && (i > 0 ? j < -i : j > -i)) wrong.compare(count, 1, i, j);     // unique
        if (i != 0 && (i > 0 ? j > i : j < i)) wrong.compare(count >= 1, 1, i, j);  // exists
        if (i == 0 && j != 0) wrong.compare(count, start.p == -start.k ? inf : 1, i, j);
      });
      CHECK_MESSAGE(wrong.count == 0, wrong.first);
    }
  }

  TEST_CASE(
      "the consistent jump from A- exists where B2/B1 > 1 and has the amplitude of eq. (24)") {
    const Folder folder;
    const MapOverB map =
        map_over_B(folder, "switching_dae_jump", {"--what", "jumps", "--at", "x1=0,x2=-1"});
    Mismatches wrong;
    for_each_B(map, [&](std::size_t row, int i, int j) {
      const bool starts = (i != 0 && i * j <= 0) || (i + j != 0 && (i + j) * j < 0);
      const double amplitude = map.columns[3][row];
      wrong.compare(amplitude == 0, starts, i, j);
      if (starts) return;
      // one more point of the line through A- on the branch of mode 2; with B1 = 0 the point A+
      const bool jumps = i == 0 ? j != 0 : i > 0 ? j > i : j < i;
      wrong.compare(map.columns[2][row], jumps, i, j);
      if (jumps)
        wrong.compare(
            std::abs(amplitude - 2 * std::hypot(i, j) / std::abs(j - i)) < 1e-12 * amplitude, 1, i,
            j);
    });
    CHECK_MESSAGE(wrong.count == 0, wrong.first);
  }
}
