// Pieces of an enclosure as bytes: called where it is kept.
#include <perp/analysis/enclosure/kept/piece_archive.hpp>

namespace perp::enclosure {

void transfer(Archive& archive, EnclosureRow& row) {
  archive(row.t, row.branch, row.flag, row.how, row.box, row.multipliers, row.modes, row.root);
}

void transfer(Archive& archive, EnclosureEvent& event) {
  archive(event.t, event.branch, event.type, event.law, event.from, event.to, event.reset, event.root, event.unique, event.note);
}

void transfer(Archive& archive, TubeRow& row) { archive(row.from, row.to, row.branch, row.flag, row.box); }

void transfer(Archive& archive, Lost& lost) {
  archive(lost.t, lost.reason, lost.advice, lost.law, lost.reset, lost.mode);
}

/// What is said of a mode that holds no start.
void transfer(Archive& archive, Successor& successor) {
  archive(successor.mode, successor.root, successor.verdict, successor.same_rates, successor.held, successor.keeps_implicit);
  archive(successor.reason, successor.open_gaps, successor.is_elsewhere, successor.equation, successor.residual);
}

void transfer(Archive& archive, PieceResult& result) {
  Enclosure& enclosure = result.enclosure;
  archive(enclosure.rows, enclosure.events, enclosure.tube, enclosure.lost, enclosure.steps, enclosure.pieces, enclosure.joined, enclosure.forbids_starts);
  archive(result.split, result.excess, result.elsewhere, result.is_given_up, result.rows_until, result.tube_until);
}

}  // namespace perp::enclosure
