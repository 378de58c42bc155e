#pragma once

/// What the bindings share. They read arguments, call one function of analysis/ or io/, and hand its values on.
#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include <perp/analysis/run/kept_run.hpp>
#include <perp/analysis/run/reading.hpp>
#include <perp/core/base/interruption.hpp>
#include <perp/models/language/model.hpp>

namespace perp::python {

namespace py = pybind11;

/// What replaces a value of a model: key, value, and what messages call it.
using Overrides = std::vector<std::tuple<std::string, std::string, std::string>>;

/// A model as it was read, with what its question replaced.
using ReadModel = std::shared_ptr<const Model>;

/// The text of a model, read for many questions with many overrides. Threads may share one.
class Source {
 public:
  Source(std::string text, std::string name) : text_(std::move(text)), name_(std::move(name)) {}

  [[nodiscard]] const std::string& text() const { return text_; }
  [[nodiscard]] const std::string& name() const { return name_; }

  /// The model; the last ones that were read are kept. Throws ModelError, InvalidInput.
  ReadModel read(const ReadingOptions& options, const Overrides& overrides);
  /// The parsed text, of which `read` reads.
  ModelText parsed(const ReadingOptions& options);

 private:
  using Key = std::pair<std::string, Overrides>;

  std::string text_, name_;
  std::mutex mutex_;
  std::map<std::string, ModelText> parsed_;  // by the options
  std::vector<std::pair<Key, ReadModel>> recent_;
};

/// The overrides alone, as the reader takes them.
std::vector<Override> items_of(const Overrides& overrides);
/// `read()`, whose errors name overrides as the user wrote them.
template <class Read>
auto in_words_of(const Overrides& overrides, const Read& read) {
  try {
    return read();
  } catch (const ModelError& error) {
    std::vector<WrittenOverride> written;
    for (const auto& [key, value, words] : overrides) written.push_back({{key, value}, words});
    const std::string message = in_users_words(error.what(), written);
    if (message == error.what()) throw;
    throw InvalidInput(message);
  }
}

/// A long computation without Python's lock. Every 50 ms it looks for signals, and calls `tick` if that is no None;
/// a signal whose handler raises ends it. What a handler other than Ctrl-C's own raised is raised afterwards.
class Computation {
 public:
  explicit Computation(py::object tick = py::none()) : tick_(std::move(tick)) {}

  /// Calls `compute` and returns what it does.
  template <class Compute>
  auto run(const Compute& compute) {
    const auto guarded = [&] {
      const py::gil_scoped_release release;
      const InterruptionWatch watch([this] { return is_to_stop(); });
      return compute();
    };
    if constexpr (std::is_void_v<decltype(compute())>) {
      guarded();
      rethrow();
    } else {
      auto result = guarded();
      rethrow();
      return result;
    }
  }

  /// Calls something of Python from within; false: it raised.
  template <class Call>
  bool with_lock(const Call& call) {
    const py::gil_scoped_acquire lock;
    try {
      call();
      return true;
    } catch (py::error_already_set& error) {
      keep_error(error);
      return false;
    }
  }

  [[nodiscard]] bool was_interrupted() const { return was_interrupted_; }

 private:
  bool is_to_stop() noexcept;
  void keep_error(py::error_already_set& error);
  void rethrow();

  py::object tick_;
  std::optional<py::error_already_set> error_{};
  bool was_interrupted_ = false;
};

/// A read-only array of `columns` columns (0: none, one axis) that is the vector itself; `owner` keeps it alive.
template <class Number>
py::array view(const std::vector<Number>& values, int columns, const py::object& owner) {
  const auto size = static_cast<py::ssize_t>(values.size());
  std::vector<py::ssize_t> shape{size};
  if (columns >= 0) shape = {columns == 0 ? 0 : size / columns, columns};
  py::array array(py::dtype::of<Number>(), shape, values.data(), owner);
  py::detail::array_proxy(array.ptr())->flags &= ~py::detail::npy_api::NPY_ARRAY_WRITEABLE_;
  return array;
}

// One for each file.
void bind_errors(py::module_& module);
void bind_models(py::module_& module);
void bind_pictures(py::module_& module);
void bind_results(py::module_& module);
void bind_analyses(py::module_& module);
void bind_forms(py::module_& module);
void bind_studies(py::module_& module);
void bind_sweeps(py::module_& module);

}  // namespace perp::python
