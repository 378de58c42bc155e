#pragma once

#include <cstddef>
#include <initializer_list>
#include <memory>
#include <utility>
#include <vector>

namespace perp {

/// A list whose copies share their entries until one of them is changed. Reading is that of a vector; what changes it says so,
/// since it may have to copy. Several threads may read and copy lists that share entries.
template <class T>
class SharedList {
 public:
  using value_type = T;
  using const_iterator = const T*;

  SharedList() = default;
  SharedList(std::vector<T> entries)  // NOLINT: implicit on purpose
      : entries_(entries.empty() ? nullptr : std::make_shared<std::vector<T>>(std::move(entries))) {
    look();
  }
  /// `count` equal ones.
  SharedList(std::size_t count, const T& entry) : SharedList(std::vector<T>(count, entry)) {}
  SharedList(std::initializer_list<T> entries) : SharedList(std::vector<T>(entries)) {}
  SharedList(const SharedList&) = default;
  SharedList& operator=(const SharedList&) = default;
  /// Nothing is left there.
  SharedList(SharedList&& other) noexcept
      : entries_(std::move(other.entries_)), first_(std::exchange(other.first_, nullptr)), size_(std::exchange(other.size_, 0)) {}
  SharedList& operator=(SharedList&& other) noexcept {
    entries_ = std::move(other.entries_);
    const T* first = std::exchange(other.first_, nullptr);
    const std::size_t size = std::exchange(other.size_, 0);
    first_ = first;
    size_ = size;
    return *this;
  }
  ~SharedList() = default;

  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] bool empty() const { return size_ == 0; }
  [[nodiscard]] const T& operator[](std::size_t k) const { return first_[k]; }
  [[nodiscard]] const T& at(std::size_t k) const { return entries().at(k); }
  [[nodiscard]] const T& front() const { return *first_; }
  [[nodiscard]] const T& back() const { return first_[size_ - 1]; }
  [[nodiscard]] const T* data() const { return first_; }
  [[nodiscard]] const T* begin() const { return first_; }
  [[nodiscard]] const T* end() const { return first_ + size_; }
  [[nodiscard]] const std::vector<T>& entries() const {
    static const std::vector<T> none;
    return entries_ ? *entries_ : none;
  }
  operator const std::vector<T>&() const { return entries(); }  // NOLINT: implicit on purpose

  /// The entries for this list alone, to change them: change(std::vector<T>&).
  template <class Change>
  void change(const Change& change) {
    change(own());
    look();
  }
  /// Entry k, to change it.
  [[nodiscard]] T& changed(std::size_t k) {
    std::vector<T>& entries = own();
    look();
    return entries[k];
  }
  void push_back(T entry) {
    own().push_back(std::move(entry));
    look();
  }
  void assign(std::size_t count, const T& entry) { *this = SharedList(count, entry); }
  void clear() { *this = SharedList(); }

  friend bool operator==(const SharedList& a, const SharedList& b) {
    return a.entries_ == b.entries_ || a.entries() == b.entries();
  }

 private:
  std::vector<T>& own() {
    if (!entries_)
      entries_ = std::make_shared<std::vector<T>>();
    else if (entries_.use_count() > 1)
      entries_ = std::make_shared<std::vector<T>>(*entries_);
    return *entries_;
  }
  void look() {
    first_ = entries_ ? entries_->data() : nullptr;
    size_ = entries_ ? entries_->size() : 0;
  }

  std::shared_ptr<std::vector<T>> entries_;  // of all copies; null: there are none
  const T* first_ = nullptr;                 // where they stand
  std::size_t size_ = 0;
};

}  // namespace perp
