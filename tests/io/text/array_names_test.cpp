#include <doctest/doctest.h>
#include <string>
#include <vector>

#include <perp/core/branches.hpp>
#include <perp/io/text/array_names.hpp>

using perp::io::array_of;
using perp::io::indices_of;
using perp::io::names_text;
using perp::io::range_of_array;

namespace {

std::vector<std::string> grid(int rows, int columns) {
  std::vector<std::string> names;
  for (int i = 1; i <= rows; ++i)
    for (int j = 1; j <= columns; ++j) names.push_back(fmt::format("u[{},{}]", i, j));
  return names;
}

}  // namespace

TEST_SUITE("io/text/array_names") {
  TEST_CASE("a name is taken apart only where whole numbers stand in its brackets") {
    CHECK(array_of("u[3,4]") == "u");
    CHECK(indices_of("u[3,-4,12]") == std::vector<int>{3, -4, 12});
    for (const char* name : {"u", "u[", "u[]", "u[a]", "u[1,]", "u[1;2]", "u[1.5]", "u[99999999999]", "u[1]x"}) CHECK_FALSE(indices_of(name));
  }

  TEST_CASE("an array is told by its ranges where its elements are all there, else by their names") {
    CHECK(range_of_array("u[1,1]", "u[3,4]", 12) == "u[1:3,1:4]");
    CHECK(range_of_array("u[1,1]", "u[3,4]", 11) == "");
    CHECK(range_of_array("u[1,1]", "v[3,4]", 12) == "");
    CHECK(range_of_array("u[1]", "u[3,4]", 12) == "");
    std::vector<std::string> names = grid(6, 8);
    CHECK(names_text({"a", "x[1]", "x[2]"}) == "a, x[1], x[2]");
    names.insert(names.begin(), "a");
    names.emplace_back("b");
    CHECK(names_text(names) == "a, u[1:6,1:8], b");
    names.erase(names.begin() + 5);
    CHECK(names_text(names).find("u[1,3], u[1,4], u[1,6]") != std::string::npos);
  }

  TEST_CASE("a mode of many laws is told by the number of laws in each branch, one of few by its branches") {
    std::vector<perp::Law> laws(24, perp::complementarity());
    perp::Mode mode(24, 0);
    CHECK(perp::describe_briefly(laws, mode) == perp::describe(laws, mode));
    laws.resize(30, perp::complementarity());
    mode.resize(30, 1);
    CHECK(perp::describe_briefly(laws, mode) == "24 x lambda=0, 6 x w=0");
    // Laws of a family are told together.
    for (std::size_t i = 0; i < 30; ++i) laws[i].branches.changed(1).name = "v[" + std::to_string(i % 5) + ", " + std::to_string(i) + "] > a[";
    CHECK(perp::describe_briefly(laws, mode) == "24 x lambda=0, 6 x v[..] > a[");
  }
}
