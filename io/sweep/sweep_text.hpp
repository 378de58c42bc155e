#pragma once

#include <string>

#include <perp/io/sweep/sweep_table.hpp>

namespace perp::io {

/// What a sweep says to people: its runs by their status, how to make one again that ended early, the ranges of its
/// measures.
std::string sweep_text(const SweepTable& table);

}  // namespace perp::io
