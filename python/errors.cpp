// Errors of the library as exceptions of the package, and computations that signals can end.
#include <perp/core/base/error.hpp>
#include <perp/models/language/read_model.hpp>
#include <perp/python/bindings.hpp>

namespace perp::python {
namespace {

/// Raises an exception of perp.errors.
void raise(const char* name, const char* message, const std::string& excerpt = {}) {
  const py::object type = py::module_::import("perp.errors").attr(name);
  const py::object error = excerpt.empty() ? type(message) : type(message, excerpt);
  PyErr_SetObject(type.ptr(), error.ptr());
}

void translate(std::exception_ptr thrown) {
  try {
    if (thrown) std::rethrow_exception(thrown);
  } catch (const ModelError& error) {
    raise("ModelError", error.what(), error.excerpt());
  } catch (const InvalidInput& error) {
    raise("InvalidInput", error.what());
  } catch (const FileError& error) {
    raise("FileError", error.what());
  } catch (const Interrupted&) {
    PyErr_SetNone(PyExc_KeyboardInterrupt);
  }
}

}  // namespace

bool Computation::is_to_stop() noexcept {
  return !with_lock([this] {
    if (PyErr_CheckSignals() != 0) throw py::error_already_set();
    if (!tick_.is_none()) tick_();
  });
}

/// The first one counts. Ctrl-C ends a computation, whose result then says so.
void Computation::keep_error(py::error_already_set& error) {
  if (error.matches(PyExc_KeyboardInterrupt))
    was_interrupted_ = true;
  else if (!error_)
    error_.emplace(std::move(error));
}

void Computation::rethrow() {
  if (error_) throw std::move(*error_);
}

void bind_errors(py::module_& /*module*/) { py::register_exception_translator(&translate); }

}  // namespace perp::python
