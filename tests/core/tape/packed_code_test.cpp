#include <doctest/doctest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

#include <perp/core/tape/lanes/packed_code.hpp>

using namespace perp;

namespace {

struct alignas(64) Place {
  double numbers[PackedCode::width];
};

/// Numbers of every kind that finite results may come from.
std::vector<double> numbers() {
  std::vector<double> list{0.0, -0.0, 1, -1, 0.5, 3, 1e300, -1e300, 1e-300, std::numeric_limits<double>::denorm_min()};
  std::mt19937 random(3);
  while (list.size() < 40) list.push_back(std::ldexp(static_cast<double>(random()) - 2e9, static_cast<int>(random() % 40) - 60));
  return list;
}

const std::vector<Operation> served{Operation::add,  Operation::subtract, Operation::multiply, Operation::divide,
                                    Operation::sqrt, Operation::negate,   Operation::abs,      Operation::sign,
                                    Operation::guard};

}  // namespace

TEST_SUITE("core/tape") {
  TEST_CASE("packed lines have the bits of their operations on each number") {
    std::mt19937 random(7);
    constexpr int inputs = 12, lines = 200;
    const std::vector<double> given = numbers();
    std::vector<Place> places(inputs + lines);
    std::vector<PackedCode::Line> code;
    for (int k = 0; k < inputs; ++k)
      for (double& number : places[static_cast<std::size_t>(k)].numbers) number = given[random() % given.size()];
    for (int k = inputs; k < inputs + lines; ++k) {
      const auto before = [&] { return static_cast<int>(random() % static_cast<unsigned>(k)); };
      code.push_back({served[random() % served.size()], before(), random() % 2 == 0 ? k - 1 : before(), k});
    }
    const PackedCode packed(code);
    if (!packed.is_native()) return;  // the processor has no such vectors
    packed.run(places.front().numbers);
    for (const PackedCode::Line& line : code) {
      const auto numbers_of = [&](int place) { return places[static_cast<std::size_t>(place)].numbers; };
      for (int i = 0; i < PackedCode::width; ++i) {
        const double expected = apply_operation(line.operation, numbers_of(line.a)[i], numbers_of(line.b)[i]);
        const double found = numbers_of(line.to)[i];
        CAPTURE(static_cast<int>(line.operation));
        CHECK((std::isnan(expected) ? std::isnan(found)
                                    : std::bit_cast<std::uint64_t>(found) == std::bit_cast<std::uint64_t>(expected)));
      }
    }
  }

  TEST_CASE("functions of the library are no packed code") {
    CHECK_FALSE(PackedCode(std::vector<PackedCode::Line>{{Operation::sin, 0, 0, 1}}).is_native());
  }
}
