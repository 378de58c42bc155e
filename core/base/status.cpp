#include <perp/core/base/status.hpp>

namespace perp {

const char* to_string(Status status) {
  switch (status) {
    case Status::never_run: return "never_run";
    case Status::solved: return "solved";
    case Status::no_solution: return "no_solution";
    case Status::not_solved: return "not_solved";
    case Status::not_supported: return "not_supported";
    case Status::not_enumerated: return "not_enumerated";
    case Status::interrupted: return "interrupted";
  }
  return "unknown";
}

const char* to_string(Multiplicity multiplicity) {
  switch (multiplicity) {
    case Multiplicity::none: return "none";
    case Multiplicity::unique: return "unique";
    case Multiplicity::finite: return "finite";
    case Multiplicity::continuum: return "continuum";
  }
  return "unknown";
}

}  // namespace perp
