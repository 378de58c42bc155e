#pragma once

#include <string>
#include <vector>

#include <perp/models/language/run_options.hpp>

namespace perp {

/// Where laws do not say which values of binaries continue, a rule of its own does, and no selector.
std::string modes_by_rule(const Model& model);

/// Rows that stand in the tables of several schemes, each with its own meaning: h, tol, θ, policy.
RunOption length_option(const char* meaning);
RunOption tolerance_option(const char* meaning,
                           std::string (*without_effect)(const Model& model) = nullptr);
RunOption theta_option();
/// Which of several continuations is taken.
RunOption policy_option(std::string (*without_effect)(const Model& model));

/// The options that every scheme of event capturing has, in alphabetical order, and `more` among them.
std::vector<RunOption> capturing_options(const std::vector<RunOption>& more = {});

}  // namespace perp
