#include <fmt/format.h>
#include <algorithm>

#include <perp/analysis/run/columns.hpp>
#include <perp/io/plot/drawn_columns.hpp>
#include <perp/schemes/events/events.hpp>

namespace perp::io {

std::vector<DrawnColumn> drawn_columns(const Model& model) {
  using Kind = DrawnColumn::Kind;
  const Columns names = columns_of(model);
  std::vector<DrawnColumn> list;
  for (std::size_t j = 0; j < names.x.size(); ++j)
    list.push_back({names.x[j], {}, Kind::variable, true});
  for (const int j : model.differential_variables()) list[static_cast<std::size_t>(j)].is_algebraic = false;
  for (const std::string& name : names.lambda) list.push_back({name, {}, Kind::multiplier, true});
  for (const std::string& name : names.w) list.push_back({name, {}, Kind::argument, true});
  for (const std::string& name : names.outputs) list.push_back({name, {}, Kind::output, true});
  for (const int j : model.differential_variables())
    list.push_back({fmt::format("der({})", names.x[static_cast<std::size_t>(j)]), {}, Kind::derivative, true});
  const std::map<std::string, std::string> units = column_units(model);
  for (DrawnColumn& column : list)
    if (const auto unit = units.find(column.name); unit != units.end()) column.unit = unit->second;
  return list;
}

ColumnValues::ColumnValues(const Model& model, std::vector<int> columns)
    : model_(&model),
      columns_(std::move(columns)),
      n_(static_cast<int>(model.variables.size())),
      m_(model.m()),
      outputs_(static_cast<int>(model.outputs.names.size())),
      differential_(model.differential_variables()) {
  const int first_output = n_ + 2 * m_, first_derivative = first_output + outputs_;
  has_outputs_ = std::ranges::any_of(columns_, [&](int k) { return k >= first_output && k < first_derivative; });
  has_rates_ = std::ranges::any_of(columns_, [&](int k) { return k >= first_derivative; });
}

Vector ColumnValues::rates_at(const Step& step) {
  if (!rates_) rates_ = std::make_shared<RowRates>(*model_);
  return (*rates_)(step);
}

Vector ColumnValues::operator()(const Step& step) {
  const Vector outputs = has_outputs_ ? model_->outputs.at(step.t, step.x, step.lambda) : Vector();
  const Vector rates = has_rates_ ? rates_at(step) : Vector();
  const int first_derivative = n_ + 2 * m_ + outputs_;
  Vector values(static_cast<Eigen::Index>(columns_.size()));
  const auto entry = [](const Vector& of, int k) { return k < of.size() ? of[k] : nan; };
  for (std::size_t j = 0; j < columns_.size(); ++j) {
    const int k = columns_[j];
    values[static_cast<Eigen::Index>(j)] =
        k < n_               ? step.x[k]
        : k < n_ + m_        ? entry(step.lambda, k - n_)
        : k < n_ + 2 * m_    ? entry(step.w, k - n_ - m_)
        : k < first_derivative ? entry(outputs, k - n_ - 2 * m_)
                             : rates[differential_[static_cast<std::size_t>(k - first_derivative)]];
  }
  return values;
}

bool ColumnValues::is_reset(const Event& event) const {
  return model_->equations && std::ranges::any_of(model_->equations->resets, [&](const Reset& reset) {
           return is_of_reset(event, reset.name);
         });
}

std::vector<int> ColumnValues::variables() const {
  std::vector<int> places;
  for (const int k : columns_) places.push_back(k < n_ ? k : -1);
  return places;
}

}  // namespace perp::io
