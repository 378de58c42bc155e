#include <algorithm>
#include <cmath>
#include <span>

#include <perp/schemes/located/time_switches.hpp>

namespace perp {
namespace {

constexpr double safe_share = 0.9;     // of the length within which the series has no zero
constexpr double least_share = 1e-12;  // of what is left: no step of the search is shorter

bool has_kink(Operation operation) {
  return operation == Operation::abs || operation == Operation::min ||
         operation == Operation::max || operation == Operation::sign;
}

/// How far from its centre the series certainly keeps the sign of its constant, as far as its terms
/// tell: |c_0| > Σ |c_k| τ^k, and τ no longer than its last terms fall like a geometric series.
template <class Series>
double reach(const Series& series, int order, double longest) {
  double length = longest;
  const auto last = [&](int k) { return std::abs(series[k]); };
  for (int k = order - 2; k < order; ++k)
    if (last(k) > 0 && last(k - 2) > 0) length = std::min(length, std::sqrt(last(k - 2) / last(k)));
  const auto rest = [&](double tau) {
    double sum = 0;
    for (int k = order - 1; k > 0; --k) sum = (sum + last(k)) * tau;
    return sum;
  };
  if (rest(length) <= last(0)) return length;
  double low = 0, high = length;
  for (int i = 0; i < 40; ++i) {
    const double middle = (low + high) / 2;
    (rest(middle) <= last(0) ? low : high) = middle;
  }
  return low;
}

}  // namespace

TimeSwitches::TimeSwitches(const Dcs& system) {
  const std::vector<int> lines = copy_functions_of_time(system);
  add_laws(system, lines);
  std::sort(arguments_.begin(), arguments_.end());
  arguments_.erase(std::unique(arguments_.begin(), arguments_.end()), arguments_.end());
  series_.resize(static_cast<std::size_t>(tape_.size()));
  values_.resize(static_cast<std::size_t>(tape_.size()));
}

/// Copies the lines of t, parameters and constants alone to a tape of their own; the new line of
/// each, -1: none. A kink that moves with a parameter is left to the control of the error.
std::vector<int> TimeSwitches::copy_functions_of_time(const Dcs& system) {
  std::vector<int> copied(static_cast<std::size_t>(system.tape.size()), -1);
  std::vector<char> moves(copied.size(), 0);  // depends on a parameter
  for (int k = 0; k < system.tape.size(); ++k) {
    const Instruction& line = system.tape[k];
    const auto at = static_cast<std::size_t>(k);
    if (line.operation == Operation::constant) {
      copied[at] = tape_.constant(line.value);
    } else if (line.operation == Operation::input) {
      const int parameter = line.a - system.parameter_input(0);
      if (line.a == Dcs::time_input()) copied[at] = tape_.input(0);
      if (parameter >= 0)
        copied[at] = tape_.constant(system.parameters[static_cast<std::size_t>(parameter)]);
      moves[at] = parameter >= 0;
    } else {
      const int a = line.a < 0 ? -1 : copied[static_cast<std::size_t>(line.a)];
      const int b = line.b < 0 ? -1 : copied[static_cast<std::size_t>(line.b)];
      if ((line.a >= 0 && a < 0) || (line.b >= 0 && b < 0)) continue;
      copied[at] = tape_.apply(line.operation, a, b);
      for (const int operand : {line.a, line.b})
        if (operand >= 0 && moves[static_cast<std::size_t>(operand)]) moves[at] = 1;
      if (has_kink(line.operation) && !moves[at])
        arguments_.push_back(b < 0 ? a : tape_.apply(Operation::subtract, a, b));
    }
  }
  return copied;
}

/// Laws whose argument is a function of t: it leaves a branch where it passes an end of it.
void TimeSwitches::add_laws(const Dcs& system, const std::vector<int>& lines) {
  laws_.assign(system.laws.size(), 0);
  for (std::size_t i = 0; i < system.laws.size(); ++i) {
    const int line = lines[static_cast<std::size_t>(system.G[i])];
    if (line < 0 || tape_[line].operation == Operation::constant) continue;
    laws_[i] = 1;
    for (const Branch& branch : system.laws[i].branches) {
      const Range range = w_range(branch);
      for (const double end : {range.lower, range.upper})
        if (std::isfinite(end))
          arguments_.push_back(
              end == 0 ? line : tape_.apply(Operation::subtract, line, tape_.constant(end)));
    }
  }
}

void TimeSwitches::expand(double t) {
  Series time(t);
  time[1] = 1;
  tape_.evaluate(std::span<const Series>(&time, 1), std::span<Series>(series_));
}

double TimeSwitches::value(std::size_t argument, double t) {
  tape_.evaluate(std::span<const double>(&t, 1), std::span<double>(values_));
  return values_[static_cast<std::size_t>(arguments_[argument])];
}

std::optional<TimeSwitches::Switch> TimeSwitches::next(double t, double end) {
  std::optional<Switch> first;
  for (std::size_t k = 0; k < arguments_.size(); ++k) {
    const auto found = next(k, t, first ? first->after : end);
    if (found && (!first || found->before < first->before)) first = found;
  }
  return first;
}

std::optional<TimeSwitches::Switch> TimeSwitches::next(std::size_t argument, double t, double end) {
  const double least = least_share * (end - t);
  double now = t;
  int sign = 0;  // the last one that is not 0
  double since = t;
  while (now < end) {
    expand(now);
    const Series& series = series_[static_cast<std::size_t>(arguments_[argument])];
    const double here = series[0];
    if (!std::isfinite(here)) return std::nullopt;
    if (here != 0) {
      const int own = here > 0 ? 1 : -1;
      if (sign != 0 && own != sign) {
        const Switch found = between(argument, since, now, sign > 0);
        if (found.after < end) return found;
        return std::nullopt;
      }
      sign = own;
      since = now;
    }
    const double length = reach(series, order, end - now);
    now = std::max(now + std::max(safe_share * length, least), std::nextafter(now, end));
    now = std::min(now, end);
  }
  return std::nullopt;
}

/// The two doubles between which the argument leaves the sign that it has at `low` for the one that
/// it has at `high`.
TimeSwitches::Switch TimeSwitches::between(std::size_t argument, double low, double high,
                                           bool positive) {
  const auto is_old = [&](double t) {
    const double here = value(argument, t);
    return positive ? here > 0 : here < 0;
  };
  const auto is_new = [&](double t) {
    const double here = value(argument, t);
    return positive ? here < 0 : here > 0;
  };
  const auto boundary = [](double from, double to, const auto& keeps) {
    for (;;) {
      const double middle = from + (to - from) / 2;
      if (middle <= from || middle >= to) return std::pair(from, to);
      (keeps(middle) ? from : to) = middle;
    }
  };
  const double before = boundary(low, high, is_old).first;
  const double after = boundary(before, high, [&](double t) { return !is_new(t); }).second;
  return {before, after};
}

}  // namespace perp
