#include <doctest/doctest.h>
#include <fmt/format.h>
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <random>
#include <string>

#include <perp/core/base/error.hpp>
#include <perp/core/system/sparse_lcs.hpp>
#include <perp/models/language/data/matrix_market.hpp>
#include <perp/models/language/exact_numbers.hpp>
#include <perp/models/language/read_model.hpp>
#include <perp/tests/folder.hpp>

namespace {

using perp::Lcs;
using perp::Model;

const std::string head = "[parameters]\nk = 2.5\n[variables]\nx = 1\ny = 2\nz = 0\n[run]\nt = [0, 1]\n[system]\n";
const std::string market = "%%MatrixMarket matrix coordinate ";

/// A model with files of matrices beside it.
class Folder : public perp::test::Folder {
 public:
  [[nodiscard]] Model read(const std::string& system, const std::vector<perp::Override>& overrides = {},
                           const perp::ReadOptions& known = {}) const {
    return perp::read_model_text(head + system, *this / "m.toml", overrides, known);
  }
  /// What is said against it, without the folder.
  [[nodiscard]] std::string complaint(const std::string& system) const {
    try {
      (void)read(system);
    } catch (const perp::ModelError& error) {
      return std::string(error.what()).substr(path().size() + 1);
    }
    return "none";
  }
  /// Of the file A.mtx.
  [[nodiscard]] std::string complaint_of_file(const std::string& text) const {
    write("A.mtx", text);
    return complaint("A = { file = \"A.mtx\" }\n");
  }
};

void check_same(const Lcs& a, const Lcs& b) {
  CHECK(a.E == b.E);
  CHECK(a.A == b.A);
  CHECK(a.B == b.B);
  CHECK(a.C == b.C);
  CHECK(a.D == b.D);
  for (const double t : {0.0, 0.7}) {
    CHECK(a.b(t) == b.b(t));
    CHECK(a.q(t) == b.q(t));
  }
}

const std::string laws = "laws = [\"for i in 1:2: relay(-k, k)\"]\n";
const std::string full = "E = [[1, 0, 0], [0, 1, 0], [0, 0, 0]]\nA = [[-2, \"k\", 0], [\"k\", 0, 0.1], [0, 0, 1]]\n"
                         "B = [[1, 0], [0, 0], [0, \"k^2\"]]\nC = [[0, 1, 0], [1, 0, 0]]\nD = [[0, 3], [-3, 0]]\n"
                         "b = [0, \"k*sin(t)\", \"k\"]\nq = [0, -1]\nlaws = [\"relay(-k, k)\", \"relay(-k, k)\"]\n";
const std::string by_entries =
    "E = { entries = [[2, 2, 1], [1, 1, 1]] }\n"
    "A = { entries = [[1, 1, -2], [1, 2, \"k\"], [\"mod(5, 3) + 1\", 3, 1], [2, 3, 0.1], [2, 1, \"k\"], [3, 1, 0]] }\n"
    "B = { entries = [[1, 1, 1], [3, 2, \"k^2\"]] }\nC = { entries = [[1, 2, 1], [2, 1, 1]] }\n"
    "D = { entries = [[1, 2, 3], [2, 1, -3]] }\nb = { entries = [[3, \"k\"], [2, \"k*sin(t)\"]] }\nq = { entries = [[2, -1]] }\n" + laws;

}  // namespace

TEST_SUITE("models/language/matrices") {
  TEST_CASE("rows, entries and files are one system, also with another value of a parameter") {
    const Folder folder;
    folder.write("E.mtx", market + "pattern symmetric\n3 3 2\n1 1\n2 2\n");
    folder.write("A.mtx", market + "real symmetric\n% half\n3 3 4\n1 1 -2\n2 1 2.5\n3 2 1e-1\n\n3 3 +1.0\n");
    folder.write("B.mtx", "%%MatrixMarket matrix array real general\n3 2\n1\n0\n0\n0\n0\n6.25\n");
    folder.write("C.mtx", market + "integer general\n2 3 2\n1 2 1\n2 1 1\n");
    folder.write("D.mtx", market + "real skew-symmetric\n2 2 1\n2 1 -3\n");
    folder.write("q.mtx", market + "integer general\n2 1 1\n2 1 -1\n");
    const auto in_file = [](const std::string& name) { return name + " = { file = \"" + name + ".mtx\" }\n"; };
    std::string files = "b = { entries = [[3, \"k\"], [2, \"k*sin(t)\"]] }\n" + laws;
    for (const char* name : {"E", "B", "C", "D", "q"}) files += in_file(name);
    const std::string row = "A = { entries = [[1, 1, -2], [1, 2, 2.5], [2, 1, 2.5], [2, 3, 0.1], [3, 2, 0.1], [3, 3, 1]] }\n";
    check_same(folder.read(files + in_file("A")).lcs(), folder.read(files + row).lcs());
    check_same(folder.read(full).lcs(), folder.read(by_entries).lcs());
    check_same(folder.read(full, {{"k", "7"}}).lcs(), folder.read(by_entries, {{"k", "7"}}).lcs());
    CHECK(folder.read(by_entries).lcs().m() == 2);
    CHECK(folder.read(files + row).lcs().B(2, 1) == 6.25);
  }

  TEST_CASE("a file of a matrix is part of the model's hash and of its data files") {
    const Folder folder;
    folder.write("A.mtx", market + "real general\n3 3 3\n1 1 1\n2 2 1\n3 3 1\n");
    const Model model = folder.read("A = { file = \"A.mtx\" }\n");
    CHECK(model.data_files.size() == 1);
    folder.write("A.mtx", market + "real general\n3 3 3\n1 1 2\n2 2 1\n3 3 1\n");
    CHECK(folder.read("A = { file = \"A.mtx\" }\n").hash != model.hash);
  }

  TEST_CASE("where numbers are exact those of entries and files are the decimal ones") {
    const Folder folder;
    folder.write("A.mtx", market + "real skew-symmetric\n3 3 2\n2 1 -.1\n3 2 +1.\n");
    perp::ReadOptions known;
    known.exact = true;
    const Model entries = folder.read("A = { entries = [[2, 1, -0.1], [1, 2, 0.1], [3, 2, 1], [2, 3, -1]] }\n", {}, known);
    const Model file = folder.read("A = { file = \"A.mtx\" }\n", {}, known);
    REQUIRE(entries.equations);
    REQUIRE(file.equations);
    CHECK(perp::as_lcs(*entries.equations)->A == perp::as_lcs(*file.equations)->A);
    const perp::ExactNumbers& numbers = *file.exact_numbers;
    const auto tenth = std::ranges::find(numbers.names, ".1");
    REQUIRE(tenth != numbers.names.end());
    const perp::enclosure::Interval value = numbers.values[static_cast<std::size_t>(tenth - numbers.names.begin())];
    CHECK(value.lo < value.hi);  // no double is 0.1
  }

  TEST_CASE("what is wrong with entries is said at its place") {
    const Folder folder;
    const auto of = [&](const std::string& entries) { return folder.complaint("A = { entries = " + entries + " }\n"); };
    CHECK(of("[[1, 1, 1], [4, 2, 1]]") == "m.toml:10:30: a row of A is 4; expected a whole number from 1 to 3");
    CHECK(of("[[1, 0, 1]]") == "m.toml:10:22: a column of A is 0; expected a whole number from 1 to 3");
    CHECK(of("[[1, 1e18, 1]]") == "m.toml:10:22: a column of A is 1e+18; expected a whole number from 1 to 3");
    CHECK(of("[[1, nan, 1]]") == "m.toml:10:22: a column of A is nan; expected a whole number from 1 to 3");
    CHECK(of("[[1, 1, nan]]") == "m.toml:10:25: A(1,1) is nan; expected a finite number");
    CHECK(of("[[1, 1]]") == "m.toml:10:18: an entry of A has 2 parts; expected [row, column, value]");
    CHECK(of("[1, 1, 1]") == "m.toml:10:18: an entry of A is a number; expected a list");
    CHECK(of("[[1, 1, 1],\n[1, 1, 2]]") == "m.toml:11:8: A(1,1) is given twice; expected it once, as on line 10");
    CHECK(folder.complaint("A = {}\n") == "m.toml:10:5: A has none of 'entries' and 'file'; expected one of them");
    CHECK(folder.complaint("A = { entries = [], file = \"A.mtx\" }\n") ==
          "m.toml:10:5: A has both of 'entries' and 'file'; expected one of them");
    CHECK(folder.complaint("A = { entries = [] }\nb = { entries = [[1, 1, 1]] }\n") ==
          "m.toml:11:18: an entry of b has 3 parts; expected [row, value]");
    CHECK(folder.complaint("A = { file = \"none.mtx\" }\n") ==
          "m.toml:10:14: 'none.mtx' cannot be opened; expected a Matrix Market file, its path from the model's folder");
  }

  TEST_CASE("what is wrong with a file is said with its line and column") {
    const Folder folder;
    const std::string at = "m.toml:10:14: A.mtx:", real = market + "real general\n";
    CHECK(folder.complaint_of_file(real + "2 3 0\n") == "m.toml:10:5: A must be 3x3 but 'A.mtx' is 2x3");
    CHECK(folder.complaint_of_file(real + "3 3 2\n1 1 1\n 1 1 2\n") ==
          "m.toml:10:5: A.mtx:4:6: A(1,1) is given twice; expected it once, as on line 3");
    CHECK(folder.complaint_of_file(real + "1e18 3 0\n") == at + "2:1: found '1e18'; expected a whole number from 0 to 16777216");
    CHECK(folder.complaint_of_file(real + "3 3 2\n1 1 1\n2 2") == at + "4:1: expected an entry: its row, its column and a number");
    CHECK(folder.complaint_of_file(market + "complex general\n") == at + "1:34: found 'complex'; expected real, integer or pattern");
    CHECK(folder.complaint_of_file(market + "integer general\n3 3 2\n1 2 1\n2 2 1.5\n") ==
          at + "4:5: found '1.5'; expected a whole number: the header says 'integer', not 'real'");
    CHECK(folder.complaint_of_file(market + "real symmetric\n3 3 1\n1 2 1\n") ==
          at + "3:1: found an entry at (1, 2); expected those on the diagonal and below it, which give a symmetric matrix");
    CHECK(folder.complaint_of_file(market + "real skew-symmetric\n3 3 1\n2 2 1\n") ==
          at + "3:1: found an entry at (2, 2); expected those below the diagonal, which give a skew-symmetric matrix");
    CHECK(folder.complaint_of_file(market + "real symmetric\n3 2 1\n") ==
          at + "2:1: found 3 rows and 2 columns; expected as many of both: the matrix is symmetric");
    CHECK(folder.complaint_of_file(market + "pattern general\n3 3 1\n1 1 1\n") == at + "3:1: expected an entry: its row and its column");
  }

  TEST_CASE("any spoiled file is a matrix or is refused with its place") {
    std::mt19937 random(11);
    const std::string written = "%*#\n\t +-.0123456789eEnaif";
    int matrices = 0, refused = 0;
    for (const char* form : {"coordinate real general\n3 3 3\n1 1 1\n2 2 -1e-1\n3 1 +2\n", "coordinate pattern symmetric\n3 3 2\n1 1\n3 1\n",
                             "coordinate integer skew-symmetric\n3 3 1\n3 2 5\n", "array real symmetric\n2 2\n1\n2\n3\n"})
      for (int k = 0; k < 4000; ++k) {
        std::string text = std::string("%%MatrixMarket matrix ") + form;
        const std::size_t from = k % 8 == 0 ? 0 : text.find('\n');
        for (int spoils = 1 + k % 3; spoils > 0; --spoils) {
          const std::size_t place = from + random() % (text.size() - from);
          const char c = written[random() % written.size()];
          k % 2 == 0 ? text.replace(place, 1, 1, c) : (k % 5 == 0 ? text.erase(place) : text.insert(place, 1, c));
          if (text.size() <= from + 1) break;
        }
        try {
          const perp::MarketMatrix matrix = perp::read_matrix_market(text, "S.mtx");
          ++matrices;
          for (const perp::MarketMatrix::Entry& entry : matrix.entries) {
            REQUIRE((entry.row >= 0 && entry.row < matrix.rows && entry.column >= 0 && entry.column < matrix.columns));
            REQUIRE(std::isfinite(entry.value));
            REQUIRE(!matrix.digits(text, entry).empty());
          }
        } catch (const perp::InvalidInput& error) {
          ++refused;
          int line = 0, column = 0;
          REQUIRE(std::sscanf(error.what(), "S.mtx:%d:%d: ", &line, &column) == 2);
          REQUIRE((line >= 1 && column >= 1));
        }
      }
    CHECK(matrices > 100);
    CHECK(refused > 1000);
  }

  TEST_CASE("a structurally singular system names the rows and unknowns of that part") {
    const Folder folder;
    CHECK(folder.complaint("E = { entries = [[1, 1, 1]] }\nA = { entries = [[2, 1, 1], [3, 2, 1]] }\n") ==
          "m.toml:9:1: the system is structurally singular: row 1, row 2 hold only x, and nothing determines z");
  }

  TEST_CASE("100000 unknowns are kept by their entries") {
    const Folder folder;
    constexpr int n = 100000;
    std::string A = market + fmt::format("integer general\n{} {} {}\n", n, n, 2 * n - 1), identity = market + fmt::format("pattern general\n{} {} {}\n", n, n, n);
    for (int i = 1; i <= n; ++i) {
      A += fmt::format("{} {} -2\n", i, i);
      if (i > 1) A += fmt::format("{} {} 1\n", i, i - 1);
      identity += fmt::format("{} {}\n", i, i);
    }
    folder.write("A.mtx", A);
    folder.write("identity.mtx", identity);
    perp::ReadOptions known;
    known.hybrid = true;
    const Model model = perp::read_model_text(
        "[parameters]\nN = 100000\n[variables]\nx = { size = \"N\", start = 1 }\n[run]\nt = [0, 1]\n[system]\nA = { file = \"A.mtx\" }\n"
        "B = { file = \"identity.mtx\" }\nC = { file = \"identity.mtx\" }\nlaws = [\"for i in 1:N: complementarity\"]\n",
        folder / "m.toml", {}, known);
    CHECK(model.system.affine() == nullptr);
    const auto lcs = perp::as_sparse_lcs(model.system.functions());
    REQUIRE(lcs);
    CHECK(lcs->A.count() == 2 * n - 1);
    CHECK(lcs->A(n - 1, n - 2) == 1);
    CHECK(lcs->m() == n);
  }
}
