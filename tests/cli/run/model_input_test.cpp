#include <doctest/doctest.h>
#include <cstdlib>
#include <nlohmann/json.hpp>

#include <perp/tests/cli/program.hpp>

using nlohmann::json;
using perp::test::Folder;
using perp::test::Outcome;
using perp::test::perp_program;
using perp::test::read_text;

namespace {

const std::string crossing = "switching_dae_crossing";

/// The program with a text on its standard input.
Outcome with_input(const Folder& folder, const std::string& text, const std::string& arguments) {
  folder.write("input", text);
  const std::string command = "cd '" + folder.path() + "' && '" + perp::test::program_path() + "' " + arguments +
                              " < input > out 2> err";
  const int status = std::system(command.c_str());
  return {WEXITSTATUS(status), read_text(folder / "out"), read_text(folder / "err")};
}

}  // namespace

TEST_SUITE("cli/model_input") {
  TEST_CASE("the model - is standard input: the run is that of the file, messages name standard input") {
    const Folder folder;
    const std::string text = read_text(perp::test::models_path("/" + crossing + ".toml"));
    const Outcome piped = with_input(folder, text, "run - --h 0.5");
    CHECK(piped.status == 0);
    CHECK(piped.out == perp_program(folder, {"run", crossing, "--h", "0.5"}).out);
    CHECK(with_input(folder, text, "check -").status == 0);
    CHECK(with_input(folder, text, "map - --vary B1=-1:1:3 -o m.csv").status == 0);
    const Outcome wrong = with_input(folder, "[variables]\nx = 1\n[run]\nhh = 1\n", "run -");
    CHECK(wrong.status == 2);
    CHECK(wrong.err.find("standard input:4:1: ") == 0);
    CHECK(with_input(folder, "", "run -").err == "perp run: standard input is empty; expected a model\n");
  }

  TEST_CASE("a file of values is the same as --set for each, and --set overrides it") {
    const Folder folder;
    folder.write("values", "# of a measurement\n[parameters]\nB1 = -0.4  # a comment\n\n[run]\nh = '1/4'\nt = [0, 2]\n");
    const std::vector<std::string> by_options{"run", crossing, "--set", "B1=-0.4", "--set", "run.h=1/4", "--set", "t=[0, 2]"};
    const Outcome by_file = perp_program(folder, {"run", crossing, "--set-file", "values"});
    CHECK(by_file.status == 0);
    CHECK(by_file.out == perp_program(folder, by_options).out);
    const Outcome both = perp_program(folder, {"run", crossing, "--set-file", "values", "--set", "B1=-0.5", "-o", "b.csv"});
    CHECK(both.status == 0);
    const json made = json::parse(read_text(folder / "b.csv.json"));
    CHECK(made["model"]["parameters"]["B1"] == -0.5);
    CHECK(made["options"]["set"] == json{"run.h=1/4", "run.t=[0, 2]", "B1=-0.5"});
  }

  TEST_CASE("what is wrong in a file of values is said with its line") {
    const Folder folder;
    const auto message = [&](const std::string& text) {
      folder.write("values", text);
      const Outcome run = perp_program(folder, {"run", crossing, "--set-file", "values"});
      CHECK(run.status == 2);
      CHECK(run.out == "");
      return run.err;
    };
    CHECK(message("\nB1\n") == "perp run: values:2:1: found 'B1'; expected NAME = VALUE\n");
    CHECK(message("B1 =\n") == "perp run: values:1:1: found 'B1 ='; expected NAME = VALUE\n");
    CHECK(message("B1 = \"1\n") == "perp run: values:1:1: found \"1; expected a value in quotes, as in \"1/3\"\n");
    CHECK(message("h = 0.1\n[paramters]\n").find("values:2:1: found '[paramters]'; expected NAME = VALUE or one of the tables "
                                                  "[parameters], [variables]") != std::string::npos);
    CHECK(message("[parameters]\n\nB1 = 1 +\n").find("perp run: values:3:1: B1 = 1 +: ") == 0);
    CHECK(message("h = 1\nrun.h = 2\n").find("values:") != std::string::npos);
    CHECK(perp_program(folder, {"run", crossing, "--set-file", "none"}).err ==
          "perp run: none:1:1: cannot be opened; expected a file\n");
    folder.write("values", "h = 1\n");
    CHECK(perp_program(folder, {"run", crossing, "--set-file", "values", "--events", "values"}).status == 2);
    CHECK(read_text(folder / "values") == "h = 1\n");
  }
}
