#include <doctest/doctest.h>
#include <signal.h>
#include <filesystem>
#include <string>
#include <vector>

#include <perp/tests/cli/program.hpp>

using perp::test::Folder;
using perp::test::Outcome;
using perp::test::perp_program;
using perp::test::read_text;
using perp::test::Run;
using perp::test::wait_until;

namespace {

/// Some hundred thousand steps with many events, an affine and a nonlinear model.
std::vector<std::string> run_of(const std::string& model, const std::string& name) {
  const bool is_affine = model == "relay_oscillator";
  return {"run", model, "--t", is_affine ? "0,400" : "0,200", "--h", is_affine ? "2e-3" : "1e-2", "-o", name + ".csv", "--events", name + ".events.csv"};
}

std::vector<std::string> with(std::vector<std::string> arguments, const std::vector<std::string>& more) {
  arguments.insert(arguments.end(), more.begin(), more.end());
  return arguments;
}

const char* const two_parts = R"toml(
[variables]
x = 1
y = 0
v = 0.5
[model]
equations = ["der(x) = y", "der(y) = -x - 0.3*sign(y) + sin(0.7*t)", "der(v) = -v^3 + sin(3*t) - 0.4*sign(v - 0.3)"]
[run]
scheme = "backward_euler"
)toml";

/// What is printed but for the names of files.
std::string summary(const Outcome& outcome) { return outcome.out.substr(0, outcome.out.find("written")); }

/// Runs `arguments`, which write cut.csv and keep its checkpoint, twice, the second time from what the first has kept; each is
/// killed as soon as it has kept a state, or is at its end.
void kill_twice(const Folder& folder, const std::vector<std::string>& arguments) {
  const std::string file = folder / "cut.csv.checkpoint";
  for (int kills = 0; kills < 2; ++kills) {
    const auto before = kills > 0 ? std::filesystem::last_write_time(file) : std::filesystem::file_time_type{};
    Run run(folder, kills > 0 ? with(arguments, {"--resume", "cut.csv.checkpoint"}) : arguments);
    wait_until([&] {
      return std::filesystem::exists(folder / "cut.events.csv") ||
             (std::filesystem::exists(file) && std::filesystem::last_write_time(file) != before);
    });
    run.send(SIGKILL);
    run.wait();
  }
}

}  // namespace

TEST_SUITE("cli/run/checkpoint") {
  TEST_CASE("a run that is killed goes on from its checkpoint to the bytes of the undisturbed one") {
    struct Case {
      std::string model;
      std::vector<std::string> more{};
    };
    const std::vector<Case> cases{{"relay_oscillator"},
                                  {"stick_slip"},
                                  {"stick_slip", {"--scheme", "located", "--measure", "m=mean(x1)", "--measure", "p=period(sliding_entry)"}},
                                  {"stick_slip", {"--until", "sliding_entry:30"}},
                                  {"two.toml", {"--scheme", "located"}},
                                  {"rooms", {"--set", "N=20", "--scheme", "located"}},
                                  {"rooms", {"--set", "N=90", "--scheme", "backward_euler"}},
                                  {"two.toml"}};
    for (const auto& of_case : cases) {
      const auto& model = of_case.model;
      const auto& more = of_case.more;
      CAPTURE(model);
      CAPTURE(more.size());
      const Folder folder;
      folder.write("two.toml", two_parts);
      const auto run_to = [&](const std::string& name) { return with(run_of(model, name), more); };
      const Outcome whole = perp_program(folder, run_to("whole"));
      REQUIRE(whole.status == 0);
      Outcome last;
      kill_twice(folder, with(run_to("cut"), {"--checkpoint", "5ms"}));
      last = perp_program(folder, with(run_to("cut"), {"--resume", "cut.csv.checkpoint"}));
      CHECK(last.status == 0);
      CHECK(read_text(folder / "cut.csv") == read_text(folder / "whole.csv"));
      CHECK(read_text(folder / "cut.events.csv") == read_text(folder / "whole.events.csv"));
      CHECK(read_text(folder / "cut.csv.json") == read_text(folder / "whole.csv.json"));
      CHECK(summary(last) == summary(whole));
    }
  }

  TEST_CASE("an enclosure that is killed goes on from its checkpoint, piece by piece, to the bytes of the undisturbed one") {
    const Folder folder;
    const auto enclose_to = [](const std::string& name) {
      return std::vector<std::string>{"enclose", "stick_slip", "--set", "x1=[-0.3, 0.3]", "--set", "Fs=[0.3, 0.45]", "--t", "0,4", "--pieces-max", "48",
                                      "--tube", name + ".tube.csv", "-o", name + ".csv", "--events", name + ".events.csv"};
    };
    const int status = perp_program(folder, enclose_to("whole")).status;
    REQUIRE((status == 0 || status == 3));
    kill_twice(folder, with(enclose_to("cut"), {"--checkpoint", "1ms", "--threads", "1"}));
    CHECK(perp_program(folder, with(enclose_to("cut"), {"--resume", "cut.csv.checkpoint"})).status == status);
    for (const std::string end : {".csv", ".csv.json", ".events.csv", ".tube.csv"})
      CHECK(read_text(folder / ("cut" + end)) == read_text(folder / ("whole" + end)));
    const Outcome other = perp_program(folder, with(enclose_to("cut"), {"--resume", "cut.csv.checkpoint", "--order", "12"}));
    CHECK(other.status == 2);
    CHECK(other.err.find("it is of another order") != std::string::npos);
    const Outcome proof = perp_program(folder, with(enclose_to("cut"), {"--checkpoint", "1s", "--proof", "p.json"}));
    CHECK(proof.status == 2);
    CHECK(proof.err.find("--proof needs every step") != std::string::npos);
  }

  TEST_CASE("HDF5 and what --all lists go on from a checkpoint to the bytes of the undisturbed run") {
    const Folder folder;
    const std::vector<std::string> hdf5{"run", "relay_oscillator", "--t", "0,400", "--h", "2e-3"};
    const Outcome whole = perp_program(folder, with(hdf5, {"-o", "whole.h5"}));
    REQUIRE(whole.status == 0);
    Run run(folder, with(hdf5, {"-o", "cut.h5", "--checkpoint", "5ms"}));
    wait_until([&] { return std::filesystem::exists(folder / "cut.h5.checkpoint"); });
    run.send(SIGKILL);
    run.wait();
    CHECK(perp_program(folder, with(hdf5, {"-o", "cut.h5", "--resume", "cut.h5.checkpoint"})).status == 0);
    CHECK(read_text(folder / "cut.h5") == read_text(folder / "whole.h5"));

    const std::vector<std::string> all{"run", "switching_dae_repulsive", "--h", "0.02", "--set", "x1=0", "--set", "x2=-0.5", "--selector", "minimal_norm", "--all"};
    const Outcome listed = perp_program(folder, with(all, {"-o", "l.csv"}));
    REQUIRE(listed.out.find("step ") != std::string::npos);
    REQUIRE(perp_program(folder, with(all, {"-o", "l.csv", "--checkpoint", "1ms"})).out == listed.out);
    CHECK_FALSE(std::filesystem::exists(folder / "l.csv.checkpoint.new"));  // a kill may leave one, a run does not
    CHECK(summary(perp_program(folder, with(all, {"-o", "l.csv", "--resume", "l.csv.checkpoint"}))) == summary(listed));
    const Outcome without = perp_program(folder, with({all.begin(), all.end() - 1}, {"-o", "l.csv", "--resume", "l.csv.checkpoint"}));
    CHECK(without.status == 2);
    CHECK(without.err.find("it is of another listing: --all; this run has none") != std::string::npos);
  }

  TEST_CASE("a checkpoint that is damaged, of another run or none is named with the difference") {
    const Folder folder;
    const auto arguments = run_of("stick_slip", "a");
    REQUIRE(perp_program(folder, with(arguments, {"--checkpoint", "1ms"})).status == 0);
    const std::string rows = read_text(folder / "a.csv"), file = folder / "a.csv.checkpoint", bytes = read_text(file);
    REQUIRE(bytes.starts_with("perp checkpoint\n"));
    const auto refused = [&](const std::vector<std::string>& more, const std::string& words) {
      CAPTURE(words);
      const Outcome outcome = perp_program(folder, more);
      CHECK(outcome.status == 2);
      CHECK(outcome.err.find(words) != std::string::npos);
      CHECK(read_text(folder / "a.csv") == rows);  // and nothing was touched
    };
    const std::vector<std::string> resume{"--resume", "a.csv.checkpoint"};
    refused(with(with(arguments, {"--set", "Fs=0.4"}), resume), "it is of another model, or with other values");
    refused(with(run_of("relay_oscillator", "a"), resume), "it is of another step length h");
    refused(with(with(arguments, {"--scheme", "theta"}), resume), "it is of another scheme: backward_euler; this run has theta");
    refused(with(with(arguments, {"--until", "sliding_entry"}), resume), "it is of another end: that of the span; this run has sliding_entry");
    refused(with(with(arguments, {"--measure", "m=mean(x1)"}), resume), "it is of another measure");
    refused(with(run_of("stick_slip", "b"), resume), "it is of another file of the states: a.csv; this run has b.csv");
    folder.write("other", "something");
    refused(with(arguments, {"--resume", "other"}), "it is no file of perp run --checkpoint");
    refused(with(arguments, {"--resume", "nowhere"}), "--resume nowhere: cannot be read");
    std::string spoiled = bytes;
    spoiled[spoiled.size() / 2] ^= 1;
    folder.write("spoiled", spoiled);
    folder.write("short", bytes.substr(0, bytes.size() - 9));
    refused(with(arguments, {"--resume", "spoiled"}), "it is damaged");
    refused(with(arguments, {"--resume", "short"}), "it is damaged");
    std::string other_rows = rows;
    other_rows[100] ^= 1;
    folder.write("a.csv", other_rows);
    const Outcome outcome = perp_program(folder, with(arguments, resume));
    CHECK(outcome.status == 2);
    CHECK(outcome.err.find("a.csv does not begin with the rows that it had then") != std::string::npos);
    CHECK(read_text(folder / "a.csv") == other_rows);
  }

  TEST_CASE("what cannot be kept is refused before a file is touched") {
    const Folder folder;
    const auto refused = [&](const std::vector<std::string>& more, const std::string& words) {
      CAPTURE(words);
      const Outcome outcome = perp_program(folder, with({"run"}, more));
      CHECK(outcome.status == 2);
      CHECK(outcome.err.find(words) != std::string::npos);
      CHECK_FALSE(std::filesystem::exists(folder / "a.csv"));
    };
    const auto chatter = [](const std::vector<std::string>& more) { return with({"chatter", "-o", "a.csv"}, more); };
    refused(chatter({"--checkpoint", "soon"}), "--checkpoint soon: expected a time above 0");
    refused(chatter({"--checkpoint", "-1s"}), "expected a time above 0");
    refused({"chatter", "--checkpoint", "1s"}, "-o FILE.csv or FILE.h5");
    refused(chatter({"--chekpoint", "1s"}), "did you mean '--checkpoint'");
  }
}
