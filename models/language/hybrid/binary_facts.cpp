// What constraints say of binaries, for perp check: faces, laws, distances of surfaces.
#include <fmt/format.h>
#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <span>

#include <perp/core/base/index.hpp>
#include <perp/core/expression/expression.hpp>
#include <perp/core/expression/polynomial.hpp>
#include <perp/models/language/hybrid/binary_facts.hpp>
#include <perp/models/language/hybrid/face_laws.hpp>

namespace perp {
namespace {

constexpr std::size_t most_binaries = 4;  ///< of a sub-problem whose faces are listed
constexpr std::size_t most_faces = 24;    ///< of a sub-problem whose pairs are looked at

std::vector<int> binaries_below(const HybridModel& model, int line) {
  std::set<int> found;
  for (const int k : lines_below(model.tape, line)) {
    const Instruction& here = model.tape[k];
    const int i = here.a - model.binary_input(0);
    if (here.operation == Operation::input && i >= 0 && i < model.q()) found.insert(i);
  }
  return {found.begin(), found.end()};
}

/// The constraints with numbers in place of binaries, on one tape without known inputs.
class FaceTexts {
 public:
  explicit FaceTexts(const HybridModel& model) : model_(model), names_(model.input_names()) {
    tape_ = model.without_inputs(rows_);
  }

  /// -1: it vanishes identically.
  int line(int constraint, const std::vector<int>& z) {
    std::map<int, double> values;
    for (int i = 0; i < model_.q(); ++i)
      if (z[at(i)] >= 0) values[model_.binary_input(i)] = z[at(i)];
    const int line = with_values(tape_, rows_[model_.f.size() + at(constraint)], values);
    const Instruction& here = tape_[line];
    return here.operation == Operation::constant && here.value == 0 ? -1 : line;
  }

  [[nodiscard]] std::string text(int line) const { return print_expression(tape_, line, names_); }

  /// The constraint as it is written, with its inputs by their names.
  std::string text_of(int constraint, const std::vector<int>& z) {
    std::map<int, double> values;
    for (int i = 0; i < model_.q(); ++i)
      if (z[at(i)] >= 0) values[model_.binary_input(i)] = z[at(i)];
    Tape& tape = written_;
    if (tape.size() == 0) tape = model_.tape;
    return print_expression(tape, with_values(tape, model_.g[at(constraint)], values), names_);
  }

  /// Is a = κ b with κ > 0?
  [[nodiscard]] bool is_multiple(int a, int b) const {
    PolynomialReader reader(tape_);
    const auto left = reader.read(a, 0, {}), right = reader.read(b, 0, {});
    const std::optional<double> kappa =
        left && right ? ratio(*left, *right) : std::optional<double>{};
    return kappa && *kappa > 0;
  }

  /// a = 0 and b = 0 of one quantity that ends opposite values.
  std::optional<SurfacePair> pair(int a, int b) {
    const FaceRelation relation =
        relation_of_faces(model_, tape_, a, b, model_.parameter_input(0));
    using Kind = FaceRelation::Kind;
    if (relation.kind == Kind::opposite) return SurfacePair{text(a), text(b), 0};
    if (relation.kind != Kind::band && relation.kind != Kind::gap) return std::nullopt;
    return SurfacePair{text(a), text(b), -value(relation.c)};
  }

 private:
  /// Of a function of the parameters.
  [[nodiscard]] double value(int line) const {
    std::vector<double> inputs(at(model_.known_input(0)), 0), values(at(tape_.size()));
    for (std::size_t k = 0; k < model_.head.parameters.size(); ++k)
      inputs[at(model_.parameter_input(0)) + k] = model_.head.parameters[k].second;
    tape_.evaluate(std::span<const double>(inputs), std::span(values));
    return values[at(line)];
  }

  const HybridModel& model_;
  std::vector<std::string> names_;
  std::vector<int> rows_;
  Tape tape_, written_;
};

/// Of faces that are positive multiples of each other the shortest counts.
void add_pairs(FaceTexts& faces, std::vector<int> lines, BinaryBlock& block) {
  std::stable_sort(lines.begin(), lines.end(), [&](int a, int b) {
    return faces.text(a).size() < faces.text(b).size();
  });
  std::vector<int> surfaces;
  for (const int line : lines)
    if (std::none_of(surfaces.begin(), surfaces.end(),
                     [&](int other) { return faces.is_multiple(line, other); }))
      surfaces.push_back(line);
  for (std::size_t i = 0; i < surfaces.size(); ++i)
    for (std::size_t j = i + 1; j < surfaces.size(); ++j)
      if (std::optional<SurfacePair> found = faces.pair(surfaces[i], surfaces[j]))
        block.pairs.push_back(*std::move(found));
}

/// The constraints of a block with these values of its binaries; their lines join `lines`.
std::vector<std::string> read_faces(const HybridModel& model, const SubProblem& block,
                                    const std::vector<int>& z, FaceTexts& faces,
                                    std::set<int>& lines) {
  const auto equations = static_cast<int>(model.f.size());
  std::vector<std::string> texts;
  for (const int row : block.rows) {
    const int line = row < equations ? -1 : faces.line(row - equations, z);
    if (line < 0) continue;
    texts.push_back(faces.text_of(row - equations, z) + " <= 0");
    lines.insert(line);
  }
  return texts;
}

BinaryBlock read_block(const HybridModel& model, const HybridStructure& structure, int number,
                       FaceTexts& faces) {
  BinaryBlock result{number, {}, {}, {}};
  const SubProblem& block = structure.blocks[at(number)];
  for (const int unknown : block.unknowns)
    if (unknown >= model.n()) result.binaries.push_back(unknown - model.n());
  std::sort(result.binaries.begin(), result.binaries.end());
  if (result.binaries.empty() || result.binaries.size() > most_binaries) return result;
  std::set<int> lines;
  for (int bits = 0; bits < 1 << result.binaries.size(); ++bits) {
    std::vector<int> z(at(model.q()), -1);
    for (std::size_t k = 0; k < result.binaries.size(); ++k)
      z[at(result.binaries[k])] = bits >> (result.binaries.size() - 1 - k) & 1;
    result.faces.push_back(read_faces(model, block, z, faces, lines));
  }
  if (lines.size() <= most_faces) add_pairs(faces, {lines.begin(), lines.end()}, result);
  return result;
}

}  // namespace

std::vector<BinaryBlock> binary_blocks(const HybridModel& model, const HybridStructure& structure,
                                       int most) {
  FaceTexts faces(model);
  std::vector<BinaryBlock> list;
  const int count = std::min(most, static_cast<int>(structure.blocks.size()));
  for (int b = 0; b < count; ++b) {
    BinaryBlock block = read_block(model, structure, b, faces);
    if (!block.binaries.empty()) list.push_back(std::move(block));
  }
  return list;
}

std::vector<BinaryLaw> binary_laws(const HybridModel& model) {
  std::vector<std::vector<int>> constraints(at(model.q()));
  std::vector<std::size_t> count;
  for (int l = 0; l < static_cast<int>(model.g.size()); ++l) {
    const std::vector<int> held = binaries_below(model, model.g[at(l)]);
    count.push_back(held.size());
    for (const int i : held) constraints[at(i)].push_back(l);
  }
  std::vector<int> rows;
  Tape tape = model.without_inputs(rows);
  std::vector<BinaryLaw> list;
  for (int i = 0; i < model.q(); ++i) {
    const std::vector<int>& own = constraints[at(i)];
    if (own.empty()) {
      list.push_back({"", "no constraint holds it"});
    } else if (own.size() > 1) {
      list.push_back({"", fmt::format("{} constraints hold it", own.size())});
    } else if (count[at(own[0])] > 1) {
      list.push_back({"", fmt::format("its constraint holds {} binaries", count[at(own[0])])});
    } else {
      const int g = rows[model.f.size() + at(own[0])];
      const int off = with_values(tape, g, {{model.binary_input(i), 0}});
      const int on = with_values(tape, g, {{model.binary_input(i), 1}});
      const FaceRelation relation =
          relation_of_faces(model, tape, off, on, model.parameter_input(0));
      static const std::map<FaceRelation::Kind, const char*> names{
          {FaceRelation::Kind::opposite, "step"},   {FaceRelation::Kind::band, "hysteresis"},
          {FaceRelation::Kind::gap, "gap"},         {FaceRelation::Kind::free_at_0, "binary"},
          {FaceRelation::Kind::free_at_1, "binary"}};
      const auto name = names.find(relation.kind);
      if (name != names.end())
        list.push_back({name->second, ""});
      else
        list.push_back({"", fmt::format(fmt::runtime(relation.reason), model.binaries[at(i)].name)});
    }
  }
  return list;
}

}  // namespace perp
