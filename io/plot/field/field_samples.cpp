// What a picture of an array needs of a run.
#include <fmt/format.h>
#include <algorithm>
#include <set>

#include <perp/analysis/run/columns.hpp>
#include <perp/core/base/error.hpp>
#include <perp/core/base/nearest_name.hpp>
#include <perp/io/plot/field/field_samples.hpp>
#include <perp/io/text/array_names.hpp>
#include <perp/schemes/run/trajectory_archive.hpp>

namespace perp::io {
namespace {

constexpr int most_elements = 256;         // along the index of a row
constexpr int most_elements_of_two = 128;  // along each index of a grid
constexpr int moments_of_row = 400, moments_of_grid = 6;

int stride(const std::vector<ArrayColumns::Element>& elements, int ArrayColumns::Element::*index, int most) {
  const auto [least, greatest] = std::ranges::minmax(elements, {}, index);
  return (greatest.*index - least.*index) / most + 1;
}

/// Of many elements every so many along each index, from the least one on.
void thin(ArrayColumns& array) {
  using Element = ArrayColumns::Element;
  const int most = array.has_two ? most_elements_of_two : most_elements;
  array.stride_i = stride(array.drawn, &Element::i, most), array.stride_j = stride(array.drawn, &Element::j, most);
  const int i0 = std::ranges::min(array.drawn, {}, &Element::i).i, j0 = std::ranges::min(array.drawn, {}, &Element::j).j;
  std::erase_if(array.drawn, [&](const Element& at) { return (at.i - i0) % array.stride_i != 0 || (at.j - j0) % array.stride_j != 0; });
}

}  // namespace

ArrayColumns array_columns(const Model& model, const std::string& name) {
  ArrayColumns array{.name = name};
  std::set<std::string> known;
  const std::vector<DrawnColumn> columns = drawn_columns(model);
  for (std::size_t k = 0; k < columns.size(); ++k) {
    const auto indices = indices_of(columns[k].name);
    if (!indices || indices->size() > 2) continue;
    const std::string of = array_of(columns[k].name);
    known.insert(of);
    if (of != name) continue;
    array.has_two = indices->size() == 2;
    array.unit = columns[k].unit;
    array.drawn.push_back({indices->front(), array.has_two ? indices->back() : 1, static_cast<int>(k)});
  }
  if (known.empty()) throw InvalidInput(fmt::format("--plot-field {}: the model has no array, as x[1], x[2], ...", name));
  find_name(name, std::vector<std::string>(known.begin(), known.end()), "array");
  thin(array);
  return array;
}

FieldSamples::FieldSamples(const Model& model, ArrayColumns array, Span window)
    : array_(std::move(array)),
      values_(model,
              [&] {
                std::vector<int> columns;
                for (const ArrayColumns::Element& element : array_.drawn) columns.push_back(element.column);
                return columns;
              }()),
      window_{std::max(window.start, model.run.span.start), std::min(window.end, model.run.span.end)},
      moments_(array_.has_two ? moments_of_grid : moments_of_row) {}

double FieldSamples::moment(int k) const {
  const double share = static_cast<double>(k) / (moments_ - 1);
  return (1 - share) * window_.start + share * window_.end;
}

void FieldSamples::add(const Step& step) {
  if (array_.drawn.empty() || step.t < window_.start || step.t > window_.end) return;
  last_ = step;
  if (next_ >= moments_ || step.t < moment(next_)) return;
  keep(step);
  while (next_ < moments_ && moment(next_) <= step.t) ++next_;
}

void FieldSamples::transfer(Archive& archive) { archive(next_, states_, last_); }

void FieldSamples::keep(const Step& step) { states_.push_back({step.t, values_(step)}); }

const std::vector<FieldSamples::State>& FieldSamples::finish() {
  if (last_.x.size() > 0 && (states_.empty() || states_.back().t < last_.t)) keep(last_);
  return states_;
}

}  // namespace perp::io
