#include <algorithm>

#include <perp/core/base/index.hpp>
#include <perp/core/base/interruption.hpp>
#include <perp/schemes/lanes/affine/affine_block.hpp>
#include <perp/schemes/lanes/affine/affine_lanes.hpp>

namespace perp::eight {

AffineBlock::AffineBlock(int numbers) : lanes_(std::make_unique<AffineLanes>()) { lanes_->k = numbers; }
AffineBlock::~AffineBlock() = default;

int AffineBlock::numbers_of(const Capturing::Repeated& repeated) {
  const ModeMap::Rows rows = repeated.map->rows_of(*repeated.which);
  return rows.k <= most_affine_numbers && rows.margins <= most_affine_margins ? rows.k : 0;
}

bool AffineBlock::is_any_taken() const {
  return std::ranges::any_of(lanes_of_, [](const AffineMember& member) { return member.scheme != nullptr; });
}

// Of lanes with fewer margins the rest are 1 for every θ.
void AffineBlock::load_margins(std::size_t lane, const ModeMap::Rows& rows) {
  AffineLanes& s = *lanes_;
  const int l = static_cast<int>(lane);
  for (; s.margins < rows.margins; ++s.margins) {
    s.margin[at(s.margins)].fill(all(0));
    s.margin[at(s.margins)][at(s.k)] = all(1);
  }
  for (int i = 0; i < s.margins; ++i)
    for (int j = 0; j <= s.k; ++j)
      s.margin[at(i)][at(j)][l] = i < rows.margins ? rows.margin[i * (s.k + 1) + j] : (j == s.k ? 1.0 : 0.0);
}

void AffineBlock::load(int lane, const AffineMember& member) {
  AffineLanes& s = *lanes_;
  const std::vector<int>& which = *member.repeated.which;
  const ModeMap::Rows rows = member.repeated.map->rows_of(which);
  load_margins(at(lane), rows);
  for (int j = 0; j < s.k; ++j) {
    const int variable = which[at(j)];
    for (int l = 0; l <= s.k; ++l) s.next[at(j)][at(l)][lane] = rows.u[variable * (s.k + 1) + l];
    s.most_cancelled[at(j)][lane] = rows.most_cancelled[variable];
    s.ring[at(s.step & 3)][at(j)][lane] = member.scheme->number_read(j);
  }
  s.finite_up_to[lane] = rows.finite_up_to;
  s.taken[lane] = -1;
  s.map[at(lane)] = member.repeated.map;
  s.which[at(lane)] = &which;
  lanes_of_[at(lane)] = member;
  from_[at(lane)] = s.step;
  most_[at(lane)] = member.steps.last - member.steps.first + 1;
  ended_[at(lane)] = false;
}

void AffineBlock::run(long most) {
  AffineLanes& s = *lanes_;
  check_interruption();
  for (int lane = 0; lane < width; ++lane)
    if (is_taken(lane)) most = std::min(most, from_[at(lane)] + most_[at(lane)] - s.step);
  Bits ended = all_bits(0);
  run_affine(s, most, &ended);
  for (int lane = 0; lane < width; ++lane)
    ended_[at(lane)] = is_taken(lane) && (ended[lane] != 0 || s.step == from_[at(lane)] + most_[at(lane)]);
}

long AffineBlock::store(int lane) {
  AffineLanes& s = *lanes_;
  std::vector<double> before(at(s.k)), after(at(s.k));
  const long made = s.step - from_[at(lane)] - Capturing::kept_of_repeated;
  const AffineMember member = lanes_of_[at(lane)];
  lanes_of_[at(lane)] = {};
  s.taken[lane] = 0;
  if (made < 1) return 0;
  const long last = from_[at(lane)] + made;
  for (int j = 0; j < s.k; ++j) {
    before[at(j)] = s.ring[at((last - 1) & 3)][at(j)][lane];
    after[at(j)] = s.ring[at(last & 3)][at(j)][lane];
  }
  member.scheme->end_repeated(member.steps, made, before.data(), after.data());
  return made;
}

}  // namespace perp::eight
