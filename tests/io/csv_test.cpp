#include <doctest/doctest.h>
#include <string>
#include <vector>

#include <perp/core/base/archive.hpp>
#include <perp/io/csv.hpp>
#include <perp/models/language/read_model.hpp>
#include <perp/tests/cli/program.hpp>

using namespace perp;
using perp::io::CsvWriter;
using perp::test::Folder;
using perp::test::read_text;

namespace {

Step state_at(double t) { return {t, Vector::Constant(1, 2 * t), Vector(), Vector(), Mode()}; }

}  // namespace

TEST_SUITE("io/csv") {
  TEST_CASE("a file that is kept after any number of rows, none among them, goes on to the bytes of one that was not") {
    const Model model = read_model_text("[variables]\nx = 0\n[model]\nequations = [\"der(x) = 2\"]\n[run]\nt = [0, 1]\nh = 0.5\n", "line.toml");
    const Folder folder;
    const std::vector<double> times{0, 0.5, 1};
    {
      CsvWriter whole(folder / "whole.csv", model);
      for (const double t : times) whole.row(state_at(t), Vector());
      whole.close();
    }
    const std::string expected = read_text(folder / "whole.csv");
    REQUIRE(expected.starts_with("t,x,mode\n"));
    for (std::size_t kept_after = 0; kept_after <= times.size(); ++kept_after) {
      CAPTURE(kept_after);
      std::string state;
      {
        CsvWriter first(folder / "cut.csv", model);
        for (std::size_t k = 0; k < kept_after; ++k) first.row(state_at(times[k]), Vector());
        Archive archive;
        first.transfer(archive);
        state = archive.bytes();
        first.row(state_at(-1), Vector());  // what comes after is written again
      }
      CsvWriter second(folder / "cut.csv", model);
      Archive archive(state);
      second.transfer(archive);
      for (std::size_t k = kept_after; k < times.size(); ++k) second.row(state_at(times[k]), Vector());
      second.close();
      CHECK(read_text(folder / "cut.csv") == expected);
    }
  }

  TEST_CASE("the column of the mode gives way to a variable or an output of its name") {
    const auto header = [](const std::string& variable, const std::string& outputs) {
      const Model model = read_model_text("[variables]\n" + variable + " = 0\n[model]\nequations = [\"der(" + variable + ") = 2\"]\n" +
                                              outputs + "[run]\nt = [0, 1]\nh = 0.5\n",
                                          "line.toml");
      const Folder folder;
      CsvWriter file(folder / "a.csv", model);
      file.close();
      return read_text(folder / "a.csv");
    };
    CHECK(header("x", "") == "t,x,mode\n");
    CHECK(header("mode", "") == "t,mode,mode_text\n");
    CHECK(header("x", "[model.outputs]\nmode = \"2*x\"\n") == "t,x,mode,mode_text\n");
    CHECK(header("mode", "[model.outputs]\nmode_text = \"2*mode\"\n") == "t,mode,mode_text,_mode_text\n");
  }
}
