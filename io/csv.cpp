#include <fmt/compile.h>
#include <algorithm>

#include <perp/io/csv.hpp>

namespace perp::io {
namespace {

void append(fmt::memory_buffer& buffer, double value) {
  fmt::format_to(std::back_inserter(buffer), FMT_COMPILE("{},"), value);
}

}  // namespace

CsvWriter::CsvWriter(const std::string& file, const Model& model,
                     const std::vector<std::string>& quantities, Writing writing)
    : file_(file, writing),
      mode_text_(model.laws()),
      lambdas_(model.laws().size()),
      quantities_(static_cast<Eigen::Index>(quantities.size())) {
  const Columns columns = columns_of(model);
  header_ = "t,";
  for (const std::string& name : columns.x) header_ += quoted(name) + ",";
  for (std::size_t i = 0; i < lambdas_; ++i) {
    if (is_constraint(model.laws()[i])) continue;  // its multiplier is 0
    written_.push_back(static_cast<Eigen::Index>(i));
    header_ += quoted(columns.lambda[i]) + ",";
  }
  for (const std::string& name : columns.outputs) header_ += quoted(name) + ",";
  for (const auto& [letter, count] : {std::pair{"x", columns.x.size()}, {"lambda", lambdas_}})
    for (std::size_t i = 1; i <= count; ++i)
      for (const std::string& name : quantities)
        header_ += fmt::format("d{}{}_d{},", letter, i, name);
  header_ += quoted(columns.mode) + "\n";
}

void CsvWriter::write_header() {
  file_.buffer().append(header_.data(), header_.data() + header_.size());
  header_.clear();
}

void CsvWriter::close() {
  write_header();
  file_.close();
}

/// Empty fields where the scheme of this row has none.
void CsvWriter::append_sensitivities(const Step& step) {
  for (const auto& [matrix, rows] : {std::pair{&step.dx_dq, step.x.size()},
                                     {&step.dlambda_dq, static_cast<Eigen::Index>(lambdas_)}})
    for (Eigen::Index i = 0; i < rows; ++i)
      for (Eigen::Index k = 0; k < quantities_; ++k) {
        if (i < matrix->rows())
          append(file_.buffer(), (*matrix)(i, k));
        else
          file_.buffer().push_back(',');
      }
}

/// The mode as text, made anew only where it changes.
void CsvWriter::append_mode(const Mode& mode) {
  if (mode_field_.empty() || mode != mode_) {
    mode_ = mode;
    mode_field_ = quoted(mode_text_(mode)) + "\n";
  }
  file_.buffer().append(mode_field_.data(), mode_field_.data() + mode_field_.size());
}

void CsvWriter::row(const Step& step, const Vector& outputs) {
  if (!header_.empty()) write_header();
  fmt::memory_buffer& buffer = file_.buffer();
  append(buffer, step.t);
  for (const double value : step.x) append(buffer, value);
  for (const Eigen::Index i : written_)
    if (i < step.lambda.size()) append(buffer, step.lambda[i]);
  for (const double value : outputs) append(buffer, value);
  if (quantities_ > 0) append_sensitivities(step);
  append_mode(step.mode);
  file_.end_record();
}

void CsvWriter::rows(const IntegrateOptions::StepsInMode& steps) {
  if (!header_.empty()) write_header();
  fmt::memory_buffer& buffer = file_.buffer();
  const std::size_t count = steps.times.size(), n = steps.x.size() / count;
  for (std::size_t k = 0; k < count; ++k) {
    append(buffer, steps.times[k]);
    for (std::size_t j = k * n; j < (k + 1) * n; ++j) append(buffer, steps.x[j]);
    for (const Eigen::Index i : written_) append(buffer, steps.lambda[k * lambdas_ + static_cast<std::size_t>(i)]);
    append_mode(*steps.mode);
    file_.end_record();
  }
}

namespace {

/// ",x_before" of each variable where `text_of` is called with no event, else its values; nothing where no event has states.
class EventStates {
 public:
  EventStates(const Model& model, const std::vector<Event>& events) : names_(variable_names(model)) {
    is_kept_ = std::any_of(events.begin(), events.end(), [](const Event& event) { return event.x_before.size() + event.x_after.size() > 0; });
  }

  [[nodiscard]] std::string heading() const {
    std::string text;
    if (!is_kept_) return text;
    for (const char* side : {"_before", "_after"})
      for (const std::string& name : names_) text += "," + quoted(name + side);
    return text;
  }

  [[nodiscard]] std::string fields(const Event& event) const {
    std::string text;
    if (!is_kept_) return text;  // of many events of many variables not even the names are counted
    for (const Vector* x : {&event.x_before, &event.x_after})
      for (std::size_t j = 0; j < names_.size(); ++j)
        text += static_cast<Eigen::Index>(j) < x->size() ? fmt::format(",{}", (*x)[static_cast<Eigen::Index>(j)]) : ",";
    return text;
  }

 private:
  std::vector<std::string> names_;
  bool is_kept_ = false;
};

/// ",continuations,strict"; empty fields where nothing was counted.
std::string continuation_fields(const Event& event) {
  if (event.continuations <= 0) return ",,";
  return fmt::format(",{},{}", event.continuations, event.is_weak ? "no" : "yes");
}

/// The derivatives of the time by so many quantities, and the condition.
std::string sensitivity_fields(const Event& event, std::size_t quantities) {
  std::string text;
  for (std::size_t k = 0; k < quantities; ++k)
    text += static_cast<Eigen::Index>(k) < event.dt_dq.size()
                ? fmt::format(",{}", event.dt_dq[static_cast<Eigen::Index>(k)])
                : ",";
  return text + fmt::format(",{}", event.condition);
}

}  // namespace

void write_events(const std::string& file, const Model& model, const std::vector<Event>& events,
                  const std::vector<std::string>& quantities) {
  const Laws& laws = model.laws();
  const EventStates states(model, events);
  std::string text = "t,type,law,from,to,t_before,t_after,size,note";
  // Schemes that count continuations say how many, and whether the one taken is strict.
  const bool counted = std::any_of(events.begin(), events.end(),
                                   [](const Event& event) { return event.continuations > 0; });
  if (counted) text += ",continuations,strict";
  for (const std::string& name : quantities) text += ",dt_d" + name;
  text += (quantities.empty() ? "" : ",condition") + states.heading() + "\n";
  const EventTexts texts_of(laws);
  for (const Event& event : events) {
    const BranchTexts branches = texts_of(event);
    text += fmt::format("{},{},{},{},{},{},{},{},{}", event.t, to_string(event.kind),
                        quoted(branches.law), quoted(branches.from), quoted(branches.to),
                        event.t_before, event.t_after, event.size, quoted(event.note));
    if (counted) text += continuation_fields(event);
    if (!quantities.empty()) text += sensitivity_fields(event, quantities.size());
    text += states.fields(event) + "\n";
  }
  write_file(file, text);
}

}  // namespace perp::io
