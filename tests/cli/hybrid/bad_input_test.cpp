#include <doctest/doctest.h>
#include <algorithm>
#include <string>
#include <vector>

#include <perp/tests/cli/program.hpp>

// What a user may write wrongly in a model with binaries: one line with its place, exit status 2; and
// what such a model may not be able to do: exit status 3 with everything that was computed.
namespace {

using perp::test::Folder;
using perp::test::Outcome;
using perp::test::perp_program;

std::string replaced(std::string text, const std::string& what, const std::string& by) {
  const auto place = text.find(what);
  REQUIRE(place != std::string::npos);
  return text.replace(place, what.size(), by);
}

const std::string band = R"([variables]
x = 1
[binaries]
z = 0
[model]
equations = ["der(x) = 1 - 2*z"]
constraints = ["(x - 2)*(1 - z) + (1 - x)*z <= 0"]
[run]
t = [0, 3]
)";

const std::string matrices = R"([variables]
x = 1
[binaries]
z = 0
[multilinear]
signals = { states = ["x"], inputs = [], algebraic = [], binaries = ["z"] }
S = { rows = 3, columns = 3, entries = [[1, 1, 1], [2, 2, 1], [3, 2, -1], [3, 3, 1]] }
Phi_f = { rows = 1, columns = 3, entries = [[1, 1, 1], [1, 3, 1]] }
Phi_g = { rows = 1, columns = 3, entries = [[1, 2, 1]] }
[run]
t = [0, 3]
)";

void refuses(const std::string& model, const std::string& place, const std::vector<std::string>& parts,
             const std::string& file = "") {
  const Folder folder;
  folder.write("model.toml", model);
  if (!file.empty()) folder.write("data.txt", file);
  const Outcome run = perp_program(folder, {"run", "model.toml", "-o", "rows.csv"});
  CAPTURE(run.err);
  CHECK(run.status == 2);
  CHECK(run.out.empty());
  CHECK(run.err.starts_with("model.toml:" + place + ": "));
  CHECK(std::count(run.err.begin(), run.err.end(), '\n') == 1);
  for (const std::string& part : parts) CHECK(run.err.find(part) != std::string::npos);
}

TEST_CASE("the models that are spoilt below are right") {
  for (const std::string& model : {band, matrices}) {
    const Folder folder;
    folder.write("model.toml", model);
    CHECK(perp_program(folder, {"run", "model.toml", "--quiet"}).status != 2);
  }
}

TEST_CASE("wrong constraints are one line with their place") {
  refuses(replaced(band, "(1 - x)*z", "(1 - q)*z"), "7:40", {"unknown name 'q'"});
  refuses(replaced(band, "<= 0", "= 0"), "7:45", {"found '='", "expected '<=' or '>='"});
  refuses(replaced(band, "<= 0", "< 0"), "7:45", {"found '<'", "expected '<='"});
  refuses(replaced(band, "(1 - x)*z", "der(z)"), "7:35", {"der of 'z', which is no variable"});
  refuses(replaced(band, "[\"(x - 2)", "[\"for i: (x - 2)"), "7:21", {"expected for i in 1:N:"});
}

TEST_CASE("wrong binaries are one line with their place") {
  refuses(replaced(band, "z = 0", "z = 2"), "4:5", {"start of binary 'z' is 2; expected 0 or 1"});
  refuses(replaced(band, "z = 0", "z = 0.5"), "4:5", {"start of binary 'z' is 0.5; expected 0 or 1"});
  refuses(replaced(band, "x = 1", "x = 1\nz = 1"), "5:1", {"'z' is a variable already"});
}

TEST_CASE("fewer rows than unknowns: which ones nothing determines") {
  refuses(replaced(band, "x = 1", "x = 1\nv = 1\nw = 1"), "7:2",
          {"nothing determines v, w", "1 equations", "3 variables"});
  refuses(replaced(band, "z = 0", "z = 0\nz2 = 0"), "6:2",
          {"nothing determines z2", "1 constraints", "2 binaries"});
}

TEST_CASE("matrices that do not fit are one line with their place and both numbers") {
  refuses(replaced(matrices, "rows = 3", "rows = 4"), "7:5", {"S has 4 rows; expected 3"});
  refuses(replaced(matrices, "columns = 3, entries = [[1, 2", "columns = 2, entries = [[1, 2"), "9:9",
          {"Phi_g has 2 columns; expected 3"});
  refuses(replaced(matrices, "[3, 3, 1]", "[4, 3, 1]"), "7:75",
          {"an entry at (4, 3); expected rows 1 to 3 and columns 1 to 3"});
  refuses(replaced(matrices, "[3, 3, 1]", "[3, 3, nan]"), "7:82", {"an entry of S is nan"});
}

TEST_CASE("files of matrices that are none are one line with their place and the file's line") {
  const std::string S = matrices.substr(matrices.find("S = "));
  const std::string of_file =
      replaced(matrices, S.substr(0, S.find('\n')), "S = \"data.txt\"");
  refuses(of_file, "7:5", {"'data.txt' cannot be opened"});
  refuses(of_file, "7:5", {"data.txt:1:", "no Matrix Market file"}, "1 2 3\n");
  const std::string head = "%%MatrixMarket matrix coordinate real general\n3 3 2\n1 1 1\n";
  refuses(of_file, "7:5", {"data.txt:4:", "'nan'"}, head + "2 2 nan\n");
  refuses(of_file, "7:5", {"data.txt:4:", "(2, 5)"}, head + "2 5 1\n");
}

TEST_CASE("data that end before the run are one line with their place") {
  refuses(replaced(replaced(band, "[model]", "[inputs]\nu = { file = \"data.txt\", column = \"u\" }\n[model]"),
                   "1 - 2*z", "u - 2*z"),
          "6:14", {"data.txt ends at t = 2, and the run at t = 3"}, "t,u\n0,1\n2,1\n");
}

TEST_CASE("a start that violates is said with row and amount: a warning where another value continues") {
  const Folder folder;
  folder.write("model.toml", replaced(band, "x = 1", "x = 4"));
  const Outcome run = perp_program(folder, {"run", "model.toml", "--quiet"});
  CHECK(run.status == 0);
  CHECK(run.err.find("warning: start of binary 'z' is 0, where g1") != std::string::npos);
  CHECK(run.err.find("is 2; it starts as 1") != std::string::npos);
  // The other value is excluded, too, in a form that no law is.
  folder.write("none.toml", replaced(replaced(band, "x = 1", "x = 4"), "(1 - x)*z", "(x + 1)*x*z"));
  for (const char* scheme : {"located", "backward_euler"}) {
    const Outcome none = perp_program(folder, {"run", "none.toml", "--scheme", scheme, "-o", "none.csv"});
    CAPTURE(none.err);
    CHECK(none.status == 3);
    CHECK(none.err.find("the declared start violates g1") != std::string::npos);
    CHECK(none.err.find("which it exceeds by 2") != std::string::npos);
    CHECK(perp::test::parse_csv(perp::test::read_text(folder / "none.csv")).number(0, "x") == 4);
  }
}

TEST_CASE("a run that cannot go on is exit status 3, with every row before") {
  const Folder folder;
  // At x = 2 no value continues; a constraint of a model without binaries is violated at t = 1.
  folder.write("ends.toml", replaced(band, "(1 - x)*z", "(x + 1)*x*z"));
  folder.write("leaves.toml",
               "[variables]\nx = 1\n[model]\nequations = [\"der(x) = -1\"]\nconstraints = "
               "[{ name = \"empty\", g = \"x >= 0\" }]\n[run]\nt = [0, 3]\n");
  for (const char* scheme : {"located", "backward_euler"})
    for (const std::string name : {"ends", "leaves"}) {
      CAPTURE(scheme);
      CAPTURE(name);
      const Outcome run = perp_program(folder, {"run", name + ".toml", "--scheme", scheme, "-o", "rows.csv"});
      CHECK(run.status == 3);
      CHECK(run.err.find(name == "ends" ? "g1" : "'empty'") != std::string::npos);
      const auto rows = perp::test::parse_csv(perp::test::read_text(folder / "rows.csv"));
      CHECK(rows.number(rows.rows.size() - 1, "t") == doctest::Approx(1).epsilon(1e-2));
    }
}

TEST_CASE("the hash of a run's provenance changes with the data and matrices that the model reads") {
  const auto hash = [](const std::string& model, const std::string& file) {
    const Folder folder;
    folder.write("model.toml", model);
    folder.write("data.txt", file);
    const Outcome run = perp_program(folder, {"run", "model.toml", "-o", "rows.csv"});
    CAPTURE(run.err);
    REQUIRE(run.status == 0);
    const std::string json = perp::test::read_text(folder / "rows.csv.json");
    const auto place = json.find("\"hash\"");
    REQUIRE(place != std::string::npos);
    return json.substr(place, json.find('\n', place) - place);
  };
  const std::string data =
      replaced(replaced(band, "[model]", "[inputs]\nu = { file = \"data.txt\", column = \"u\" }\n[model]"),
               "1 - 2*z", "u - 2*z");
  CHECK(hash(data, "t,u\n0,1\n4,1\n") == hash(data, "t,u\n0,1\n4,1\n"));
  CHECK(hash(data, "t,u\n0,1\n4,1\n") != hash(data, "t,u\n0,1\n4,1.5\n"));
}

}  // namespace
