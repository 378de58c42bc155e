#include <fmt/format.h>
#include <algorithm>
#include <vector>

#include <perp/analysis/run/schemes.hpp>
#include <perp/analysis/measures/until.hpp>
#include <perp/core/base/error.hpp>
#include <perp/schemes/run/keep_beside.hpp>
#include <perp/schemes/run/trajectory_archive.hpp>

namespace perp {
namespace {

constexpr long first_rows = 512;  // of the search, which doubles them

/// EVENT and n of "EVENT:n": what stands behind a colon is branches where it is no number.
std::pair<std::string_view, long> parts_of(std::string_view text) {
  const std::size_t colon = text.rfind(':');
  if (colon == std::string_view::npos) return {text, 1};
  const std::string_view number = text.substr(colon + 1);
  if (number.empty() || number.find_first_not_of("-0123456789") != std::string_view::npos) return {text, 1};
  const bool is_count = number.size() <= 9 && number.find('-') == std::string_view::npos;
  const long n = is_count ? std::stol(std::string(number)) : 0;
  if (n < 1) throw InvalidInput(fmt::format("the number of the event '{}' is {}; expected 1, 2, ... up to 999999999", text, number));
  return {text.substr(0, colon), n};
}

/// The last row of the step that holds the event, and of what stands at the same time.
long last_row(const std::vector<double>& times, const Event& event) {
  const auto end = std::lower_bound(times.begin(), times.end(), event.t_after);
  if (end == times.end()) return static_cast<long>(times.size());
  return std::upper_bound(end, times.end(), *end) - times.begin();
}

}  // namespace

UntilEvent::UntilEvent(const Model& model, std::string_view text)
    : model_(model), choice_(model, parts_of(text).first), number_(parts_of(text).second) {}

std::string UntilEvent::text() const {
  return number_ == 1 ? choice_.text() : fmt::format("{}, number {}", choice_.text(), number_);
}

const Event* UntilEvent::nth(const Trajectory& run) const {
  long k = 0;
  for (const Event& event : run.events)
    if (choice_.holds(event) && ++k == number_) return &event;
  return nullptr;
}

/// A run that is cut may tell its last events otherwise than a longer one: what counts lies in its first half.
std::optional<UntilEvent::End> UntilEvent::find(const IntegrateOptions& options,
                                                const std::function<bool()>& goes_on) const {
  IntegrateOptions search = options;
  search.course = {};
  search.state = {};
  search.keep = false;
  for (std::size_t most = first_rows;; most *= 2) {
    std::vector<double> times;
    search.observer = [&](const Step& step) {
      times.push_back(step.t);
      return times.size() < most && goes_on();
    };
    const Trajectory run = scheme(model_.run.scheme).run(model_, search);
    const bool is_whole = times.size() < most;
    const Event* event = nth(run);
    if (event != nullptr && (is_whole || event->t_after <= times[most / 2])) return End{*event, last_row(times, *event)};
    if (is_whole) return std::nullopt;
  }
}

void UntilEvent::End::transfer(Archive& archive) { archive(event, row); }

Trajectory UntilEvent::run(const IntegrateOptions& options, const std::function<bool()>& goes_on) {
  std::optional<End> end;
  long rows = 0;
  Step last;
  IntegrateOptions cut = options;
  keep_beside(cut.state, [&](Archive& archive) { archive(end, rows, last); });
  if (options.state.from.empty()) end = find(options, goes_on);
  if (!end) {
    Trajectory run = scheme(model_.run.scheme).run(model_, cut);
    run.message += fmt::format("; the event {} did not happen", text());
    return run;
  }
  bool is_refused = false;  // by the user's observer
  cut.observer = [&](const Step& step) {
    last = step;
    is_refused = options.observer && !options.observer(step);
    return !is_refused && ++rows < end->row;
  };
  Trajectory run = scheme(model_.run.scheme).run(model_, cut);
  if (rows < end->row || is_refused) return run;
  happened_ = true;
  std::erase_if(run.events, [&](const Event& event) { return event.t_after > last.t; });
  if (run.t.back() < last.t) run.append(last);
  if (run.status == Status::interrupted) {
    run.status = Status::solved;
    run.message = fmt::format("reached the event {} at t = {:.10g}", text(), end->event.t);
  }
  return run;
}

}  // namespace perp
