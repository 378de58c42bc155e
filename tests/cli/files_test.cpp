#include <doctest/doctest.h>
#include <sys/stat.h>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <perp/tests/paths.hpp>

#include <perp/tests/cli/program.hpp>

namespace {

namespace fs = std::filesystem;
using perp::test::Folder;
using perp::test::lines;
using perp::test::Outcome;
using perp::test::perp_program;
using perp::test::read_text;

const std::string model_text =
    "[variables]\nx = 1\n[model]\nequations = [\"der(x) = -x + sign(0.5 - x)\"]\n"
    "[run]\nt = [0, 1]\nh = 0.1\n";
const std::string problem_text =
    R"({"name": "P", "p": 0, "m": 1, "Auu": [], "Aul": [], "au": [], "Alu": [], "All": [[1]],)"
    R"( "al": [-1], "lower": [0], "upper": ["inf"]})";

/// The program in a shell, which can give it any standard streams and limits. P is the program.
Outcome shell(const Folder& folder, const std::string& command) {
  const std::string line = "cd '" + folder.path() + "' && P='" +
                           perp::test::program_path() + "' && export P && { " + command +
                           " ; } > .shell_out 2> .shell_err < /dev/null";
  const std::string quoted_line = "bash -c \"$LINE\"";
  setenv("LINE", line.c_str(), 1);
  const int status = std::system(quoted_line.c_str());
  return {WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status),
          read_text(folder / ".shell_out"), read_text(folder / ".shell_err")};
}

/// A folder with a model, a problem and links to them, and a picture's data as model.
void fill(const Folder& folder) {
  folder.write("m.toml", model_text);
  folder.write("p.json", problem_text);
  folder.write("times.csv", "0, 1\n");
  folder.write("data.csv", "t,u\n0,0\n2,1\n");
  folder.write("data.toml", "[variables]\nx = 1\n[inputs]\nu = { file = \"data.csv\", column = \"u\" }\n[model]\n"
                            "equations = [\"der(x) = u - x\"]\n[run]\nt = [0, 1]\nh = 0.1\n");
  fs::create_symlink(folder / "m.toml", folder / "soft.csv");
  fs::create_hard_link(folder / "m.toml", folder / "hard.csv");
  fs::copy_file(folder / "m.toml", folder / "picture.dat");
  fs::create_hard_link(folder / "m.toml", folder / "drawn.gp");
}

}  // namespace

TEST_SUITE("cli/files") {
  TEST_CASE("no command writes a file that it reads, under whatever name") {
    const Folder folder;
    fill(folder);
    const std::vector<std::vector<std::string>> commands{
        {"run", "m.toml", "--events", "m.toml"},
        {"run", "m.toml", "--events", "./m.toml", "-o", "o.csv"},
        {"run", "m.toml", "-o", "soft.csv"},
        {"run", "m.toml", "-o", "hard.csv"},
        {"run", "soft.csv", "-o", "hard.csv"},
        {"run", "m.toml", "--times", "times.csv", "-o", "times.csv"},
        {"run", "data.toml", "-o", "data.csv"},
        {"run", "data.toml", "--events", "./data.csv"},
        {"sweep", "data.toml", "--vary", "x=0:1:3", "--measure", "e=end(x)", "-o", "data.csv"},
        {"sensitivities", "data.toml", "-o", "data.csv"},
        {"converge", "data.toml", "--h", "0.1,0.05", "-o", "data.csv"},
        {"map", "data.toml", "--vary", "x=0:1:2", "-o", "data.csv"},
        {"run", "m.toml", "--times", "times.csv", "--events", "times.csv"},
        {"run", "picture.dat", "--plot", "picture.svg"},
        {"run", "m.toml", "--plot", "drawn.png"},
        {"sensitivities", "m.toml", "-o", "hard.csv"},
        {"sensitivities", "m.toml", "--events", "soft.csv"},
        {"map", "m.toml", "--vary", "x=0:1:2", "-o", "soft.csv"},
        {"map", "m.toml", "--vary", "x=0:1:2", "--vary", "run.h=0.1:0.2:2", "--plot", "drawn.svg"},
        {"converge", "m.toml", "--h", "0.1,0.05", "--reference", "times.csv", "-o", "times.csv"},
        {"converge", "m.toml", "--h", "0.1,0.05", "-o", "hard.csv"},
        {"converge", "m.toml", "--h", "0.1,0.05", "--plot", "drawn.svg"},
        {"solutions", "m.toml", "--tree", "2", "--plot", "drawn.svg"},
        {"mlcp", "p.json", "-o", "p.json"},
    };
    for (const auto& command : commands) {
      const Outcome outcome = perp_program(folder, command);
      CAPTURE(command);
      CHECK(outcome.status == 2);
      CHECK(outcome.out == "");
      CHECK(lines(outcome.err).size() == 1);
      CHECK_MESSAGE(outcome.err.find("which is read") != std::string::npos, outcome.err);
      CHECK(read_text(folder / "m.toml") == model_text);
      CHECK(read_text(folder / "p.json") == problem_text);
      CHECK(read_text(folder / "picture.dat") == model_text);
      CHECK(read_text(folder / "times.csv") == "0, 1\n");
    }
    CHECK(!fs::exists(folder / "o.csv"));
  }

  TEST_CASE("a standard output that goes to an input is refused before it is touched") {
    const Folder folder;
    fill(folder);
    CHECK(shell(folder, "$P run m.toml >> m.toml").status == 2);
    CHECK(shell(folder, "$P mlcp p.json >> p.json").status == 2);
    CHECK(read_text(folder / "m.toml") == model_text);
    CHECK(read_text(folder / "p.json") == problem_text);
  }

  TEST_CASE("two outputs are two files, and data do not go where text goes") {
    const Folder folder;
    fill(folder);
    folder.write("o.csv", "old\n");
    fs::create_hard_link(folder / "o.csv", folder / "linked.csv");
    for (const std::string arguments :
         {"-o o.csv --events o.csv", "-o o.csv --events linked.csv", "-o new.csv --events ./new.csv",
          "-o new.csv --events new.csv.json", "--plot new.svg --events new.dat",
          "--plot new.svg --plot-phase x,x --events new_phase.gp", "--events /dev/stdout",
          "-o o.csv --events /dev/stdout", "-o o.csv --events /dev/stderr"}) {
      const Outcome outcome = shell(folder, "$P run m.toml " + arguments);
      CAPTURE(arguments);
      CHECK(outcome.status == 2);
      CHECK_MESSAGE(lines(outcome.err).size() == 1, outcome.err);
      CHECK(read_text(folder / "o.csv") == "old\n");
    }
    // Where no text goes to standard output a file may.
    const Outcome alone =
        shell(folder, "$P run m.toml -o q.csv --quiet --events /dev/stdout | head -1");
    CHECK(alone.out.rfind("t,type,law", 0) == 0);
    CHECK(shell(folder, "$P mlcp p.json -o /dev/stdout").out ==
          shell(folder, "$P mlcp p.json").out);
  }

  TEST_CASE("an output takes its place when it is complete: link, permissions, old file on failure") {
    const Folder folder;
    fill(folder);
    folder.write("target.csv", "old\n");
    chmod((folder / "target.csv").c_str(), 0640);
    fs::create_symlink("target.csv", folder / "link.csv");
    CHECK(perp_program(folder, {"run", "m.toml", "-o", "r.csv", "--events", "link.csv"}).status == 0);
    CHECK(fs::is_symlink(folder / "link.csv"));
    CHECK(read_text(folder / "target.csv").rfind("t,type,law", 0) == 0);
    struct stat status {};
    stat((folder / "target.csv").c_str(), &status);
    CHECK((status.st_mode & 0777U) == 0640U);
    // A run that cannot start leaves the old states; nothing temporary stays.
    folder.write("r.csv", "precious\n");
    folder.write("r.h5", "precious\n");
    folder.write("wrong.toml", "[variables]\nx = 1\n[model]\nequations = [\"der(x) = sqrt(-x)\"]\n"
                               "[run]\nt = [0, 1]\n");
    for (const std::string output : {"r.csv", "r.h5"})
      if (perp_program(folder, {"run", "wrong.toml", "-o", output}).status == 2)
        CHECK(read_text(folder / output) == "precious\n");
    for (const auto& entry : fs::directory_iterator(folder.path()))
      CHECK(entry.path().filename().string().rfind(".target", 0) != 0);
  }

  TEST_CASE("every command says that a device is full, with status 2") {
    const Folder folder;
    fill(folder);
    perp_program(folder, {"run", "m.toml", "-o", "ref.csv"});
    for (const std::string command :
         {"--help", "--version", "list laws", "list models", "run m.toml", "run m.toml -o o.csv",
          "check m.toml", "solutions m.toml", "solutions m.toml --json", "solutions m.toml --tree 1",
          "jumps m.toml", "equilibria m.toml", "map m.toml --vary x=0:1:3",
          "converge m.toml --h 0.1,0.05", "sensitivities m.toml", "mlcp p.json"}) {
      const Outcome outcome = shell(folder, "$P " + command + " > /dev/full");
      CAPTURE(command);
      CHECK(outcome.status == 2);
      CHECK_MESSAGE(outcome.err.find("No space left on device") != std::string::npos, outcome.err);
      CHECK(outcome.err.find("internal error") == std::string::npos);
    }
    CHECK(shell(folder, "$P run m.toml -o o.csv --events /dev/full").status == 2);
    CHECK(shell(folder, "$P run m.toml > o.csv 2> /dev/full").status == 2);
    CHECK(shell(folder, "$P run m.toml >&-").status == 2);
  }

  TEST_CASE("rows that fit no more leave whole rows, and a file of HDF5 the one that was there") {
    const Folder folder;
    fill(folder);
    for (const std::string name : {"big.csv", "big.h5"}) {
      CAPTURE(name);
      folder.write(name, "precious\n");
      CHECK(shell(folder, "ulimit -f 64; trap '' XFSZ; $P run m.toml --h 1e-5 -o " + name).status == 2);
      const std::string left = read_text(folder / name);
      if (name == "big.h5") {
        CHECK(left == "precious\n");
        continue;
      }
      REQUIRE(left.size() > 1000);
      CHECK(left.back() == '\n');
      const perp::test::Csv csv = perp::test::parse_csv(left);
      for (const auto& row : csv.rows) REQUIRE(row.size() == csv.header.size());
    }
  }

  TEST_CASE("a pipe that nobody reads ends the program without a word") {
    const Folder folder;
    fill(folder);
    const Outcome outcome =
        shell(folder, "$P run m.toml --h 1e-5 | head -1; $P list models | head -1; "
                      "(trap '' PIPE; $P run m.toml --h 1e-5 --quiet) | head -1");
    CHECK(outcome.status == 0);
    CHECK(lines(outcome.out).size() == 3);
    CHECK(outcome.err == "");
  }

  TEST_CASE("HDF5 that does not fit ends with a message and status 2") {
    const Folder folder;
    fill(folder);
    for (const int kilobytes : {4, 64})
      for (const std::string command :
           {"run m.toml --h 1e-4 -o big.h5", "map m.toml --vary x=0:1:20000 -o big.h5"}) {
        const Outcome outcome = shell(
            folder, "ulimit -f " + std::to_string(kilobytes) + "; $P " + command +
                        " 2>&1 | cat; exit ${PIPESTATUS[0]}");
        CAPTURE(command);
        CAPTURE(kilobytes);
        CHECK(outcome.status == 2);
        CHECK(outcome.out.find("big.h5") != std::string::npos);
      }
    fs::create_symlink("/dev/full", folder / "full.h5");
    CHECK(perp_program(folder, {"run", "m.toml", "-o", "full.h5"}).status == 2);
  }

  TEST_CASE("HDF5 files of the same run are the same bytes, whenever it is made") {
    const Folder folder;
    fill(folder);
    for (const std::string name : {"one", "two"}) {
      fs::create_directory(folder / name);
      const auto run = [&](const std::string& command) {
        REQUIRE(shell(folder, "$P " + command + " -o " + name + "/o.h5").status == 0);
        return read_text(folder / (name + "/o.h5"));
      };
      const std::string trajectory = run("run m.toml --h 1e-4");
      fs::rename(folder / (name + "/o.h5"), folder / (name + ".run"));
      run("map m.toml --vary x=0:1:30 --threads 2");
      if (name == "one") shell(folder, "sleep 1.1");
      CHECK(trajectory.size() > 100'000);
    }
    CHECK(read_text(folder / "one.run") == read_text(folder / "two.run"));
    CHECK(read_text(folder / "one/o.h5") == read_text(folder / "two/o.h5"));
  }
}
