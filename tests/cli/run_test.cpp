#include <doctest/doctest.h>
#include <chrono>
#include <cmath>
#include <csignal>
#include <nlohmann/json.hpp>
#include <thread>

#include <perp/tests/cli/hdf5_file.hpp>
#include <perp/tests/cli/program.hpp>

using nlohmann::json;
using perp::test::Csv;
using perp::test::Folder;
using perp::test::Hdf5;
using perp::test::lines;
using perp::test::Outcome;
using perp::test::parse_csv;
using perp::test::perp_program;
using perp::test::read_text;

namespace {

const std::string crossing = "switching_dae_crossing";

/// A run that lasts until it is stopped.
const std::vector<std::string> endless{"run", "relay_oscillator", "--t", "0,1e6", "--h", "1e-4"};

}  // namespace

TEST_SUITE("cli/run") {
  TEST_CASE("measures stand in the summary and in the JSON; one without a value is null and the status 3") {
    const Folder folder;
    const Outcome run = perp_program(folder, {"run", crossing, "--measure", "top=max(x2)", "--measure",
                                              "T=period(jump)", "-o", "m.csv"});
    CHECK(run.status == 3);
    CHECK(run.out.find("measured    top = ") != std::string::npos);
    CHECK(run.out.find("measured    T has no value: 0 events 'jump'") != std::string::npos);
    const json measures = json::parse(read_text(folder / "m.csv.json"))["measures"];
    REQUIRE(measures.size() == 2);
    CHECK(measures[0]["formula"] == "max(x2)");
    CHECK(measures[0]["value"].get<double>() == doctest::Approx(16.0 / 3));
    CHECK(measures[1]["value"].is_null());
    const Outcome quiet = perp_program(folder, {"run", crossing, "--measure", "end=end(x1)", "--quiet"});
    CHECK(quiet.status == 0);
    CHECK(quiet.out.substr(0, 6) == "end = ");
    CHECK(perp_program(folder, {"run", crossing, "--after", "1"}).status == 2);
    CHECK(perp_program(folder, {"run", crossing, "--measure", "end=end(q)"}).status == 2);
  }

  TEST_CASE("without a file the states are CSV on standard output, the summary goes elsewhere") {
    const Folder folder;
    const Outcome run = perp_program(folder, {"run", crossing});
    CHECK(run.status == 0);
    const Csv csv = parse_csv(run.out);
    CHECK(csv.header == std::vector<std::string>{"t", "x1", "x2", "z", "lambda1", "mode"});
    REQUIRE(csv.rows.size() == 101);
    for (const auto& row : csv.rows) CHECK(row.size() == csv.header.size());
    CHECK(csv.number(0, "x1") == -5);
    CHECK(csv.number(100, "t") == 10);
    CHECK(std::abs(csv.number(100, "x1") - 13.0 / 3) < 1e-12);
    CHECK(std::abs(csv.number(100, "x2") - 16.0 / 3) < 1e-12);
    CHECK(csv.rows[30].back() == "mode 3 (sliding)");
    CHECK(run.err.find("status      solved") != std::string::npos);
  }

  TEST_CASE("numbers in CSV read back as the same doubles") {
    const Folder folder;
    const Csv csv = parse_csv(perp_program(folder, {"run", crossing, "--h", "0.3"}).out);
    // 0.3 k in the scheme's own arithmetic.
    for (std::size_t k = 0; k + 1 < csv.rows.size(); ++k)
      CHECK(csv.number(k, "t") == static_cast<double>(k) * 0.3);
  }

  TEST_CASE("with a file the summary with modes, times and end state is on standard output") {
    const Folder folder;
    const Outcome run =
        perp_program(folder, {"run", crossing, "-o", "out.csv", "--events", "events.csv"});
    CHECK(run.status == 0);
    CHECK(run.err == "");
    CHECK(run.out.find("mode 1 (x1 < 0)") != std::string::npos);
    CHECK(run.out.find("t = 2.5            to 3.5            mode 3 (sliding)") !=
          std::string::npos);
    CHECK(run.out.find("(4.333333, 5.333333") != std::string::npos);
    CHECK(run.out.find("keep_mode") != std::string::npos);
    CHECK(read_text(folder / "out.csv") == perp_program(folder, {"run", crossing}).out);
    const Csv events = parse_csv(read_text(folder / "events.csv"));
    CHECK(events.header == std::vector<std::string>{"t", "type", "law", "from", "to", "t_before",
                                                    "t_after", "size", "note", "x1_before", "x2_before", "z_before",
                                                    "x1_after", "x2_after", "z_after"});
    REQUIRE(events.rows.size() == 2);
    CHECK(events.rows[0][1] == "sliding_entry");
    CHECK(events.rows[1][1] == "sliding_exit");
    CHECK(std::abs(events.number(0, "t") - 2.5) < 1e-12);
    CHECK(std::abs(events.number(1, "t") - 3.5) < 1e-12);
    CHECK(std::abs(events.number(0, "x1_before")) < 1e-12);
    CHECK(std::abs(events.number(0, "x2_after") + 1) < 1e-12);
  }

  TEST_CASE("laws of one name are told apart by their number") {
    const Folder folder;
    const std::string file =
        folder.write("twins.toml",
                     "[variables]\nx = 1\ny = 2\n[system]\nA = [[0, 0], [0, 0]]\n"
                     "B = [[-1, 0], [0, -1]]\nC = [[1, 0], [0, 1]]\nlaws = [\"sign\", \"sign\"]\n"
                     "[run]\nt = [0, 3]\nh = 0.1\n");
    const Outcome run = perp_program(folder, {"run", file, "--events", "events.csv"});
    CHECK(run.status == 0);
    CHECK(parse_csv(run.out).header ==
          std::vector<std::string>{"t", "x", "y", "lambda1", "lambda2", "mode"});
    const Csv events = parse_csv(read_text(folder / "events.csv"));
    REQUIRE(events.rows.size() == 2);
    CHECK(events.rows[0][2] == "sign (law 1)");
    CHECK(events.rows[1][2] == "sign (law 2)");
    CHECK(events.rows[1][4] == "w=0");
  }

  TEST_CASE("the provenance beside a CSV says what made it") {
    const Folder folder;
    perp_program(folder, {"run", crossing, "-o", "out.csv", "--set", "run.h=0.2", "--selector",
                          "minimal_norm"});
    const json made = json::parse(read_text(folder / "out.csv.json"));
    CHECK(made["program"] == "perp");
    CHECK(made["status"] == "solved");
    CHECK(made["options"]["h"] == 0.2);
    CHECK(made["options"]["selector"] == "minimal_norm");
    CHECK(made["options"]["set"] == json::array({"run.h=0.2"}));
    CHECK(made["model"]["name"] == "switching DAE, sliding-crossing");
    CHECK(made["model"]["hash"].get<std::string>().size() == 16);
    CHECK(made["run"]["norm"].get<std::string>().find("E") != std::string::npos);
    CHECK(made["counts"]["steps"] == 50);
    CHECK(made["events"].size() == 2);
    CHECK(made["laws"][0]["column"] == "lambda1");
  }

  TEST_CASE("the same input gives the same bytes") {
    const Folder folder;
    for (const char* name : {"a", "b"})
      perp_program(folder, {"run", crossing, "-o", std::string(name) + ".csv", "--plot",
                            std::string(name) + ".svg"});
    CHECK(read_text(folder / "a.csv") == read_text(folder / "b.csv"));
    CHECK(read_text(folder / "a.csv.json") == read_text(folder / "b.csv.json"));
    CHECK(read_text(folder / "a.dat") == read_text(folder / "b.dat"));
  }

  TEST_CASE("rows at given times only, hit exactly, from a list or a file") {
    const Folder folder;
    const Outcome list = perp_program(folder, {"run", crossing, "--times", "0,1.23456789,10"});
    const Csv csv = parse_csv(list.out);
    REQUIRE(csv.rows.size() == 3);
    CHECK(csv.number(1, "t") == 1.23456789);
    CHECK(std::abs(csv.number(1, "x1") - (-5 + 2 * 1.23456789)) < 1e-12);
    folder.write("times.txt", "# wanted\n0\n1.23456789 # a comment\n10\n");
    CHECK(perp_program(folder, {"run", crossing, "--times", "times.txt"}).out == list.out);
  }

  TEST_CASE("rows of every k-th step are those of the whole run, with the first and the last state") {
    const Folder folder;
    for (const char* scheme : {"backward_euler", "located", "theta"}) {
      CAPTURE(scheme);
      const auto run = [&](std::vector<std::string> more) {
        more.insert(more.begin(), {"run", crossing, "--scheme", scheme, "--quiet"});
        return lines(perp_program(folder, more).out);
      };
      // 100 steps of length 0.1 from 0 on.
      const std::vector<std::string> all = run({}), some = run({"--every", "7"}), ends = run({"--every", "1000000"});
      std::vector<std::string> expected;
      for (const std::string& row : all) {
        const double step = std::strtod(row.c_str(), nullptr) / 0.1, nearest = std::round(step);
        const bool is_seventh = std::abs(step - nearest) < 1e-9 && std::fmod(nearest, 7) == 0;
        if (row == all.front() || row == all.back() || is_seventh) expected.push_back(row);
      }
      CHECK(some == expected);
      CHECK(ends.size() == 3);
    }
  }

  TEST_CASE("where a run of every k-th step ends early, its last state is a row") {
    const Folder folder;
    const Outcome all = perp_program(folder, {"run", "dead_end", "--quiet"}), some = perp_program(folder, {"run", "dead_end", "--quiet", "--every", "50"});
    CHECK(all.status == 3);
    CHECK(some.status == 3);
    CHECK(lines(all.out).back() == lines(some.out).back());
    CHECK(lines(some.out).size() == lines(all.out).size() / 50 + 3);
  }

  TEST_CASE("options of rows that would have no effect are wrong input") {
    const Folder folder;
    const auto refused = [&](std::vector<std::string> more) {
      more.insert(more.begin(), {"run", crossing});
      const Outcome run = perp_program(folder, more);
      CHECK(run.status == 2);
      return run.err;
    };
    CHECK(refused({"--every", "2", "--times", "1"}).find("expected one of them") != std::string::npos);
    CHECK(refused({"--every", "2", "--plot", "x.svg"}).find("none is written") != std::string::npos);
    CHECK(refused({"--compress", "-o", "x.csv"}).find("-o FILE.h5") != std::string::npos);
    CHECK(refused({"--every", "0"}) == "perp run: --every: '0' is not above 0; see perp run --help\n");
    CHECK(refused({"--every", "2.5"}).find("whole number") != std::string::npos);
    CHECK(!std::filesystem::exists(folder / "x.csv"));
  }

  TEST_CASE("compressed HDF5 holds the same numbers in less room") {
    const Folder folder;
    REQUIRE(perp_program(folder, {"run", crossing, "--h", "1e-3", "-o", "plain.h5"}).status == 0);
    REQUIRE(perp_program(folder, {"run", crossing, "--h", "1e-3", "-o", "packed.h5", "--compress"}).status == 0);
    const Hdf5 plain(folder / "plain.h5"), packed(folder / "packed.h5");
    for (const char* name : {"t", "x", "lambda", "w"}) {
      CAPTURE(name);
      CHECK(plain.read<double>(name, H5T_NATIVE_DOUBLE) == packed.read<double>(name, H5T_NATIVE_DOUBLE));
    }
    CHECK(plain.read<int>("mode", H5T_NATIVE_INT) == packed.read<int>("mode", H5T_NATIVE_INT));
    CHECK(2 * std::filesystem::file_size(folder / "packed.h5") < std::filesystem::file_size(folder / "plain.h5"));
  }

  TEST_CASE("options and overrides change the run") {
    const Folder folder;
    const auto rows = [&](std::vector<std::string> more) {
      more.insert(more.begin(), {"run", crossing, "--quiet"});
      const Outcome run = perp_program(folder, more);
      CHECK(run.status == 0);
      CHECK(run.err == "");
      return parse_csv(run.out).rows.size();
    };
    CHECK(rows({"--h", "0.5"}) == 21);
    CHECK(rows({"--set", "run.h=1"}) == 11);
    CHECK(rows({"--t", "0,1"}) == 11);
    CHECK(rows({"--scheme", "theta", "--theta", "1"}) == 101);
  }

  TEST_CASE("HDF5 holds what CSV holds, with names, events and provenance") {
    const Folder folder;
    REQUIRE(perp_program(folder, {"run", crossing, "-o", "out.h5"}).status == 0);
    const Csv csv = parse_csv(perp_program(folder, {"run", crossing}).out);
    const Hdf5 file(folder / "out.h5");
    REQUIRE(file.is_open());
    CHECK(file.size("t") == std::vector<hsize_t>{101});
    CHECK(file.size("x") == std::vector<hsize_t>{101, 3});
    CHECK(file.size("lambda") == std::vector<hsize_t>{101, 1});
    CHECK(file.size("w") == std::vector<hsize_t>{101, 1});
    CHECK(file.size("mode") == std::vector<hsize_t>{101, 1});
    const auto x = file.read<double>("x", H5T_NATIVE_DOUBLE);
    const auto lambda = file.read<double>("lambda", H5T_NATIVE_DOUBLE);
    for (std::size_t k = 0; k < 101; ++k) {
      CHECK(x[3 * k] == csv.number(k, "x1"));
      CHECK(x[3 * k + 2] == csv.number(k, "z"));
      CHECK(lambda[k] == csv.number(k, "lambda1"));
    }
    const auto mode = file.read<int>("mode", H5T_NATIVE_INT);
    CHECK(mode[0] == 0);
    CHECK(mode[30] == 1);
    CHECK(mode[100] == 2);
    CHECK(file.size("events/t") == std::vector<hsize_t>{2});
    CHECK(std::abs(file.read<double>("events/t", H5T_NATIVE_DOUBLE)[0] - 2.5) < 1e-12);
    CHECK(file.attribute("status") == "solved");
    CHECK(json::parse(file.attribute("provenance"))["model"]["name"] ==
          "switching DAE, sliding-crossing");
  }

  TEST_CASE("where the solution ends the status is 3 and everything up to there is written") {
    const Folder folder;
    const Outcome run = perp_program(folder, {"run", "switching_dae_no_solution", "-o", "out.csv"});
    CHECK(run.status == 3);
    REQUIRE(lines(run.err).size() == 1);
    CHECK(run.err.find("no_solution") != std::string::npos);
    const Csv csv = parse_csv(read_text(folder / "out.csv"));
    CHECK(std::abs(csv.number(csv.rows.size() - 1, "t") - 15) < 1e-9);
    CHECK(std::abs(csv.number(csv.rows.size() - 1, "x2") + 1) < 1e-9);
    CHECK(json::parse(read_text(folder / "out.csv.json"))["status"] == "no_solution");
  }

  TEST_CASE("--all lists every solution of the steps that have several") {
    const Folder folder;
    const Outcome run = perp_program(
        folder, {"run", "switching_dae_jump", "-o", "out.csv", "--all", "--h", "0.25"});
    CHECK(run.status == 0);
    CHECK(run.out.find("several (3)") != std::string::npos);
    CHECK(run.out.find("* ") != std::string::npos);
    CHECK(run.out.find("steps have not exactly one solution") != std::string::npos);
  }

  TEST_CASE("an interrupted run leaves complete rows and says so") {
    for (const int signal : {SIGINT, SIGTERM}) {
      const Folder folder;
      std::vector<std::string> arguments = endless;
      arguments.insert(arguments.end(), {"-o", "out.csv"});
      const perp::test::Run run(folder, arguments);
      const bool started = perp::test::wait_until([&] {
        std::error_code error;
        const auto size = std::filesystem::file_size(folder / "out.csv", error);
        return !error && size > 100'000;
      });
      run.send(signal);
      const Outcome outcome = run.wait();
      REQUIRE(started);
      CHECK(outcome.status == 3);
      CHECK(outcome.err.find("interrupted") != std::string::npos);
      const std::string text = read_text(folder / "out.csv");
      CHECK(text.back() == '\n');
      const Csv csv = parse_csv(text);
      for (std::size_t k = 0; k < csv.rows.size(); ++k)
        if (csv.rows[k].size() != csv.header.size()) FAIL("row " << k << " is cut");
      CHECK(json::parse(read_text(folder / "out.csv.json"))["status"] == "interrupted");
    }
  }

  TEST_CASE("an interrupted run leaves an HDF5 file that can be read") {
    const Folder folder;
    std::vector<std::string> arguments = endless;
    arguments.insert(arguments.end(), {"-o", "out.h5"});
    const perp::test::Run run(folder, arguments);
    const bool started = perp::test::wait_until([&] {
      std::uintmax_t size = 0;  // it is written beside its place
      for (const auto& file : std::filesystem::directory_iterator(folder.path())) {
        std::error_code error;
        if (file.path().filename().string().starts_with(".out.h5.")) size = file.file_size(error);
        if (error) size = 0;
      }
      return size > 200'000;
    });
    run.send(SIGINT);
    CHECK(run.wait().status == 3);
    REQUIRE(started);
    const Hdf5 file(folder / "out.h5");
    REQUIRE(file.is_open());
    REQUIRE(file.size("t").size() == 1);
    CHECK(file.size("t")[0] > 1000);
    CHECK(file.size("x")[0] == file.size("t")[0]);
    CHECK(file.attribute("status") == "interrupted");
  }

  TEST_CASE("one signal ends a run within a step that takes long, with the rows so far") {
    const Folder folder;
    // A reset that accumulates where t has few digits left: one step of very many pieces.
    folder.write("ball.toml",
                 "[variables]\nx = 1\nv = 0\nn = 0\ns = 0\n[model]\nequations = [\"der(x) = v\", "
                 "\"der(v) = -10\", \"der(n) = 0\",\n"
                 "  \"der(s) = if(sin(2*pi*(t - 1700000000.0)/3) > 0.5, 1, 0)\"]\n"
                 "when = [{condition = \"x\", direction = -1, set = {v = \"-0.9*v\", n = \"n+1\"}}]\n"
                 "[run]\nt = [1700000000.0, 1700000010.0]\n");
    const perp::test::Run run(folder, {"run", "ball.toml", "-o", "out.csv", "--quiet"});
    std::this_thread::sleep_for(std::chrono::milliseconds(3000));
    const auto sent = std::chrono::steady_clock::now();
    run.send(SIGTERM);
    const Outcome outcome = run.wait();
    CHECK(std::chrono::steady_clock::now() - sent < std::chrono::seconds(3));
    CHECK(outcome.status == 3);
    const std::vector<std::string> rows = lines(perp::test::read_text(folder / "out.csv"));
    CHECK(rows.size() > 10);
    CHECK(rows.front() == "t,x,v,n,s,lambda1,mode");
  }

  TEST_CASE(
      "nothing but messages is on a standard error that is no terminal, however long it takes") {
    const Folder folder;
    std::vector<std::string> arguments = endless;
    arguments.insert(arguments.end(), {"-o", "out.h5", "--quiet"});
    const perp::test::Run run(folder, arguments);
    std::this_thread::sleep_for(std::chrono::milliseconds(1500));  // progress shows after 1 s
    run.send(SIGINT);
    const Outcome outcome = run.wait();
    CHECK(outcome.out == "");
    CHECK(lines(outcome.err).size() == 1);
    CHECK(outcome.err.find('\r') == std::string::npos);
  }

  TEST_CASE("a gap that is nothing beside the unit of its variable is no residual") {
    const Folder folder;
    folder.write("rest.toml",
                 "[variables]\ny = 0\nv = 0\n[model]\nlaws = [\"0 <= s perp y >= 0\"]\n"
                 "equations = [\"der(y) = v\", \"der(v) = -9.81 + s + cos(t)\"]\n"
                 "[run]\nt = [0, 2]\nscheme = \"located\"\n");
    const Outcome run = perp_program(folder, {"run", "rest.toml"});
    CHECK(run.status == 0);
    const std::size_t at = run.err.find("residual    ");
    REQUIRE(at != std::string::npos);
    CHECK(std::stod(run.err.substr(at + 12)) < 1e-14);
  }
}
