// Runs of hybrid models: the loop over their modes. `analysis/run/schemes` calls it.
#include <fmt/format.h>
#include <algorithm>
#include <cmath>

#include <perp/analysis/hybrid/run/hybrid_run.hpp>
#include <perp/analysis/hybrid/start_modes.hpp>
#include <perp/core/base/error.hpp>
#include <perp/core/base/index.hpp>
#include <perp/core/base/interruption.hpp>
#include <perp/schemes/check_options.hpp>
#include <perp/schemes/run/recorder.hpp>
#include <perp/schemes/events/events.hpp>
#include <perp/schemes/located/jets/model_scales.hpp>

namespace perp {
namespace {

constexpr long most_judged = 256;       ///< modes whose derivatives are computed at one moment
constexpr std::size_t most_rows = 6;    ///< of excluded modes in a message

const char* end_word(Status status, bool is_decided) {
  if (is_decided) return "no solution: no value of the binaries continues";
  if (status == Status::not_enumerated)
    return "no value of the binaries that continues was found, not all were tried";
  if (status == Status::not_solved) return "no value of the binaries that continues was found";
  return "no value of the binaries continues, and no jump to one that does was found";
}

/// A model that was read has the system of its constraints.
std::optional<Dcs> system_unless_known(const Model& model) {
  if (model.equations) return std::nullopt;
  return constraint_system(*model.hybrid);
}

/// The sizes that the data of the model give to its states: one that is held at 0 is known no better.
Vector declared_sizes(const Model& model) {
  Vector sizes = Vector::Zero(static_cast<Eigen::Index>(model.variables.size()));
  for (std::size_t j = 0; j < model.variables.size(); ++j)
    if (model.variables[j].has_nominal) sizes[static_cast<Eigen::Index>(j)] = model.variables[j].nominal;
  return sizes;
}

/// Of those that keep what is declared as well as the one that is taken, of which there may be more than are listed.
std::string count_like_taken(const HybridContinuations& found, bool is_nothing_declared) {
  const int outside = found.list[at(*found.chosen)].outside;
  const auto count = std::count_if(found.list.begin(), found.list.end(), [&](const auto& c) { return c.outside == outside; });
  const bool are_all = static_cast<std::size_t>(count) < found.list.size();
  if (!found.count || found.is_complete || are_all) return fmt::format("{}", count);
  return is_nothing_declared ? fmt::format("{}", *found.count) : fmt::format("{} or more", count);
}

bool is_same_state(const Step& a, const Step& b) { return a.t == b.t && a.mode == b.mode && a.x == b.x; }

}  // namespace

HybridRun::HybridRun(const Model& model, HybridSchemes schemes, const IntegrateOptions& output,
                     SensitivityRequest sensitivities, std::shared_ptr<const HybridStructure> structure)
    : model_(model),
      schemes_(std::move(schemes)),
      hybrid_(*model.hybrid),
      output_(output),
      structure_(std::move(structure)),
      own_system_(system_unless_known(model)),
      system_(own_system_ ? *own_system_ : *model.equations),
      span_(model.run.span),
      sizes_(declared_sizes(model)),
      request_(std::move(sensitivities)),
      switches_(system_, TimeSwitches::Of::jumps) {
  check_span(span_, output.times);
  check_steps(span_, model.run.h, {});
  if (model.run.scheme != "located" && !output.bounds.empty())
    throw InvalidInput(fmt::format(
        "scheme {} does not watch bounds of variables beside binaries that no law stands for; "
        "expected a constraint in place of the bounds of '{}'",
        model.run.scheme, output.bounds.front().name));
}

Trajectory HybridRun::operator()() {
  start();
  return take();
}

Trajectory HybridRun::take() {
  while (is_running()) advance();
  return std::move(result_);
}

void HybridRun::start() {
  if (!output_.state.from.empty()) return resume();
  result_.provenance["version"] = PERP_VERSION;
  result_.provenance["scheme"] = model_.run.scheme;
  result_.provenance["selector"] = "nearest_mode";
  try {
    begin();
    if (is_running() && model_.run.scheme != "located") begin_capturing();
  } catch (const Interrupted&) {
    end_interrupted();
  }
}

void HybridRun::advance() {
  try {
    if (model_.run.scheme == "located")
      run_located();
    else
      run_capturing();
    keep_if_due();
  } catch (const Interrupted&) {
    end_interrupted();
  }
}

/// Throws on where nothing is computed yet.
void HybridRun::end_interrupted() {
  if (result_.t.empty()) throw Interrupted();
  finish(Status::interrupted, fmt::format("interrupted at t = {:.10g}", now_.t));
}

/// The first mode: the declared values where they continue, else what the rule takes.
void HybridRun::begin() {
  const int m = system_.m();
  now_ = {span_.start, model_.x0(), Vector::Zero(m), Vector::Zero(m), Mode(at(m), 0)};
  last_change_ = span_.start;
  for (int i = 0; i < hybrid_.q(); ++i)
    mode_.z.push_back(hybrid_.binaries[at(i)].start.value_or(any_binary));
  // Whole steps do not ask for more until the rule does.
  if (!hybrid_.takes_whole_steps() || model_.run.scheme != "backward_euler") find_scales();
  begin_sensitivities();
  choose(true);
}

/// Sizes of all variables, and the time of the model.
void HybridRun::find_scales() {
  if (has_scales_) return;
  has_scales_ = true;
  check_interruption();
  const ModelScales scales = model_scales(system_, model_.x0(), span_, sizes_);
  sizes_ = scales.x;
  time_ = scales.time;
  check_interruption();
}

const HybridStructure& HybridRun::structure() {
  if (!structure_) structure_ = structure_of_binaries(model_);
  return *structure_;
}

HybridModes& HybridRun::modes() {
  if (!modes_) modes_ = std::make_unique<HybridModes>(hybrid_);
  return *modes_;
}

HybridModeOptions HybridRun::mode_options(bool at_start) const {
  HybridModeOptions options;
  options.most_candidates = most_judged;
  // How many others continue is told where the start is free, and where it costs little.
  const bool is_free =
      mode_.z.empty() || std::find(mode_.z.begin(), mode_.z.end(), any_binary) != mode_.z.end();
  options.nearest_alone = !(at_start && is_free) && !follows_ && hybrid_.q() > NearChoice::most_searched;
  options.sizes = sizes_;
  options.share = at_start ? 0 : share_of_computed;
  options.stop = [] { return interruption_requested(); };
  return options;
}

/// All modes are asked where those near the previous one do not decide.
HybridContinuations HybridRun::continuations(bool at_start) {
  if (!starts_strictly()) find_scales();
  if (std::optional<HybridContinuations> near = near_choice(at_start)) return *std::move(near);
  std::vector<double> previous;
  for (const int z : mode_.z)
    previous.push_back(z == any_binary ? nan : (z == released_binary ? 0.5 : z));
  HybridContinuations found = modes().continuations(now_.t, now_.x, previous, mode_options(at_start));
  check_interruption();
  return found;
}

HybridContinuations HybridRun::continuations_from(double t, const Vector& x, const std::vector<int>& previous) {
  asks_called_alone_ = true;
  now_.t = t;
  now_.x = x;
  mode_.z = previous;
  return continuations(false);
}

/// The mode in which the solution goes on from now_. False: none, the run has ended.
bool HybridRun::choose(bool at_start) {
  const std::vector<int> before = mode_.z;
  HybridContinuations found = continuations(at_start);
  if (!found.chosen) {
    if (found.status != Status::not_enumerated && jump(before, mode_options(at_start))) return true;
    end_here(found);
    return false;
  }
  if (follows_) take_choice(found);
  enter(found.list[at(*found.chosen)]);
  if (at_start)
    log_start(before, found);
  else if (mode_.z != before)
    log_change(before, found);
  return true;
}

void HybridRun::enter(const HybridContinuation& c) {
  for (int i = 0; i < hybrid_.q(); ++i) {
    const bool slides = std::binary_search(c.released.begin(), c.released.end(), i);
    mode_.z[at(i)] = slides ? released_binary : static_cast<int>(std::lround(c.z[at(i)]));
    now_.lambda[i] = c.z[at(i)];
    now_.mode[at(i)] = mode_.z[at(i)];
  }
  is_without_series_ = false;
  rates_ = c.rates;
  mode_.surfaces = c.surfaces;
  mode_.is_idle.clear();
  for (std::size_t l = 0; l < c.constraints.size(); ++l) {
    const ConstraintJet& row = c.constraints[l];
    mode_.is_idle.push_back(row.is_void || row.is_held ? 1 : 0);
    now_.w[hybrid_.q() + static_cast<Eigen::Index>(l)] =
        row.derivatives.empty() ? 0 : row.derivatives[0];
  }
  now_.x = c.x;
}

/// The first mode: what becomes of a declared start that does not continue, and which of several is
/// taken where none is declared.
void HybridRun::log_start(const std::vector<int>& before, const HybridContinuations& found) {
  const bool is_free = std::find(before.begin(), before.end(), any_binary) != before.end() || before.empty();
  const bool keeps_declared = std::equal(before.begin(), before.end(), mode_.z.begin(), [](int z, int now) { return z == any_binary || z == now; });
  if (!keeps_declared)
    result_.events.push_back(event_at(
        EventKind::mode_change, now_.t, now_.x,
        fmt::format("the start {} of the binaries violates {}; {} continues",
                    values_text(before), violated_start(hybrid_, found),
                    values_text(mode_.z))));
  if (!is_free) return;
  const bool is_nothing_declared = std::all_of(before.begin(), before.end(), [](int z) { return z == any_binary; });
  if (const std::string count = count_like_taken(found, is_nothing_declared); count != "1")
    result_.provenance["start"] =
        fmt::format("{} values of the binaries continue from the start; {} is taken ({})", count,
                    values_text(mode_.z), found.decided_by);
}

/// Which row excludes which value of the binaries.
std::string HybridRun::excluded_text(const HybridContinuations& found) const {
  std::string rows;
  for (std::size_t k = 0; k < found.excluded.size() && k < most_rows; ++k) {
    const Exclusion& exclusion = found.excluded[k];
    std::vector<std::string> names;
    for (const int row : exclusion.rows) names.push_back(row_word(hybrid_, row));
    rows += fmt::format("{}{} {}{}{}", k == 0 ? ": " : ", ", values_text(exclusion.z),
                        fmt::join(names, ", "), names.empty() ? "" : " ", exclusion.why);
  }
  if (found.excluded_count > static_cast<long>(most_rows))
    rows += fmt::format(", {} more", found.excluded_count - static_cast<long>(most_rows));
  return rows + declared_start_text(found);
}

/// What a declared start violates, where the run ends there.
std::string HybridRun::declared_start_text(const HybridContinuations& found) const {
  const bool is_declared = hybrid_.q() > 0 && is_plain();
  if (!result_.t.empty() || !is_declared || found.violated.empty()) return {};
  return fmt::format("; the declared start violates {}", violated_start(hybrid_, found));
}

/// No value of the binaries continues.
void HybridRun::end_here(const HybridContinuations& found) {
  const std::string rows = excluded_text(found);
  const bool is_decided = found.status == Status::no_solution && modes().keeps_states();
  const Status status = found.status == Status::not_enumerated ? Status::not_enumerated
                        : is_decided                           ? Status::no_solution
                                                               : Status::not_solved;
  const std::string what = end_word(found.status, is_decided);
  result_.events.push_back(event_at(is_decided ? EventKind::no_solution : EventKind::stopped,
                                    now_.t, now_.x, what + rows));
  if (result_.t.empty()) record(now_, true);
  finish(status, fmt::format("{} at {}{}", what, place(), rows));
}

std::string HybridRun::mode_text() const { return describe(system_.laws, now_.mode); }

std::string HybridRun::place() const {
  return std::find(mode_.z.begin(), mode_.z.end(), any_binary) != mode_.z.end()
             ? fmt::format("t = {:.10g}", now_.t)
             : fmt::format("t = {:.10g} (mode [{}])", now_.t, mode_text());
}

void HybridRun::finish(Status status, std::string message) {
  if (!is_running()) return;
  log_end(status, now_.t, now_.x, message, result_.events);
  result_.status = status;
  result_.message = std::move(message);
  if (!output_.keep && !result_.t.empty() && now_.t > result_.t.back()) result_.append(now_);
}

/// The course from the last row to this one, which takes its place, where no polynomial is told.
void HybridRun::tell_line(const Step& step) {
  if (!output_.course || !courses_by_rows_ || !(step.t > last_.t)) return;
  if (last_.mode != step.mode || last_.t == jumped_at_) {  // what has no rate may jump there
    const Vector before = std::exchange(last_.x, Vector::Constant(last_.x.size(), nan));
    for (const int j : model_.differential_variables()) last_.x[j] = before[j];
    last_.lambda.resize(0);
    last_.w.resize(0);
  }
  output_.course(straight_course(last_, step));
}

/// Is the state at t asked for?
bool HybridRun::is_row(double t) const {
  return !output_.only_times || t == span_.start || t == span_.end ||
         std::binary_search(output_.times.begin(), output_.times.end(), t);
}

/// Keeps and reports a state; the first of a mode only where it is not the last one.
void HybridRun::record(Step step, bool is_first_of_mode) {
  const bool first = last_.mode.empty();
  for (int i = 0; i < hybrid_.q(); ++i)
    if (mode_.z[at(i)] != any_binary) step.mode[at(i)] = mode_.z[at(i)];
  compose_sensitivities(step, first);
  now_ = step;
  if (!first && is_first_of_mode && is_same_state(step, last_)) return;
  if (!first) tell_line(step);
  last_ = step;
  if (is_row(step.t)) tell_row(step, first);
}

/// The first one is kept in any case.
void HybridRun::tell_row(const Step& step, bool is_first) {
  if (output_.keep || is_first) result_.append(step);
  if (!output_.tell(step))
    finish(Status::interrupted, fmt::format("interrupted at t = {:.10g}", step.t));
}

/// The times that are asked for and those of the grid of rows, behind t; one that is asked for is on the grid
/// where they are the same but for rounding.
std::vector<double> HybridRun::times_after(double t) const {
  std::vector<double> times;
  const double one = rounding_of_grid(span_), h = output_.only_times ? 0 : model_.run.h;
  auto asked = std::upper_bound(output_.times.begin(), output_.times.end(), t);
  for (double row = h > 0 ? next_on_grid(span_, h, t) : inf;;) {
    const double next = asked == output_.times.end() ? inf : *asked;
    const double time = next <= row + one ? next : row;
    if (!(time < span_.end)) return times;
    times.push_back(time);
    if (time == next) ++asked;
    if (row <= time + one) row = next_on_grid(span_, h, row);
  }
}

}  // namespace perp
