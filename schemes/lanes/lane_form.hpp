#pragma once

#include <cstdint>
#include <vector>

#include <perp/core/law.hpp>
#include <perp/core/tape/running_error.hpp>
#include <perp/schemes/lanes/lane_tapes.hpp>

namespace perp {

namespace eight {

/// What is known of a number beside its error, in every lane.
enum class Exactness : std::uint8_t {
  none,     ///< it has an error
  unknown,
  exact,    ///< not 0
  scale,    ///< a power of two
  zero
};

/// What runs in one mode of one model have in common, whatever their parameters: the equations of the common step of
/// backward Euler by Newton's method.
struct LaneForm {
  enum class Kind : std::uint8_t { time, derivative, variable, multiplier };
  struct Place {  ///< of an entry of ∂(F, G)/∂(t, ẋ, x, λ)
    int row, index;
    Kind kind;
    friend bool operator==(const Place&, const Place&) = default;
  };

  bool is_served = false;  ///< may steps of this form be made side by side?
  int n = 0, m = 0, size = 0;
  Mode mode{};
  std::vector<int> free_laws{}, unknown{}, curved{};
  std::vector<char> differential{}, has_a{}, has_b{};
  std::vector<Place> places{};
  std::vector<LaneLine> linear{}, bounded{};
  std::vector<int> linear_outputs{}, bounded_outputs{};
  std::vector<int> linear_constants{}, bounded_constants{};  ///< lines
  int linear_lines = 0, bounded_lines = 0;
  std::vector<Exactness> kinds{};  ///< of the bounded constants, every λ, every a, b and c of a law

  friend bool operator==(const LaneForm&, const LaneForm&) = default;
};

/// The numbers of one run in its form.
struct LaneNumbers {
  std::vector<double> linear_constants{};
  std::vector<RunningError> bounded_constants{};
  std::vector<const Branch*> branches{};
  std::vector<int> units{};
};

}  // namespace eight
}  // namespace perp
