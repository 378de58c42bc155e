#pragma once

#include <vector>

#include <perp/core/base/archive.hpp>

namespace perp {

/// How unknowns have grown on their way to the place where they are known last. Of each the places are kept
/// behind which it was never smaller again.
class Growth {
 public:
  /// The sizes |z| at a place behind those before; places from there on are forgotten.
  void add(double place, const std::vector<double>& z);
  /// Does some z grow like a power |s - s*|^-order of the distance from a place right behind the last one: from
  /// 1/64 to 1/4 of its last size on a way 4 times as long as from there on, but not 50 times, as at an order
  /// below 3/4? `of_any_order`: however much longer. It has grown by 2^10 at least, which a fold behind a steep
  /// rise has not within such distances.
  [[nodiscard]] bool leads_to_pole(bool of_any_order) const;
  void transfer(Archive& archive) { archive(courses_, last_); }

 private:
  struct Entry {
    double place, size;
  };
  [[nodiscard]] static bool leads_to_pole(const std::vector<Entry>& course, bool of_any_order);

  std::vector<std::vector<Entry>> courses_;  // of each unknown, sizes increase
  double last_ = 0;
};

}  // namespace perp
