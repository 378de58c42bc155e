#include <doctest/doctest.h>
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <optional>

#include <perp/core/interval/decimal.hpp>
#include <perp/tests/cli/hdf5_file.hpp>
#include <perp/tests/cli/program.hpp>

using perp::enclosure::enclose_decimal;
using perp::enclosure::Interval;
using perp::test::Csv;
using perp::test::Folder;
using perp::test::lines;
using perp::test::Outcome;
using perp::test::parse_csv;
using perp::test::perp_program;
using perp::test::read_text;

namespace {

/// x = a exp(-m t)
const std::string decay = R"toml([parameters]
m = "[1, 1.0625]"
a = 0.1
[variables]
x = "10*a"
[model]
equations = ["der(x) = -m*x"]
outputs = { twice = "2*x", rate = "der(x)" }
[run]
t = [0, 2]
h = 0.5
)toml";

Interval bounds(const Csv& csv, std::size_t row, const std::string& name) {
  return {enclose_decimal(csv.text(row, name + "_lo")).lo,
          enclose_decimal(csv.text(row, name + "_hi")).hi};
}

struct Wrong {
  std::string parameters, variables, model, run, message;
};

/// One thing is wrong in each; the place comes first.
const std::vector<Wrong>& wrong_models() {
  static const std::string m = "m = 1", x = "x = 1", t = "t = [0, 1]";
  static const std::string equation = "equations = [\"der(x) = -m*x\"]";
  static const std::vector<Wrong> list{
      {"m = \"[1.21, 1.1]\"", x, equation, t,
       "wrong.toml:2:5: parameter 'm' is the interval '[1.21, 1.1]', whose lower end is above"},
      {"m = \"[]\"", x, equation, t, "wrong.toml:2:6: parameter 'm' is '[]'; expected an interval"},
      {"m = \"[1.1, ]\"", x, equation, t, "wrong.toml:2:11: parameter 'm': the interval"},
      {"m = \"[1, 2, 3]\"", x, equation, t, "wrong.toml:2:6: parameter 'm' is '[1, 2, 3]'"},
      {"m = [1, 2]", x, equation, t, "wrong.toml:2:5: parameter 'm' is a list; expected a number"},
      {"m = \"1 +- -0.5\"", x, equation, t, "wrong.toml:2:5: parameter 'm' is '1 +- -0.5'"},
      {"m = \"[1, inf]\"", x, equation, t, "wrong.toml:2:10: parameter 'm' is inf"},
      {"m = \"[1, q]\"", x, equation, t, "wrong.toml:2:10: parameter 'm': unknown name 'q'"},
      {m, "x = \"[2, 1]\"", equation, t, "wrong.toml:4:5: start of variable 'x' is the interval"},
      {m, x, equation, "t = [0, 0.1]",
       "wrong.toml:8:9: run.t ends at 0.1, which is no double, and times of an enclosure are "
       "exact; "
       "expected the double that is meant: 0.10000000000000000555"},
      {m, x, equation, "t = [0, \"[1, 2]\"]", "wrong.toml:8:10: the second entry of run.t is"},
      {"m = \"[1, 2]\"", x, equation, "t = [0, \"m\"]",
       "wrong.toml:8:10: the second entry of run.t holds 'm', which is an interval"},
      {"m = \"[1, 2]\"", x, "equations = [\"der(x) = -f\"]\nlaws = [\"f in relay(x, -m, m)\"]", t,
       "wrong.toml:7:15: number 1 of law 'relay' holds 'm', which is an interval"},
      {m, x, "equations = [\"der(x) = -0.5*q\"]", t, "wrong.toml:6:29: unknown name 'q'"},
      {m, "x = \"[0, 1]\"", "equations = [\"der(x) = m*log(x)\"]", t,
       "wrong.toml:6:14: log(x) has no value everywhere on the set of starts: x is in [0, 1]"},
      {m, "x = \"[-1, 1]\"", "equations = [\"der(x) = m/x\"]", t,
       "wrong.toml:6:14: m/x has no value everywhere on the set of starts"},
      {m, "x = 1",
       "equations = [\"der(x) = -1 + f\"]\nlaws = [\"0 <= x + 1 perp g >= 0\", \"0 <= "
       "x - 2 perp f >= 0\"]",
       t,
       "wrong.toml:7:35: law 'f' has no branch for any of the starts: its argument "
       "is in [-1, -1]; expected a consistent start, as one of perp jumps"},
      {m, "x = 2\ny = 0.5", "equations = [\"der(x) = y\", \"x^2 + y^2 = m\"]", t,
       "wrong.toml:7:28: no start fulfils this equation: its sides differ by 3 to inf; expected"},
      {m, x, "equations = [\"x = m\"]", t,
       "wrong.toml: no equation holds a derivative: there is nothing to follow; expected one with "
       "der(...)"},
      {"m = \"[1, 2]\"", x, "equations = [\"x = m\"]", t,
       "wrong.toml: no equation holds a derivative"},
      {m, "x = { start = 1, bounds = [0, 2] }", equation, t,
       "wrong.toml:4:18: variable 'x' has bounds, which an enclosure does not watch"},
  };
  return list;
}

}  // namespace

TEST_SUITE("enclose") {
  TEST_CASE("rows hold every solution, with bounds that are decimals outside of the doubles") {
    const Folder folder;
    folder.write("decay.toml", decay);
    const Outcome outcome = perp_program(folder, {"enclose", "decay.toml"});
    CHECK(outcome.status == 0);
    const Csv csv = parse_csv(outcome.out);
    CHECK(outcome.out.starts_with("t,branch,flag,how,x_lo,x_hi,twice_lo,twice_hi,mode\n"));
    REQUIRE(csv.rows.size() == 5);
    for (std::size_t k = 0; k < csv.rows.size(); ++k) {
      const double t = 0.5 * static_cast<double>(k);
      CHECK(csv.number(k, "t") == t);
      CHECK(csv.text(k, "flag") == "unique");
      const Interval exact = exp(Interval(-1.0625, -1) * Interval(t));
      CHECK(bounds(csv, k, "x").contains(exact));
      CHECK(width(bounds(csv, k, "x")) < 1.3 * width(exact) + 1e-15);
      CHECK(bounds(csv, k, "twice").contains(Interval(2) * exact));
    }
    CHECK(outcome.err.find("m in [1, 1.0625]") != std::string::npos);
    CHECK(outcome.err.find("unique until t = 2") != std::string::npos);
  }

  TEST_CASE("starts and literals are the decimal numbers of the file") {
    const Folder folder;
    folder.write("third.toml",
                 "[variables]\nx = 0.1\ny = \"1/3\"\n[model]\nequations = [\"der(x) = 0\", "
                 "\"der(y) = 0.1\"]\n[run]\nt = [0, 3]\nh = 3\n");
    const Csv csv = parse_csv(perp_program(folder, {"enclose", "third.toml"}).out);
    CHECK(bounds(csv, 1, "x").contains(enclose_decimal("0.1")));
    CHECK(bounds(csv, 0, "y").contains(Interval(1) / Interval(3)));
    CHECK(bounds(csv, 1, "y").contains(Interval(1) / Interval(3) + enclose_decimal("0.3")));
    CHECK(width(bounds(csv, 1, "y")) < 1e-15);
  }

  TEST_CASE("--set takes intervals, of starts as x or x(0)") {
    const Folder folder;
    folder.write("decay.toml", decay);
    for (const char* start : {"x(0)=[1,2]", "x=1.5 +- 0.5", "variables.x=[1, 2]"}) {
      const Csv csv = parse_csv(
          perp_program(folder, {"enclose", "decay.toml", "--set", start, "--set", "m=1"}).out);
      CHECK(bounds(csv, 0, "x") == Interval(1, 2));
      CHECK(bounds(csv, 4, "x").contains(Interval(1, 2) * exp(Interval(-2))));
    }
    const Outcome wrong = perp_program(folder, {"enclose", "decay.toml", "--set", "m=[2,1]"});
    CHECK(wrong.status == 2);
    CHECK(wrong.err.starts_with("--set m=[2,1]:1:3: parameter 'm' is the interval '[2,1]'"));
  }

  TEST_CASE("an interval as the start of a variable without derivative is said to be a guess that bounds nothing") {
    const Folder folder;
    folder.write("dae.toml", "[variables]\nx = \"[1, 1.25]\"\nz = \"[4, 6]\"\n[model]\nequations = [\"der(x) = -x\", \"z = 2*x\"]\n"
                             "[run]\nt = [0, 1]\n");
    const Outcome run = perp_program(folder, {"enclose", "dae.toml", "-o", "rows.csv", "--times", "0"});
    REQUIRE(run.status == 0);
    CHECK(run.out.find("; x(0) in [1, 1.25]\n") != std::string::npos);
    CHECK(run.out.find("guess       z(0) is computed: z has no derivative, and its interval bounds nothing\n") != std::string::npos);
    const Interval z = bounds(parse_csv(read_text(folder / "rows.csv")), 0, "z");
    CHECK(z.lo <= 2);
    CHECK(z.hi < 3);
  }

  TEST_CASE("the tube has no gap and holds the rows; events and rows are written beside it") {
    const Folder folder;
    folder.write("decay.toml", decay);
    const Outcome outcome = perp_program(folder, {"enclose", "decay.toml", "-o", "rows.csv",
                                                  "--tube", "tube.csv", "--events", "events.csv"});
    CHECK(outcome.status == 0);
    const Csv rows = parse_csv(read_text(folder / "rows.csv"));
    const Csv tube = parse_csv(read_text(folder / "tube.csv"));
    CHECK(read_text(folder / "events.csv") == "t_lo,t_hi,branch,type,law,from,to,proof,note\n");
    // Every time is in a box, and so is exp(-m t) for each m in [1, 1.0625].
    for (double m = 1; m <= 1.0625; m += 0.0078125)
      for (double t = 0; t <= 2; t += 0.015625) {
        bool inside = false;
        for (std::size_t k = 0; k < tube.rows.size(); ++k)
          inside = inside || (tube.number(k, "t_lo") <= t && t <= tube.number(k, "t_hi") &&
                              bounds(tube, k, "x").contains(exp(Interval(-m * t))));
        CHECK(inside);
      }
    CHECK(rows.rows.size() == 5);
    CHECK(std::filesystem::exists(folder / "rows.csv.json"));
  }

  TEST_CASE("HDF5 holds the same bounds") {
    const Folder folder;
    folder.write("decay.toml", decay);
    CHECK(perp_program(folder, {"enclose", "decay.toml", "-o", "rows.h5"}).status == 0);
    const Csv csv = parse_csv(perp_program(folder, {"enclose", "decay.toml"}).out);
    const perp::test::Hdf5 file(folder / "rows.h5");
    REQUIRE(file.is_open());
    const auto lower = file.read<double>("x_lo", H5T_NATIVE_DOUBLE);
    const auto upper = file.read<double>("x_hi", H5T_NATIVE_DOUBLE);
    REQUIRE(lower.size() == csv.rows.size());
    for (std::size_t k = 0; k < lower.size(); ++k) {
      CHECK(lower[k] == csv.number(k, "x_lo"));
      CHECK(upper[k] == csv.number(k, "x_hi"));
    }
  }

  TEST_CASE("wrong models are one message with the place") {
    for (const Wrong& wrong : wrong_models()) {
      const Folder folder;
      folder.write("wrong.toml", "[parameters]\n" + wrong.parameters + "\n[variables]\n" +
                                     wrong.variables + "\n[model]\n" + wrong.model + "\n[run]\n" +
                                     wrong.run + "\n");
      const Outcome outcome = perp_program(folder, {"enclose", "wrong.toml", "-o", "out.csv"});
      CAPTURE(wrong.message);
      CAPTURE(outcome.err);
      CHECK(outcome.status == 2);
      CHECK(outcome.err.starts_with(wrong.message));
      CHECK(lines(outcome.err).size() == 1);
      CHECK_FALSE(std::filesystem::exists(folder / "out.csv"));
    }
  }

  TEST_CASE("an input is refused where it stands, with what to write instead") {
    const Folder folder;
    folder.write("input.toml", "[inputs]\nd = \"[-1, 1]\"\n[variables]\nv = 1\n[model]\nequations = [\"der(v) = -v + d\"]\n[run]\nt = [0, 1]\n");
    const Outcome refused = perp_program(folder, {"enclose", "input.toml"});
    CHECK(refused.status == 2);
    CHECK(refused.err == "input.toml:1:1: enclosures have no [inputs]; expected formulas of t in the equations, or, for a function of which only "
                         "bounds are known, a parameter: NAME = \"[LO, HI] at every t\"\n");
    folder.write("parameter.toml", "[parameters]\nd = \"[-1, 1] at every t\"\n[variables]\nv = 1\n[model]\nequations = [\"der(v) = -v + d\"]\n"
                                   "[run]\nt = [0, 1]\n");
    CHECK(perp_program(folder, {"enclose", "parameter.toml"}).status == 0);
  }

  TEST_CASE("options that are wrong are refused before anything is written") {
    const Folder folder;
    folder.write("decay.toml", decay);
    const std::vector<std::pair<std::vector<std::string>, std::string>> list{
        {{"--order", "0"}, "the order is 0"},
        {{"--tol", "0"}, "--tol is 0"},
        {{"--times", "0,3"}, "--times: 3 is outside"},
        {{"--times", "0,a"}, "--times 0,a: this is no list of numbers, and there is no such file"},
        {{"--proof", "decay.toml"}, "--proof decay.toml is the file of MODEL"},
        {{"--proof", "no/such/folder.json"}, "--proof no/such/folder.json cannot be written"},
        {{"--set", "run.tol=1"}, "run.tol has no effect"},
        {{"--set", "q=1"}, "unknown key 'q'"},
        {{"--events", "decay.toml"}, "--events decay.toml is the file of MODEL"},
        {{"-o", "rows.txt"}, "unknown kind of file"},
        {{"--plot-variables", "x"}, "--plot-variables needs --plot"},
        {{"--pieces", "--pieces-max", "1"}, "--pieces-max 1 for one"},
        {{"--pieces", "--set", "m=1", "--set", "x(0)=1"}, "starts and parameters are one point"},
        {{"--pieces-max", "0"}, "--pieces-max is 0"}};
    for (const auto& [options, message] : list) {
      std::vector<std::string> arguments{"enclose", "decay.toml"};
      arguments.insert(arguments.end(), options.begin(), options.end());
      const Outcome outcome = perp_program(folder, arguments);
      CAPTURE(outcome.err);
      CHECK(outcome.status == 2);
      CHECK(outcome.err.find(message) != std::string::npos);
    }
    CHECK(read_text(folder / "decay.toml") == decay);
  }

  TEST_CASE("--pieces writes the rows of each piece, whose union is what is written without it") {
    const Folder folder;
    folder.write("decay.toml", decay + "\n");
    const std::vector<std::string> wide{"enclose",    "decay.toml", "--set",
                                        "m=[0.5, 2]", "--set",      "x(0)=[1, 9]"};
    const auto with = [&wide](std::vector<std::string> more) {
      more.insert(more.begin(), wide.begin(), wide.end());
      return more;
    };
    const Csv whole = parse_csv(perp_program(folder, with({"--quiet"})).out);
    const Outcome outcome = perp_program(folder, with({"--pieces", "-o", "pieces.csv"}));
    CHECK(outcome.status == 0);
    const std::string text = read_text(folder / "pieces.csv");
    CHECK(text.starts_with(
        "t,piece,branch,flag,how,m_lo,m_hi,x(0)_lo,x(0)_hi,x_lo,x_hi,twice_lo,twice_hi,mode\n"));
    const Csv pieces = parse_csv(text);
    const int count = 1 + static_cast<int>(pieces.number(pieces.rows.size() - 1, "piece"));
    CHECK(count > 1);
    CHECK(pieces.rows.size() == static_cast<std::size_t>(count) * whole.rows.size());
    CHECK(outcome.out.find("paving      " + std::to_string(count) + " pieces of the set") !=
          std::string::npos);
    for (std::size_t k = 0; k < whole.rows.size(); ++k) {
      std::optional<Interval> all;
      for (std::size_t i = 0; i < pieces.rows.size(); ++i) {
        if (pieces.text(i, "t") != whole.text(k, "t")) continue;
        const Interval x = bounds(pieces, i, "x"), m = bounds(pieces, i, "m"),
                       start = bounds(pieces, i, "x(0)");
        all = all ? hull(*all, x) : x;
        const double t = whole.number(k, "t");
        CHECK(x.lo <= start.lo * std::exp(-m.hi * t) * (1 + 1e-14));
        CHECK(x.hi >= start.hi * std::exp(-m.lo * t) * (1 - 1e-14));
      }
      CHECK(all->lo == bounds(whole, k, "x").lo);
      CHECK(all->hi == bounds(whole, k, "x").hi);
    }
    for (const char* threads : {"1", "2"})
      CHECK(perp_program(folder, with({"--pieces", "--quiet", "--threads", threads})).out == text);
    CHECK(perp_program(folder, with({"--pieces", "-o", "pieces.h5"})).status == 0);
    const perp::test::Hdf5 file(folder / "pieces.h5");
    REQUIRE(file.is_open());
    const auto numbers = file.read<int>("piece", H5T_NATIVE_INT);
    const auto lower = file.read<double>("set_lo", H5T_NATIVE_DOUBLE);
    REQUIRE(numbers.size() == pieces.rows.size());
    REQUIRE(lower.size() == 2 * numbers.size());
    for (std::size_t k = 0; k < numbers.size(); ++k) {
      CHECK(numbers[k] == pieces.number(k, "piece"));
      CHECK(lower[2 * k] == pieces.number(k, "m_lo"));
      CHECK(lower[2 * k + 1] == pieces.number(k, "x(0)_lo"));
    }
    if (std::system("gnuplot --version > /dev/null 2>&1") != 0) return;
    CHECK(perp_program(folder, with({"--pieces", "--plot", "pieces.svg"})).status == 0);
    CHECK(read_text(folder / "pieces.dat").find("piece 1, branch 0, unique: t x_lo x_hi") !=
          std::string::npos);
  }

  TEST_CASE("scheme enclosure of a run gives the same rows") {
    const Folder folder;
    folder.write("decay.toml", decay);
    const std::string rows = perp_program(folder, {"enclose", "decay.toml", "--quiet"}).out;
    for (const std::vector<std::string>& options :
         {std::vector<std::string>{"--scheme", "enclosure"}, {"--set", "run.scheme=enclosure"}}) {
      std::vector<std::string> arguments{"run", "decay.toml", "--quiet"};
      arguments.insert(arguments.end(), options.begin(), options.end());
      const Outcome outcome = perp_program(folder, arguments);
      CHECK(outcome.status == 0);
      CHECK(outcome.out == rows);
      CHECK(outcome.err.empty());
    }
    CHECK(perp_program(folder, {"sensitivities", "decay.toml", "--scheme", "enclosure"}).status ==
          2);
    CHECK(
        perp_program(folder, {"run", "decay.toml", "--scheme", "enclosure", "--tol", "1"}).status ==
        2);
  }

  TEST_CASE("times that are no doubles are rounded, and that is said") {
    const Folder folder;
    folder.write("decay.toml", decay);
    const Outcome outcome =
        perp_program(folder, {"enclose", "decay.toml", "--quiet", "--times", "0.1,0.5"});
    CHECK(outcome.status == 0);
    CHECK(
        outcome.err.starts_with("perp enclose: 1 of 2 times are no doubles and are rounded: 0.1 "
                                "is 0.10000000000000000555"));
    CHECK(parse_csv(outcome.out).text(0, "t") ==
          "0.1000000000000000055511151231257827021181583404541015625");
  }

  TEST_CASE("a lost proof is status 3; everything proved so far is written") {
    const Folder folder;
    // x = 1/(1 - t) has a pole at 1
    folder.write(
        "pole.toml",
        "[variables]\nx = 1\n[model]\nequations = [\"der(x) = x^2\"]\n[run]\nt = [0, 2]\nh "
        "= 0.25\n");
    const Outcome outcome =
        perp_program(folder, {"enclose", "pole.toml", "-o", "rows.csv", "--events", "events.csv"});
    CHECK(outcome.status == 3);
    CHECK(outcome.err.starts_with("pole.toml: lost: "));
    const Csv rows = parse_csv(read_text(folder / "rows.csv"));
    REQUIRE(rows.rows.size() == 4);
    CHECK(bounds(rows, 3, "x").contains(4));
    const Csv events = parse_csv(read_text(folder / "events.csv"));
    REQUIRE(events.rows.size() == 1);
    CHECK(events.text(0, "type") == "lost");
    CHECK(events.number(0, "t_lo") <= 1);
    CHECK(events.number(0, "t_lo") > 0.9);
  }

  TEST_CASE("a proof that is lost at once advises no shorter span") {
    const Folder folder;
    folder.write(
        "zero.toml",
        "[variables]\nx = 1\n[model]\nequations = [\"der(x)^3 = x - 1\"]\n[run]\nt = [0, 2]\n");
    const Outcome outcome = perp_program(folder, {"enclose", "zero.toml", "-o", "rows.csv"});
    CHECK(outcome.status == 3);
    CHECK(outcome.err.find("try: another start") != std::string::npos);
    CHECK(parse_csv(read_text(folder / "rows.csv")).rows.empty());
  }

  TEST_CASE("other commands take the middle of an interval and say so once") {
    const Folder folder;
    folder.write("decay.toml", decay);
    const Outcome outcome =
        perp_program(folder, {"run", "decay.toml", "--quiet", "--times", "2", "--h", "1e-4"});
    CHECK(outcome.status == 0);
    CHECK(outcome.err ==
          "decay.toml: intervals count with their middle: m = [1, 1.0625]; perp "
          "enclose bounds all of them\n");
    CHECK(std::abs(parse_csv(outcome.out).number(0, "x") - std::exp(-2.0625)) < 1e-4);
  }

  TEST_CASE("pictures draw bands, hatched where solutions may be several") {
    if (std::system("gnuplot --version > /dev/null 2>&1") != 0) return;
    const Folder folder;
    folder.write("decay.toml", decay);
    CHECK(perp_program(folder, {"enclose", "decay.toml", "--plot", "bands.svg"}).status == 0);
    CHECK(read_text(folder / "bands.svg").find("</svg>") != std::string::npos);
    CHECK(read_text(folder / "bands.gp").find("with filledcurves") != std::string::npos);
  }
}
