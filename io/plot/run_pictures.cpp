// The pictures of a run, from the states that were sampled of it.
#include <algorithm>

#include <perp/core/base/error.hpp>
#include <perp/io/plot/run_pictures.hpp>
#include <perp/io/plot/run_plot.hpp>

namespace perp::io {
namespace {

std::vector<bool> algebraic_variables(const Model& model) {
  std::vector<bool> is_algebraic(model.variables.size(), true);
  for (const int j : model.differential_variables())
    is_algebraic[static_cast<std::size_t>(j)] = false;
  return is_algebraic;
}

}  // namespace

std::vector<int> RunPictures::sampled() const {
  std::vector<int> variables = drawn;
  for (const int variable : {horizontal, vertical})
    if (variable >= 0 && std::find(variables.begin(), variables.end(), variable) == variables.end())
      variables.push_back(variable);
  return variables;
}

void draw(const RunPictures& pictures, const Model& model, const std::vector<ModeSpan>& modes,
          Samples& samples, const Trajectory& run, std::vector<std::string>& files) {
  if (!pictures.over_time) return;
  const auto& states = samples.finish();
  if (states.empty()) throw InvalidInput("there is no picture: the run has no state");
  const std::vector<int> variables = pictures.sampled();
  const std::vector<bool> is_algebraic = algebraic_variables(model);
  RunPlot plot{model,
               variables,
               is_algebraic,
               modes,
               curves(states, variables, is_algebraic, modes, run.events),
               run.status == Status::no_solution};
  if (pictures.phase) {
    const auto place = [&](int variable) {
      return static_cast<int>(std::find(variables.begin(), variables.end(), variable) -
                              variables.begin());
    };
    draw_phase(*pictures.phase, plot, place(pictures.horizontal), place(pictures.vertical));
    files.push_back(pictures.phase->file());
  }
  // What only the phase picture needs stands at the end.
  const auto drawn = static_cast<Eigen::Index>(pictures.drawn.size());
  plot.variables.resize(pictures.drawn.size());
  for (Curves::Row& row : plot.curves.rows) row.x.conservativeResize(drawn);
  std::erase_if(plot.curves.jumps,
                [&](const Curves::Jump& jump) { return jump.variable >= drawn; });
  draw_over_time(*pictures.over_time, plot);
  files.push_back(pictures.over_time->file());
}

}  // namespace perp::io
