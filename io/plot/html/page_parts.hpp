#pragma once

#include <string>

namespace perp::io {

/// What stands before the panels of a page: its title (as HTML) and how its parts look.
std::string page_head(const std::string& title);

/// What stands behind them: the script.
std::string page_tail();

}  // namespace perp::io
