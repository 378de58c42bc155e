#include <fmt/format.h>
#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include <perp/core/base/error.hpp>
#include <perp/core/base/nearest_name.hpp>
#include <perp/io/files/input_text.hpp>
#include <perp/io/files/json_places.hpp>
#include <perp/io/files/mlcp_file.hpp>

namespace perp::io {
namespace {

constexpr std::size_t most_unknowns = 20'000;

std::string type_of(const Json& value) {
  if (value.is_null()) return "null";
  if (value.is_boolean()) return "true or false";
  if (value.is_text()) return "text";
  if (value.is_list()) return fmt::format("a list of {}", value.size());
  return value.is_table() ? "a table" : value.dump();
}

class Reader {
 public:
  Reader(std::string text, std::string name) : file_(std::move(name)), text_(std::move(text)) { parse(); }

  MlcpFile operator()() {
    if (!root_.is_table()) fail({}, fmt::format("found {}; expected a table", type_of(root_)));
    check_keys(root_, {},
               {"name", "family", "note", "p", "m", "Auu", "Aul", "au", "Alu", "All", "al", "lower",
                "upper", "class", "pieces", "norm", "minimal_norm", "certificate", "status"});
    MlcpFile result;
    if (root_.contains("name")) {
      if (!root_["name"].is_text()) fail({"name"}, "name: expected text");
      result.name = root_["name"].text();
    }
    p_ = size("p");
    m_ = size("m");
    Mlcp& problem = result.problem;
    problem.M11 = matrix("Auu", p_, p_);
    problem.M12 = matrix("Aul", p_, m_);
    problem.q1 = vector("au", p_);
    problem.M21 = matrix("Alu", m_, p_);
    problem.M22 = matrix("All", m_, m_);
    problem.q2 = vector("al", m_);
    read_laws(problem);
    if (root_.contains("norm") && !root_["norm"].is_null()) read_norm(result);
    return result;
  }

 private:
  void parse() {
    try {
      root_ = parse_json(text_);
    } catch (const JsonError& error) {
      fail_at(error.byte, error.what());
    }
  }

  [[noreturn]] void fail_at(std::size_t byte, const std::string& message) const {
    const auto [line, column] = line_and_column(text_, byte);
    throw InvalidInput(fmt::format("{}:{}:{}: {}", file_, line, column, message));
  }
  [[noreturn]] void fail(const JsonPath& path, const std::string& message) const {
    fail_at(json_place(text_, path), message);
  }

  void check_keys(const Json& table, const JsonPath& where,
                  const std::vector<std::string>& known) const {
    for (const auto& [name, value] : table.members())
      if (std::find(known.begin(), known.end(), name) == known.end()) {
        JsonPath path = where;
        path.emplace_back(name);
        fail(path, fmt::format("unknown key '{}'{}", name, suggestion(name, known)));
      }
  }

  /// Is it a whole number from 0 to that one?
  static bool is_count(const Json& value, long long most) {
    return value.is_whole() && value.whole() >= 0 && value.whole() <= most;
  }

  std::size_t size(const char* key) const {
    if (!root_.contains(key)) fail({}, fmt::format("'{}' is missing; expected a number", key));
    const Json& value = root_[key];
    if (!is_count(value, static_cast<long long>(most_unknowns)))
      fail({key}, fmt::format("{} is {}; expected a whole number from 0 to {}", key, type_of(value),
                              most_unknowns));
    return static_cast<std::size_t>(value.whole());
  }

  /// The member, or an empty list where it may be left out.
  const Json& list(const char* key, std::size_t entries) const {
    static const Json nothing = Json::array();
    if (!root_.contains(key)) {
      if (entries == 0) return nothing;
      fail({}, fmt::format("'{}' is missing; expected a list", key));
    }
    if (!root_[key].is_list())
      fail({key}, fmt::format("{} is {}; expected a list", key, type_of(root_[key])));
    return root_[key];
  }

  [[nodiscard]] double infinite(const std::string& text, const JsonPath& path, const std::string& what) const {
    if (text == "inf" || text == "+inf") return inf;
    if (text == "-inf") return -inf;
    fail(path, fmt::format("{} is '{}'; expected a number, \"inf\" or \"-inf\"", what, text));
  }

  [[nodiscard]] double number(const Json& value, const JsonPath& path, const std::string& what,
                              bool may_be_infinite) const {
    if (value.is_number() && std::isfinite(value.number())) return value.number();
    if (value.is_text() && may_be_infinite) return infinite(value.text(), path, what);
    fail(path, fmt::format("{} is {}; expected a {}number", what, type_of(value),
                           may_be_infinite ? "" : "finite "));
  }

  Vector vector(const char* key, std::size_t size, bool may_be_infinite = false) const {
    const Json& values = list(key, size);
    if (values.size() != size)
      fail({key}, fmt::format("{} must have {} entries but has {}", key, size, values.size()));
    Vector result(static_cast<Eigen::Index>(size));
    for (std::size_t i = 0; i < size; ++i)
      result[static_cast<Eigen::Index>(i)] =
          number(values[i], {key, i}, fmt::format("{}({})", key, i + 1), may_be_infinite);
    return result;
  }

  Matrix matrix(const char* key, std::size_t rows, std::size_t columns) const {
    const Json& values = list(key, rows * columns);
    Matrix result(static_cast<Eigen::Index>(rows), static_cast<Eigen::Index>(columns));
    if (rows * columns == 0 && values.size() == 0) return result;
    if (values.size() != rows)
      fail({key},
           fmt::format("{} must be {}x{} but has {} rows", key, rows, columns, values.size()));
    for (std::size_t i = 0; i < rows; ++i) {
      if (!values[i].is_list() || values[i].size() != columns)
        fail({key, i}, fmt::format("{} must be {}x{} but row {} is {}", key, rows, columns, i + 1,
                                   type_of(values[i])));
      for (std::size_t j = 0; j < columns; ++j)
        result(static_cast<Eigen::Index>(i), static_cast<Eigen::Index>(j)) =
            number(values[i][j], {key, i, j}, fmt::format("{}({},{})", key, i + 1, j + 1), false);
    }
    return result;
  }

  void read_laws(Mlcp& problem) const {
    const Vector lower = vector("lower", m_, true);
    const Vector upper = vector("upper", m_, true);
    for (std::size_t i = 0; i < m_; ++i) {
      const double low = lower[static_cast<Eigen::Index>(i)];
      const double high = upper[static_cast<Eigen::Index>(i)];
      if (!(low <= high) || low == inf || high == -inf)
        fail({"lower", i}, fmt::format("lower({0}) is {1} and upper({0}) is {2}; expected lower <= "
                                       "upper with a finite number between them",
                                       i + 1, low, high));
      problem.laws.push_back(box(low, high));
    }
  }

  /// A list in the table of the norm.
  const Json& list_of_norm(const char* key) const {
    const Json& norm = root_["norm"];
    if (!norm.contains(key) || !norm[key].is_list())
      fail({"norm", key}, fmt::format("norm: '{}' is missing; expected a list", key));
    return norm[key];
  }

  /// Are the indices, the reference and the weights, which may be left out, lists of one length?
  void check_norm() const {
    const Json& norm = root_["norm"];
    if (!norm.is_table()) fail({"norm"}, "norm: expected a table of indices, ref and weights");
    check_keys(norm, {"norm"}, {"indices", "ref", "weights"});
    const std::size_t size = list_of_norm("indices").size();
    if (list_of_norm("ref").size() != size)
      fail({"norm", "ref"},
           fmt::format("norm.ref must have {} entries, as norm.indices, but has {}", size,
                       norm["ref"].size()));
    if (norm.contains("weights") && list_of_norm("weights").size() != size)
      fail({"norm", "weights"},
           fmt::format("norm.weights must have {} entries, as norm.indices, but has {}", size,
                       norm["weights"].size()));
  }

  /// Unknown number k of the norm, which is none of the earlier ones.
  [[nodiscard]] int index_of_norm(std::size_t k, const std::vector<int>& earlier) const {
    const Json& index = root_["norm"]["indices"][k];
    const std::size_t limit = p_ > 0 ? p_ : m_;
    if (!is_count(index, static_cast<long long>(limit) - 1))
      fail({"norm", "indices", k},
           fmt::format("norm.indices({}) is {}; expected a whole number from 0 to {}", k + 1,
                       type_of(index), limit - 1));
    const int j = static_cast<int>(index.whole());
    if (std::find(earlier.begin(), earlier.end(), j) != earlier.end())
      fail({"norm", "indices", k}, fmt::format("norm.indices: {} stands there twice", j));
    return j;
  }

  /// Its weight, 1 where there are none.
  [[nodiscard]] double weight_of_norm(std::size_t k) const {
    const Json& norm = root_["norm"];
    if (!norm.contains("weights")) return 1;
    const double weight =
        number(norm["weights"][k], {"norm", "weights", k}, fmt::format("norm.weights({})", k + 1), false);
    if (weight < 0)
      fail({"norm", "weights", k},
           fmt::format("norm.weights({}) is {}; expected a number >= 0", k + 1, weight));
    return weight;
  }

  void read_norm(MlcpFile& result) const {
    check_norm();
    const Json& norm = root_["norm"];
    const std::size_t size = norm["indices"].size();
    const auto total = static_cast<Eigen::Index>(p_ + m_);
    Norm made{Matrix::Zero(static_cast<Eigen::Index>(size), total), Vector::Zero(total)};
    for (std::size_t k = 0; k < size; ++k) {
      const int j = index_of_norm(k, result.weighted_norm.indices);
      made.center[j] =
          number(norm["ref"][k], {"norm", "ref", k}, fmt::format("norm.ref({})", k + 1), false);
      const double weight = weight_of_norm(k);
      made.W(static_cast<Eigen::Index>(k), j) = std::sqrt(weight);
      result.weighted_norm.indices.push_back(j);
      result.weighted_norm.weights.push_back(weight);
      result.weighted_norm.center.push_back(made.center[j]);
    }
    result.norm_given = norm;
    result.norm = made;
  }

  std::string file_, text_;
  Json root_;
  std::size_t p_ = 0, m_ = 0;
};

}  // namespace

MlcpFile read_mlcp(const std::string& file) { return Reader(read_file(file), file)(); }

MlcpFile read_mlcp_text(const std::string& text, const std::string& name) { return Reader(text, name)(); }

}  // namespace perp::io
