#pragma once

#include <fmt/format.h>
#include <fstream>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include <perp/models/language/read_model.hpp>
#include <perp/tests/paths.hpp>

namespace perp::test {

/// A trajectory known to many digits, and the model of the zoo that has it.
struct ReferenceCase {
  const char* reference;
  const char* model;
  std::vector<Override> set{};
  bool all_events = true;  ///< false: the reference lists some of infinitely many
};

inline const std::vector<ReferenceCase> reference_cases{
    {"s000_canonical", "ifdiff_canonical"},
    {"s000_filippov_prototype", "filippov_prototype"},
    {"s000_filippov_prototype_below", "filippov_prototype"},
    {"s000_predator_prey", "predator_prey"},
    {"s000_predator_prey_shilnikov", "predator_prey_shilnikov"},
    {"s000_stick_slip", "stick_slip"},
    {"s000_stick_slip_ifdiff", "stick_slip_slow_belt"},
    {"s000_bouncing_ball", "bouncing_ball"},
    {"s000_bouncing_ball_zeno", "bouncing_ball_contact", {}, false},
    {"s001_ex1_relay", "relay_oscillator_mass"},
    {"s001_ex1_dead_zone", "relay_dead_zone"},
    {"s001_ex2_tacoma", "tacoma"},
    {"s001_ex3_water_level", "water_level"},
    {"s001_ex4_dry_friction", "forced_dry_friction"},
    {"s001_ex5_hysteresis_mid", "hysteresis_friction"},
    {"s001_ex5_hysteresis_v1", "hysteresis_friction", {{"m", "1.1"}, {"Fs", "0.03"}}},
    {"s001_ex5_hysteresis_v2", "hysteresis_friction", {{"m", "1.1"}, {"Fs", "0.15"}}},
    {"s001_ex5_hysteresis_v3", "hysteresis_friction", {{"m", "1.21"}, {"Fs", "0.03"}}},
    {"s001_ex5_hysteresis_v4", "hysteresis_friction", {{"m", "1.21"}, {"Fs", "0.15"}}},
    {"s001_ex6_sofc_standin", "fuel_cell_standin"},
    {"s002_three_tank", "three_tank"},
    {"s003_B1_equals_B2", "switching_dae_equations"},
    {"s003_B1_plus_B2_zero", "switching_dae_equations"},
    {"s003_B1_zero", "switching_dae_equations"},
    {"s003_jump_B_1_2", "switching_dae_equations"},
    {"s003_jump_B_1_2_b", "switching_dae_equations"},
    {"s003_jump_B_1_2_from_Aplus", "switching_dae_equations"},
    {"s003_nosolution_B_0.5_0.25", "switching_dae_equations"},
    {"s003_nosolution_B_2_1", "switching_dae_equations"},
    {"s003_nosolution_B_2_1_b", "switching_dae_equations"},
    {"s003_repulsive_nonunique", "switching_dae_equations"},
    {"s003_sliding_crossing", "switching_dae_equations"},
    {"s003_sliding_repulsive", "switching_dae_equations"},
    {"s003_variant37", "switching_dae_variant37"},
    {"s004_ex31_above_T1", "filippov_dae"},
    {"s004_ex31_cross", "filippov_dae"},
    {"s004_ex31_slide_down", "filippov_dae"},
    {"s004_ex31_slide_exit", "filippov_dae"},
    {"s004_soft_drink_filippov", "soft_drink_filippov"},
    {"s004_soft_drink_paired", "soft_drink_paired"},
};

inline nlohmann::json load_reference(const std::string& name) {
  std::ifstream stream(data_path("/trajectories/") + name + ".json");
  return nlohmann::json::parse(stream);
}

inline std::string number_text(double value) { return fmt::format("{:.17g}", value); }

inline Model model_of(const ReferenceCase& known, const nlohmann::json& reference) {
  std::vector<Override> set = known.set;
  for (std::size_t j = 0; j < reference["x0"].size(); ++j)
    set.push_back({fmt::format("x{}", j + 1), number_text(reference["x0"][j])});
  if (std::string(known.model) == "switching_dae_equations")
    for (const char* name : {"B1", "B2"})
      set.push_back({name, number_text(reference["parameters"][name])});
  set.push_back({"run.t", fmt::format("{:.17g}, {:.17g}", reference["t_span"][0].get<double>(),
                                      reference["t_span"][1].get<double>())});
  return read_model(find_model(known.model), set);
}

}  // namespace perp::test
