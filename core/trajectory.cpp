#include <algorithm>

#include <perp/core/trajectory.hpp>

namespace perp {
namespace {

constexpr std::size_t block_doubles = 8192;  // 64 KiB

}  // namespace

const char* to_string(EventKind kind) {
  switch (kind) {
    case EventKind::mode_change: return "mode_change";
    case EventKind::kink: return "kink";
    case EventKind::crossing: return "crossing";
    case EventKind::sliding_entry: return "sliding_entry";
    case EventKind::sliding_exit: return "sliding_exit";
    case EventKind::jump: return "jump";
    case EventKind::inconsistent_start: return "inconsistent_start";
    case EventKind::bound: return "bound";
    case EventKind::accumulation: return "zeno";
    case EventKind::no_solution: return "no_solution";
    case EventKind::stopped: return "stopped";
  }
  return "unknown";
}

const Trajectory::Vectors::Block& Trajectory::Vectors::block_of(std::size_t k) const {
  const auto behind = std::upper_bound(blocks_.begin(), blocks_.end(), k, [](std::size_t i, const Block& block) { return i < block.first; });
  return *std::prev(behind);
}

Vector Trajectory::Vectors::operator[](std::size_t k) const {
  const Block& block = block_of(k);
  return Eigen::Map<const Vector>(block.values.data() + (k - block.first) * static_cast<std::size_t>(block.length), block.length);
}

// As many as there are already, up to 64 KiB: short runs take little, long ones leave less than a block unused.
void Trajectory::Vectors::add_block(Eigen::Index length) {
  const std::size_t width = static_cast<std::size_t>(std::max<Eigen::Index>(length, 1));
  const std::size_t most = std::max<std::size_t>(block_doubles / width, 1);
  Block block{size_, length, std::min(std::max<std::size_t>(size_, 4), most)};
  block.values.reserve(block.room * static_cast<std::size_t>(length));
  blocks_.push_back(std::move(block));
}

void Trajectory::Vectors::push_back(const Vector& values) {
  if (blocks_.empty() || blocks_.back().length != values.size() || size_ - blocks_.back().first == blocks_.back().room)
    add_block(values.size());
  std::vector<double>& all = blocks_.back().values;
  all.insert(all.end(), values.data(), values.data() + values.size());
  ++size_;
}

bool operator==(const Trajectory::Vectors& a, const Trajectory::Vectors& b) {
  if (a.size() != b.size()) return false;
  for (std::size_t k = 0; k < a.size(); ++k) {
    const Vector one = a[k], other = b[k];
    if (one.size() != other.size() || one != other) return false;
  }
  return true;
}

const Mode& Trajectory::Modes::operator[](std::size_t k) const {
  const auto behind = std::upper_bound(spans_.begin(), spans_.end(), k, [](std::size_t i, const auto& span) { return i < span.first; });
  return std::prev(behind)->second;
}

void Trajectory::Modes::push_back(const Mode& mode) {
  if (spans_.empty() || spans_.back().second != mode) spans_.emplace_back(size_, mode);
  ++size_;
}

void Trajectory::append(const Step& step) {
  // Doubling would leave up to half of a long list unused.
  constexpr std::size_t long_list = block_doubles;
  if (t.size() == t.capacity() && t.size() >= long_list) t.reserve(t.size() + t.size() / 16);
  t.push_back(step.t);
  x.push_back(step.x);
  lambda.push_back(step.lambda);
  w.push_back(step.w);
  mode.push_back(step.mode);
  if (step.dx_dq.size() == 0) return;
  dx_dq.push_back(step.dx_dq);
  dlambda_dq.push_back(step.dlambda_dq);
}

}  // namespace perp
