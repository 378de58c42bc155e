#include <doctest/doctest.h>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <perp/models/language/read_model.hpp>

namespace {

using perp::ModelError;
using perp::Override;

/// A good model, every test spoils one thing in it.
const std::string good = R"toml(name = "good"
source = "test"
[parameters]
B1 = -0.5
B2 = "2*abs(B1)"
[variables]
x1 = -5
x2 = { start = 4, unit = "V", nominal = 10 }
z = 0
[system]
E = [[1, 0, 0], [0, 1, 0], [0, 0, 0]]
A = [[0, 0, "B1"], [0, 0, "B2"], [0, -1, 0]]
B = [[0], [0], [1]]
b = ["1 + 0*t", 0, 0]
C = [[1, 0, 0]]
laws = ["abs_plus_sign"]
[run]
t = [0, 10]
scheme = "backward_euler"
selector = "keep_mode"
h = 0.1
[exact]
pieces = [{ t = [0, 2.5], x1 = "-5 + 2*t" }]
)toml";

std::string replaced(const std::string& found, const std::string& by) {
  std::string text = good;
  const std::size_t at = text.find(found);
  REQUIRE(at != std::string::npos);
  return text.replace(at, found.size(), by);
}

/// The message of a text that must be refused as a ModelError.
std::string message_of(const std::string& text, const std::vector<Override>& overrides = {}) {
  try {
    perp::read_model_text(text, "m.toml", overrides);
  } catch (const ModelError& error) {
    const std::string message = error.what();
    CHECK(message.find('\n') == std::string::npos);
    return message;
  }
  return "no error";
}

struct Spoiled {
  const char* found;
  const char* by;
  const char* message;
};

void check_all(const std::vector<Spoiled>& cases) {
  for (const Spoiled& spoiled : cases) {
    CAPTURE(spoiled.by);
    CHECK(message_of(replaced(spoiled.found, spoiled.by)) == spoiled.message);
  }
}

}  // namespace

TEST_SUITE("models/spoiled_models") {
  TEST_CASE("the good model is good") { CHECK(message_of(good) == "no error"); }

  TEST_CASE("shapes") {
    check_all({
        {"A = [[0, 0, \"B1\"], [0, 0, \"B2\"], [0, -1, 0]]", "A = [[0, 0], [0, 0]]",
         "m.toml:12:5: A must be 3x3 but is 2x2"},
        {"[0, 0, \"B2\"], [0, -1, 0]]", "[0, 0], [0, -1, 0]]",
         "m.toml:12:20: row 2 of A (3x3) has 2 entries but row 1 has 3"},
        {"B = [[0], [0], [1]]", "B = [0, 0, 1]",
         "m.toml:13:6: row 1 of B (3x1) is a number; expected a list, as in [[1, 0], [0, 1]]"},
        {"B = [[0], [0], [1]]", "B = 1",
         "m.toml:13:5: B (3x1) is a number; expected a list of rows, as in [[1, 0], [0, 1]]"},
        {"B = [[0], [0], [1]]", "B = []", "m.toml:13:5: B must be 3x1 but is 0x0"},
        {"b = [\"1 + 0*t\", 0, 0]", "b = [1, 0]", "m.toml:14:5: b must have 3 entries but has 2"},
        {"b = [\"1 + 0*t\", 0, 0]", "b = [[1], [0], [0]]",
         "m.toml:14:6: b(1) is a list; expected a number or an expression in quotes"},
        {"b = [\"1 + 0*t\", 0, 0]", "b = 1",
         "m.toml:14:5: b is a number; expected a list of 3 entries"},
        {"C = [[1, 0, 0]]", "C = [[1, 0, 0], [0, 1, 0]]", "m.toml:15:5: C must be 1x3 but is 2x3"},
        {"C = [[1, 0, 0]]", "C = [[1, 0, 0]]\nD = [[0, 0]]",
         "m.toml:16:5: D must be 1x1 but is 1x2"},
        {"t = [0, 10]", "t = [0, 5, 10]",
         "m.toml:18:5: run.t must be two numbers, as in [0, 1], but has 3 entries"},
        {"t = [0, 10]", "t = 10",
         "m.toml:18:5: run.t is a number; expected two numbers in brackets, as in [0, 1]"},
    });
  }

  TEST_CASE("missing and unknown members") {
    check_all({
        {"A = [[0, 0, \"B1\"], [0, 0, \"B2\"], [0, -1, 0]]\n", "",
         "m.toml:10:1: 'A' is missing in [system]; expected a 3x3 matrix"},
        {"C = [[1, 0, 0]]\n", "", "m.toml:10:1: 'C' is missing in [system]; expected a 1x3 matrix"},
        {"t = [0, 10]\n", "", "m.toml:17:1: 't' is missing in [run]; expected t = [start, end]"},
        {"x1 = -5\nx2 = { start = 4, unit = \"V\", nominal = 10 }\nz = 0\n", "",
         "m.toml:6:1: [variables] is empty; expected at least one variable"},
        {"[variables]\nx1 = -5\nx2 = { start = 4, unit = \"V\", nominal = 10 }\nz = 0\n", "",
         "m.toml:1:1: [variables] is missing; expected the variables with their start values"},
        {"[exact]\npieces = [{ t = [0, 2.5], x1 = \"-5 + 2*t\" }]", "[exact]",
         "m.toml:22:1: 'pieces' is missing in [exact]; expected a list of tables"},
        {"h = 0.1", "hh = 0.1",
         "m.toml:21:1: unknown key 'hh' in [run]; expected one of cross_check, h, petsc, policy, "
         "scheme, selector, solver, split_at_events, t, theta, tol; did you mean 'h'?"},
        {"selector =", "selektor =",
         "m.toml:20:1: unknown key 'selektor' in [run]; expected one of cross_check, h, petsc, policy, "
         "scheme, selector, solver, split_at_events, t, theta, tol; did you mean 'selector'?"},
        {"h = 0.1", "split_at_events = 0",
         "m.toml:21:19: run.split_at_events is a number; expected true or false"},
        {"E = [[1", "Mass = [[1",
         "m.toml:11:1: unknown key 'Mass' in [system]; expected one of A, B, C, D, E, b, laws, q; "
         "did you mean 'laws'?"},
        {"source =", "sauce =",
         "m.toml:2:1: unknown key 'sauce' in the file; expected one of binaries, exact, inputs, model, multilinear, "
         "name, parameters, run, source, system, variables; did you mean 'source'?"},
        {"[run]", "[Run]",
         "m.toml:17:2: unknown key 'Run' in the file; expected one of binaries, exact, inputs, model, multilinear, "
         "name, parameters, run, source, system, variables; did you mean 'run'?"},
        {"unit = \"V\"", "units = \"V\"",
         "m.toml:8:19: unknown key 'units' in variable 'x2'; expected one of at_bounds, bounds, nominal, start, unit; "
         "did you mean 'unit'?"},
        {"[exact]", "[model]\nequations = []\n[exact]",
         "m.toml:22:2: [model] beside [system]; expected equations or matrices, one of them"},
        {"x1 = \"-5 + 2*t\"", "x3 = \"-5 + 2*t\"",
         "m.toml:23:27: unknown key 'x3' in piece 1; expected one of t, x1, x2, z; did you mean "
         "'x1'?"},
    });
  }

  TEST_CASE("names") {
    check_all({
        {"\"abs_plus_sign\"", "\"complementerity\"",
         "m.toml:16:10: unknown law 'complementerity'; expected one of abs_plus_sign, absolute, "
         "box, complementarity, dead_zone, equality, gap, hysteresis, normal_cone, relay, saturation, "
         "sign, step; did you mean 'complementarity'?"},
        {"\"abs_plus_sign\"", "\"Sign\"",
         "m.toml:16:10: unknown law 'Sign'; expected one of abs_plus_sign, absolute, box, "
         "complementarity, dead_zone, equality, gap, hysteresis, normal_cone, relay, saturation, sign, "
         "step; did you mean 'sign'?"},
        {"\"backward_euler\"", "\"backward_eular\"",
         "m.toml:19:10: unknown scheme 'backward_eular'; expected one of backward_euler, "
         "enclosure, located, moreau_jean, theta; did you mean 'backward_euler'?"},
        {"\"keep_mode\"", "\"minimal_nrom\"",
         "m.toml:20:12: unknown selector 'minimal_nrom'; expected one of keep_mode, "
         "continuation, minimal_norm, first; did you mean 'minimal_norm'?"},
        {"[0, 0, \"B2\"]", "[0, 0, \"3*b2\"]",
         "m.toml:12:30: A(2,3): unknown name 'b2'; expected one of B1, B2; did you mean 'B2'?"},
        {"[0, 0, \"B2\"]", "[0, 0, \"x1\"]",
         "m.toml:12:28: A(2,3): 'x1' cannot be used here: it is a variable; expected numbers and "
         "parameters"},
        {"[0, 0, \"B2\"]", "[0, 0, \"t\"]",
         "m.toml:12:28: A(2,3): 't' cannot be used here: time may be used in b, q and exact "
         "solutions only"},
        {"[0, 0, \"B2\"]", "[0, 0, \"sine(B2)\"]",
         "m.toml:12:28: A(2,3): unknown function 'sine'; expected one of abs, acos, asin, atan, "
         "atan2, cos, cosh, exp, log, log10, max, min, pow, sign, sin, sinh, sqrt, tan, tanh; did "
         "you mean 'sin'?"},
        {"B1 = -0.5", "B1 = \"B2\"",
         "m.toml:4:7: parameter 'B1': 'B2' cannot be used here: it is defined further down; a "
         "parameter may use those above it"},
        {"B1 = -0.5", "B1 = -0.5\nB1 = 3",
         "m.toml:5:6: not TOML: key-value pair: cannot redefine existing floating-point 'B1'"},
        {"x1 = -5", "B1 = -5",
         "m.toml:7:1: 'B1' is a parameter already; expected another name for a variable"},
        {"x1 = -5", "pi = -5",
         "m.toml:7:1: 'pi' is a word of the language; expected another name for a variable"},
        {"x1 = -5", "\"x 1\" = -5",
         "m.toml:7:1: 'x 1' cannot be the name of a variable; expected letters, digits and _, not "
         "beginning with a digit"},
        {"B1 = -0.5", "t = -0.5",
         "m.toml:4:1: 't' is a word of the language; expected another name for a parameter"},
        {"z = 0", "x1 = 0",
         "m.toml:9:6: not TOML: key-value pair: cannot redefine existing integer 'x1'"},
    });
  }

  TEST_CASE("values of the wrong kind") {
    check_all({
        {"x1 = -5", "x1 = nan",
         "m.toml:7:6: start of variable 'x1' is nan; expected a finite number"},
        {"x1 = -5", "x1 = inf",
         "m.toml:7:6: start of variable 'x1' is inf; expected a finite number"},
        {"x1 = -5", "x1 = \"minus five\"",
         "m.toml:7:7: start of variable 'x1': unknown name 'minus'; expected one of B1, B2; did "
         "you mean 'min'?"},
        {"x1 = -5", "x1 = true",
         "m.toml:7:6: start of variable 'x1' is true or false; expected a number or an expression "
         "in quotes"},
        {"x1 = -5", "x1 = [1]",
         "m.toml:7:6: start of variable 'x1' is a list; expected a number or an expression in "
         "quotes, or an interval, as in \"[1.1, 1.21]\""},
        {"x1 = -5", "x1 = 1979-05-27",
         "m.toml:7:6: start of variable 'x1' is a date; expected a number or an expression in "
         "quotes"},
        {"x1 = -5", "x1 = \"\"",
         "m.toml:7:7: start of variable 'x1': the expression is empty; expected a number or a "
         "name"},
        {"nominal = 10", "nominal = 0",
         "m.toml:8:41: nominal of variable 'x2' is 0; expected a number > 0"},
        {"unit = \"V\"", "unit = 3",
         "m.toml:8:26: unit of variable 'x2' is a number; expected text"},
        {"B1 = -0.5", "B1 = \"1/0\"",
         "m.toml:4:7: parameter 'B1' is inf; expected a finite number"},
        {"B1 = -0.5", "B1 = \"sqrt(-1)\"",
         "m.toml:4:7: parameter 'B1' is nan; expected a finite number"},
        {"B1 = -0.5", "B1 = { value = 1 }",
         "m.toml:4:6: parameter 'B1' is a table; expected a number or an expression in quotes"},
        {"[0, 0, \"B2\"]", "[0, 0, nan]", "m.toml:12:27: A(2,3) is nan; expected a finite number"},
        {"\"1 + 0*t\"", "\"log(t)\"",
         "m.toml:14:6: b(1) is -inf at t = 0; expected a finite number"},
        {"\"abs_plus_sign\"", "3",
         "m.toml:16:9: law 1 is a number; expected text as in \"relay(-1, 1)\" or a table"},
        {"laws = [\"abs_plus_sign\"]", "laws = \"abs_plus_sign\"",
         "m.toml:16:8: laws is text; expected a list"},
        {"name = \"good\"", "name = 3", "m.toml:1:8: name is a number; expected text"},
        {"name = \"good\"", "name = \"two\\nlines\"",
         "m.toml:1:8: name has a line break or a control character; expected text in one line"},
        {"scheme = \"backward_euler\"", "scheme = 1",
         "m.toml:19:10: scheme is a number; expected text"},
        {"[run]", "run = 3\n[ran]",
         "m.toml:18:2: unknown key 'ran' in the file; expected one of binaries, exact, inputs, model, multilinear, "
         "name, parameters, run, source, system, variables; did you mean 'run'?"},
        {"h = 0.1", "h = 0", "m.toml:21:5: run.h is 0; expected a number > 0"},
        {"h = 0.1", "h = -0.1", "m.toml:21:5: run.h is -0.1; expected a number > 0"},
        {"h = 0.1", "h = \"0.1/0\"", "m.toml:21:6: run.h is inf; expected a finite number"},
        {"h = 0.1", "tol = 0", "m.toml:21:7: run.tol is 0; expected a number > 0"},
        {"h = 0.1", "theta = 0.2", "m.toml:21:9: run.theta is 0.2; expected a number in [0.5, 1]"},
        {"t = [0, 10]", "t = [10, 0]",
         "m.toml:18:5: run.t = [10, 0] ends before it starts; expected start < end"},
        {"t = [0, 10]", "t = [1, 1]",
         "m.toml:18:5: run.t = [1, 1] ends where it starts; expected start < end"},
        {"t = [0, 10]", "t = [0, inf]",
         "m.toml:18:9: the second entry of run.t is inf; expected a finite number"},
        {"t = [0, 2.5]", "t = [2.5, 0]",
         "m.toml:23:17: t of piece 1 = [2.5, 0] ends before it starts"},
        {"x1 = \"-5 + 2*t\"", "t0 = 3",
         "m.toml:23:27: unknown key 't0' in piece 1; expected one of t, x1, x2, z; did you mean "
         "'t'?"},
        {", x1 = \"-5 + 2*t\"", "", "m.toml:23:11: piece 1 has no variable; expected at least one"},
    });
  }

  TEST_CASE("laws") {
    check_all({
        {"\"abs_plus_sign\"", "\"relay\"", "m.toml:16:10: law 'relay' takes 2 arguments but has 0"},
        {"\"abs_plus_sign\"", "\"relay(1)\"",
         "m.toml:16:10: law 'relay' takes 2 arguments but has 1"},
        {"\"abs_plus_sign\"", "\"sign(1)\"",
         "m.toml:16:10: law 'sign' takes 0 arguments but has 1"},
        {"\"abs_plus_sign\"", "\"relay(1, -1)\"",
         "m.toml:16:9: law 'relay' needs lower <= upper but has lower = 1, upper = -1"},
        {"\"abs_plus_sign\"", "\"relay(-inf, 1)\"",
         "m.toml:16:9: law 'relay' needs finite bounds but has lower = -inf, upper = 1"},
        {"\"abs_plus_sign\"", "\"relay(-1, Q)\"",
         "m.toml:16:20: argument 2 of law 'relay': unknown name 'Q'; expected one of B1, B2"},
        {"\"abs_plus_sign\"", "\"relay(-1, 1\"",
         "m.toml:16:21: law 1: found the end; expected ')'"},
        {"\"abs_plus_sign\"", "\"relay(-1, 1) x\"",
         "m.toml:16:23: law 1: found more after ')'; expected the end"},
        {"\"abs_plus_sign\"", "\"relay -1\"",
         "m.toml:16:16: law 1: expected '(' or the end after 'relay'"},
        {"\"abs_plus_sign\"", "\"(1)\"",
         "m.toml:16:10: law 1 must be the name of a law, as in \"relay(-1, 1)\""},
        {"\"abs_plus_sign\"", "{ name = \"mine\" }",
         "m.toml:16:9: law 1 has neither 'law' nor 'branches'"},
        {"\"abs_plus_sign\"", "{ law = \"sign\", modes = [\"a\", \"b\"] }",
         "m.toml:16:33: modes of law 1 must have 3 names but has 2"},
        {"\"abs_plus_sign\"", "{ law = \"sign\", mode = [\"a\", \"b\"] }",
         "m.toml:16:25: unknown key 'mode' in law 1; expected one of law, modes, name, start, unit; did you "
         "mean 'modes'?"},
        {"\"abs_plus_sign\"", "{ law = \"sign\", branches = [] }",
         "m.toml:16:25: unknown key 'branches' in law 1; expected one of law, modes, name, start, unit"},
        {"\"abs_plus_sign\"", "{ branches = [] }",
         "m.toml:16:9: law 'law' must have at least one branch but has none"},
        {"\"abs_plus_sign\"", "{ branches = [{ w = [0, 1] }] }",
         "m.toml:16:9: law 'law' branch 1: a and b must not both be 0"},
        {"\"abs_plus_sign\"", "{ branches = [{ a = 1, w = [1, 0] }] }",
         "m.toml:16:9: law 'law' branch 1: range of w must have lower <= upper but is [1, 0]"},
        {"\"abs_plus_sign\"", "{ branches = [{ a = 1, w = [nan, 0] }] }",
         "m.toml:16:37: the first entry of w of branch 1 of law 1 is nan; expected a number"},
        {"\"abs_plus_sign\"", "{ branches = [{ a = inf }] }",
         "m.toml:16:29: a of branch 1 of law 1 is inf; expected a finite number"},
        {"\"abs_plus_sign\"", "{ branches = [{ a = 1, q = 2 }] }",
         "m.toml:16:32: unknown key 'q' in branch 1 of law 1; expected one of a, b, c, lambda, "
         "name, w; did you mean 'a'?"},
        {"\"abs_plus_sign\"", "{ branches = [{ a = 1 }], memory = 1 }",
         "m.toml:16:44: memory of law 1 is a number; expected true or false"},
    });
  }

  TEST_CASE("texts that are not TOML") {
    check_all({
        {"A = [[0, 0,", "A = [0, 0,",
         "m.toml:12:17: not TOML: key-value pair: expected a comment or whitespace, saw ','"},
        {"[system]", "[system", "m.toml:10:8: not TOML: table header: expected ']', saw '\\n'"},
        {"\"B1\"]", "\"B1]",
         "m.toml:12:27: not TOML: array: expected comma or closing ']', saw 'B'"},
        {"name = \"good\"", "name = \"go\\qod\"",
         "m.toml:1:12: not TOML: string: unknown escape sequence '\\q'"},
        {"name = \"good\"", "name = good",
         "m.toml:1:8: not TOML: value: could not determine value type; text and expressions stand "
         "in quotes"},
        {"name = \"good\"", "name good",
         "m.toml:1:6: not TOML: key-value pair: expected '=', saw 'g'"},
        {"x1 = -5", "x1 = -5 6",
         "m.toml:7:9: not TOML: key-value pair: expected a comment or whitespace, saw '6'"},
        {"x1 = -5", "x1 = 1e",
         "m.toml:7:8: not TOML: floating-point: expected decimal digit, saw '\\n'"},
        {"x1 = -5", "x1 = 0x",
         "m.toml:7:8: not TOML: hexadecimal integer: expected digit, saw '\\n'"},
        {"x1 = -5", "x1 =", "m.toml:7:5: not TOML: key-value pair: expected value, saw '\\n'"},
        {"x1 = -5", "= -5",
         "m.toml:7:1: not TOML: root table: expected keys, tables, whitespace or comments, saw "
         "'='"},
        {"[system]", "[run]",
         "m.toml:17:1: not TOML: table header: cannot redefine existing table 'run'"},
        {"[system]", "[[system]]", "m.toml:10:1: system is a list; expected a table"},
        {"x1 = -5", "x1 = 123456789012345678901234567890",
         "m.toml:7:36: not TOML: decimal integer: '123456789012345678901234567890' is not "
         "representable in 64 bits"},
    });
  }
}
