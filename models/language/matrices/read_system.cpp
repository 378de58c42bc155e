#include <fmt/format.h>
#include <algorithm>
#include <cmath>

#include <perp/models/language/matrices/matrix_structure.hpp>
#include <perp/models/language/matrices/written_matrix.hpp>

namespace perp::reader {
namespace {

using Placed = linear::SparseMatrix::Placed;

/// Is it a finite number, not one in words?
bool is_plain(const Value& entry) { return entry.kind == Value::Kind::number && std::isfinite(entry.number); }

/// All entries that are written.
std::vector<Placed> numbers_of(const Context& context, const WrittenMatrix& written) {
  std::vector<Placed> entries;
  for (int i = 0; i < written.rows(); ++i)
    for (const WrittenEntry& entry : written.row(i)) entries.push_back({i, entry.column, written.number(context, entry)});
  return entries;
}

Matrix full_matrix(const Context& context, const WrittenMatrix& written) {
  Matrix matrix = Matrix::Zero(written.rows(), written.columns());
  for (int i = 0; i < written.rows(); ++i)
    for (const WrittenEntry& entry : written.row(i)) matrix(i, entry.column) = written.number(context, entry);
  return matrix;
}

/// The entries of a vector that are written; 0 the others.
Signal read_signal(const Context& context, const WrittenMatrix& written, double t) {
  Vector numbers = Vector::Zero(written.rows());
  std::vector<const Value*> texts;
  std::vector<std::string> what;
  std::vector<int> rows;
  for (int i = 0; i < written.rows(); ++i)
    for (const WrittenEntry& entry : written.row(i)) {
      if (entry.value == nullptr || is_plain(*entry.value)) {
        numbers[i] = written.number(context, entry);
        continue;
      }
      texts.push_back(entry.value);
      what.push_back(written.place(entry));
      rows.push_back(i);
    }
  if (texts.empty()) return numbers;
  const Signal part = context.signal(texts, what, t);
  for (std::size_t k = 0; k < rows.size(); ++k) numbers[rows[k]] = part.constant()[static_cast<Eigen::Index>(k)];
  if (part.is_constant()) return numbers;
  std::vector<int> varying;
  for (const int k : part.varying()) varying.push_back(rows[static_cast<std::size_t>(k)]);
  return {std::move(numbers), std::move(varying), std::make_shared<const Tape>(*part.tape()), part.lines()};
}

/// The laws of a [system]; none where it has no list of them.
std::vector<Law> laws_of(const Context& context, const Value& table) {
  std::vector<Law> list;
  const Member* laws = table.find("laws");
  if (laws == nullptr) return list;
  context.check_kind(laws->value, Value::Kind::list, "laws");
  for (const Value& law : laws->value.items) list.push_back(read_law(context, law, list.size() + 1));
  return list;
}

/// The members of a [system] as they are written, of a system with n variables.
class SystemReader {
 public:
  SystemReader(const Context& context, const Value& table, WrittenMatrices& written, int n, double t)
      : context_(context), table_(table), laws_(laws_of(context, table)), n_(n), m_(static_cast<int>(laws_.size())), t_(t) {
    const auto find = [&](const char* name, int rows, int columns, bool is_required) {
      const WrittenMatrix* matrix = written.find(name, rows, columns);
      if (matrix == nullptr && is_required && rows > 0 && columns > 0)
        context_.document().fail(table_, fmt::format("'{}' is missing in [system]; expected a {}x{} matrix", name, rows, columns));
      return matrix;
    };
    E_ = find("E", n_, n_, false);
    A_ = find("A", n_, n_, true);
    B_ = find("B", n_, m_, true);
    b_ = find("b", n_, -1, false);
    C_ = find("C", m_, n_, true);
    D_ = find("D", m_, m_, false);
    q_ = find("q", m_, -1, false);
  }

  [[nodiscard]] Lcs full() {
    return system<Lcs>([&] { return Matrix(Matrix::Identity(n_, n_)); }, [&](const WrittenMatrix* given, int rows, int columns) {
      return given == nullptr ? Matrix(Matrix::Zero(rows, columns)) : full_matrix(context_, *given);
    });
  }

  /// By the entries, of which no full matrix is made.
  [[nodiscard]] SparseLcs sparse() {
    return system<SparseLcs>([&] { return linear::SparseMatrix(n_, n_, ones()); }, [&](const WrittenMatrix* given, int rows, int columns) {
      return linear::SparseMatrix(rows, columns, given == nullptr ? std::vector<Placed>{} : numbers_of(context_, *given));
    });
  }

 private:
  /// Of matrices as `matrix` makes them.
  template <class System, class Identity, class MatrixOf>
  [[nodiscard]] System system(const Identity& identity, const MatrixOf& matrix) {
    return {.E = E_ == nullptr ? identity() : matrix(E_, n_, n_),
            .A = matrix(A_, n_, n_),
            .B = matrix(B_, n_, m_),
            .b = signal(b_, n_),
            .C = matrix(C_, m_, n_),
            .D = matrix(D_, m_, m_),
            .q = signal(q_, m_),
            .laws = std::move(laws_)};
  }

  [[nodiscard]] Signal signal(const WrittenMatrix* given, int size) const {
    return given == nullptr ? Signal(Vector(Vector::Zero(size))) : read_signal(context_, *given, t_);
  }

  [[nodiscard]] std::vector<Placed> ones() const {
    std::vector<Placed> entries;
    for (int i = 0; i < n_; ++i) entries.push_back({i, i, 1});
    return entries;
  }

  const Context& context_;
  const Value& table_;
  std::vector<Law> laws_;
  int n_, m_;
  double t_;
  const WrittenMatrix *E_ = nullptr, *A_ = nullptr, *B_ = nullptr, *b_ = nullptr, *C_ = nullptr, *D_ = nullptr, *q_ = nullptr;
};

}  // namespace

System read_system(const Context& context, const Value& table, WrittenMatrices& written, const Model& model) {
  context.check_kind(table, Value::Kind::table, "system");
  context.check_keys(table, "[system]", {"A", "B", "C", "D", "E", "b", "laws", "q"});
  SystemReader reader(context, table, written, static_cast<int>(model.variables.size()), model.run.span.start);
  if (!written.is_sparse()) return reader.full();
  SparseLcs lcs = reader.sparse();
  check_matrix_structure(context, table, lcs, model);
  // As an affine system of equations is kept, so that all else is the same.
  if (lcs.n() + lcs.m() <= most_full_unknowns) return dense(lcs);
  check_size(context, model);
  return as_dcs(lcs);
}

void read_matrices(const Context& context, const Value& table, Model& model) {
  WrittenMatrices written(context, table, model);
  model.system = read_system(context, table, written, model);
}

}  // namespace perp::reader
