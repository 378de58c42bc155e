#pragma once

#include <string>

#include <perp/models/language/read_model.hpp>

namespace perp::test {

/// v' = f(t) − λ, λ ∈ sign(v): a block with dry friction that a force pushes.
inline Lcs pushed_block(const std::string& force) {
  return read_model_text(
             "name = \"push\"\n[variables]\nv = 0\n[system]\nE = [[1]]\nA = [[0]]\n"
             "B = [[-1]]\nb = [\"" +
                 force + "\"]\nC = [[1]]\nlaws = [\"sign\"]\n[run]\nt = [0, 1]\nh = 1\n",
             "m.toml")
      .lcs();
}

}  // namespace perp::test
