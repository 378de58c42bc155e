#pragma once

#include <perp/core/base/archive.hpp>
#include <perp/core/trajectory.hpp>

namespace perp {

/// Members of these as an archive holds them.
///@{
void transfer(Archive& archive, Step& step);
void transfer(Archive& archive, Event& event);
void transfer(Archive& archive, Trajectory& trajectory);
///@}

}  // namespace perp
