#include <algorithm>
#include <cmath>

#include <perp/schemes/located/jets/mode_search.hpp>

namespace perp {
namespace {

constexpr long least_points = 100;  ///< for one mode, before others are looked at
constexpr double same = 1e-9;  ///< relative difference of coefficients of equal jets
/// Of the scales of rates: where Newton's method starts if nothing tells them and 0 leads nowhere.
constexpr double starts_of_rates[] = {1, -1, 16, -16, 0x1p-4, -0x1p-4, 256, -256};

/// Largest difference of the coefficients that both jets know, relative to their scales.
double difference(const Jet& a, const Jet& b, const JetScales& scales) {
  double largest = 0;
  const auto compare = [&](const Matrix& u, const Matrix& v, const std::vector<int>& u_known,
                           const std::vector<int>& v_known, const Vector& smallest) {
    for (Eigen::Index j = 0; j < u.rows(); ++j) {
      const auto at = static_cast<std::size_t>(j);
      double power = 1;
      for (int k = 0; k < std::min(u_known[at], v_known[at]); ++k, power *= scales.time) {
        const double size =
            std::max({smallest[j], std::abs(u(j, k)) * power, std::abs(v(j, k)) * power});
        largest = std::max(largest, std::abs(u(j, k) - v(j, k)) * power / size);
      }
    }
  };
  compare(a.x, b.x, a.x_known, b.x_known, scales.x);
  compare(a.lambda, b.lambda, a.lambda_known, b.lambda_known, scales.lambda);
  return largest;
}

/// The leading coefficients, those of fewer levels.
Jet leading(Jet jet, int levels) {
  jet.x = Matrix(jet.x.leftCols(levels + 2));
  for (Matrix* series : {&jet.lambda, &jet.w, &jet.w_size})
    *series = Matrix(series->leftCols(levels + 1));
  for (int& known : jet.x_known) known = std::min(known, levels + 2);
  for (std::vector<int>* list : {&jet.lambda_known, &jet.w_known})
    for (int& known : *list) known = std::min(known, levels + 1);
  return jet;
}

/// A solution that rests at an end by the equations of the end alone is one where there is no
/// other.
void leave_ends(std::vector<Continuation>& found) {
  const auto rests = [](const Continuation& c) { return c.at_end; };
  if (!std::all_of(found.begin(), found.end(), rests)) std::erase_if(found, rests);
}

/// Does its mode have coefficients here, and no others?
bool is_good(const Jet& jet) { return jet.consistent && jet.determined; }

/// The next combination of choices, one of each list; false: that was the last one.
bool next_choice(const std::vector<std::vector<Continuation>>& choices, std::vector<std::size_t>& chosen) {
  for (std::size_t g = chosen.size(); g-- > 0;) {
    if (++chosen[g] < choices[g].size()) return true;
    chosen[g] = 0;
  }
  return false;
}

}  // namespace

bool ModeSearch::solve(const Mode& mode, const Vector& lambda, Guess guess, Jet& jet) {
  if (budget_ <= 0) {
    complete_ = false;
    return false;
  }
  if (is_spent_) return false;
  --budget_;
  jet = guess == Guess::far ? jets_.solve_from(mode, t_, x_, lambda, rates_)
                            : jets_.solve(mode, t_, x_, lambda, rates_);
  is_spent_ = jets_.has_run_out();
  if (is_spent_ && !is_first_look_) {
    budget_ = 0;
    complete_ = false;
  }
  return true;
}

/// The margins of a jet, of which the coefficients of `levels` levels count at the options' share
/// of the time scale. Higher ones count farther away, so that the last one counts like the last of
/// those.
MarginVerdict ModeSearch::judge(const Jet& jet, int levels) const {
  const double time = jets_.scales().time;
  MarginOptions margins{options_.eps, options_.step * time};
  margins.rates = options_.ended_rates;
  if (jets_.levels() > levels) {
    margins.near = levels + 1;
    margins.far_tau = std::pow(options_.step, static_cast<double>(levels) / jets_.levels()) * time;
  }
  return judge_margins(jet, jets_.laws(), jets_.scales(), margins, ignored_);
}

/// Adds an admissible mode to those found. False: its jet is that of another one, which has the
/// mode now.
bool ModeSearch::add(Mode mode, Jet jet, const MarginVerdict& verdict,
                     std::vector<Continuation>& found) {
  const bool at_end = std::any_of(verdict.open.begin(), verdict.open.end(),
                                  [&](int i) { return jets_.is_held(i, mode); });
  for (Continuation& other : found) {
    if (other.at_end != at_end) continue;
    if (difference(other.jet, jet, jets_.scales()) > same) continue;
    if (other.mode != mode &&
        std::find(other.also.begin(), other.also.end(), mode) == other.also.end())
      other.also.push_back(std::move(mode));
    other.strict = other.strict || verdict.strict;
    return false;
  }
  found.push_back({std::move(mode), std::move(jet), {}, verdict.strict, at_end});
  return true;
}

/// Adds the root that Newton's method finds from λ, if it is one more and admissible.
void ModeSearch::try_mode(const Mode& mode, const Vector& lambda, Guess guess,
                          std::vector<Continuation>& found, double& violation) {
  Jet jet;
  if (!solve(mode, lambda, guess, jet)) return;
  if (!jet.consistent) {
    violation = std::min(violation, jet.residual);
    return;
  }
  const MarginVerdict verdict = judge(jet, jets_.levels());
  if (!jet.determined) {
    if (verdict.admissible && std::find(left_open_.begin(), left_open_.end(), mode) == left_open_.end()) left_open_.push_back(mode);
    return;
  }
  if (!verdict.admissible) {
    violation = std::min(violation, verdict.violation);
    return;
  }
  add(mode, std::move(jet), verdict, found);
  violation = -1;
}

/// A value of λ at this share of its range; ranges without an end reach as far as λ is large.
double ModeSearch::start_in(const Range& range, int law, double share) const {
  const double reach = std::max(jets_.scales().lambda[law], std::abs(lambda_[law]));
  const double lower = std::isfinite(range.lower)
                           ? range.lower
                           : (std::isfinite(range.upper) ? range.upper : 0) - reach;
  const double upper = std::isfinite(range.upper)
                           ? range.upper
                           : (std::isfinite(range.lower) ? range.lower : 0) + reach;
  return lower + share * (upper - lower);
}

/// Start `number` across the ranges of the multipliers of laws on vertical branches, the others as they are.
Vector ModeSearch::start_across(const Mode& mode, const std::vector<int>& vertical, int number) const {
  const int starts = options_.starts;
  Vector lambda = lambda_;
  for (std::size_t v = 0; v < vertical.size(); ++v) {
    const int point = v == 1 && vertical.size() == 2 ? number / starts : number % starts;
    lambda[vertical[v]] = start_in(branch(mode, vertical[v]).lambda, vertical[v],
                                   static_cast<double>(point) / (starts - 1));
  }
  return lambda;
}

/// One mode from the present λ and, where it may have several roots, from values across its range:
/// all combinations of them for up to two laws, all laws at the same share for more.
void ModeSearch::try_starts(const Mode& mode, const std::vector<int>& open,
                            std::vector<Continuation>& found) {
  double violation = inf;
  try_mode(mode, lambda_, Guess::present, found, violation);
  std::vector<int> vertical;
  for (const int i : open)
    if (is_vertical(branch(mode, i))) vertical.push_back(i);
  if (jets_.is_nonlinear_in_multipliers() && !vertical.empty() && options_.starts > 1) {
    const int starts = options_.starts;
    const int count = vertical.size() == 2 ? starts * starts : starts;
    for (int k = 0; k < count; ++k) {
      double other = inf;
      try_mode(mode, start_across(mode, vertical, k), Guess::far, found, other);
      violation = std::min(violation, other);
    }
  }
  try_rates(mode, found, violation);
  reject(mode, violation);
}

/// Unless it is admissible, or is looked at again.
void ModeSearch::reject(const Mode& mode, double violation) {
  if (violation >= 0 && !is_put_off()) rejected.emplace_back(mode, violation);
}

/// One mode from rates that the scales give, where there are no others and 0 leads nowhere.
void ModeSearch::try_rates(const Mode& mode, std::vector<Continuation>& found, double& violation) {
  if (violation < 0 || rates_.size() > 0 || !jets_.is_nonlinear_in_rates()) return;
  const JetScales& scales = jets_.scales();
  for (const double share : starts_of_rates) {
    double other = inf;
    rates_ =
        share / scales.time * (scales.x.size() > 0 ? scales.x : Vector(Vector::Ones(jets_.n())));
    try_mode(mode, lambda_, Guess::present, found, other);
    violation = std::min(violation, other);
  }
  rates_ = options_.rates;
}

/// The margins of all laws count but of those that go on anyhow.
void ModeSearch::ask_all() {
  ignored_.assign(jets_.laws().size(), 0);
  for (const int i : options_.going_on) ignored_[static_cast<std::size_t>(i)] = 1;
}

/// The margins of laws that are undecided but not open do not count now.
void ModeSearch::ignore(const std::vector<int>& open, const std::vector<int>& undecided) {
  ask_all();
  for (const int i : undecided) ignored_[static_cast<std::size_t>(i)] = 1;
  for (const int i : open) ignored_[static_cast<std::size_t>(i)] = 0;
}

std::vector<Continuation> ModeSearch::enumerate(Mode mode, const std::vector<int>& open,
                                                const std::vector<int>& undecided) {
  std::vector<Continuation> found;
  ignore(open, undecided);
  for (const int i : open) mode[static_cast<std::size_t>(i)] = 0;
  const long share = share_of_points(open);
  std::vector<Mode> put_off;
  is_first_look_ = true;
  for (bool more = true; more && complete_;) {
    jets_.allow_work(share);
    is_spent_ = false;
    try_starts(mode, open, found);
    if (is_put_off()) put_off.push_back(mode);
    more = next_mode(jets_.laws(), open, mode);
  }
  is_first_look_ = is_spent_ = false;
  jets_.allow_work(options_.most_points);
  for (std::size_t k = 0; k < put_off.size() && complete_; ++k) try_starts(put_off[k], open, found);
  leave_ends(found);
  return found;
}

/// A mode without a root may take all points: none of the others is left out for its sake.
long ModeSearch::share_of_points(const std::vector<int>& open) const {
  double modes = 1;
  for (const int i : open) modes *= static_cast<double>(jets_.laws()[static_cast<std::size_t>(i)].branches.size());
  return std::max(static_cast<long>(static_cast<double>(options_.most_points) / (2 * modes)), least_points);
}

bool next_mode(const std::vector<Law>& laws, const std::vector<int>& open, Mode& mode) {
  for (std::size_t k = open.size(); k-- > 0;) {
    const auto i = static_cast<std::size_t>(open[k]);
    if (++mode[i] < static_cast<int>(laws[i].branches.size())) return true;
    mode[i] = 0;
  }
  return false;
}

/// Makes the law's branch the first one whose jet is good, or that with the smallest residual, `smallest` so far. False: the
/// points run out.
bool ModeSearch::try_branches(Mode& mode, std::size_t law, Jet& jet, double& smallest) {
  int best = mode[law];
  for (int k = 0; k < static_cast<int>(jets_.laws()[law].branches.size()); ++k) {
    mode[law] = k;
    if (!solve(mode, lambda_, Guess::present, jet)) return false;
    if (is_good(jet)) return true;
    if (jet.residual < smallest) {
      smallest = jet.residual;
      best = k;
    }
  }
  mode[law] = best;
  return true;
}

bool ModeSearch::make_reference(Mode& mode, const std::vector<int>& open) {
  Jet jet;
  if (!solve(mode, lambda_, Guess::present, jet)) return false;
  double smallest = jet.residual;
  for (const int i : open) {
    if (is_good(jet)) return true;
    if (!try_branches(mode, static_cast<std::size_t>(i), jet, smallest)) return false;
    if (is_good(jet)) return true;
  }
  return solve(mode, lambda_, Guess::present, jet) && is_good(jet);
}

std::vector<Continuation> ModeSearch::combine(
    const Mode& reference, const std::vector<std::vector<int>>& groups,
    const std::vector<std::vector<Continuation>>& choices) {
  std::vector<Continuation> found;
  ask_all();
  std::vector<std::size_t> chosen(groups.size(), 0);
  const auto is_empty = [](const std::vector<Continuation>& list) { return list.empty(); };
  if (std::any_of(choices.begin(), choices.end(), is_empty)) return found;
  for (bool more = true; more && complete_;) {
    Mode mode = reference;
    Vector lambda = lambda_;
    for (std::size_t g = 0; g < groups.size(); ++g)
      for (const int i : groups[g]) {
        const Continuation& choice = choices[g][chosen[g]];
        mode[static_cast<std::size_t>(i)] = choice.mode[static_cast<std::size_t>(i)];
        lambda[i] = choice.jet.lambda(i, 0);
      }
    double violation = inf;
    try_mode(mode, lambda, Guess::far, found, violation);
    if (violation >= 0) rejected.emplace_back(mode, violation);
    more = next_choice(choices, chosen);
  }
  return found;
}

/// Looks at all modes of a weak continuation again: adds those that turn out to be admissible to `found`, rejects those
/// that are left. The others.
std::vector<Mode> ModeSearch::undecided_modes(const Continuation& weak, int levels, std::vector<Continuation>& found) {
  std::vector<Mode> modes{weak.mode};
  modes.insert(modes.end(), weak.also.begin(), weak.also.end());
  rates_ = weak.jet.x.col(1);
  std::vector<Mode> open;
  for (const Mode& mode : modes) {
    Jet jet;
    if (!solve(mode, weak.jet.lambda.col(0), Guess::far, jet) || !is_good(jet)) {
      open.push_back(mode);
      continue;
    }
    const MarginVerdict verdict = judge(jet, levels);
    if (verdict.admissible)
      add(mode, std::move(jet), verdict, found);
    else
      rejected.emplace_back(mode, verdict.violation);
  }
  return open;
}

std::vector<char> ModeSearch::leaving_laws(const Mode& mode) {
  const std::size_t count = jets_.laws().size();
  std::vector<char> leaving(count, 0);
  const Jet jet = jets_.solve(mode, t_, x_, lambda_, options_.rates);
  if (!is_good(jet)) return leaving;
  ask_all();
  const std::vector<char> going_on = ignored_;
  for (std::size_t i = 0; i < count; ++i) {
    if (going_on[i] != 0) continue;
    ignored_.assign(count, 1);
    ignored_[i] = 0;
    leaving[i] = judge(jet, jets_.levels()).admissible ? 0 : 1;
  }
  return leaving;
}

std::vector<Mode> ModeSearch::not_excluded(const std::vector<Mode>& modes, int levels) {
  std::vector<Mode> left;
  ignored_.clear();
  for (const Mode& mode : modes) {
    Jet jet;
    if (!solve(mode, lambda_, Guess::present, jet) || (jet.consistent && judge(jet, levels).admissible)) left.push_back(mode);
  }
  return left;
}

std::vector<Continuation> ModeSearch::decide(std::vector<Continuation> weak, int levels) {
  std::vector<Continuation> found, kept;
  ask_all();
  for (Continuation& continuation : weak) {
    if (continuation.strict) {
      kept.push_back(std::move(continuation));
      continue;
    }
    const std::vector<Mode> open = undecided_modes(continuation, levels, found);
    if (open.empty()) continue;
    continuation.mode = continuation.jet.mode = open.front();
    continuation.also.assign(open.begin() + 1, open.end());
    kept.push_back(std::move(continuation));
  }
  for (Continuation& continuation : found) {
    continuation.jet = leading(std::move(continuation.jet), levels);
    kept.push_back(std::move(continuation));
  }
  return kept;
}

}  // namespace perp
