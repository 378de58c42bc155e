#include <doctest/doctest.h>
#include <cstring>
#include <string>
#include <vector>

#include <perp/analysis/enclosure/exact_model.hpp>
#include <perp/core/base/archive.hpp>
#include <perp/core/base/error.hpp>

using namespace perp;
using enclosure::Box;
using enclosure::EncloseOptions;
using enclosure::Enclosure;
using enclosure::EnclosurePiece;
using enclosure::EnclosureRow;
using enclosure::ExactModel;

namespace {

/// Two parts that share nothing: one with laws whose set is split, one without.
ExactModel model() {
  return enclosure::read_exact_model(R"toml(
[parameters]
m = "[0.3, 0.4]"
[variables]
x = "[-0.5, 0.5]"
v = 1
y = "[1, 1.1]"
[model]
equations = ["der(x) = v", "der(v) = -x - m*sign(v)", "der(y) = -y"]
[run]
t = [0, 3]
)toml",
                                     "two.toml");
}

EncloseOptions options() {
  EncloseOptions options;
  options.times = {0, 0.5, 1, 2, 3};
  options.pieces = 24;
  options.paving = true;
  return options;
}

void add(std::string& bytes, const EnclosureRow& row) {
  Archive archive;
  double t = row.t;
  Box box = row.box, multipliers = row.multipliers;
  std::vector<Mode> modes = row.modes;
  int branch = row.branch, flag = static_cast<int>(row.flag), how = static_cast<int>(row.how);
  archive(t, branch, flag, how, box, multipliers, modes);
  bytes += archive.bytes();
}

/// All its numbers, bit by bit.
std::string bytes_of(const Enclosure& found) {
  std::string bytes;
  for (const EnclosureRow& row : found.rows) add(bytes, row);
  for (const EnclosurePiece& piece : found.paving)
    for (const EnclosureRow& row : piece.rows) add(bytes, row);
  for (const auto& event : found.events) {
    Archive archive;
    enclosure::Interval t = event.t;
    std::string type = event.type;
    archive(t, type);
    bytes += archive.bytes();
  }
  return bytes + std::to_string(found.steps) + " " + std::to_string(found.pieces);
}

}  // namespace

TEST_SUITE("analysis/enclosure/kept/kept_pieces") {
  TEST_CASE("an enclosure that goes on from any of its pieces has the bits of the undisturbed one, by any number of threads") {
    const ExactModel exact = model();
    const std::string undisturbed = bytes_of(exact.enclose(options()));
    std::vector<std::string> kept;
    EncloseOptions keeping = options();
    keeping.state.due = [] { return true; };
    keeping.state.keep = [&kept](const std::string& state) { kept.push_back(state); };
    CHECK(bytes_of(exact.enclose(keeping)) == undisturbed);
    REQUIRE(kept.size() > 4);
    for (std::size_t k = 0; k < kept.size(); k += kept.size() / 4) {
      EncloseOptions from = options();
      from.threads = 1 + static_cast<int>(k % 2);
      from.state.from = kept[k];
      CHECK(bytes_of(exact.enclose(from)) == undisturbed);
    }
    std::size_t asked = 0;  // behind the last one nothing is left to be computed
    EncloseOptions last = options();
    last.state.from = kept.back();
    last.state.due = [&asked] { return ++asked, false; };
    last.state.keep = [](const std::string&) {};
    CHECK(bytes_of(exact.enclose(last)) == undisturbed);
    CHECK(asked == 0);
  }

  TEST_CASE("bytes that are none of an enclosure, and proofs, are refused") {
    EncloseOptions spoiled = options();
    spoiled.state.from = "x";
    CHECK_THROWS_AS(static_cast<void>(model().enclose(spoiled)), ArchiveError);
    EncloseOptions proof = options();
    proof.proof = true;
    proof.state.due = [] { return true; };
    CHECK_THROWS_WITH_AS(static_cast<void>(model().enclose(proof)), doctest::Contains("with its proof cannot be kept"), InvalidInput);
  }
}
