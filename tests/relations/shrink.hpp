#pragma once

#include <functional>

#include <perp/tests/relations/models/random_model.hpp>

namespace perp::relations {

/// A smaller model of which `fails` still holds: laws, terms, resets, variables are left out and
/// numbers rounded while it does. `fails(model)` is called at most `tries` times.
RandomModel shrunk(const RandomModel& model, const std::function<bool(const RandomModel&)>& fails,
                   int tries = 400);

}  // namespace perp::relations
