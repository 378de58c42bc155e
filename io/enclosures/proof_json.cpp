// Proofs of enclosures as files; called by the command.
#include <fmt/format.h>
#include <array>
#include <utility>

#include <perp/io/enclosures/proof_json.hpp>
#include <perp/io/files/output_file.hpp>
#include <perp/io/json.hpp>

namespace perp::io {
namespace {

using enclosure::Box;
using enclosure::Doubleton;
using enclosure::Flow;
using enclosure::Interval;
using enclosure::IntervalMatrix;
using enclosure::Monitor;
using enclosure::PieceProof;
using enclosure::ProofFlow;
using enclosure::ProofSlice;
using enclosure::ProofStep;
using enclosure::SeriesInput;
using enclosure::Trend;

/// By number of the operation.
constexpr std::array operations{"constant", "input",  "pi",    "negate", "add",   "subtract",
                                "multiply", "divide", "power", "sin",    "cos",   "tan",
                                "asin",     "acos",   "atan",  "sinh",   "cosh",  "tanh",
                                "exp",      "log",    "log10", "sqrt",   "atan2", "abs",
                                "min",      "max",    "sign",  "table",  "guard"};
static_assert(operations.size() == static_cast<std::size_t>(Operation::guard) + 1);

Json exact(double x) { return fmt::format("{:a}", x); }

Json exact(const Interval& x) { return Json::array({exact(x.lo), exact(x.hi)}); }

Json exact(const Box& box) {
  Json list = Json::array();
  for (const Interval& x : box) list.push_back(exact(x));
  return list;
}

Json exact(const Matrix& A) {
  Json rows = Json::array();
  for (Eigen::Index i = 0; i < A.rows(); ++i) {
    Json row = Json::array();
    for (Eigen::Index j = 0; j < A.cols(); ++j) row.push_back(exact(A(i, j)));
    rows.push_back(std::move(row));
  }
  return rows;
}

Json exact(const IntervalMatrix& A) {
  Json rows = Json::array();
  for (int i = 0; i < A.rows(); ++i) {
    Json row = Json::array();
    for (int j = 0; j < A.columns(); ++j) row.push_back(exact(A(i, j)));
    rows.push_back(std::move(row));
  }
  return rows;
}

Json exact(const Doubleton::Parts& set) {
  Json x = Json::array();
  for (const double value : set.center) x.push_back(exact(value));
  return {{"x", std::move(x)}, {"C", exact(set.C)}, {"r0", exact(set.r0)},
          {"Q", exact(set.Q)}, {"r", exact(set.r)}, {"box", exact(set.box)}};
}

/// [operation, operands…]: lines by their numbers, the number of an input, the value of a constant.
Json line(const Instruction& here) {
  Json list = Json::array({operations[static_cast<std::size_t>(here.operation)]});
  if (here.operation == Operation::constant)
    list.push_back(exact(here.value));
  else
    for (const int operand : {here.a, here.b})
      if (operand >= 0) list.push_back(operand);
  return list;
}

Json input(const SeriesInput& input) {
  switch (input.kind) {
    case SeriesInput::Kind::time: return Json::array({"time"});
    case SeriesInput::Kind::state: return Json::array({"state", input.state});
    case SeriesInput::Kind::implicit: return Json::array({"implicit", input.state});
    case SeriesInput::Kind::constant: return Json::array({"constant", exact(input.value)});
    default: return Json::array({"unused"});
  }
}

Json equations(const ProofFlow& made, const std::vector<Law>& laws) {
  const Flow& flow = made.flow;
  Json tape = Json::array(), inputs = Json::array(), dependents = Json::array();
  for (int k = 0; k < flow.tape.size(); ++k) tape.push_back(line(flow.tape[k]));
  for (const SeriesInput& of : flow.inputs) inputs.push_back(input(of));
  for (const auto& dependent : flow.dependents)
    dependents.push_back(Json::array({dependent.state, dependent.line}));
  return {{"mode", describe(laws, made.mode)},
          {"root", made.root},
          {"tape", std::move(tape)},
          {"inputs", std::move(inputs)},
          {"rates", flow.rates},
          {"outputs", flow.outputs},
          {"dependents", std::move(dependents)},
          {"invariants", flow.invariants},
          {"implicit", flow.implicit.count()}};
}

const char* to_string(Trend trend) {
  switch (trend) {
    case Trend::positive: return "positive";
    case Trend::falling: return "falling";
    case Trend::rising: return "rising";
    default: return "bending";
  }
}

/// Of each gap m = side · output the trend before and after.
Json slice(const ProofSlice& slice) {
  Json gaps = Json::array();
  for (std::size_t k = 0; k < slice.before.size(); ++k) {
    const Monitor &before = slice.before[k], &after = slice.after[k];
    gaps.push_back(
        Json::array({before.gap, before.side, to_string(before.trend), to_string(after.trend)}));
  }
  return {{"tau", exact(slice.tau)}, {"gaps", std::move(gaps)}};
}

Json step(const ProofStep& made) {
  Json slices = Json::array(), rows = Json::array();
  for (const ProofSlice& of : made.slices) slices.push_back(slice(of));
  for (const auto& row : made.rows) rows.push_back({{"t", exact(row.t)}, {"box", exact(row.box)}});
  return {{"flow", made.flow},
          {"t", exact(made.t)},
          {"proved", exact(made.proved)},
          {"until", exact(made.until)},
          {"V", exact(made.bound)},
          {"Z", exact(made.tube)},
          {"R", exact(made.remainder)},
          {"F", exact(made.F)},
          {"J", exact(made.J)},
          {"linear", exact(made.linear)},
          {"before", exact(made.before)},
          {"after", exact(made.after)},
          {"slices", std::move(slices)},
          {"rows", std::move(rows)}};
}

}  // namespace

void write_proof(const std::string& file, const enclosure::ExactModel& model,
                 const enclosure::Enclosure& result, int order) {
  OutputFile output(file);
  const auto write = [&output](const std::string& text) {
    output.buffer().append(text.data(), text.data() + text.size());
    output.end_record();
  };
  // a piece at a time: a proof may be long
  write(fmt::format("{{\"model\":{},\"order\":{},\"t\":{},\"pieces\":[",
                    Json(model.model.file).dump(), order, exact(model.span.start).dump()));
  const char* separator = "\n";
  for (const PieceProof& piece : result.proof) {
    Json flows = Json::array(), steps = Json::array();
    for (const ProofFlow& flow : piece.flows) flows.push_back(equations(flow, model.system.laws));
    for (const ProofStep& made : piece.steps) steps.push_back(step(made));
    const Json text{
        {"start", exact(piece.start)}, {"flows", std::move(flows)}, {"steps", std::move(steps)}};
    write(std::exchange(separator, ",\n") + text.dump());
  }
  write("]}\n");
  output.close();
}

}  // namespace perp::io
