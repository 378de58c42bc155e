// Runs of random points of a set beside the rows of its enclosure; called by the suite and by
// perp_containment.
#include <fmt/format.h>
#include <algorithm>
#include <cmath>
#include <ctime>
#include <optional>
#include <random>
#include <sstream>
#include <string>

#include <perp/analysis/enclosure/exact_model.hpp>
#include <perp/models/language/read_model.hpp>
#include <perp/schemes/integrate.hpp>
#include <perp/tests/relations/containment.hpp>

namespace perp::relations {
namespace {

/// A line `name = "[a, b]"`: where its quoted interval stands, and the ends.
struct IntervalLine {
  std::size_t quote;
  double lower, upper;
};

std::optional<IntervalLine> interval_in(const std::string& line) {
  const std::size_t quote = line.find("= \"["), comma = line.find(',', quote), end = line.find("]\"", quote);
  if (quote == std::string::npos || comma == std::string::npos || end == std::string::npos || end + 2 != line.size())
    return std::nullopt;
  return IntervalLine{quote + 2, std::stod(line.substr(quote + 4)), std::stod(line.substr(comma + 1))};
}

/// The text with a number in the place of every interval: one of its ends now and then.
std::string drawn(const std::string& text, std::mt19937& random, std::string& values) {
  std::istringstream lines(text);
  std::string point;
  for (std::string line; std::getline(lines, line); point += line + '\n')
    if (const auto interval = interval_in(line)) {
      const unsigned kind = random() % 16;
      const double share = kind < 2 ? kind : std::uniform_real_distribution<double>(0, 1)(random);
      line = line.substr(0, interval->quote) +
             fmt::format("{:.17g}", interval->lower + share * (interval->upper - interval->lower));
      values += line + "  ";
    }
  return point;
}

bool has_interval(const std::string& text) {
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);)
    if (interval_in(line)) return true;
  return false;
}

Trajectory run_sharply(const Model& model, const std::vector<double>& times) {
  Located scheme{.tol = 1e-12, .restitution = model.restitution};
  IntegrateOptions options;
  for (const double t : times)
    if (t > model.run.span.start && t <= model.run.span.end) options.times.push_back(t);
  const Dcs system = model.equations ? *model.equations : as_dcs(model.lcs());
  return integrate(system, model.x0(), model.run.span, scheme, options);
}

/// Every row of a time beside every state there.
class Comparison {
 public:
  Comparison(const enclosure::Enclosure& whole, const Trajectory& run, double slack)
      : whole_(whole), run_(run) {
    allowed_ = Vector::Zero(run.x.front().size());
    for (const Vector& x : run.x) allowed_ = allowed_.cwiseMax(x.cwiseAbs());
    allowed_ *= slack;
  }

  void at(double t, Containment& result, const std::string& values) const {
    if (is_event(t)) return;
    for (std::size_t k = run_.size(); k-- > 0;) {
      if (run_.t[k] != t) continue;
      double best = -directed::infinity;
      bool any = false;
      for (const enclosure::EnclosureRow& row : whole_.rows) {
        if (row.t != t) continue;
        any = true;
        best = std::max(best, distance(row.box, run_.x[k]));
      }
      if (!any) return;
      ++result.states;
      result.least_share = std::min(result.least_share, best);
      if (best >= -1) return;
      if (result.misses++ == 0)
        result.first = fmt::format("{}t = {:.17g}: outside by {:.3g} times what is allowed", values,
                                   t, -best);
      return;
    }
  }

 private:
  /// Of a point to the bounds, the least over the variables; < 0: it is outside.
  [[nodiscard]] double distance(const enclosure::Box& box, const Vector& x) const {
    double least = directed::infinity;
    for (Eigen::Index j = 0; j < x.size(); ++j) {
      const enclosure::Interval& bounds = box[static_cast<std::size_t>(j)];
      const double inside = std::min(x[j] - bounds.lo, bounds.hi - x[j]);
      if (inside >= 0) continue;
      least = std::min(least, allowed_[j] > 0 ? inside / allowed_[j] : -directed::infinity);
    }
    return std::min(least, 0.0);
  }
  /// What happens at t itself may be on either side of a row.
  [[nodiscard]] bool is_event(double t) const {
    const double near = 1e-9 * (run_.t.back() - run_.t.front());
    return std::any_of(run_.events.begin(), run_.events.end(),
                       [&](const Event& event) { return std::abs(event.t - t) <= near; });
  }

  const enclosure::Enclosure& whole_;
  const Trajectory& run_;
  Vector allowed_;
};

}  // namespace

Containment contained(const std::string& text, const std::vector<double>& times,
                      const ContainmentOptions& options) {
  const enclosure::ExactModel exact = enclosure::read_exact_model(text, "set.toml");
  enclosure::EncloseOptions of_rows;
  of_rows.times = times;
  const enclosure::Enclosure whole = exact.enclose(of_rows);
  Containment result;
  result.rows = static_cast<int>(whole.rows.size());
  result.is_lost = whole.lost.has_value();
  std::mt19937 random(options.seed);
  const std::clock_t start = std::clock();
  const bool is_point = !has_interval(text);
  for (long k = 0; k < (is_point ? 1 : options.points); ++k) {
    if (static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC > options.seconds) break;
    ++result.points;
    std::string values;
    const Trajectory run =
        run_sharply(read_model_text(drawn(text, random, values), "point.toml"), times);
    const long before = result.states;
    const Comparison comparison(whole, run, options.slack);
    for (const double t : times)
      if (t <= run.t.back()) comparison.at(t, result, values);
    if (result.states == before) ++result.refused;
  }
  return result;
}

}  // namespace perp::relations
