#include <doctest/doctest.h>
#include <cmath>
#include <nlohmann/json.hpp>
#include <set>

#include <perp/tests/cli/program.hpp>
#include <perp/tests/paths.hpp>

using nlohmann::json;
using perp::test::Folder;
using perp::test::lines;
using perp::test::Outcome;
using perp::test::perp_program;
using perp::test::read_text;

namespace {

const std::string data = perp::test::data_path("/mlcp/");

/// What identifies a piece exactly: its active sets, dimension and vertices.
using Identity = std::tuple<std::set<std::string>, int, std::set<std::vector<std::string>>>;

Identity identity(const json& piece) {
  return {piece["active_sets"].get<std::set<std::string>>(), piece["dim"].get<int>(),
          piece["vertices_exact"].get<std::set<std::vector<std::string>>>()};
}

void check_minimal_norm(const json& found, const json& wanted) {
  if (wanted.is_null()) {
    CHECK(found.is_null());
    return;
  }
  const double value = wanted["value_squared"];
  CHECK(std::abs(found["value_squared"].get<double>() - value) <= 1e-12 * std::max(1.0, value));
  REQUIRE(found["minimisers"].size() == wanted["minimisers"].size());
  for (const json& point : wanted["minimisers"]) {
    double nearest = 1e300;
    for (const json& other : found["minimisers"]) {
      double distance = 0;
      for (std::size_t k = 0; k < point.size(); ++k)
        distance = std::max(distance, std::abs(point[k].get<double>() - other[k].get<double>()) /
                                          std::max(1.0, std::abs(point[k].get<double>())));
      nearest = std::min(nearest, distance);
    }
    CHECK(nearest < 1e-11);
  }
}

/// The text of a small problem, w = λ - 1, 0 ≤ λ ≤ inf, with parts to spoil.
std::string small(const std::string& from, const std::string& to) {
  std::string text =
      "{\n \"name\": \"small\",\n \"p\": 1,\n \"m\": 1,\n \"Auu\": [[1.0]],\n \"Aul\": [[2.0]],\n"
      " \"au\": [1],\n \"Alu\": [[0]],\n \"All\": [[1]],\n \"al\": [-1],\n \"lower\": [0],\n"
      " \"upper\": [\"inf\"],\n"
      " \"norm\": {\"indices\": [0], \"ref\": [0], \"weights\": [4]}\n}\n";
  const std::size_t at = text.find(from);
  REQUIRE(at != std::string::npos);
  return text.replace(at, from.size(), to);
}

}  // namespace

TEST_SUITE("cli/mlcp") {
  TEST_CASE("reference problems: class, pieces and minimal norm come out in the same layout") {
    const Folder folder;
    int problems = 0;
    for (const auto& entry : std::filesystem::directory_iterator(data)) {
      if (entry.path().extension() != ".json") continue;
      const json wanted = json::parse(read_text(entry.path().string()));
      const Outcome run = perp_program(folder, {"mlcp", entry.path().string()});
      CAPTURE(entry.path().string());
      CHECK(run.status == (wanted["class"]["u_lambda"] == "none" ? 3 : 0));
      const json found = json::parse(run.out);
      CHECK(found["name"] == wanted["name"]);
      CHECK(found["class"] == wanted["class"]);
      std::set<Identity> found_pieces, wanted_pieces;
      for (const json& piece : found["pieces"]) found_pieces.insert(identity(piece));
      for (const json& piece : wanted["pieces"]) wanted_pieces.insert(identity(piece));
      CHECK(found_pieces == wanted_pieces);
      CHECK(found["norm"] == wanted["norm"]);
      check_minimal_norm(found["minimal_norm"], wanted["minimal_norm"]);
      if (!wanted["minimal_norm"].is_null())
        CHECK(found["minimal_norm"]["value_squared_exact"] ==
              wanted["minimal_norm"]["value_squared_exact"]);
      CHECK(found["arithmetic"] == "rational");
      ++problems;
    }
    CHECK(problems >= 70);
  }

  TEST_CASE("--double finds the same classes") {
    const Folder folder;
    for (const char* name : {"p_index2_step_06", "p_relay_02", "p_mixed_00", "p_lcp_05",
                             "p_degenerate_00", "p_scaled_03"}) {
      const std::string file = data + name + ".json";
      const json wanted = json::parse(read_text(file));
      const json found = json::parse(perp_program(folder, {"mlcp", file, "--double"}).out);
      CAPTURE(name);
      CHECK(found["arithmetic"] == "double");
      CHECK(found["class"] == wanted["class"]);
      CHECK(found["pieces"].size() == wanted["pieces"].size());
      check_minimal_norm(found["minimal_norm"], wanted["minimal_norm"]);
    }
  }

  TEST_CASE("--max-nodes ends the enumeration in both arithmetics, and the answer says so") {
    const Folder folder;
    folder.write("small.json", small("small", "small"));
    for (const char* arithmetic : {"--exact", "--double"}) {
      const Outcome ended =
          perp_program(folder, {"mlcp", "small.json", arithmetic, "--max-nodes", "1"});
      CHECK(ended.status == 3);
      CHECK(ended.err.find("perp mlcp: not proved complete: ") == 0);
      const json answer = json::parse(ended.out);
      CHECK(answer["status"] == "not_enumerated");
      CHECK(answer["certificate"].get<std::string>().find("not proved complete") == 0);
      CHECK(perp_program(folder, {"mlcp", "small.json", arithmetic, "--max-nodes", "9"}).status ==
            0);
    }
    CHECK(perp_program(folder, {"mlcp", "small.json", "--max-nodes", "0"}).status == 2);
  }

  TEST_CASE("a solution beyond the largest double is not called solved but as fractions") {
    const Folder folder;
    folder.write("far.json", R"({"name":"far","p":0,"m":1,"Auu":[],"Aul":[],"au":[],"Alu":[[]],
      "All":[[1e-308]],"al":[-1e308],"lower":[0],"upper":["inf"]})");
    CHECK(perp_program(folder, {"mlcp", "far.json", "--exact"}).status == 0);
    const Outcome doubles = perp_program(folder, {"mlcp", "far.json", "--double"});
    CHECK(doubles.status == 3);
    CHECK(doubles.err.find("beyond the largest double") != std::string::npos);
    const Outcome nearest = perp_program(folder, {"mlcp", "far.json", "--nearest"});
    CHECK(nearest.status == 3);
    CHECK(json::parse(nearest.out)["status"] == "not_solved");
  }

  TEST_CASE("--nearest finds the minimal norm of the reference problems alone, with its bound") {
    const Folder folder;
    int solved = 0;
    for (const char* name : {"p_index2_step_06", "p_relay_02", "p_mixed_00", "p_lcp_05",
                             "p_degenerate_00", "p_scaled_03", "p_index2_step_00"}) {
      CAPTURE(name);
      const std::string file = data + name + ".json";
      const json wanted = json::parse(read_text(file))["minimal_norm"];
      const Outcome run = perp_program(folder, {"mlcp", file, "--nearest"});
      const json found = json::parse(run.out);
      if (wanted.is_null()) {
        CHECK(run.status == 3);
        CHECK(found["status"] == "no_solution");
        continue;
      }
      ++solved;
      CHECK(run.status == 0);
      const double norm = std::sqrt(wanted["value_squared"].get<double>());
      CHECK(found["value"].get<double>() == doctest::Approx(norm).epsilon(1e-7));
      CHECK(found["bound"].get<double>() <= norm * (1 + 1e-12) + 1e-12);
      CHECK(found["certificate"].get<std::string>().find("bound: no solution is nearer") == 0);
      CHECK(found["residual"].get<double>() <= 1e-10);
    }
    CHECK(solved >= 3);
    folder.write("none.json", small(",\n \"norm\": {\"indices\": [0], \"ref\": [0], "
                                    "\"weights\": [4]}",
                                    ""));
    const Outcome without = perp_program(folder, {"mlcp", "none.json", "--nearest"});
    CHECK(without.status == 0);
    CHECK(json::parse(without.out)["norm"].get<std::string>().find("(the file gives no norm)") !=
          std::string::npos);
    CHECK(perp_program(folder, {"mlcp", "none.json", "--nearest", "--exact"}).status == 2);
  }

  TEST_CASE("the empty problem has its one solution, by every way to solve it") {
    const Folder folder;
    folder.write("empty.json", R"({"p": 0, "m": 0})");
    const json all = json::parse(perp_program(folder, {"mlcp", "empty.json"}).out);
    CHECK(all["class"]["u_lambda"] == "unique");
    CHECK(all["pieces"].size() == 1);
    CHECK(json::parse(perp_program(folder, {"mlcp", "empty.json", "--nearest"}).out)["value"] == 0);
    for (const char* solver : {"lemke", "mode_search", "enumerate"})
      CHECK(perp_program(folder, {"mlcp", "empty.json", "--solver", solver}).status == 0);
  }

  TEST_CASE("a key that stands twice is an error, and a search that was cut says what it found") {
    const Folder folder;
    folder.write("twice.json", R"({"p": 0, "m": 0, "p": 0})");
    CHECK(perp_program(folder, {"mlcp", "twice.json"}).err.find("stands twice") !=
          std::string::npos);
    folder.write("small.json", small("small", "small"));
    const json cut =
        json::parse(perp_program(folder, {"mlcp", "small.json", "--max-nodes", "1"}).out);
    CHECK(cut["class"]["u_lambda"] == "none found");
    CHECK(cut["class"]["count_u_lambda"].is_null());
  }

  TEST_CASE("one method finds one solution, or says why not with status 3") {
    const Folder folder;
    const Outcome solved =
        perp_program(folder, {"mlcp", data + "p_lcp_00.json", "--solver", "lemke", "-o", "s.json"});
    CHECK(solved.status == 0);
    CHECK(solved.out == "");
    const json solution = json::parse(read_text(folder / "s.json"));
    const json reference = json::parse(read_text(data + "p_lcp_00.json"));
    CHECK(solution["status"] == "solved");
    CHECK(solution["residual"].get<double>() < 1e-10);
    const json& vertex = reference["pieces"][0]["vertices"][0];
    for (std::size_t i = 0; i < vertex.size(); ++i)
      CHECK(solution["lambda"][i].get<double>() ==
            doctest::Approx(vertex[i].get<double>()).epsilon(1e-10));
    const Outcome none =
        perp_program(folder, {"mlcp", data + "p_lcp_05.json", "--solver", "enumerate"});
    CHECK(none.status == 3);
    CHECK(json::parse(none.out)["status"] == "no_solution");
    CHECK(lines(none.err).size() == 1);
  }

  TEST_CASE(
      "weights multiply the squares; bounds may be infinite; empty matrices may be left out") {
    const Folder folder;
    const json small_one =
        json::parse(perp_program(folder, {"mlcp", folder.write("a.json", small("}", "}"))}).out);
    // λ = 1, u = -3: 4·9.
    CHECK(small_one["minimal_norm"]["value_squared"] == doctest::Approx(36));
    const std::string file =
        folder.write("b.json",
                     "{\"p\": 0, \"m\": 1, \"All\": [[1]], \"al\": [2], \"lower\": [\"-inf\"], "
                     "\"upper\": [\"inf\"]}");
    const Outcome run = perp_program(folder, {"mlcp", file});
    CHECK(run.status == 0);
    const json free = json::parse(run.out);
    CHECK(free["pieces"][0]["vertices_exact"] == json::parse("[[\"-2\"]]"));
    CHECK(free["pieces"][0]["active_sets"] == json::parse("[\"F\"]"));
    CHECK_FALSE(free.contains("minimal_norm"));
  }

  TEST_CASE("a spoiled problem gives one line with file, line and column, status 2") {
    const Folder folder;
    struct Spoiled {
      std::string from, to, place, message;
    };
    const std::vector<Spoiled> list{
        {"\"m\": 1,", "\"m\": 1", ":5:", "not JSON"},
        {"{\n", "", ":1:", "not JSON"},
        {"\"Auu\": [[1.0]]", "\"Auu\": [[1.0, 2]]", ":5:10:", "Auu must be 1x1 but row 1 is"},
        {"\"Auu\": [[1.0]]", "\"Auu\": [[1.0], [2]]", ":5:9:", "Auu must be 1x1 but has 2 rows"},
        {"\"Auu\"", "\"Auuu\"", ":5:10:", "did you mean 'Auu'?"},
        {"[[1.0]]", "[[\"one\"]]", ":5:11:", "Auu(1,1) is text; expected a finite number"},
        {"[[1.0]]", "[[NaN]]", ":5:", "not JSON"},
        {"[[1.0]]", "[[1e999]]", ":", "not JSON"},
        {"\"p\": 1", "\"p\": -1", ":3:7:", "p is -1; expected a whole number"},
        {"\"p\": 1", "\"p\": 1.5", ":3:7:", "p is 1.5"},
        {" \"al\": [-1],\n", "", ":1:1:", "'al' is missing"},
        {"[-1]", "[-1, 2]", ":10:8:", "al must have 1 entries but has 2"},
        {"[\"inf\"]", "[\"much\"]", ":12:12:", "expected a number, \"inf\" or \"-inf\""},
        {"[\"inf\"]", "[-3]", ":11:12:", "expected lower <= upper"},
        {"\"indices\": [0]", "\"indices\": [7]", ":13:23:", "expected a whole number from 0 to 0"},
        {"\"weights\": [4]", "\"weights\": [-4]", ":13:51:", "norm.weights(1) is -4"},
        {"\"weights\"", "\"wieghts\"", ":13:50:", "did you mean 'weights'?"},
    };
    for (const Spoiled& spoiled : list) {
      const std::string file = folder.write("spoiled.json", small(spoiled.from, spoiled.to));
      const Outcome run = perp_program(folder, {"mlcp", file});
      CAPTURE(spoiled.to);
      CHECK(run.status == 2);
      CHECK(run.out == "");
      CHECK_MESSAGE(lines(run.err).size() == 1, run.err);
      CHECK_MESSAGE(run.err.find(file + spoiled.place) != std::string::npos, run.err);
      CHECK_MESSAGE(run.err.find(spoiled.message) != std::string::npos, run.err);
    }
    const std::string empty = folder.write("empty.json", "");
    CHECK(perp_program(folder, {"mlcp", empty}).err.find(empty + ":1:1: not JSON") !=
          std::string::npos);
  }
}
