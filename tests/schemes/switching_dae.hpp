#pragma once

#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include <perp/perp.hpp>
#include <perp/schemes/step_mlcp.hpp>
#include <perp/tests/paths.hpp>

/// The switching DAE of [RAB], eq. (9), and its reference trajectories.
namespace switching_dae {

using perp::Lcs;
using perp::Matrix;
using perp::Vector;

/// Eq. (11') as one law: ẋ = A x + B z + (1, 0), x₂ ∈ |x₁| + sign(x₁); unknowns (x₁, x₂, z), w =
/// x₁, λ = x₂.
inline Lcs own_law(double B1, double B2, double a12 = 0, double a21 = 0) {
  return {.E = Matrix{{1, 0, 0}, {0, 1, 0}, {0, 0, 0}},
          .A = Matrix{{0, a12, B1}, {a21, 0, B2}, {0, -1, 0}},
          .B = Matrix{{0}, {0}, {1}},
          .b = Vector{{1, 0, 0}},
          .C = Matrix{{1, 0, 0}},
          .D = Matrix{{0}},
          .q = Vector{{0}},
          .laws = {perp::abs_plus_sign()}};
}

/// Eq. (36), the same constraint by three complementarity pairs.
inline Lcs lcp_form(double B1, double B2, double a12 = 0, double a21 = 0) {
  return {.E = Matrix{{1, 0, 0}, {0, 1, 0}, {0, 0, 0}},
          .A = Matrix{{0, a12, B1}, {a21, 0, B2}, {1, -1, 0}},
          .B = Matrix{{0, 0, 0}, {0, 0, 0}, {1, -1, 0}},
          .b = Vector{{1, 0, 1}},
          .C = Matrix{{2, 0, 0}, {1, 0, 0}, {0, 0, 0}},
          .D = Matrix{{1, 0, 0}, {0, 0, 1}, {0, -1, 0}},
          .q = Vector{{0, 0, 2}},
          .laws = std::vector<perp::Law>(3, perp::complementarity())};
}

inline nlohmann::json load(const std::string& name) {
  std::ifstream file(perp::test::data_path("/trajectories/") + name + ".json");
  return nlohmann::json::parse(file);
}

/// "-5/2" or "3".
inline double fraction(const std::string& text) {
  const auto slash = text.find('/');
  const double numerator = std::stod(text.substr(0, slash));
  return slash == std::string::npos ? numerator : numerator / std::stod(text.substr(slash + 1));
}

struct Reference {
  double B1, B2;
  Vector x0;  // (x₁, x₂)
  double end;
  nlohmann::json data;

  explicit Reference(const std::string& name) : data(load(name)) {
    B1 = data["parameters"]["B1"];
    B2 = data["parameters"]["B2"];
    x0 = Vector{{data["x0"][0].get<double>(), data["x0"][1].get<double>()}};
    end = data["t_span"][1];
  }

  /// Exact (x₁, x₂) at t from the right; the pieces are affine in t.
  [[nodiscard]] Vector exact(double t) const {
    Vector x = Vector::Constant(2, perp::nan);
    for (const auto& piece : data["exact"]["pieces"]) {
      const double t0 = fraction(piece["t0"]);
      if (t < t0) break;
      for (int i = 0; i < 2; ++i)
        x[i] = fraction(piece["x_at_t0"][static_cast<std::size_t>(i)]) +
               (t - t0) * fraction(piece["x_rate"][static_cast<std::size_t>(i)]);
    }
    return x;
  }

  /// Is t the time of a jump, where the state is not defined?
  [[nodiscard]] bool at_jump(double t) const {
    for (const auto& event : data["events"])
      if (event["type"] == "jump" && std::abs(event["t"].get<double>() - t) < 1e-9) return true;
    return false;
  }
};

}  // namespace switching_dae
