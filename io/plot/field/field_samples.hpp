#pragma once

#include <string>
#include <vector>

#include <perp/core/trajectory.hpp>
#include <perp/io/plot/drawn_columns.hpp>
#include <perp/models/language/model.hpp>

namespace perp::io {

/// An array of a model whose elements are columns: u[1], ..., u[n] or u[1,1], ..., u[n,m].
struct ArrayColumns {
  struct Element {
    int i = 0, j = 0;  ///< its indices; j = 1 where there is one index
    int column = 0;    ///< its place in `drawn_columns`
  };
  std::string name{}, unit{};
  bool has_two = false;  ///< indices
  int stride_i = 1, stride_j = 1;  ///< of the elements that are drawn: of many every so many along each index
  std::vector<Element> drawn{};
};

/// The array of this name, with as many of its elements as a picture shows. Throws InvalidInput where the model has none.
ArrayColumns array_columns(const Model& model, const std::string& name);

/// The states of a run that a picture of an array needs: of elements with one index some hundred over the window, of elements
/// with two six of them, the ends among them, where the run reaches these.
class FieldSamples {
 public:
  struct State {
    double t = 0;
    Vector values;  ///< of `ArrayColumns::drawn`
    void transfer(Archive& archive) { archive(t, values); }
  };

  /// `window`: what is drawn of the run. An array without elements: nothing is kept.
  FieldSamples(const Model& model, ArrayColumns array, Span window);
  void add(const Step& step);
  /// What is kept so far.
  void transfer(Archive& archive);
  /// The states in the order of time, that at the end among them.
  const std::vector<State>& finish();

 private:
  [[nodiscard]] double moment(int k) const;
  void keep(const Step& step);

  ArrayColumns array_;
  ColumnValues values_;
  Span window_;
  int moments_;
  int next_ = 0;  // of the moments
  std::vector<State> states_;
  Step last_;  // in the window
};

}  // namespace perp::io
