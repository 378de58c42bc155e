#include <doctest/doctest.h>
#include <array>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <random>
#include <string>

#include <perp/core/base/error.hpp>
#include <perp/models/language/hybrid/read_hybrid.hpp>
#include <perp/models/language/data/matrix_market.hpp>
#include <perp/tests/core/digits50.hpp>
#include <perp/tests/paths.hpp>
#include <perp/tests/inline_matrix.hpp>

namespace {

using nlohmann::json;
using perp::HybridModel;
using perp::MultilinearForm;
using perp::SparseEntries;
using perp::SparseEntry;
using perp::Vector;
using perp::test::Digits50;

std::string read_text(const std::string& file) {
  std::ifstream stream(file, std::ios::binary);
  REQUIRE(stream.good());
  return {std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
}

struct Reference {
  MultilinearForm form;
  json data;
};

Reference read_reference(const std::string& name) {
  const std::string folder = perp::test::data_path("/multilinear/") + name + "/";
  const auto matrix = [&](const std::string& file) {
    return perp::parse_matrix_market(read_text(folder + file), file);
  };
  return {MultilinearForm(matrix("S.mtx"), matrix("Phi_f.mtx"), matrix("Phi_g.mtx")),
          json::parse(read_text(folder + "values.json"))};
}

Vector vector_of(const json& list) {
  Vector v(static_cast<Eigen::Index>(list.size()));
  for (std::size_t k = 0; k < list.size(); ++k) v[static_cast<Eigen::Index>(k)] = list[k];
  return v;
}

/// Σ |φ| Π (1 + |S| + |S v|) of every row: what the rounding of formulas is a share of.
Vector terms_of(const MultilinearForm& form, const Vector& v) {
  Vector size = Vector::Zero(form.equations());
  std::vector<double> product(static_cast<std::size_t>(form.columns()), 1);
  for (int k = 0; k < form.columns(); ++k)
    for (const MultilinearForm::Factor& f : form.factors(k))
      product[static_cast<std::size_t>(k)] *= 1 + std::abs(f.S) + std::abs(f.S * v[f.signal]);
  for (const SparseEntry& entry : form.phi_f().entries)
    size[entry.row] += std::abs(entry.value) * product[static_cast<std::size_t>(entry.column)];
  return size;
}

/// |terms| of every row: the sum that 1e-13 is a share of.
Vector sizes(const MultilinearForm& form, const Vector& v) {
  Vector size = Vector::Zero(form.equations() + form.constraints());
  std::vector<double> product(static_cast<std::size_t>(form.columns()), 1);
  for (int k = 0; k < form.columns(); ++k)
    for (const MultilinearForm::Factor& f : form.factors(k))
      product[static_cast<std::size_t>(k)] *= std::abs(1 - std::abs(f.S) + f.S * v[f.signal]);
  const auto add = [&](const SparseEntries& phi, int first) {
    for (const SparseEntry& entry : phi.entries)
      size[first + entry.row] +=
          std::abs(entry.value) * product[static_cast<std::size_t>(entry.column)];
  };
  add(form.phi_f(), 0);
  add(form.phi_g(), form.equations());
  return size;
}

void check_point(const MultilinearForm& form, const json& point) {
  const Vector v = vector_of(point["v"]), values = form.values(v), size = sizes(form, v);
  const json& f = point["f"];
  const json& g = point["g"];
  for (int row = 0; row < values.size(); ++row) {
    const double exact = row < form.equations() ? f[row] : g[row - form.equations()];
    CHECK(std::abs(values[row] - exact) <= 1e-13 * size[row]);
  }
  std::map<std::pair<int, int>, double> exact;
  for (const auto& entry : point["jacobian_f"])
    exact[{entry[0].get<int>() - 1, entry[1].get<int>() - 1}] = entry[2];
  for (const auto& entry : point["jacobian_g"])
    exact[{form.equations() + entry[0].get<int>() - 1, entry[1].get<int>() - 1}] = entry[2];
  for (const SparseEntry& entry : form.jacobian(v)) {
    const auto known = exact.find({entry.row, entry.column});
    const double wanted = known == exact.end() ? 0 : known->second;
    CHECK(entry.value == doctest::Approx(wanted).epsilon(1e-12));
    if (known != exact.end()) exact.erase(known);
  }
  CHECK(exact.empty());
}

TEST_CASE("values and derivatives of the reference matrices are exact to rounding") {
  for (const char* name : {"three_tank", "converter", "tanks_10"}) {
    CAPTURE(name);
    const Reference reference = read_reference(name);
    CHECK(reference.form.columns() == reference.data["columns"]);
    for (const auto& point : reference.data["points"]) check_point(reference.form, point);
  }
}

/// A model file around the matrices of a folder of tests/data/multilinear.
std::string model_text(const std::string& name, const json& signals) {
  const std::string folder = perp::test::data_path("/multilinear/") + name + "/";
  std::string text = "[variables]\n";
  for (const char* kind : {"states", "algebraic"})
    for (const auto& signal : signals[kind]) text += signal.get<std::string>() + " = 0\n";
  text += "[inputs]\n";
  for (const auto& signal : signals["inputs"]) text += signal.get<std::string>() + " = \"t\"\n";
  text += "[binaries]\n";
  for (const auto& signal : signals["binaries"]) text += signal.get<std::string>() + " = {}\n";
  text += "[multilinear]\nS = \"" + folder + "S.mtx\"\nPhi_f = \"" + folder +
          "Phi_f.mtx\"\nPhi_g = \"" + folder + "Phi_g.mtx\"\nsignals = {";
  for (const char* kind : {"states", "inputs", "algebraic", "binaries"})
    text += std::string(kind == std::string("states") ? "" : ", ") + kind + " = " +
            signals[kind].dump();
  return text + "}\n[run]\nt = [0, 1]\n";
}

TEST_CASE(
    "a model of matrices is read as formulas, and written as matrices again: the same values") {
  for (const char* name : {"three_tank", "converter", "tanks_10"}) {
    CAPTURE(name);
    const Reference reference = read_reference(name);
    const HybridModel model =
        *perp::read_hybrid_model_text(model_text(name, reference.data["signals"]), "m.toml");
    const MultilinearForm again = multilinear_form(model);
    CHECK(again.signals() == reference.form.signals());
    CHECK(again.columns() <= reference.form.columns());
    for (const auto& point : reference.data["points"]) check_point(again, point);
  }
}

TEST_CASE("written matrices are read back bit by bit") {
  const MultilinearForm form = read_reference("tanks_10").form;
  const SparseEntries S = form.S();
  const SparseEntries back = perp::parse_matrix_market(perp::to_matrix_market(S, "S"), "S.mtx");
  CHECK(back.rows == S.rows);
  CHECK(back.columns == S.columns);
  CHECK(back.entries == S.entries);
}

TEST_CASE("a product over many binaries stays one column") {
  std::string binaries = "[binaries]\n", product = "1", constraints;
  for (int i = 1; i <= 30; ++i) {
    const std::string z = "z" + std::to_string(i);
    binaries += z + " = 0\n";
    product += "*(1 - " + z + ")";
    constraints += "\"(x - " + std::to_string(i) + ")*(2*" + z + " - 1) <= 0\",";
  }
  const HybridModel model = *perp::read_hybrid_model_text(
      "[variables]\nx = 0\n" + binaries + "[model]\nequations = [\"der(x) = " + product +
          "\"]\nconstraints = [" + constraints + "]\n[run]\nt = [0, 1]\n",
      "m.toml");
  const MultilinearForm form = multilinear_form(model);
  CHECK(form.columns() <= 2 + 2 * 30);
  Vector v = Vector::Zero(form.signals());
  CHECK(form.values(v)[0] == -1);  // der(x) - 1
  v[10] = 1;
  CHECK(form.values(v)[0] == 0);
}

TEST_CASE(
    "random matrices, also with entries outside [-1, 1] and columns of forty factors, agree with "
    "50 digits") {
  std::mt19937 random(7);
  std::uniform_real_distribution<double> entry(-2, 2);
  const auto draw = [&](int low, int high) {
    return std::uniform_int_distribution<int>(low, high)(random);
  };
  for (int trial = 0; trial < 1000; ++trial) {
    const int signals = draw(1, 45), columns = draw(1, 12), rows = draw(1, 4);
    SparseEntries S{signals, columns, {}}, phi{rows, columns, {}};
    for (int k = 0; k < columns; ++k) {
      const int count =
          k == 0 ? std::min(signals, 40) : (k == 1 ? 0 : draw(0, std::min(signals, 5)));
      for (int i = 0; i < count; ++i)
        S.entries.push_back({k == 0 ? i : draw(0, signals - 1), k, entry(random)});
      for (int row = 0; row < rows; ++row) phi.entries.push_back({row, k, entry(random)});
    }
    const MultilinearForm form(S, phi, {0, columns, {}});
    Vector v(signals);
    for (double& value : v) value = entry(random);
    const auto factor = [&](const MultilinearForm::Factor& f) {
      const Digits50 s(f.S);
      return Digits50(1 - abs(s) + s * Digits50(v[f.signal]));
    };
    std::vector<Digits50> exact(static_cast<std::size_t>(rows), Digits50(0)), size = exact;
    for (const SparseEntry& weight : phi.entries) {
      Digits50 product(weight.value);
      for (const auto& f : form.factors(weight.column)) product = product * factor(f);
      exact[static_cast<std::size_t>(weight.row)] += product;
      size[static_cast<std::size_t>(weight.row)] += abs(product);
    }
    const Vector values = form.values(v);
    for (int row = 0; row < rows; ++row) {
      const auto k = static_cast<std::size_t>(row);
      CHECK(abs(Digits50(values[row]) - exact[k]) <= Digits50(1e-13) * size[k]);
    }
    // Linear in every signal: the derivative is an exact difference quotient, to rounding.
    for (const SparseEntry& derivative : form.jacobian(v)) {
      Digits50 slope(0), terms(0);
      for (const SparseEntry& weight : phi.entries) {
        if (weight.row != derivative.row) continue;
        Digits50 product(weight.value);
        bool holds = false;
        for (const auto& f : form.factors(weight.column)) {
          const bool own = f.signal == derivative.column;
          product = product * (own ? Digits50(f.S) : factor(f));
          holds = holds || own;
        }
        if (!holds) continue;
        slope += product;
        terms += abs(product);
      }
      CHECK(abs(Digits50(derivative.value) - slope) <= Digits50(1e-13) * terms);
    }
  }
}

TEST_CASE("random matrices, read as a model and written again, are the same functions to 50 digits") {
  std::mt19937 random(11);
  std::uniform_real_distribution<double> entry(-2, 2);
  for (int trial = 0; trial < 60; ++trial) {
    // Algebraic variables y_j, each in a column of its own, and inputs.
    const int rows = 1 + trial % 3, inputs = 1 + trial % 41, signals = rows + inputs, columns = rows + 4;
    SparseEntries S{signals, columns, {}}, phi{rows, columns, {}};
    std::string variables = "[variables]\n", known = "[inputs]\n", y_names, u_names;
    for (int j = 0; j < rows; ++j) {
      variables += "y" + std::to_string(j) + " = 0\n";
      y_names += (j > 0 ? ", \"y" : "\"y") + std::to_string(j) + "\"";
      S.entries.push_back({inputs + j, j, 1});
      phi.entries.push_back({j, j, entry(random)});
    }
    for (int i = 0; i < inputs; ++i) {
      known += "u" + std::to_string(i) + " = \"t\"\n";
      u_names += (i > 0 ? ", \"u" : "\"u") + std::to_string(i) + "\"";
      S.entries.push_back({i, rows, entry(random)});  // a product of all
      if (i % 3 == 0) S.entries.push_back({i, rows + 1, entry(random)});
    }
    for (int k = rows; k < columns; ++k)  // the last two have no factor
      for (int row = 0; row < rows; ++row) phi.entries.push_back({row, k, entry(random)});
    const MultilinearForm form(S, phi, {0, columns, {}});
    std::string text = variables;
    text += known + "[multilinear]\nsignals = { states = [], inputs = [" + u_names + "], algebraic = [" + y_names;
    text += "], binaries = [] }\nS = " + perp::test::inline_matrix(S) + "Phi_f = " + perp::test::inline_matrix(phi) + "[run]\nt = [0, 1]\n";
    CAPTURE(text);
    const MultilinearForm again = multilinear_form(*perp::read_hybrid_model_text(text, "m.toml"));
    REQUIRE(again.signals() == form.signals());
    Vector v(signals);
    for (double& value : v) value = entry(random);
    const Vector values = form.values(v), written = again.values(v), size = terms_of(form, v);
    for (int row = 0; row < rows; ++row) CHECK(std::abs(values[row] - written[row]) <= 1e-13 * size[row]);
  }
}

std::string complaint(const std::string& text) {
  try {
    perp::parse_matrix_market(text, "S.mtx");
  } catch (const perp::InvalidInput& error) {
    return error.what();
  }
  return "none";
}

TEST_CASE("what is no Matrix Market file is refused with its line") {
  const std::string head = "%%MatrixMarket matrix coordinate real general\n";
  CHECK(complaint("hello\n") ==
        "S.mtx:1:1: expected '%%MatrixMarket matrix coordinate real general': this is no Matrix "
        "Market file");
  CHECK(complaint("%%MatrixMarket matrix coordinate complex general\n") ==
        "S.mtx:1:34: found 'complex'; expected real, integer or pattern");
  CHECK(complaint("%%MatrixMarket matrix coordinate real hermitian\n") ==
        "S.mtx:1:39: found 'hermitian'; expected general, symmetric or skew-symmetric");
  CHECK(complaint(head + "2 2\n") == "S.mtx:2:1: expected the numbers of rows, columns and entries");
  CHECK(complaint(head + "2 2 1\n3 1 0.5\n") ==
        "S.mtx:3:1: found an entry at (3, 1); expected rows 1 to 2 and columns 1 to 2");
  CHECK(complaint(head + "2 2 1\n1 1 nan\n") == "S.mtx:3:5: found 'nan'; expected a finite number");
  CHECK(complaint(head + "% c\n2 2 2\n1 1 1\n") ==
        "S.mtx:5:1: expected an entry: its row, its column and a number");
  CHECK(complaint(head + "2 2 1\n1 1 1\n2 2 2\n") ==
        "S.mtx:4:1: found more than the 1 entries that were announced");
  const SparseEntries array =
      perp::parse_matrix_market("%%MatrixMarket matrix array real general\n2 1\n3\n4\n", "a");
  CHECK(array.entries == std::vector<SparseEntry>{{0, 0, 3}, {1, 0, 4}});
}

}  // namespace
