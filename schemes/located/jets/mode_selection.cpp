#include <fmt/format.h>
#include <algorithm>
#include <cmath>
#include <limits>

#include <perp/core/base/error.hpp>
#include <perp/core/branches.hpp>
#include <perp/schemes/located/jets/margins.hpp>
#include <perp/schemes/located/jets/mode_selection.hpp>

namespace perp {
namespace {

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

/// A solution that rests at an end by the equations of the end alone is one where there is no other.
void leave_ends(std::vector<Continuation>& found) {
  const auto rests = [](const Continuation& c) { return c.at_end; };
  if (!std::all_of(found.begin(), found.end(), rests)) std::erase_if(found, rests);
}

/// The search of `select`: candidates are modes, each with one or more roots.
class ModeSearch {
 public:
  ModeSearch(ConsistentJets& jets, double t, const Vector& x, const Vector& lambda,
             const SelectionOptions& options)
      : jets_(jets), t_(t), x_(x), lambda_(lambda), rates_(options.rates), options_(options), budget_(options.most) {}

  /// All combinations of branches of `open` laws, the others as in `mode`, in lexicographic order.
  /// Margins of laws that are `undecided` but not open do not count.
  std::vector<Continuation> enumerate(Mode mode, const std::vector<int>& open,
                                      const std::vector<int>& undecided);
  /// Makes the laws' branches so that the jet is consistent, if one law after the other can do it.
  bool make_reference(Mode& mode, const std::vector<int>& open);
  /// Continuations of all groups put together.
  std::vector<Continuation> combine(const Mode& reference,
                                    const std::vector<std::vector<int>>& groups,
                                    const std::vector<std::vector<Continuation>>& choices);

  [[nodiscard]] bool complete() const { return complete_; }
  std::vector<std::pair<Mode, double>> rejected;

 private:
  enum class Guess { present, far };  ///< does λ belong to the present x?
  bool solve(const Mode& mode, const Vector& lambda, Guess guess, Jet& jet);
  void try_mode(const Mode& mode, const Vector& lambda, Guess guess,
                std::vector<Continuation>& found, double& violation);
  void try_starts(const Mode& mode, const std::vector<int>& open, std::vector<Continuation>& found);
  void try_rates(const Mode& mode, std::vector<Continuation>& found, double& violation);
  [[nodiscard]] const Branch& branch(const Mode& mode, int i) const {
    const auto law = static_cast<std::size_t>(i);
    return jets_.laws()[law].branches[static_cast<std::size_t>(mode[law])];
  }
  [[nodiscard]] double start_in(const Range& range, int law, double share) const;

  ConsistentJets& jets_;
  double t_;
  const Vector& x_;
  const Vector& lambda_;
  Vector rates_;  // from which Newton's method starts
  const SelectionOptions& options_;
  int budget_;
  std::vector<char> ignored_;  // laws whose margins do not count now
  bool complete_ = true;
};

bool ModeSearch::solve(const Mode& mode, const Vector& lambda, Guess guess, Jet& jet) {
  if (budget_ <= 0) {
    complete_ = false;
    return false;
  }
  --budget_;
  jet = guess == Guess::far ? jets_.solve_from(mode, t_, x_, lambda, rates_)
                            : jets_.solve(mode, t_, x_, lambda, rates_);
  if (jets_.has_run_out()) {
    budget_ = 0;
    complete_ = false;
  }
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
  if (!jet.determined) return;
  const MarginOptions margins{options_.eps, options_.step * jets_.scales().time};
  const MarginVerdict verdict = judge_margins(jet, jets_.laws(), jets_.scales(), margins, ignored_);
  if (!verdict.admissible) {
    violation = std::min(violation, verdict.violation);
    return;
  }
  const bool at_end = std::any_of(verdict.open.begin(), verdict.open.end(),
                                  [&](int i) { return jets_.is_held(i, mode); });
  for (Continuation& other : found) {
    if (other.at_end != at_end) continue;
    if (difference(other.jet, jet, jets_.scales()) > same) continue;
    if (other.mode != mode &&
        std::find(other.also.begin(), other.also.end(), mode) == other.also.end())
      other.also.push_back(mode);
    other.strict = other.strict || verdict.strict;
    violation = -1;
    return;
  }
  found.push_back({mode, std::move(jet), {}, verdict.strict, at_end});
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
      Vector lambda = lambda_;
      for (std::size_t v = 0; v < vertical.size(); ++v) {
        const int point = v == 1 && vertical.size() == 2 ? k / starts : k % starts;
        lambda[vertical[v]] = start_in(branch(mode, vertical[v]).lambda, vertical[v],
                                       static_cast<double>(point) / (starts - 1));
      }
      double other = inf;
      try_mode(mode, lambda, Guess::far, found, other);
      violation = std::min(violation, other);
    }
  }
  try_rates(mode, found, violation);
  if (violation >= 0) rejected.emplace_back(mode, violation);
}

/// One mode from rates that the scales give, where there are no others and 0 leads nowhere.
void ModeSearch::try_rates(const Mode& mode, std::vector<Continuation>& found, double& violation) {
  if (violation < 0 || rates_.size() > 0 || !jets_.is_nonlinear_in_rates()) return;
  const JetScales& scales = jets_.scales();
  for (const double share : starts_of_rates) {
    double other = inf;
    rates_ = share / scales.time * (scales.x.size() > 0 ? scales.x : Vector(Vector::Ones(jets_.n())));
    try_mode(mode, lambda_, Guess::present, found, other);
    violation = std::min(violation, other);
  }
  rates_ = options_.rates;
}

std::vector<Continuation> ModeSearch::enumerate(Mode mode, const std::vector<int>& open,
                                                const std::vector<int>& undecided) {
  std::vector<Continuation> found;
  ignored_.assign(mode.size(), 0);
  for (const int i : undecided) ignored_[static_cast<std::size_t>(i)] = 1;
  for (const int i : open) ignored_[static_cast<std::size_t>(i)] = 0;
  for (const int i : open) mode[static_cast<std::size_t>(i)] = 0;
  for (bool more = true; more && complete_;) {
    try_starts(mode, open, found);
    more = false;
    for (std::size_t k = open.size(); k-- > 0 && !more;) {
      const auto i = static_cast<std::size_t>(open[k]);
      more = ++mode[i] < static_cast<int>(jets_.laws()[i].branches.size());
      if (!more) mode[i] = 0;
    }
  }
  leave_ends(found);
  return found;
}

bool ModeSearch::make_reference(Mode& mode, const std::vector<int>& open) {
  Jet jet;
  const auto good = [&] { return jet.consistent && jet.determined; };
  if (!solve(mode, lambda_, Guess::present, jet)) return false;
  for (const int i : open) {
    if (good()) return true;
    const auto law = static_cast<std::size_t>(i);
    int best = mode[law];
    double smallest = jet.residual;
    for (int k = 0; k < static_cast<int>(jets_.laws()[law].branches.size()); ++k) {
      mode[law] = k;
      if (!solve(mode, lambda_, Guess::present, jet)) return false;
      if (good()) return true;
      if (jet.residual < smallest) {
        smallest = jet.residual;
        best = k;
      }
    }
    mode[law] = best;
  }
  return solve(mode, lambda_, Guess::present, jet) && good();
}

std::vector<Continuation> ModeSearch::combine(
    const Mode& reference, const std::vector<std::vector<int>>& groups,
    const std::vector<std::vector<Continuation>>& choices) {
  std::vector<Continuation> found;
  ignored_.clear();
  std::vector<std::size_t> chosen(groups.size(), 0);
  for (const auto& choice : choices)
    if (choice.empty()) return found;
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
    more = false;
    for (std::size_t g = groups.size(); g-- > 0 && !more;) {
      more = ++chosen[g] < choices[g].size();
      if (!more) chosen[g] = 0;
    }
  }
  return found;
}

/// Each mode of equal jets as an entry of its own.
std::vector<Continuation> with_all_modes(std::vector<Continuation> list) {
  for (std::size_t k = 0, count = list.size(); k < count; ++k)
    for (const Mode& mode : std::vector<Mode>(std::move(list[k].also)))
      list.push_back({mode, list[k].jet, {}, list[k].strict, list[k].at_end});
  return list;
}

/// The undecided laws, those of a group together.
std::vector<std::vector<int>> group_laws(const std::vector<int>& group,
                                         const std::vector<int>& undecided) {
  std::vector<std::vector<int>> result;
  std::vector<int> seen;
  for (const int i : undecided) {
    const int number = group[static_cast<std::size_t>(i)];
    const auto known = std::find(seen.begin(), seen.end(), number);
    if (known == seen.end()) {
      seen.push_back(number);
      result.push_back({i});
    } else {
      result[static_cast<std::size_t>(known - seen.begin())].push_back(i);
    }
  }
  return result;
}

/// Takes the laws out of `open` that their argument decides.
void set_decided(const std::vector<int>& decided, const std::vector<int>& ended, Mode& mode,
                 std::vector<int>& open) {
  std::erase_if(open, [&](int i) {
    const int branch = decided[static_cast<std::size_t>(i)];
    if (branch < 0 || std::find(ended.begin(), ended.end(), i) != ended.end()) return false;
    mode[static_cast<std::size_t>(i)] = branch;
    return true;
  });
}

/// A law with memory leaves its branch only if no continuation stays in it.
void keep_memory(const std::vector<Law>& laws, const Mode& mode, Selection& selection) {
  for (std::size_t i = 0; i < laws.size(); ++i) {
    if (!laws[i].memory) continue;
    const auto stays = [&](const Continuation& c) { return c.mode[i] == mode[i]; };
    auto& list = selection.admissible;
    if (std::none_of(list.begin(), list.end(), stays)) continue;
    for (const Continuation& c : list)
      if (!stays(c)) selection.rejected.emplace_back(c.mode, 0);
    std::erase_if(list, [&](const Continuation& c) { return !stays(c); });
  }
}

}  // namespace

Selection select(ConsistentJets& jets, double t, const Vector& x, const Vector& lambda,
                 const Mode& mode, const std::vector<int>& undecided,
                 const SelectionOptions& options) {
  std::vector<int> open = undecided;
  std::sort(open.begin(), open.end());
  open.erase(std::unique(open.begin(), open.end()), open.end());
  if (!open.empty() && (open.front() < 0 || open.back() >= jets.m()))
    throw InvalidInput(fmt::format("undecided must hold numbers of laws, 0 to {}", jets.m() - 1));
  if (static_cast<int>(mode.size()) != jets.m())
    throw InvalidInput(fmt::format("mode must have {} entries but has {}", jets.m(), mode.size()));
  Mode reference = mode;
  set_decided(jets.decided_branches(t, x, options.eps), options.ended, reference, open);
  ModeSearch search(jets, t, x, lambda, options);
  jets.allow_work(options.most_points);
  Selection selection;
  const auto groups = group_laws(jets.groups(), open);
  const Mode decided = reference;
  if (groups.size() > 1 && search.make_reference(reference, open)) {
    std::vector<std::vector<Continuation>> choices;
    for (const auto& group : groups)
      choices.push_back(with_all_modes(search.enumerate(reference, group, open)));
    selection.admissible = search.combine(reference, groups, choices);
  } else {
    selection.admissible = search.enumerate(decided, open, open);
  }
  std::stable_sort(selection.admissible.begin(), selection.admissible.end(),
                   [](const Continuation& a, const Continuation& b) { return a.mode < b.mode; });
  selection.rejected = std::move(search.rejected);
  selection.complete = search.complete();
  jets.allow_work(std::numeric_limits<long>::max());
  if (options.memory) keep_memory(jets.laws(), mode, selection);
  return selection;
}

}  // namespace perp
