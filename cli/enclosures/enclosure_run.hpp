#pragma once

#include <string>
#include <vector>

#include <perp/analysis/enclosure/exact_model.hpp>

namespace perp::io {}

namespace perp::cli {

using namespace io;

/// A row of a table: of the whole set, or of a piece of it.
struct TableRow {
  const enclosure::EnclosureRow* row = nullptr;
  int piece = -1;  ///< its number in the paving; -1: the whole set
};

/// An enclosure with what its tables need.
struct EnclosureRun {
  const enclosure::ExactModel& model;
  const enclosure::Enclosure& result;
  std::vector<double> times{};  ///< of the rows that were asked for; others are for the picture
  double seconds = 0;

  bool by_pieces = false;  ///< tables and pictures hold the rows of each piece

  /// All rows, in the order of t; of one time in that of the pieces.
  [[nodiscard]] std::vector<TableRow> all_rows() const;
  /// Those that were asked for.
  [[nodiscard]] std::vector<TableRow> rows() const;
  /// Those of a piece have narrower outputs than the whole set.
  [[nodiscard]] enclosure::Box outputs(const TableRow& of) const;
  /// The intervals of the piece of a row.
  [[nodiscard]] enclosure::Box set_of(const TableRow& of) const {
    return model.set_of(result.paving[static_cast<std::size_t>(of.piece)]);
  }
};

/// A table as text: what CSV and HDF5 hold alike. Bounds are bounds: nothing is rounded to nearest.
struct EnclosureRowText {
  std::string law{}, from{}, to{}, note{};
};

/// Law, branches and note of an event, or of the end of the proof.
///@{
EnclosureRowText text_of(const enclosure::ExactModel& model, const enclosure::EnclosureEvent& event);
EnclosureRowText text_of(const enclosure::ExactModel& model, const enclosure::Lost& lost);
///@}

/// "[w<0]", "[w<0] or [w=0]", "too many to list" of none.
std::string modes_text(const enclosure::ExactModel& model, const std::vector<Mode>& modes);

/// t,branch,flag,how,x_lo,x_hi,…,λ,outputs,mode; by pieces t,piece,branch,flag,how, the intervals
/// of the set in the piece, and the same. Bounds have 20 significant digits, rounded outward; t is
/// exact.
void write_rows_csv(const std::string& file, const EnclosureRun& run);
/// t_lo,t_hi,branch,type,law,from,to,proof,note; the end of the proof is the last one, `lost`.
void write_events_csv(const std::string& file, const EnclosureRun& run);
/// t_lo,t_hi,branch,flag,x_lo,x_hi,…
void write_tube_csv(const std::string& file, const EnclosureRun& run);

/// The same tables as HDF5: /t [N], /branch, /flag, /how, /mode, /x_lo [N×n], /x_hi, /lambda_lo,
/// /outputs_lo, …, /events/…, /tube/…; by pieces also /piece, /set_lo, /set_hi.
void write_enclosure_hdf5(const std::string& file, const EnclosureRun& run, bool tube,
                          const std::string& provenance);

}  // namespace perp::cli
