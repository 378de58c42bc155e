#pragma once
// A flag that is set while a block runs.

namespace perp {

/// Sets the flag, and clears it at the end of the scope, however that is left.
class SetDuring {
 public:
  explicit SetDuring(bool& flag) : flag_(flag) { flag_ = true; }
  ~SetDuring() { flag_ = false; }
  SetDuring(const SetDuring&) = delete;
  SetDuring& operator=(const SetDuring&) = delete;

 private:
  bool& flag_;
};

}  // namespace perp
