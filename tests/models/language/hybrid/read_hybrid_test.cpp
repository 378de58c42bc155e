#include <doctest/doctest.h>
#include <memory>
#include <string>

#include <perp/models/language/hybrid/faces.hpp>
#include <perp/models/language/hybrid/hybrid_structure.hpp>
#include <perp/models/language/hybrid/lower_binaries.hpp>
#include <perp/models/language/hybrid/read_hybrid.hpp>
#include <perp/models/language/read_model.hpp>

namespace {

using perp::Faces;
using perp::HybridModel;
using perp::HybridStructure;
using perp::LoweredBinaries;
using perp::Model;

const std::string span = "[run]\nt = [0, 1]\n";

std::string room(const std::string& binaries, const std::string& constraints,
                 const std::string& more = "") {
  return "[parameters]\nlo = 19\nhi = 21\n[variables]\nx = 20\n" + more + "[binaries]\n" +
         binaries + "\n[model]\nequations = [\"der(x) = 4*z - 1\"]\nconstraints = [" + constraints +
         "]\n";
}

const std::string band = "\"(lo - x)*(1 - z) + (x - hi)*z <= 0\"";

HybridModel model_of(const std::string& text) {
  return *perp::read_hybrid_model_text(text + span, "m.toml");
}

/// Of a text that is refused; `read` reads it.
template <class Read>
std::string complaint(const Read& read) {
  try {
    read();
  } catch (const perp::ModelError& error) {
    return error.what();
  }
  return "none";
}

std::string complaint_of(const std::string& text) {
  return complaint([&] { perp::read_hybrid_model_text(text + span, "m.toml"); });
}

std::string run_complaint(const std::string& text) {
  return complaint([&] { perp::read_model_text(text + span, "m.toml"); });
}

bool tells(const std::string& message, const std::string& place, const std::string& part) {
  CAPTURE(message);
  const bool is_there =
      message.starts_with("m.toml:" + place) && message.find(part) != std::string::npos;
  CHECK(is_there);
  return is_there;
}

TEST_CASE("equations beyond the number of variables are refused by their names") {
  const std::string text =
      "[variables]\nx = 1\n[binaries]\nz = 0\n[model]\nequations = [\"der(x) = -x\", \"x = 2 + "
      "z\"]\n"
      "constraints = [\"(x - 3)*z <= 0\"]\n";
  tells(complaint_of(text),
        "5:2:", "f2 is an equation for z, which constraints determine; 2 equations");
  const std::string matrices =
      "[multilinear]\nsignals = { states = [\"x\"], inputs = [], algebraic = [], binaries = "
      "[\"z\"] }\n"
      "S = { rows = 3, columns = 3, entries = [[1, 1, 1], [2, 2, 1], [3, 2, 1], [3, 3, 1]] }\n"
      "Phi_f = { rows = 2, columns = 3, entries = [[1, 1, 1], [2, 3, 1]] }\n"
      "Phi_g = { rows = 1, columns = 3, entries = [[1, 2, 1]] }\n[variables]\nx = 1\n[binaries]\nz "
      "= 0\n";
  tells(complaint_of(matrices),
        "1:2:", "2 equations and 1 constraints for 1 variables and 1 binaries");
}

TEST_CASE("a name that a constraint does not know is told beside those that it does") {
  tells(complaint_of(room("z = 0", "\"(x - 21)*zz <= 0\"")),
        "10:", "unknown name 'zz'; expected one of ");
}

TEST_CASE("a name that an input does not know is told beside those that it may hold") {
  const std::string message = complaint_of(
      "[variables]\nx = 1\n[inputs]\nu1 = \"t\"\nu2 = \"u1 + xx\"\nu3 = 0\n[model]\n"
      "equations = [\"der(x) = u2\"]\n");
  tells(message, "5:12:", "unknown name 'xx'; expected one of u1, t");
  CHECK(message.find("u2") == std::string::npos);
  CHECK(message.find("u3") == std::string::npos);
  CHECK(message.find("did you mean 'x'") == std::string::npos);
}

TEST_CASE("wrong binaries and constraints are refused at their place") {
  tells(complaint_of(room("z = 2", band)), "7:5:", "start of binary 'z' is 2; expected 0 or 1");
  tells(complaint_of(room("z = 0.5", band)), "7:5:", "start of binary 'z' is 0.5; expected 0 or 1");
  tells(complaint_of(room("x = 0", band)),
        "7:1:", "'x' is a variable already; expected another name for a binary");
  tells(complaint_of(room("lo = 0", band)), "7:1:", "'lo' is a parameter already");
  tells(complaint_of(room("z = {begin = 1}", band)), "7:", "begin");
  tells(complaint_of(room("z = {}", "\"x*(1 - y) <= 0\"")), "10:", "y");
  tells(complaint_of(room("z = {}", "\"x*(1 - z) = 0\"")),
        "10:27:", "found '='; expected '<=' or '>='");
  tells(complaint_of(room("z = {}", "\"x*(1 - z) < 0\"")), "10:27:", "found '<'; expected '<='");
  tells(complaint_of(room("z = {}", "\"abs(x) - z <= 0\"")),
        "10:17:", "'abs' is a set-valued operator");
  tells(complaint_of(room("z = {}", "\"der(z) <= 0\"")), "10:", "");
  tells(complaint_of(
            room("z = {}", "{ name = \"a\", g = \"z >= 0\" }, { name = \"a\", g = \"z >= 0\" }")),
        "10:", "there are two constraints 'a'");
  tells(complaint_of(room("z = {}\nz2 = {}", band)), "9:2:",
        "nothing determines z2; 1 equations and 1 constraints for 1 variables and 2 binaries");
  tells(complaint_of(room("z = {}", band, "y = 1\n")), "9:2:", "nothing determines y");
  tells(complaint_of(
            "[variables]\nx = 1\n[inputs]\nu = \"x\"\n[model]\nequations = [\"der(x) = u\"]\n"),
        "4:5:", "input 'u' holds a signal that is not known there");
}

TEST_CASE("<= and >= are both read, as g <= 0") {
  const HybridModel model =
      model_of(room("z = {}", "{ name = \"top\", g = \"x*z <= hi\" }, \"x >= lo\""));
  Faces faces(model);
  REQUIRE(model.constraints.size() == 2);
  CHECK(model.constraints[0].name == "top");
  CHECK(model.constraints[1].name == "g2");
  const int x = model.variable_input(0);
  CHECK(faces.face(0, {1})->terms.at({x}).value == 1);
  CHECK(faces.face(0, {0})->terms.at({}).value == -21);
  CHECK(faces.face(1, {0})->terms.at({x}).value == -1);
}

TEST_CASE("a constraint is void by its coefficients and not by its value") {
  const HybridModel model = model_of(
      room("z = {}\nw = {}", "\"(lo - x)*(1 - z + w) <= 0\", \"(x - 20)*(1 - w + z) <= 0\""));
  Faces faces(model);
  CHECK(faces.is_void(0, {1, 0}));
  CHECK_FALSE(faces.is_void(0, {1, 1}));
  CHECK(faces.is_void(1, {0, 1}));
  CHECK_FALSE(faces.is_void(1, {0, 0}));  // x = 20 is its surface
}

TEST_CASE("known inputs are formulas of t, parameters and inputs above them") {
  const HybridModel model = model_of(
      "[parameters]\na = 2\n[variables]\nx = 1\n[inputs]\nu = \"a*t\"\nv = \"u + "
      "1\"\n[model]\nequations = [\"der(x) = v\"]\n");
  std::vector<int> rows;
  const perp::Tape tape = model.closed(rows);
  const std::vector<double> inputs{3, 0, 0};  // t, der(x), x
  std::vector<double> values(static_cast<std::size_t>(tape.size()));
  tape.evaluate(std::span<const double>(inputs), std::span<double>(values));
  CHECK(values[static_cast<std::size_t>(rows[0])] == -7);  // der(x) - (2*3 + 1)
}

TEST_CASE("a band is a hysteresis, and its ends stay functions of the parameters") {
  const LoweredBinaries lowered = lower_binaries(model_of(room("z = 1", band)));
  REQUIRE(lowered.reason.empty());
  REQUIRE(lowered.system.laws.size() == 1);
  const perp::Law& law = lowered.system.laws[0];
  CHECK(law.memory);
  CHECK(law.branches.front().lambda.lower == 1);  // the declared start comes first
  // w = (lo - x)/(hi - lo): 0 at the lower end, -1 at the upper one, for any ends.
  for (const double hi : {21.0, 25.0})
    for (const double x : {19.0, hi}) {
      const std::vector<double> inputs{0, 0, x, 0, 19, hi};
      std::vector<double> values(static_cast<std::size_t>(lowered.system.tape.size()));
      lowered.system.tape.evaluate(std::span<const double>(inputs), std::span<double>(values));
      CHECK(values[static_cast<std::size_t>(lowered.system.G[0])] == (x == 19 ? 0 : -1));
    }
}

TEST_CASE("opposite faces are a step") {
  const LoweredBinaries lowered =
      lower_binaries(model_of(room("z = {}", "\"3*(x - lo)*(1 - z) + (lo - x)*z <= 0\"")));
  REQUIRE(lowered.reason.empty());
  CHECK_FALSE(lowered.system.laws[0].memory);
  CHECK(lowered.system.laws[0].branches.size() == 3);
}

TEST_CASE("what no law is exactly is not run, and said so at the constraint") {
  CHECK(run_complaint(room("z = 1", band)) == "none");
  tells(run_complaint(room("z = {}", band)),
        "7:", "binary 'z' has no start: within its band both values continue; expected 0 or 1");
  tells(run_complaint(room("z = 0", "\"(hi - x)*(1 - z) + (x - lo)*z <= 0\"")), "7:",
        "start of binary 'z' is 0, where g1 ((hi - x)*(1 - z) + (x - lo)*z <= 0) is 1, and the other "
        "value violates it too");
  tells(run_complaint(room("z = {}", "\"(lo - x)*(1 - z) <= 0\"")), "7:",
        "binary 'z' has no start: both values continue where its constraint holds");
  tells(run_complaint(room("z = 0", "\"(lo - x)*(1 - z) + (2*x*x - hi)*z <= 0\"")),
        "10:16:", "its forms for z = 0 and z = 1 are not of one quantity");
  tells(run_complaint(room("z = 0", "\"(lo - x)*(1 - z) + (2*lo - 2*x)*z <= 0\"")),
        "10:16:", "its forms for z = 0 and z = 1 have one sign");
  tells(run_complaint(
            room("z = 0\nw = 0", "\"(lo - x)*(1 - z + w) <= 0\", \"(x - hi)*(1 - w + z) <= 0\"")),
        "11:16:", "it holds 2 binaries");
  CHECK(run_complaint(room("z = 0", band + ", \"x >= 0\"")) == "none");
}

TEST_CASE("a start that violates its constraint is said, and the other value taken") {
  const Model model = perp::read_model_text(
      room("z = 1", "{ name = \"relay\", g = \"(x - lo)*(2*z - 1) <= 0\" }") + span, "m.toml");
  REQUIRE(model.warnings.size() == 1);
  CHECK(model.warnings[0] ==
        "start of binary 'z' is 1, where relay ((x - lo)*(2*z - 1) <= 0) is 1; it starts as 0");
}

std::string law_of(const std::string& constraint, const std::string& binaries = "z = 1") {
  const LoweredBinaries lowered = lower_binaries(model_of(room(binaries, constraint)));
  return lowered.reason.empty() ? lowered.system.laws[0].branches.size() == 3
                                      ? "slides"
                                      : (lowered.system.laws[0].memory ? "memory" : "none")
                                : lowered.reason;
}

TEST_CASE("bands of any slope are a hysteresis, gaps end solutions, one face leaves a value free") {
  CHECK(law_of("\"(lo - x)*(1 - z) + 3*(x - hi)*z <= 0\"") == "memory");
  CHECK(law_of("\"2*(hi - x)*(1 - z) + (x - lo)*z <= 0\"") == "memory");  // a gap
  CHECK(law_of("\"(lo - x)*(1 - z) <= 0\"") == "memory");
  CHECK(law_of("\"(x - lo)*(1 - z) + 2*(lo - x)*z <= 0\"") == "slides");
}

TEST_CASE("what holds for the present numbers of the parameters alone is no law") {
  const std::string equal = "[parameters]\na = 20\nb = 20\n[variables]\nx = 19\n[binaries]\nz = {}\n"
                            "[model]\nequations = [\"der(x) = 4*z - 1\"]\nconstraints = [";
  const auto reason = [&](const std::string& g) {
    return lower_binaries(model_of(equal + "\"" + g + "\"]\n")).reason;
  };
  CHECK(reason("(a - x)*(1 - z) + (x - b)*z <= 0") ==
        "its band has no width for these numbers alone");
  CHECK(reason("(x - a)*(1 - z) + (a - x)*z <= 0").empty());
  CHECK(reason("a*(x - 1)*(1 - z) + b*(1 - x)*z <= 0").empty());  // kappa = b/a
}

TEST_CASE("the ends of a band whose faces are scaled by parameters do not move with these") {
  const LoweredBinaries lowered = lower_binaries(
      model_of("[parameters]\np = 1\nq = 1\n[variables]\nx = 20\n[binaries]\nz = 1\n[model]\n"
               "equations = [\"der(x) = 4*z - 1\"]\n"
               "constraints = [\"p*(19 - x)*(1 - z) + q*(x - 21)*z <= 0\"]\n"));
  REQUIRE(lowered.reason.empty());
  for (const double p : {1.0, 2.0})
    for (const double q : {1.0, 3.0})
      for (const double x : {19.0, 21.0}) {
        const std::vector<double> inputs{0, 0, x, 0, p, q};
        std::vector<double> values(static_cast<std::size_t>(lowered.system.tape.size()));
        lowered.system.tape.evaluate(std::span<const double>(inputs), std::span<double>(values));
        CHECK(values[static_cast<std::size_t>(lowered.system.G[0])] ==
              doctest::Approx(x == 19 ? 0 : -1));
      }
}

TEST_CASE("only rows that are linear in every signal are multilinear; binaries may have powers") {
  const HybridModel model = model_of(
      "[variables]\nx = 1\ny = 1\n[binaries]\nz = {}\n[model]\nequations = [\"der(x)*y = x*x\", "
      "\"y = sin(x) + z*z\"]\n"
      "constraints = [\"(x - 1)*(z*z - y*(1 - z)) <= 0\"]\n");
  CHECK(outside_class(model, 0) == "x occurs with power 2");
  CHECK(outside_class(model, 1) == "x stands in a function that is no polynomial");
  CHECK(outside_class(model, 2).empty());
}

TEST_CASE("independent parts are sub-sets, and blocks need earlier ones only") {
  const HybridModel model = model_of(
      "[variables]\nx = 1\nv = 1\n[binaries]\nz = {}\nw = {}\n[model]\nequations = [\"der(x) = "
      "z\", \"der(v) = w\"]\n"
      "constraints = [\"(x - 1)*(2*z - 1) <= 0\", \"(v - 1)*(2*w - 1) <= 0\"]\n");
  const HybridStructure structure = structure_of(model);
  CHECK(structure.blocks.size() == 4);
  CHECK(structure.sets == 2);
  for (std::size_t b = 0; b < structure.blocks.size(); ++b)
    for (const int other : structure.blocks[b].needs) CHECK(other < static_cast<int>(b));
}

TEST_CASE("the structure that reading has found is that of the model that was read, and of no other") {
  // Two constraints for one binary: no law stands for it.
  const std::string text = "[variables]\nx = 1\n[binaries]\nz = 0\n[model]\nequations = [\"der(x) = z\"]\n";
  const std::string two = "constraints = [\"(x - 2)*z <= 0\", \"(1 - x)*(1 - z) <= 0\"]\n";
  perp::ReadOptions known;
  known.hybrid = true;
  Model model = perp::read_model_text(text + two + span, "m.toml", {}, known);
  REQUIRE(model.hybrid != nullptr);
  const auto structure = perp::structure_of_binaries(model);
  CHECK(structure == perp::structure_of_binaries(Model(model)));
  CHECK(structure->blocks == structure_of(*model.hybrid).blocks);
  model.hybrid = std::make_shared<const HybridModel>(
      model_of("[variables]\nx = 1\nv = 1\n[binaries]\nz = 0\n[model]\nequations = [\"der(x) = z\", \"der(v) = x\"]\n" + two));
  CHECK(perp::structure_of_binaries(model)->blocks == structure_of(*model.hybrid).blocks);
  CHECK(perp::structure_of_binaries(model)->blocks != structure->blocks);
}

TEST_CASE("matrices that do not fit are refused with both numbers") {
  const std::string head =
      "[variables]\nx = 1\n[binaries]\nz = {}\n[multilinear]\nsignals = { states = [\"x\"], "
      "binaries = [\"z\"] }\n";
  const std::string S = "S = { rows = 3, columns = 2, entries = [[1, 1, 1], [3, 2, 1]] }\n";
  const std::string phi = "Phi_f = { rows = 1, columns = 2, entries = [[1, 1, 1], [1, 2, -1]] }\n";
  const std::string g = "Phi_g = { rows = 1, columns = 2, entries = [[1, 2, 1]] }\n";
  CHECK(complaint_of(head + S + phi + g) == "none");
  tells(complaint_of(head + "S = { rows = 4, columns = 2, entries = [] }\n" + phi + g),
        "7:", "S has 4 rows; expected 3, one for each signal");
  tells(complaint_of(head + S + "Phi_f = { rows = 1, columns = 3, entries = [] }\n" + g),
        "8:", "Phi_f has 3 columns; expected 2, as S has");
  tells(complaint_of(head + S + phi + "Phi_g = { rows = 1, columns = 2, entries = [[2, 1, 1]] }\n"),
        "9:", "found an entry at (2, 1); expected rows 1 to 1 and columns 1 to 2");
  tells(complaint_of(head + S + phi + "Phi_g = \"none.mtx\"\n"),
        "9:", "'none.mtx' cannot be opened");
  tells(complaint_of(head + "F = { stateDerivative = { rows = 2, columns = 2, entries = [] } }\n" + phi + g),
        "7:", "F.stateDerivative has 2 rows; expected 1");
  tells(complaint_of(head + S + phi + g + "group = \"a\"\n"), "10:", "group has no effect without file");
  tells(complaint_of(head + phi + g), "5:", "'S' is missing in [multilinear]");
  tells(
      complaint_of("[variables]\nx = 1\n[multilinear]\nsignals = { states = [\"y\"] }\n" + S + phi),
      "4:", "names 'y', which is declared nowhere");
}

TEST_CASE("matrices that are split as the toolbox splits them are the same model") {
  const std::string head =
      "[variables]\nx = 1\ny = 0\n[inputs]\nu = 3\n[binaries]\nz = {}\n[multilinear]\nsignals = { states = "
      "[\"x\"], inputs = [\"u\"], algebraic = [\"y\"], binaries = [\"z\"] }\n";
  const std::string phi_f = "{ rows = 2, columns = 3, entries = [[1, 1, 1], [1, 2, -2], [2, 3, 4]] }";
  const std::string phi_g = "{ rows = 1, columns = 3, entries = [[1, 3, 1]] }";
  const std::string whole =
      "S = { rows = 5, columns = 3, entries = [[1, 1, 1], [2, 2, 0.5], [3, 2, 1], [4, 3, 1], [5, 3, 2]] "
      "}\nPhi_f = " + phi_f + "\nPhi_g = " + phi_g + "\n";
  const std::string split =
      "F = { stateDerivative = { rows = 1, columns = 3, entries = [[1, 1, 1]] }, state = { rows = 1, "
      "columns = 3, entries = [[1, 2, 0.5]] }, input = { rows = 1, columns = 3, entries = [[1, 2, 1]] }, "
      "algebraic = { rows = 1, columns = 3, entries = [[1, 3, 1]] }, boolean = { rows = 1, columns = 3, "
      "entries = [[1, 3, 2]] } }\nphi = { equality = " + phi_f + ", inequality = " + phi_g + " }\n";
  const HybridModel a = model_of(head + whole), b = model_of(head + split);
  CHECK(a.tape == b.tape);
  CHECK(a.f == b.f);
  CHECK(a.g == b.g);
}

}  // namespace
