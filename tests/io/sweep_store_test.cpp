#include <doctest/doctest.h>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <perp/core/base/error.hpp>
#include <perp/io/sweep/sweep_csv.hpp>
#include <perp/io/sweep/sweep_store.hpp>
#include <perp/models/language/read_model.hpp>
#include <perp/tests/cli/program.hpp>

using namespace perp;
using namespace perp::io;
using perp::test::Folder;
using perp::test::read_text;

namespace {

const std::string decay =
    "[parameters]\nk = 1\n[variables]\nx = 1\n[model]\nequations = [\"der(x) = -k*x\"]\n"
    "[run]\nt = [0, 2]\nh = 0.5\nscheme = \"located\"\n";

/// Points k = 0.1, ..., 0.7, followed or not, with a measure, one without a value and a section.
SweepRequest request_of(Follow follow) {
  SweepRequest request;
  request.read = [](const std::vector<Override>& set) { return read_model_text(decay, "swept.toml", set); };
  request.points.axes = {{"k", {0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7}}, {"x", {1, 3}}};
  request.measures = {"e=end(x)", "n=period(jump)"};
  request.section = "every:0.5";
  request.follow = follow;
  request.points.prepare(request.read({}));
  return request;
}

SweepTable whole(const SweepRequest& request) {
  return with_runs(sweep_head(request, request.read({}), {}), sweep(request));
}

/// One process with its slice.
bool make_slice(SweepRequest request, const std::string& folder, long slice, long slices) {
  SweepStore store(folder, sweep_head(request, request.read({}), {}), sweep_chunks(request));
  request.chunks.slice = slice;
  request.chunks.slices = slices;
  request.chunks.known = [&store](long chunk) { return store.read(chunk); };
  request.chunks.made = [&store](long chunk, const std::vector<SweepRun>& runs) { store.add(chunk, runs); };
  const bool complete = sweep(request).is_complete;
  store.flush();
  return complete;
}

std::string csv_of(const Folder& folder, const SweepTable& table) {
  write_sweep_csv(folder / "t.csv", table);
  return read_text(folder / "t.csv") + read_text(folder / "t.section.csv") + read_text(folder / "t.csv.json");
}

}  // namespace

TEST_SUITE("io/sweep_store") {
  TEST_CASE("slices in any number and order merge to the bytes of the undivided sweep") {
    for (const Follow follow : {Follow::none, Follow::down, Follow::both}) {
      const Folder folder;
      const SweepRequest request = request_of(follow);
      const std::string undivided = csv_of(folder, whole(request));
      for (const long slices : {1L, 3L, 40L}) {
        const std::string chunks = folder / ("d" + std::to_string(slices));
        for (long k = slices; k >= 1; --k) CHECK(make_slice(request, chunks, k, slices));
        const MergedSweep merged = SweepStore(chunks).merged();
        CHECK(merged.missing.empty());
        CHECK(csv_of(folder, merged.table) == undivided);
      }
    }
  }

  TEST_CASE("chunks that are there are read, not run again") {
    const Folder folder;
    SweepRequest request = request_of(Follow::none);
    CHECK(make_slice(request, folder / "d", 1, 1));
    request.stop = [] { return true; };  // nothing can be run
    CHECK(make_slice(request, folder / "d", 1, 1));
    std::filesystem::remove(folder / "d/chunk-3.json");
    CHECK_FALSE(make_slice(request, folder / "d", 1, 1));
  }

  TEST_CASE("a chunk that is truncated, changed or of another sweep is named, missing, and made again") {
    const Folder folder;
    const SweepRequest request = request_of(Follow::none);
    make_slice(request, folder / "d", 1, 1);
    const std::string all = csv_of(folder, SweepStore(folder / "d").merged().table);
    const std::string chunk = folder / "d/chunk-5.json", text = read_text(chunk);
    SweepRequest other = request;
    other.after = "0.5";
    make_slice(other, folder / "other", 1, 1);
    std::string changed = text;
    changed[text.find("\"t_end\":") + 9] = '7';
    for (const std::string& bad : {text.substr(0, text.size() / 2), text.substr(0, text.size() - 1), std::string(),
                                   changed, read_text(folder / "other/chunk-5.json"), read_text(folder / "d/chunk-4.json")}) {
      std::ofstream(chunk) << bad;
      const MergedSweep merged = SweepStore(folder / "d").merged();
      CHECK(merged.missing == std::vector<long>{5});
      REQUIRE(merged.damaged.size() == 1);
      CHECK(merged.damaged[0].find("chunk-5.json") != std::string::npos);
      CHECK(merged.table.runs.size() == 13);
      CHECK(make_slice(request, folder / "d", 1, 1));
      CHECK(csv_of(folder, SweepStore(folder / "d").merged().table) == all);
    }
  }

  TEST_CASE("a folder of another sweep or of other files is refused, and one that another process has") {
    const Folder folder;
    const SweepRequest request = request_of(Follow::none);
    make_slice(request, folder / "d", 1, 2);
    SweepRequest other = request;
    other.measures = {"e=end(x)", "n=max(x)"};
    CHECK_THROWS_WITH_AS(make_slice(other, folder / "d", 2, 2), doctest::Contains("it is of another sweep"), InvalidInput);
    std::filesystem::create_directory(folder / "mine");
    std::ofstream(folder / "mine/letter") << "dear";
    CHECK_THROWS_WITH_AS(make_slice(request, folder / "mine", 1, 2), doctest::Contains("other files stand in it"), InvalidInput);
    CHECK_THROWS_WITH_AS(SweepStore(folder / "none"), doctest::Contains("no sweep is kept there"), InvalidInput);
    SweepStore one(folder / "d", sweep_head(request, request.read({}), {}), sweep_chunks(request));
    SweepStore two(folder / "d", sweep_head(request, request.read({}), {}), sweep_chunks(request));
    one.lock();
    CHECK_THROWS_WITH_AS(two.lock(), doctest::Contains("another perp sweep is at work in it"), InvalidInput);
  }
}
