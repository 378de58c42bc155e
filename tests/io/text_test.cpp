#include <doctest/doctest.h>
#include <limits>

#include <perp/analysis/counts.hpp>
#include <perp/core/base/error.hpp>
#include <perp/io/files/input_text.hpp>
#include <perp/io/files/output_file.hpp>
#include <perp/io/json.hpp>
#include <perp/io/text/text_table.hpp>

using namespace perp;
using namespace perp::io;

TEST_SUITE("io") {
  TEST_CASE("columns are as wide as their widest text, counted in code points") {
    TextTable table({"a", "b"});
    table.add({"ẋẋẋ", "1"});
    CHECK(table.text("  ") == "  a    b\n  ẋẋẋ  1\n");
  }

  TEST_CASE("a table has no -0 and ten digits") {
    CHECK(short_number(-0.0) == "0");
    CHECK(short_number(1.0 / 3) == "0.3333333333");
  }

  TEST_CASE("JSON has null for what is not known and texts for infinities") {
    CHECK(to_json(perp::nan).is_null());
    CHECK(to_json(inf).text() == "inf");
    CHECK(to_json(-inf).text() == "-inf");
    CHECK(to_json(0.1).dump() == "0.1");
  }

  TEST_CASE("counts beyond what a double holds are texts of all their digits") {
    const long exact = 1L << 53;
    CHECK(count_to_json(Integer(exact)).is_number());
    CHECK(count_to_json(Integer(exact + 1)).text() == "9007199254740993");
    CHECK(short_count(Integer(7)) == "7");
  }

  TEST_CASE("counts of solutions are words; what is not proved is found") {
    CHECK(describe_count(Multiplicity::none, 0, true) == "none");
    CHECK(describe_count(Multiplicity::none, 0, false) == "none found");
    CHECK(describe_count(Multiplicity::finite, 3, true) == "several (3)");
    CHECK(describe_count(Multiplicity::finite, 3, false) == "3 found");
    CHECK(describe_count(Multiplicity::continuum, -1, false) == "a continuum");
  }

  TEST_CASE("a place is a line and a column of code points") {
    CHECK(line_and_column("a\nẋb", 0) == std::pair{1, 1});
    CHECK(line_and_column("a\nẋb", 5) == std::pair{2, 2});
  }

  TEST_CASE("a number is finite and whole text") {
    CHECK(parse_number(" 1e-3 ", "x") == 1e-3);
    for (const char* wrong : {"", "1x", "inf", "nan"})
      CHECK_THROWS_AS(parse_number(wrong, "x"), InvalidInput);
  }

  TEST_CASE("a field of CSV is quoted where it must be") {
    CHECK(quoted("a b") == "a b");
    CHECK(quoted("a,\"b\"") == "\"a,\"\"b\"\"\"");
  }
}
