#pragma once

#include <array>
#include <memory>

#include <perp/schemes/capturing/capturing.hpp>
#include <perp/schemes/step_grid.hpp>

namespace perp::eight {

struct AffineLanes;

/// A run of an affine system that may go on in its mode.
struct AffineMember {
  Capturing* scheme = nullptr;
  UniformSteps steps{};  ///< that it may make
  Capturing::Repeated repeated{};
};

/// Steps of up to eight runs of affine systems side by side, in modes whose steps read equally many numbers: each has the bits
/// that it has alone.
class AffineBlock {
 public:
  static constexpr int width = 8;

  /// For steps that read so many numbers.
  explicit AffineBlock(int numbers);
  ~AffineBlock();
  AffineBlock(const AffineBlock&) = delete;
  AffineBlock& operator=(const AffineBlock&) = delete;

  /// How many numbers its steps read, where they are made side by side; else 0.
  static int numbers_of(const Capturing::Repeated& repeated);
  [[nodiscard]] bool is_taken(int lane) const { return lanes_of_[static_cast<std::size_t>(lane)].scheme != nullptr; }
  [[nodiscard]] bool is_any_taken() const;
  /// Into a free lane.
  void load(int lane, const AffineMember& member);
  /// Steps of all lanes that are taken, until one has ended or `most` were made.
  void run(long most);
  /// Is it taken, and made all steps or as many as stay in its mode?
  [[nodiscard]] bool has_ended(int lane) const { return is_taken(lane) && ended_[static_cast<std::size_t>(lane)]; }
  /// The scheme gets the state of its lane, which is free then. How many steps it made.
  long store(int lane);

 private:
  void load_margins(std::size_t lane, const ModeMap::Rows& rows);

  std::unique_ptr<AffineLanes> lanes_;
  std::array<AffineMember, width> lanes_of_{};
  std::array<long, width> from_{}, most_{};  // the step of the ring that it began with, and how many there are
  std::array<bool, width> ended_{};
};

}  // namespace perp::eight
