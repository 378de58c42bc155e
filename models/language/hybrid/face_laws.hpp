#pragma once

#include <string>

#include <perp/models/language/hybrid/hybrid_model.hpp>

namespace perp {

/// How the two faces of a constraint with one binary, a = g|z=0 and b = g|z=1, stand to each other,
/// as functions of the parameters too: what holds for their present numbers alone is no relation.
struct FaceRelation {
  enum class Kind {
    opposite,  ///< b = −κ a, κ > 0
    band,      ///< a + b/κ = c < 0
    gap,       ///< a + b/κ = c > 0
    free_at_0,  ///< a vanishes: z = 0 is always allowed
    free_at_1,  ///< b does
    none
  };
  Kind kind = Kind::none;
  int c = -1;            ///< its line, a function of the parameters
  std::string reason{};  ///< of kind none
};

/// `tape` has the inputs t | ẋ | x | z | (others) | p with p from `first_parameter` on; `off` and `on`
/// are the lines of a and b, in which no binary stands. `c` is appended to the tape.
FaceRelation relation_of_faces(const HybridModel& model, Tape& tape, int off, int on,
                               int first_parameter);

}  // namespace perp
