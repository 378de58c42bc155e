#include <algorithm>

#include <perp/core/base/index.hpp>
#include <perp/core/base/interruption.hpp>
#include <perp/schemes/lanes/lane_block.hpp>
#include <perp/schemes/lanes/lane_run.hpp>

namespace perp::eight {
namespace {

/// What an input of the equations is in the present state: t, a multiplier or a variable.
double value_of(const NonlinearCapturing& scheme, int input, int n) {
  if (input == 0) return scheme.t();
  return input > 2 * n ? LaneAccess::lambda(scheme)[input - 1 - 2 * n] : scheme.x()[input - 1 - n];
}

}  // namespace

LaneBlock::LaneBlock()
    : lanes_(std::make_unique<Lanes>()), members_(at(width)), taken_(at(width)), given_up_(at(width)) {}
LaneBlock::~LaneBlock() = default;

void LaneBlock::begin(const LaneForm& form) {
  *lanes_ = Lanes{};
  Lanes& s = *lanes_;
  s.form = &form;
  s.code = &codes_.try_emplace(&form, form).first->second;
  s.h = all(1);
  s.linear.assign(at(s.code->places), all(0));
  s.bounded.assign(at(s.code->bounded_places), {all(0), all(0)});
  std::fill(taken_.begin(), taken_.end(), false);
  std::fill(given_up_.begin(), given_up_.end(), false);
}

void LaneBlock::load_form_numbers(int lane, const LaneMember& member) {
  Lanes& s = *lanes_;
  const LaneForm& form = *s.form;
  const LaneNumbers& numbers = *member.numbers;
  for (std::size_t k = 0; k < form.linear_constants.size(); ++k)
    s.linear[at(form.linear_constants[k])][lane] = numbers.linear_constants[k];
  for (std::size_t k = 0; k < form.bounded_constants.size(); ++k) {
    Bounded& known = s.bounded[at(form.bounded_constants[k])];
    known.value[lane] = numbers.bounded_constants[k].value;
    known.error[lane] = numbers.bounded_constants[k].error;
  }
  for (int i = 0; i < form.m; ++i) {
    const Branch& branch = *numbers.branches[at(i)];
    s.a[i][lane] = branch.a, s.b[i][lane] = branch.b, s.c[i][lane] = branch.c;
    s.w_low[i][lane] = branch.w.lower, s.w_high[i][lane] = branch.w.upper;
    s.lambda_low[i][lane] = branch.lambda.lower, s.lambda_high[i][lane] = branch.lambda.upper;
  }
  for (int k = 0; k < form.size; ++k) s.units[k][lane] = numbers.units[at(k)];
}

/// The sides within which PoleWatch has nothing to look for. False: there are none such around the state.
bool LaneBlock::load_sides(int lane, const LaneMember& member) {
  Lanes& s = *lanes_;
  sides_.clear();
  if (member.poles != nullptr && !member.poles->add_sides(s.form->mode, member.steps.h, sides_)) return false;
  if (s.sides.size() != sides_.size()) {
    s.sides.clear();
    for (const CalmBox::Side& side : sides_) s.sides.push_back({side.input, all(0), all(0)});
  }
  const int n = s.form->n;
  for (std::size_t k = 0; k < sides_.size(); ++k) {
    const CalmBox::Side& side = sides_[k];
    s.sides[k].low[lane] = side.low, s.sides[k].high[lane] = side.high;
    const double value = value_of(*member.scheme, side.input, n);
    if (!(side.low <= value && value <= side.high)) return false;
  }
  return true;
}

void LaneBlock::load_state(int lane, const LaneMember& member) {
  Lanes& s = *lanes_;
  const LaneForm& form = *s.form;
  const NonlinearCapturing& scheme = *member.scheme;
  s.h[lane] = member.steps.h, s.from[lane] = member.steps.from;
  s.k[lane] = static_cast<double>(member.steps.first), s.last[lane] = static_cast<double>(member.steps.last);
  for (int j = 0; j < form.n; ++j) s.x[j][lane] = scheme.x()[j], s.d[j][lane] = LaneAccess::d(scheme)[j];
  for (int i = 0; i < form.m; ++i)
    s.lambda[i][lane] = LaneAccess::lambda(scheme)[i], s.w[i][lane] = LaneAccess::w(scheme)[i];
  for (int k = 0; k < form.size; ++k) s.last_errors[k][lane] = LaneAccess::last_errors(scheme)[at(k)];
  s.residual[lane] = s.largest_residual[lane] = LaneAccess::state_residual(scheme);
  s.steps[lane] = s.iterations[lane] = 0;
  const int orientation = LaneAccess::orientation(scheme);
  s.is_oriented[lane] = orientation != 0 ? -1 : 0;
  s.orientation[lane] = orientation < 0 ? -1 : 0;
}

/// Are the multipliers that their branches fix where these have them?
bool LaneBlock::has_fixed_multipliers(const LaneMember& member) const {
  const LaneForm& form = *lanes_->form;
  for (int i = 0; i < form.m; ++i) {
    const Branch& branch = *member.numbers->branches[at(i)];
    if (form.unknown[at(i)] < 0 && LaneAccess::lambda(*member.scheme)[i] != branch.c / branch.b) return false;
  }
  return true;
}

bool LaneBlock::load(int lane, const LaneMember& member) {
  if (!LaneAccess::is_ready(*member.scheme, member.steps.h) || !has_fixed_multipliers(member)) return false;
  if (!load_sides(lane, member)) return false;
  load_form_numbers(lane, member);
  load_state(lane, member);
  members_[at(lane)] = member;
  taken_[at(lane)] = true;
  given_up_[at(lane)] = false;
  return true;
}

void LaneBlock::run(long most) {
  constexpr long at_once = 256;  // steps between two questions whether to go on
  Bits lanes = all_bits(0);
  for (int i = 0; i < width; ++i) lanes[i] = taken_[at(i)] ? -1 : 0;
  const Bits before = lanes;
  for (long made = 0; made < most; made += at_once) {
    check_interruption();
    run_lanes(*lanes_, &lanes, std::min(at_once, most - made));
    if (any(lanes ^ before)) break;
  }
  for (int i = 0; i < width; ++i) given_up_[at(i)] = taken_[at(i)] && lanes[i] == 0;
}

bool LaneBlock::looks_ahead(int lane) {
  const LaneMember& member = members_[at(lane)];
  return LaneAccess::look_ahead(*member.scheme, member.poles);
}

long LaneBlock::store(int lane) {
  Lanes& s = *lanes_;
  const LaneForm& form = *s.form;
  const LaneMember& member = members_[at(lane)];
  taken_[at(lane)] = false;
  const auto steps = static_cast<long>(s.steps[lane]);
  if (steps == 0) return 0;
  double now[4][Lanes::most], before[4][Lanes::most], errors[Lanes::most];
  for (int j = 0; j < form.n; ++j) {
    now[0][j] = s.x[j][lane], now[1][j] = s.d[j][lane];
    before[0][j] = s.x_before[j][lane], before[1][j] = s.d_before[j][lane];
  }
  for (int i = 0; i < form.m; ++i) {
    now[2][i] = s.lambda[i][lane], now[3][i] = s.w[i][lane];
    before[2][i] = s.lambda_before[i][lane], before[3][i] = s.w_before[i][lane];
  }
  for (int k = 0; k < form.size; ++k) errors[k] = s.last_errors[k][lane];
  const long end = static_cast<long>(s.k[lane]) - 1;
  const double t = member.steps.end(end), t_before = steps > 1 ? member.steps.end(end - 1) : member.scheme->t();
  const double t_oldest = steps > 2 ? member.steps.end(end - 2) : steps > 1 ? member.scheme->t() : nan;
  LaneAccess::take(*member.scheme, {steps, static_cast<long>(s.iterations[lane]), s.largest_residual[lane], errors},
                   member.steps.h, {t, now[0], now[1], now[2], now[3], s.residual[lane]},
                   {t_before, before[0], before[1], before[2], before[3], s.residual_before[lane]}, {t_oldest});
  if (member.poles != nullptr) LaneAccess::follow_poles(*member.scheme, *member.poles);
  return steps;
}

}  // namespace perp::eight
