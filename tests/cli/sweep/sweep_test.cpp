#include <doctest/doctest.h>
#include <signal.h>
#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include <perp/tests/cli/hdf5_file.hpp>
#include <perp/tests/cli/program.hpp>

using perp::test::Folder;
using perp::test::Hdf5;
using perp::test::Outcome;
using perp::test::perp_program;
using perp::test::read_text;
using perp::test::Run;
using perp::test::wait_until;

namespace {

/// 24 runs.
const std::vector<std::string> swept{"sweep",     "relay_oscillator", "--vary", "y=0.1:2:24", "--measure",
                                     "n=count(crossing)", "--measure", "end=end(y)", "--t", "0,20"};

std::vector<std::string> with(std::vector<std::string> arguments, const std::vector<std::string>& more) {
  arguments.insert(arguments.end(), more.begin(), more.end());
  return arguments;
}

}  // namespace

TEST_SUITE("cli/sweep") {
  TEST_CASE("a sweep that is killed goes on where it was, to the bytes of an undisturbed one") {
    const Folder folder;
    const std::vector<std::string> slow = with(swept, {"--h", "2e-4"});  // some 20 ms for each run
    REQUIRE(perp_program(folder, with(slow, {"-o", "all.csv", "--threads", "2"})).status == 0);
    CHECK_FALSE(std::filesystem::exists(folder / "all.csv.chunks"));
    for (const char* resume : {"--quiet", "--resume"}) {
      const std::string chunk = folder / "killed.csv.chunks/chunk-1.json";
      Run run(folder, with(slow, {"-o", "killed.csv", "--threads", "1"}));
      wait_until([&] { return std::filesystem::exists(chunk) || std::filesystem::exists(folder / "killed.csv"); });
      run.send(SIGKILL);
      run.wait();
      const Outcome again = perp_program(folder, with(slow, {"-o", "killed.csv", resume}));
      CHECK(again.status == 0);
      CHECK(read_text(folder / "killed.csv") == read_text(folder / "all.csv"));
      CHECK(read_text(folder / "killed.csv.json") == read_text(folder / "all.csv.json"));
      CHECK_FALSE(std::filesystem::exists(folder / "killed.csv.chunks"));
      const Outcome complete = perp_program(folder, with(slow, {"-o", "killed.csv", "--resume"}));
      CHECK(complete.status == 0);
      CHECK(complete.out == "killed.csv is complete\n");
      std::filesystem::remove(folder / "killed.csv");
    }
  }

  TEST_CASE("slices merge to the bytes of the whole sweep; without one of them nothing is written") {
    const Folder folder;
    REQUIRE(perp_program(folder, with(swept, {"-o", "all.csv"})).status == 0);
    REQUIRE(perp_program(folder, with(swept, {"-o", "all.h5"})).status == 0);
    REQUIRE(perp_program(folder, with(swept, {"-o", "d", "--slice", "2/2"})).status == 0);
    const Outcome half = perp_program(folder, {"sweep", "--merge", "d", "-o", "m.csv"});
    CHECK(half.status == 3);
    CHECK(half.err.find("12 chunks are missing, the first is 1") != std::string::npos);
    CHECK_FALSE(std::filesystem::exists(folder / "m.csv"));
    CHECK(perp_program(folder, {"sweep", "--merge", "d", "-o", "m.csv", "--partial"}).status == 3);
    CHECK(std::filesystem::exists(folder / "m.csv"));
    REQUIRE(perp_program(folder, with(swept, {"-o", "d", "--slice", "1/2"})).status == 0);
    CHECK(perp_program(folder, {"sweep", "--merge", "d", "-o", "m.csv"}).status == 0);
    CHECK(read_text(folder / "m.csv") == read_text(folder / "all.csv"));
    CHECK(perp_program(folder, {"sweep", "--merge", "d", "-o", "m.h5"}).status == 0);
    CHECK(read_text(folder / "m.h5") == read_text(folder / "all.h5"));
  }

  TEST_CASE("HDF5 holds the measures in the shape of the axes, each a dimension scale") {
    const Folder folder;
    REQUIRE(perp_program(folder, {"sweep", "switching_dae_crossing", "--vary", "x1=-5,-4,-3", "--vary", "x2=4,5", "--measure",
                                  "top=max(x2)", "--section", "every:5", "-o", "s.h5"})
                .status == 0);
    const Hdf5 file(folder / "s.h5");
    REQUIRE(file.is_open());
    CHECK(file.size("/measures/top") == std::vector<hsize_t>{3, 2});
    CHECK(file.read<double>("/measures/x1", H5T_NATIVE_DOUBLE) == std::vector<double>{-5, -4, -3});
    CHECK(file.size("/runs/status") == std::vector<hsize_t>{6});
    CHECK(file.size("/section/t") == std::vector<hsize_t>{12});
    CHECK(file.attribute("model") == "switching DAE, sliding-crossing");
  }

  TEST_CASE("states of each run are kept without a change of its numbers, at the times asked for, and survive slices") {
    const Folder folder;
    REQUIRE(perp_program(folder, with(swept, {"-o", "plain.csv"})).status == 0);
    const std::vector<std::string> kept = with(swept, {"--keep", "--times", "0,7.3,20"});
    REQUIRE(perp_program(folder, with(kept, {"-o", "kept.csv"})).status == 0);
    CHECK(read_text(folder / "kept.csv") == read_text(folder / "plain.csv"));
    const std::string states = read_text(folder / "kept.trajectories.csv");
    CHECK(states.starts_with("run,y(0),t,y,v,a\n"));
    CHECK(std::ranges::count(states, '\n') == 1 + 24 * 3);
    for (const char* slice : {"1/2", "2/2"}) REQUIRE(perp_program(folder, with(kept, {"-o", "d", "--slice", slice})).status == 0);
    REQUIRE(perp_program(folder, {"sweep", "--merge", "d", "-o", "merged.csv"}).status == 0);
    CHECK(read_text(folder / "merged.trajectories.csv") == states);
    REQUIRE(perp_program(folder, with(kept, {"-o", "kept.h5"})).status == 0);
    const Hdf5 file(folder / "kept.h5");
    CHECK(file.read<double>("trajectories/24/t", H5T_NATIVE_DOUBLE) == std::vector<double>{0, 7.3, 20});
  }

  TEST_CASE("with --fail stop a run that ends early ends the sweep") {
    const Folder folder;
    folder.write("square.toml", "[parameters]\na = 1\n[variables]\nx = 1\n[model]\nequations = [\"der(x) = a*x^2\"]\n[run]\nt = [0, 2]\nh = 0.1\nscheme = \"located\"\n");
    const std::vector<std::string> blows_up{"sweep", "square.toml", "--vary", "a=0.1,1,0.2,0.3", "--measure", "e=end(x)", "--threads", "1", "-o", "t.csv"};
    CHECK(perp_program(folder, blows_up).status == 3);
    CHECK(std::ranges::count(read_text(folder / "t.csv"), '\n') == 1 + 4);
    const Outcome stopped = perp_program(folder, with(blows_up, {"--fail", "stop"}));
    CHECK(stopped.status == 3);
    CHECK(stopped.err.find("stopped at a run that ended early (--fail stop)") != std::string::npos);
    CHECK(std::ranges::count(read_text(folder / "t.csv"), '\n') == 1 + 2);
  }

  TEST_CASE("a time limit ends with the rows made so far and the status 3") {
    const Folder folder;
    const Outcome run = perp_program(folder, with(swept, {"-o", "t.csv", "--time-limit", "1e-3"}));
    CHECK(run.status == 3);
    CHECK(run.err.find("stopped before all runs were made") != std::string::npos);
    CHECK(std::filesystem::exists(folder / "t.csv.chunks/sweep.json"));
  }

  TEST_CASE("what slices, merging and resuming cannot do is one line with the status 2") {
    const Folder folder;
    std::filesystem::create_directory(folder / "other");
    folder.write("other/letter", "dear");
    const auto wrong = [&](const std::vector<std::string>& arguments, const char* what) {
      const Outcome run = perp_program(folder, arguments);
      CHECK(run.status == 2);
      CHECK_MESSAGE(run.err.find(what) != std::string::npos, run.err);
    };
    wrong(with(swept, {"-o", "d", "--slice", "3/2"}), "slice 3 of 2");
    wrong(with(swept, {"-o", "d", "--slice", "1.5/2"}), "1.5 is no whole number");
    wrong(with(swept, {"-o", "d", "--slice", "two"}), "expected k/N");
    wrong(with(swept, {"-o", "d.csv", "--slice", "1/2"}), "--slice needs a folder");
    wrong(with(swept, {"-o", "other", "--slice", "1/2"}), "other files stand in it");
    wrong(with(swept, {"-o", "x.csv", "--time-limit", "0"}), "expected seconds, above 0");
    wrong(with(swept, {"--resume"}), "--resume needs the table");
    wrong(with(swept, {"--partial"}), "--partial is of --merge");
    wrong(with(swept, {"--measure", "y=max(y)"}), "another column of this name");
    wrong(with(swept, {"-o", "w.csv", "--measure", "bad=max(q)"}), "q");
    CHECK_FALSE(std::filesystem::exists(folder / "w.csv.chunks"));
    wrong(with(swept, {"--skip", "2"}), "expected --section WHAT");
    wrong(with(swept, {"--fail", "stp"}), "did you mean 'stop'");
    wrong(with(swept, {"--keep"}), "--keep needs a file");
    wrong(with(swept, {"--times", "1,2"}), "--times are those of --keep or --plot-type fan");
    wrong(with(swept, {"--keep", "-o", "k.csv", "--times", "1,21"}), "21 is outside of the span [0, 20]");
    wrong(with(swept, {"--plot-type", "fan", "--plot", "f.svg"}), "needs --random");
    wrong({"sweep", "--merge", "none"}, "no sweep is kept there");
    wrong({"sweep", "--merge", "d", "--vary", "x1=1:2:3"}, "takes -o, --partial and --quiet alone");
    wrong({"sweep", "--vary", "x1=1:2:3"}, "MODEL is missing");
  }
}
