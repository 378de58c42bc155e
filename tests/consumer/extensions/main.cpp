// What was added has its name in model files, beside what perp has.
#include <cstdio>
#include <string>

#include <perp/analysis/run/schemes.hpp>
#include <perp/perp.hpp>

namespace {

/// dx/dt = -λ, λ = 1 for x > 0: x = 1 - t.
const std::string model_text =
    "[variables]\nx = 1\n[system]\nA = [[0]]\nB = [[-1]]\nC = [[1]]\nlaws = [\"sign\"]\n[run]\nt = [0, 0.5]\nh = 0.25\n";

/// States, status and end of the run with these lines of [run]; the message where it is refused.
void run(const std::string& options) {
  try {
    const perp::Model model = perp::read_model_text(model_text + options, "m.toml");
    const perp::Trajectory states = perp::scheme(model.run.scheme).run(model, {});
    std::printf("%zu states, %s, x = %g\n", states.size(), perp::to_string(states.status),
                states.x.back()[0]);
  } catch (const perp::InvalidInput& error) {
    std::printf("%s\n", error.what());
  }
}

}  // namespace

int main() {
  run("");
  run("scheme = \"half_steps\"\n");
  run("scheme = \"half_steps\"\nshare = 0.25\n");
  run("scheme = \"half_steps\"\nshare = 0\n");
  run("share = 0.5\n");
  run("selector = \"first\"\nsolver = \"all_zero\"\n");
  run("selector = \"first\"\nsolver = \"lemke\"\n");
}
