#include <algorithm>
#include <span>

#include <perp/analysis/hybrid/step_rows.hpp>
#include <perp/core/base/index.hpp>

namespace perp {
namespace {

/// F, then G without the rows of the binaries, which have none.
std::vector<int> lines_of(const Dcs& system, int binaries) {
  std::vector<int> lines = system.F;
  lines.insert(lines.end(), system.G.begin() + binaries, system.G.end());
  return lines;
}

/// The place of an entry: one for each column of a row, whose entries follow each other.
class PlacesInRow {
 public:
  PlacesInRow(int columns, std::vector<linear::Place>& places) : place_(at(columns), -1), places_(places) {}

  std::size_t of(int row, int column) {
    if (row != row_) begin(row);
    int& place = place_[at(column)];
    if (place < 0) {
      place = static_cast<int>(places_.size());
      places_.push_back({row, column});
    }
    return at(place);
  }

 private:
  void begin(int row) {
    for (auto p = places_.rbegin(); p != places_.rend() && p->row == row_; ++p) place_[at(p->column)] = -1;
    row_ = row;
  }

  std::vector<int> place_;  // of each column in the row
  std::vector<linear::Place>& places_;
  int row_ = -1;
};

}  // namespace

StepRows::StepRows(const Dcs& system, int binaries)
    : n_(system.n()), inputs_(1 + 2 * system.n() + system.m()), lines_(lines_of(system, binaries)) {
  validate(system);
  bounded_ = BoundedTape(system.tape, lines_, inputs_, system.parameters);
  tape_ = bind_inputs(system.tape, inputs_, system.parameters, lines_);
  const auto code_of = [&](std::span<const int> lines) {
    TapeCode code(tape_, lines, lines.size());
    if (code.code() == nullptr) return code;
    // Lines that are run one by one are no more than these rows need.
    std::vector<int> outputs(lines.begin(), lines.end());
    const Tape part = tape_.part(outputs);
    return TapeCode(part, outputs, outputs.size());
  };
  F_ = code_of(std::span(lines_).first(at(n_)));
  g_ = code_of(std::span(lines_).subspan(at(n_)));
}

void StepRows::find_matrix(LocalRates& rates, const Dcs& system) {
  if (!find_numbers(rates)) find_derivatives(system);
}

/// The rows of F one by one. False: an entry is no number.
bool StepRows::find_numbers(LocalRates& rates) {
  std::vector<DcsEvaluator::Entry> entries;
  std::vector<ConeTape::Slope> slopes;
  for (int row = 0; row < n_; ++row) {
    if (!rates.slopes(row, slopes)) return false;
    for (const auto& [input, value] : slopes) {
      entries.push_back({row, input});
      entries_.push_back(value);
    }
  }
  find_terms(entries);
  return true;
}

void StepRows::find_derivatives(const Dcs& system) {
  derivatives_.emplace(system);
  entries_.assign(derivatives_->entries().size(), 0);
  rows_.assign(at(derivatives_->n() + derivatives_->m()), 0);
  find_terms(derivatives_->entries());
}

/// Both parts on one pattern.
void StepRows::find_terms(const std::vector<DcsEvaluator::Entry>& entries) {
  PlacesInRow places(n_, places_);
  for (std::size_t k = 0; k < entries.size(); ++k) {
    const auto [row, column] = entries[k];
    const bool by_rate = column < 1 + n_;
    const int j = column - 1 - (by_rate ? 0 : n_);
    if (j < 0 || j >= n_ || row >= n_) continue;  // t, binaries
    terms_.push_back({k, places.of(row, j), by_rate});
  }
  find_rows_of_rates();
}

void StepRows::find_rows_of_rates() {
  first_of_rate_.assign(at(n_) + 1, 0);
  for (const Term& term : terms_)
    if (term.by_rate) ++first_of_rate_[at(places_[term.place].column) + 1];
  for (int j = 0; j < n_; ++j) first_of_rate_[at(j) + 1] += first_of_rate_[at(j)];
  rows_of_rates_.resize(first_of_rate_.back());
  std::vector<std::size_t> next(first_of_rate_.begin(), first_of_rate_.end() - 1);
  for (const Term& term : terms_)
    if (term.by_rate) rows_of_rates_[next[at(places_[term.place].column)]++] = places_[term.place].row;
}

void StepRows::matrix(const double* z, double h, std::vector<double>& values) {
  if (derivatives_) derivatives_->linearize(z, rows_.data(), entries_.data());
  values.assign(places_.size(), 0);
  for (const Term& term : terms_)
    values[term.place] += term.by_rate ? entries_[term.entry] / h : entries_[term.entry];
}

}  // namespace perp
