#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <cstring>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <perp/core/base/types.hpp>

namespace perp {

/// Bytes of an archive that are not those of the object that reads them.
class ArchiveError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// The state of a computation as bytes, and back. A class has one function for both,
///     void transfer(Archive& archive) { archive(a_, b_); }
/// which writes its members, or reads them into an object that was made in the same way. Every number keeps its bits.
/// The bytes are those of this program and machine, not a format.
class Archive {
 public:
  /// It is written.
  Archive() = default;
  /// These bytes are read.
  explicit Archive(std::string bytes) : bytes_(std::move(bytes)), is_reading_(true) {}

  [[nodiscard]] bool is_reading() const { return is_reading_; }
  [[nodiscard]] const std::string& bytes() const { return bytes_; }

  /// Throws ArchiveError where bytes are missing.
  template <class... Values>
  void operator()(Values&... values) {
    (item(values), ...);
  }
  /// Throws ArchiveError where more was written than was read.
  void expect_end() const {
    if (place_ != bytes_.size()) throw ArchiveError("the state holds more than was read");
  }

 private:
  void raw(void* data, std::size_t size) {
    if (!is_reading_) {
      bytes_.append(static_cast<const char*>(data), size);
      return;
    }
    if (size > bytes_.size() - place_) throw ArchiveError("the state ends too early");
    if (size > 0) std::memcpy(data, bytes_.data() + place_, size);
    place_ += size;
  }
  /// Of a list; more entries than bytes are left is no count.
  std::size_t count(std::size_t size) {
    raw(&size, sizeof size);
    if (is_reading_ && size > bytes_.size() - place_) throw ArchiveError("the state holds an impossible length");
    return size;
  }

  template <class Value>
  void item(Value& value) {
    if constexpr (requires { value.transfer(*this); }) {
      value.transfer(*this);
    } else if constexpr (requires { transfer(*this, value); }) {
      transfer(*this, value);
    } else {
      static_assert(std::is_trivially_copyable_v<Value> && !std::is_pointer_v<Value>);
      raw(&value, sizeof value);
    }
  }
  void item(std::string& text) {
    text.resize(count(text.size()));
    raw(text.data(), text.size());
  }
  void item(Vector& v) {
    const std::size_t size = count(static_cast<std::size_t>(v.size()));
    if (is_reading_) v.resize(static_cast<Eigen::Index>(size));
    raw(v.data(), size * sizeof(double));
  }
  void item(Matrix& m) {
    std::size_t rows = static_cast<std::size_t>(m.rows()), columns = static_cast<std::size_t>(m.cols());
    raw(&rows, sizeof rows);
    raw(&columns, sizeof columns);
    if (is_reading_ && rows > 0 && columns > (bytes_.size() - place_) / rows)
      throw ArchiveError("the state holds an impossible size");
    if (is_reading_) m.resize(static_cast<Eigen::Index>(rows), static_cast<Eigen::Index>(columns));
    raw(m.data(), rows * columns * sizeof(double));
  }
  template <class Value>
  void item(std::vector<Value>& list) {
    list.resize(count(list.size()));
    for (Value& value : list) item(value);
  }
  template <class Value>
  void item(std::deque<Value>& list) {
    list.resize(count(list.size()));
    for (Value& value : list) item(value);
  }
  template <class Value, std::size_t size>
  void item(std::array<Value, size>& list) {
    for (Value& value : list) item(value);
  }
  template <class A, class B>
  void item(std::pair<A, B>& pair) {
    (*this)(pair.first, pair.second);
  }
  template <class Value>
  void item(std::optional<Value>& value) {
    bool has_value = value.has_value();
    raw(&has_value, sizeof has_value);
    if (!has_value)
      value.reset();
    else if (is_reading_)
      value = Value{};
    if (has_value) item(*value);
  }
  template <class Key, class Value>
  void item(std::map<Key, Value>& entries) {
    std::vector<std::pair<Key, Value>> list(entries.begin(), entries.end());
    item(list);
    if (is_reading_) entries = {list.begin(), list.end()};
  }
  template <class Value>
  void item(std::set<Value>& values) {
    std::vector<Value> list(values.begin(), values.end());
    item(list);
    if (is_reading_) values = {list.begin(), list.end()};
  }

  std::string bytes_;
  std::size_t place_ = 0;
  bool is_reading_ = false;
};

}  // namespace perp
