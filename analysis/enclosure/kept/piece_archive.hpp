#pragma once

#include <perp/analysis/enclosure/pieces/piece.hpp>
#include <perp/core/base/archive.hpp>

namespace perp::enclosure {

/// Members of these as an archive holds them: what pieces are followed with is not among them, nor are proofs.
///@{
void transfer(Archive& archive, EnclosureRow& row);
void transfer(Archive& archive, EnclosureEvent& event);
void transfer(Archive& archive, TubeRow& row);
void transfer(Archive& archive, Lost& lost);
void transfer(Archive& archive, Successor& successor);
void transfer(Archive& archive, PieceResult& result);
///@}

}  // namespace perp::enclosure
