#include <fmt/format.h>
#include <algorithm>
#include <limits>
#include <numeric>

#include <perp/analysis/jumps.hpp>
#include <perp/analysis/run/schemes.hpp>
#include <perp/core/base/error.hpp>
#include <perp/schemes/located/transition/impact.hpp>
#include <perp/schemes/located/transition/jumps.hpp>

namespace perp {
namespace {

ContinuousStart start_of(const Continuation& continuation) {
  return {continuation.mode, continuation.jet.x.col(0), continuation.jet.lambda.col(0)};
}

std::vector<ContinuousStart> starts_of(const std::vector<Continuation>& continuations) {
  std::vector<ContinuousStart> starts;
  for (const Continuation& continuation : continuations) starts.push_back(start_of(continuation));
  return starts;
}

/// What a search by Newton's method, which proves nothing, says with these jumps.
void tell_end(const JumpBlock& block, int most, ConsistentJumps& jumps) {
  if (!block.complete) {
    jumps.status = Status::not_enumerated;
    jumps.message = fmt::format("not proved complete: the search ended after {} modes", most);
  } else if (block.jumps.empty()) {
    jumps.status = Status::not_solved;
    jumps.message = "no jump to a state from which a continuous solution starts was found";
  } else {
    jumps.status = Status::solved;
  }
}

ModelJumps by_newton(const Dcs& system, const Vector& x, double t, const JumpOptions& limits) {
  const Vector lambda = Vector::Zero(system.m());
  JumpBlock block;
  block.x.resize(static_cast<std::size_t>(system.n()));
  block.lambda.resize(static_cast<std::size_t>(system.m()));
  std::iota(block.x.begin(), block.x.end(), 0);
  std::iota(block.lambda.begin(), block.lambda.end(), 0);
  SelectionOptions options;
  options.most =
      static_cast<int>(std::min<long>(limits.max_nodes, std::numeric_limits<int>::max()));
  options.memory = false;
  options.is_given = true;
  ConsistentJets jets(system);
  const Mode any(block.lambda.size(), 0);
  const Selection now = select(jets, t, x, lambda, any, block.lambda, options);
  const Jumps found = find_jumps(system, jets, t, x, lambda, options);
  if (!now.admissible.empty())
    block.jumps.push_back({starts_of(now.admissible), 0, Vector::Zero(system.n()), lambda});
  for (const Jump& jump : found.found)
    block.jumps.push_back(
        {starts_of(jump.continuations), jump.size, jump.variable_impulse, jump.multiplier_impulse});
  block.complete = now.complete && found.complete;
  respect_memory(block, system.laws, limits.present);

  ConsistentJumps jumps;
  jumps.nodes = static_cast<long>(found.found.size() + found.rejected.size());
  tell_end(block, options.most, jumps);
  const bool complete = block.complete;
  jumps.blocks.push_back(std::move(block));
  list_products(jumps, system.n(), system.m(), limits.most_listed);
  return {std::move(jumps), complete ? "by Newton's method in every mode" : "", false};
}

/// Where a contact closes now the state jumps as Newton's law says, which holds e, not by impulses onto the laws.
void refuse_impacts(const Model& model, const Vector& x, double t) {
  if (model.restitution.empty() || model.restitution == std::vector<double>(model.restitution.size(), 0)) return;
  const Located located = located_options(model);
  std::optional<Impact> impact = Impact::of(equations_of(model), located.restitution, located.names);
  const std::optional<Impact::Result> result = impact ? (*impact)(t, x, x.cwiseAbs()) : std::nullopt;
  if (!result) return;
  for (const int law : result->laws)
    if (model.restitution[static_cast<std::size_t>(law)] != 0)
      throw InvalidInput(fmt::format(
          "{}: the contact '{}' closes in this state: its restitution would have no effect on impulses after which "
          "it stays closed; expected perp check --scheme located, which tells the jump of Newton's law, or a "
          "restitution of 0",
          model.file.empty() ? model.name : model.file, model.multipliers[static_cast<std::size_t>(law)]));
}

}  // namespace

ModelJumps jumps_of(const Model& model, const Vector& x, double t, const JumpOptions& options) {
  refuse_impacts(model, x, t);
  if (const Lcs* lcs = model.system.affine()) {
    ConsistentJumps jumps = consistent_jumps(*lcs, x, t, options);
    std::string proof;
    if (jumps.status != Status::not_enumerated)
      proof = fmt::format("proved: all modes for steps h -> 0, {} nodes", jumps.nodes);
    return {std::move(jumps), proof, !proof.empty()};
  }
  if (!model.system.resets().empty())
    throw InvalidInput(fmt::format(
        "{}: the resets of this model say where its state jumps to; expected a model without "
        "resets, whose jumps follow from its laws",
        model.file.empty() ? model.name : model.file));
  return by_newton(model.system.functions(), x, t, options);
}

}  // namespace perp
