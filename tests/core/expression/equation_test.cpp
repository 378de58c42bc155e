#include <doctest/doctest.h>
#include <random>
#include <string>
#include <vector>

#include <perp/core/expression/equation.hpp>

namespace {

using perp::Equation;
using perp::ExpressionError;
using perp::Forms;
using perp::Scope;
using perp::Tape;

Scope make_scope() {
  Scope scope{{"x", "y", "p", "t"}, {{"time", 3}}};
  scope.variables = 2;
  return scope;
}
const Scope scope = make_scope();

struct Parsed {
  Tape tape{};
  Forms forms{static_cast<int>(scope.names.size())};
  Equation equation{};
  explicit Parsed(const std::string& text) {
    equation = perp::parse_equation(text, scope, tape, forms);
  }
  [[nodiscard]] std::string print() const {
    return perp::print_equation(equation, tape, scope.names, forms);
  }
};

/// A random text of the language of equations.
class RandomText {
 public:
  explicit RandomText(unsigned seed) : random_(seed) {}

  std::string value(int depth) {
    const auto next = [&] { return value(depth - 1); };
    switch (depth <= 0 ? pick(4) : pick(20)) {
      case 0: return numbers_[pick(numbers_.size())];
      case 1: return "der(" + std::string(pick(2) == 0 ? "x" : "y") + ")";
      case 2:
      case 3: return scope.names[pick(scope.names.size())];
      case 4: return "(" + next() + ")";
      case 5: return "-" + next();
      case 6: return next() + "^" + next();
      case 7: return next() + " + " + next();
      case 8: return next() + "-" + next();
      case 9: return next() + "*" + next();
      case 10: return next() + "/ " + next();
      case 11: return "sin(" + next() + ")";
      case 12: return "sign(" + next() + ")";
      case 13: return "abs(" + next() + ")";
      case 14: return "step(" + next() + ")";
      case 15: return "max(" + next() + ", " + next() + (pick(2) == 0 ? ")" : "," + next() + ")");
      case 16: return "min(" + next() + ", " + next() + ")";
      case 17: return "sat(" + next() + ", " + next() + "," + next() + ")";
      case 18: return "piecewise(" + next() + ", 0, 1, 2, " + next() + ")";
      default: return "if(" + condition(depth - 1) + ", " + next() + ", " + next() + ")";
    }
  }

  std::string condition(int depth) {
    static const std::vector<std::string> signs{" < ", " <= ", ">", " >= "};
    switch (depth <= 0 ? 0 : pick(6)) {
      case 1: return condition(depth - 1) + " and " + condition(depth - 1);
      case 2: return condition(depth - 1) + " or " + condition(depth - 1);
      case 3: return "not " + condition(depth - 1);
      case 4: return "(" + condition(depth - 1) + ")";
      default: return value(depth - 1) + signs[pick(signs.size())] + value(depth - 1);
    }
  }

 private:
  std::size_t pick(std::size_t count) {
    return std::uniform_int_distribution<std::size_t>(0, count - 1)(random_);
  }
  std::mt19937 random_;
  std::vector<std::string> numbers_{"0", "1", "2.5", "1e-6"};
};

}  // namespace

TEST_SUITE("core/equation") {
  TEST_CASE("printing an equation and parsing it again gives the same tape") {
    for (unsigned seed = 1; seed <= 3000; ++seed) {
      RandomText random(seed);
      const std::string text = random.value(4) + " = " + random.value(4);
      CAPTURE(text);
      const Parsed first(text);
      const std::string printed = first.print();
      CAPTURE(printed);
      const Parsed second(printed);
      REQUIRE(second.tape == first.tape);
      CHECK(second.equation.left == first.equation.left);
      CHECK(second.equation.right == first.equation.right);
      CHECK(second.print() == printed);
    }
  }

  TEST_CASE("printing uses no more brackets than the shape needs") {
    const auto printed = [](const std::string& text) { return Parsed(text).print(); };
    CHECK(printed("(der(x))=(-y)") == "der(x) = -y");
    CHECK(printed("0=if((x<0)and(y<=1 or not(x>p)),((x)),2)") ==
          "0 = if(x < 0 and (y <= 1 or not x > p), x, 2)");
    CHECK(printed("0=if((x<0 and y<0) and p>0,1,2)") == "0 = if(x < 0 and y < 0 and p > 0, 1, 2)");
    CHECK(printed("0=if(x<0 and (y<0 and p>0),1,2)") ==
          "0 = if(x < 0 and (y < 0 and p > 0), 1, 2)");
    CHECK(printed("x = max( 0 , abs (x) - 1)*2") == "x = max(0, abs(x) - 1)*2");
  }

  TEST_CASE("equal forms on equal lines are one form") {
    Tape tape;
    Forms forms(4);
    const auto parse = [&](const std::string& text) {
      return perp::parse_formula(text, scope, tape, forms);
    };
    CHECK(parse("sign(x - p)") == parse(" sign( x-p )"));
    CHECK(parse("if(x < 0, 1, 2)") == parse("if(x<0, 1, 2)"));
    CHECK(parse("if(x < 0, 1, 2)") != parse("if(x <= 0, 1, 2)"));  // which decides where x is a constant
    CHECK(parse("sign(x)") != parse("sign(y)"));
    CHECK(parse("max(x, y)") != parse("max(y, x)"));
  }

  TEST_CASE("a law is stated by membership or by complementarity") {
    Tape tape;
    Forms forms(4);
    const auto relay = perp::parse_law("lambda in relay(x - y, -p, 2)", scope, tape, forms);
    CHECK(relay.multiplier == "lambda");
    CHECK(relay.law == "relay");
    CHECK(relay.law_offset == 10);
    CHECK(relay.numbers.size() == 2);
    CHECK(perp::print_expression(tape, relay.argument, scope.names) == "x - y");
    const auto pair = perp::parse_law("0 <= x perp 2*y - 1 >= 0", scope, tape, forms);
    CHECK(pair.law == "complementarity");
    CHECK(perp::print_expression(tape, pair.argument, scope.names) == "x");
    CHECK(perp::print_expression(tape, pair.partner, scope.names) == "2*y - 1");
  }

  TEST_CASE("a law declares the name before 'in', or the one that nobody knows beside 'perp'") {
    CHECK(perp::declared_multiplier("s in sign(x)", scope).name == "s");
    CHECK(perp::declared_multiplier("0 <= i_D perp x >= 0", scope).name == "i_D");
    CHECK(perp::declared_multiplier("0<=x-y perp i>=0", scope).name == "i");
    CHECK(perp::declared_multiplier("0 <= x - y perp i >= 0", scope).offset == 16);
    CHECK(perp::declared_multiplier("0 <= x perp y >= 0", scope).name.empty());
    CHECK(perp::declared_multiplier("0 <= x + y perp 2*y >= 0", scope).name.empty());
  }

  TEST_CASE("nesting is refused before the stack ends") {
    const auto repeat = [](const std::string& text, int count) {
      std::string all;
      for (int i = 0; i < count; ++i) all += text;
      return all;
    };
    for (const std::string opening : {"if(x<0,1,", "if(", "sign(", "if(not ", "if((", "max(1,"}) {
      CAPTURE(opening);
      std::string message;
      try {
        const Parsed parsed("0 = " + repeat(opening, 100'000) + "1");
      } catch (const ExpressionError& error) {
        message = error.what();
      }
      CHECK(message.find("nested deeper than 200 levels") != std::string::npos);
    }
    std::string message;
    try {
      const Parsed parsed("0 = if(" + repeat("not ", 100'000) + "x < 0, 1, 2)");
    } catch (const ExpressionError& error) {
      message = error.what();
    }
    CHECK(message.find("nested deeper than 200 levels") != std::string::npos);
  }
}
