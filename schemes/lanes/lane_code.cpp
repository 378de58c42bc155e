// The lines that steps of one form are made of: called by LaneBlock where it begins with a form.
#include <algorithm>
#include <array>

#include <perp/core/base/index.hpp>
#include <perp/schemes/lanes/lane_code.hpp>

namespace perp::eight {
namespace {

/// Lines in doubles: the tape, the residual of the laws, the entries of the matrix.
class CodeOfDoubles {
 public:
  CodeOfDoubles(const LaneForm& form, LaneCode& code) : form_(form), code_(code) {
    const int inputs = 1 + 2 * form.n + form.m;
    code.z = form.linear_lines;
    code.h = code.z + inputs;
    code.zero = code.h + 1;
    code.a = code.zero + 1, code.b = code.a + form.m, code.c = code.b + form.m;
    changes_.assign(at(code.c + form.m), 0);
    for (int k = 0; k < 1 + 2 * form.n; ++k) changes_[at(code.z + k)] = 1;
    for (const int law : form.free_laws) changes_[at(code.z + 1 + 2 * form.n + law)] = 1;
  }

  void write() {
    add_tape();
    add_residual();
    add_matrix();
    code_.places = static_cast<int>(changes_.size());
    list_results();
    sort_lines();
  }

 private:
  int output(std::size_t k) const { return place_[at(form_.linear_outputs[k])]; }

  void add_tape() {
    place_.resize(at(form_.linear_lines));
    for (int k = 0; k < form_.linear_lines; ++k) place_[at(k)] = k;
    for (const LaneLine& line : form_.linear) {
      if (line.operation == Operation::input)
        place_[at(line.to)] = code_.z + line.a;
      else
        add(line.operation, place_[at(line.a)], place_[at(line.b)], line.to);
    }
  }

  void add(Operation operation, int a, int b, int to) {
    changes_[at(to)] = changes_[at(a)] != 0 || changes_[at(b)] != 0 ? 1 : 0;
    lines_.push_back({operation, a, b, to});
  }
  int add(Operation operation, int a, int b) {
    changes_.push_back(0);
    const int to = static_cast<int>(changes_.size()) - 1;
    add(operation, a, b, to);
    return to;
  }

  /// F, and a w + b λ − c.
  void add_residual() {
    for (int i = 0; i < form_.m; ++i) code_.w.push_back(output(at(form_.n + i)));
    for (int i = 0; i < form_.n; ++i) code_.F.push_back(output(at(i)));
    code_.F.resize(at(form_.size));
    for (const int law : form_.free_laws) {
      const int of_w = add(Operation::multiply, code_.a + law, code_.w[at(law)]);
      const int of_lambda = add(Operation::multiply, code_.b + law, code_.z + 1 + 2 * form_.n + law);
      code_.F[at(form_.unknown[at(law)])] =
          add(Operation::subtract, add(Operation::add, of_w, of_lambda), code_.c + law);
    }
  }

  void add_matrix() {
    code_.J.assign(at(form_.size * form_.size), code_.zero);
    for (const int law : form_.free_laws) code_.J[at(form_.unknown[at(law)] * (form_.size + 1))] = code_.b + law;
    for (std::size_t k = 0; k < form_.places.size(); ++k) add_entry(form_.places[k], output(at(form_.n + form_.m) + k));
  }

  void add_entry(const LaneForm::Place& place, int derivative) {
    const int column = column_of(place);
    const int row = place.row < form_.n ? place.row : form_.unknown[at(place.row - form_.n)];
    if (column < 0 || row < 0) return;
    if (place.row >= form_.n) derivative = add(Operation::multiply, code_.a + place.row - form_.n, derivative);
    if (place.kind == LaneForm::Kind::derivative) derivative = add(Operation::divide, derivative, code_.h);
    int& entry = code_.J[at(row * form_.size + column)];
    entry = add(Operation::add, entry, derivative);
  }

  /// −1: it is none of the unknowns.
  int column_of(const LaneForm::Place& place) const {
    switch (place.kind) {
      case LaneForm::Kind::time: return -1;
      case LaneForm::Kind::multiplier: return form_.unknown[at(place.index)];
      default: return place.index;
    }
  }

  /// What is computed: sums and products alone may be no numbers.
  void list_results() {
    std::vector<char> is_listed(changes_.size(), 0);
    for (const std::vector<int>* results : {&code_.F, &code_.w, &code_.J})
      for (const int place : *results)
        if (place != code_.zero && std::exchange(is_listed[at(place)], 1) == 0) code_.finite.push_back(place);
  }

  void sort_lines() {
    std::vector<char> is_needed(changes_.size(), 0);
    for (const int place : code_.finite) is_needed[at(place)] = 1;
    for (auto line = lines_.rbegin(); line != lines_.rend(); ++line)
      if (is_needed[at(line->to)] != 0) is_needed[at(line->a)] = is_needed[at(line->b)] = 1;
    for (const LaneLine& line : lines_)
      if (is_needed[at(line.to)] != 0) (changes_[at(line.to)] != 0 ? code_.changing : code_.fixed).push_back(line);
  }

  const LaneForm& form_;
  LaneCode& code_;
  std::vector<LaneLine> lines_;
  std::vector<int> place_;      // of the lines of the tape
  std::vector<char> changes_;   // of the places: from step to step?
};

/// Lines with running errors: the rows of the tape, the residual of the laws.
class CodeOfErrors {
 public:
  CodeOfErrors(const LaneForm& form, LaneCode& code) : form_(form), code_(code) {
    const int inputs = 1 + 2 * form.n + form.m;
    code.bounded_z = form.bounded_lines;
    code.bounded_a = code.bounded_z + inputs;
    code.bounded_b = code.bounded_a + form.m, code.bounded_c = code.bounded_b + form.m;
    kinds_.assign(at(code.bounded_c + form.m), Exactness::unknown);
    for (std::size_t k = 0; k < form.bounded_constants.size(); ++k)
      kinds_[at(form.bounded_constants[k])] = form.kinds[k];
    for (int j = 0; j < form.n; ++j) kinds_[at(code.bounded_z + 1 + form.n + j)] = Exactness::none;
    const auto first_law = form.kinds.begin() + static_cast<std::ptrdiff_t>(form.bounded_constants.size());
    std::copy(first_law, form.kinds.end(), kinds_.begin() + code.bounded_z + 1 + 2 * form.n);
  }

  void write() {
    std::vector<int> place(at(form_.bounded_lines));
    for (int k = 0; k < form_.bounded_lines; ++k) place[at(k)] = k;
    for (const LaneLine& line : form_.bounded) {
      if (line.operation == Operation::input)
        place[at(line.to)] = code_.bounded_z + line.a;
      else
        add(line.operation, place[at(line.a)], place[at(line.b)], line.to);
    }
    const auto output = [&](int k) { return place[at(form_.bounded_outputs[at(k)])]; };
    for (int i = 0; i < form_.n; ++i) code_.bounded_F.push_back(output(i));
    code_.bounded_F.resize(at(form_.size));
    for (const int law : form_.free_laws) code_.bounded_F[at(form_.unknown[at(law)])] = add_law(law, output(form_.n + law));
    code_.bounded_places = static_cast<int>(kinds_.size());
    leave_out_unused();
  }

 private:
  int add_law(int law, int w) {
    const int of_w = add(Operation::multiply, code_.bounded_a + law, w);
    const int of_lambda = add(Operation::multiply, code_.bounded_b + law, code_.bounded_z + 1 + 2 * form_.n + law);
    return add(Operation::subtract, add(Operation::add, of_w, of_lambda), code_.bounded_c + law);
  }
  int add(Operation operation, int a, int b) {
    kinds_.push_back(Exactness::unknown);
    const int to = static_cast<int>(kinds_.size()) - 1;
    add(operation, a, b, to);
    return to;
  }

  void add(Operation operation, int a, int b, int to) {
    switch (operation) {
      case Operation::add:
      case Operation::subtract: return add_sum(operation, a, b, to);
      case Operation::multiply: return add_product(a, b, to);
      case Operation::divide: return add_quotient(a, b, to);
      case Operation::guard: return add_guard(a, b, to);
      default: return add_function(operation, a, b, to);
    }
  }

  void put(BoundedWork work, Operation operation, int a, int b, int to, Exactness kind) {
    code_.bounded.push_back({work, operation, a, b, to});
    kinds_[at(to)] = kind;
  }

  void add_function(Operation operation, int a, int b, int to) {
    const Exactness of_a = kinds_[at(a)];
    if (operation == Operation::negate) return put(BoundedWork::negate, operation, a, b, to, of_a);
    if (operation == Operation::abs) return put(BoundedWork::abs, operation, a, b, to, of_a);
    const bool has_error = of_a == Exactness::none || kinds_[at(b)] == Exactness::none;
    if (operation == Operation::sign && has_error) return put(BoundedWork::sign, operation, a, b, to, Exactness::scale);
    // Of two numbers the one that has no error may be taken.
    const bool may_be_exact = operation == Operation::min || operation == Operation::max || !has_error;
    put(may_be_exact ? BoundedWork::any : BoundedWork::function, operation, a, b, to,
        may_be_exact ? Exactness::unknown : Exactness::none);
  }

  void add_sum(Operation operation, int a, int b, int to) {
    const Exactness of_a = kinds_[at(a)], of_b = kinds_[at(b)];
    const bool is_sum = operation == Operation::add;
    BoundedWork work = is_sum ? BoundedWork::sum : BoundedWork::difference;
    Exactness kind = Exactness::none;
    if (of_b == Exactness::zero) {
      work = is_sum ? BoundedWork::sum_with_zero : BoundedWork::difference_with_zero;
      kind = of_a;
    } else if (of_a == Exactness::zero) {
      work = is_sum ? BoundedWork::sum_from_zero : BoundedWork::difference_from_zero;
      kind = of_b;
    } else if (of_a != Exactness::none && of_b != Exactness::none) {
      work = BoundedWork::any;
      kind = Exactness::unknown;
    } else if (of_a == Exactness::unknown || of_b == Exactness::unknown) {
      work = BoundedWork::function;
    }
    put(work, operation, a, b, to, kind);
  }

  /// The power of two comes second: a product of two of them is left to its values.
  void add_product(int a, int b, int to) {
    const auto is = [&](Exactness kind) { return kinds_[at(a)] == kind || kinds_[at(b)] == kind; };
    BoundedWork work = BoundedWork::product;
    Exactness kind = Exactness::none;
    if (is(Exactness::zero)) {
      work = BoundedWork::product_with_zero;
      kind = Exactness::zero;
    } else if (!is(Exactness::none) || is(Exactness::unknown)) {
      work = BoundedWork::any;
      kind = Exactness::unknown;
    } else if (is(Exactness::scale)) {
      work = BoundedWork::product_by_scale;
      if (kinds_[at(b)] != Exactness::scale) std::swap(a, b);
    }
    put(work, Operation::multiply, a, b, to, kind);
  }

  void add_quotient(int a, int b, int to) {
    const Exactness of_a = kinds_[at(a)], of_b = kinds_[at(b)];
    const bool is_unknown = of_a == Exactness::unknown || of_b == Exactness::unknown;
    BoundedWork work = BoundedWork::any;
    Exactness kind = Exactness::unknown;
    if (of_a == Exactness::zero) {
      work = BoundedWork::quotient_of_zero;
      kind = Exactness::zero;
    } else if (!is_unknown && (of_a == Exactness::none || of_b == Exactness::none)) {
      work = of_b == Exactness::scale ? BoundedWork::quotient_by_scale : BoundedWork::quotient;
      kind = Exactness::none;
    }
    put(work, Operation::divide, a, b, to, kind);
  }

  void add_guard(int a, int b, int to) {
    BoundedWork work = BoundedWork::second;
    Exactness kind = kinds_[at(b)];
    if (kinds_[at(a)] == Exactness::zero) {
      work = BoundedWork::unweighted;
      kind = Exactness::scale;
    } else if (kinds_[at(a)] == Exactness::unknown) {
      work = BoundedWork::any;
      kind = Exactness::unknown;
    }
    put(work, Operation::guard, a, b, to, kind);
  }

  /// What only arguments of laws need that fix their multipliers.
  void leave_out_unused() {
    std::vector<char> is_used(kinds_.size(), 0);
    for (const int place : code_.bounded_F) is_used[at(place)] = 1;
    for (auto line = code_.bounded.rbegin(); line != code_.bounded.rend(); ++line)
      if (is_used[at(line->to)] != 0) is_used[at(line->a)] = is_used[at(line->b)] = 1;
    std::erase_if(code_.bounded, [&](const BoundedLine& line) { return is_used[at(line.to)] == 0; });
    for (int place = code_.bounded_z; place < code_.bounded_a; ++place)
      if (is_used[at(place)] != 0 && kinds_[at(place)] == Exactness::none) code_.known.push_back(place);
  }

  const LaneForm& form_;
  LaneCode& code_;
  std::vector<Exactness> kinds_;  // of the places
};

}  // namespace

LaneCode::LaneCode(const LaneForm& form) {
  CodeOfDoubles(form, *this).write();
  std::vector<PackedCode::Line> lines;
  for (const LaneLine& line : changing) lines.push_back({line.operation, line.a, line.b, line.to});
  packed = PackedCode(lines);
  CodeOfErrors(form, *this).write();
}

}  // namespace perp::eight
