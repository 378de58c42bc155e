// The state of runs beside each other as bytes, and between the ends of their steps: called where they are kept or gone on
// with, and where another part has a row.
#include <algorithm>
#include <string>
#include <utility>

#include <perp/core/base/index.hpp>
#include <perp/schemes/run/run_product.hpp>
#include <perp/schemes/run/trajectory_archive.hpp>

namespace perp {

/// All that the next steps depend on. Reading makes the runs of the parts, which go on from their own states.
void RunProduct::transfer(Archive& archive) {
  archive(told_, end_, last_, is_stopped_, told_of_steps_, result_);
  for (const auto& member : members_) {
    if (archive.is_reading()) make(*member);
    std::string of_run = archive.is_reading() ? "" : member->run->kept();
    archive(member->trace, member->rows, member->pieces, member->last, member->events, of_run);
    if (!archive.is_reading()) continue;
    member->output.state.from = std::move(of_run);
    member->run->start();
    member->output.state.from.clear();
  }
}

/// From a state that was kept.
void RunProduct::resume() {
  Archive archive(output_.state.from);
  transfer(archive);
  archive.expect_end();
}

void RunProduct::keep_if_due() {
  if (!output_.state.due || !output_.state.due()) return;
  Archive archive;
  transfer(archive);
  output_.state.keep(archive.bytes());
}

/// Lagrange's interpolation in its barycentric form.
Vector RunProduct::Piece::at(double t, const std::vector<double>& points) const {
  const double share = (t - start) / (end - start);
  Vector weights(nodes.cols());
  for (Eigen::Index k = 0; k < nodes.cols(); ++k) {
    const double distance = share - points[perp::at(k)];
    if (distance == 0) return nodes.col(k);
    const bool is_end = k == 0 || k == nodes.cols() - 1;
    weights[k] = (k % 2 == 0 ? 1.0 : -1.0) * (is_end ? 0.5 : 1) / distance;
  }
  Vector values = nodes * weights / weights.sum();
  for (Eigen::Index i = 0; i < values.size(); ++i)
    if ((nodes.row(i).array() == nodes(i, 0)).all()) values[i] = nodes(i, 0);  // to the bit, as binaries are
  return values;
}

/// At a time that it has reached, before its next row.
Step RunProduct::Member::at(double t, const std::vector<double>& points) const {
  Step step = last;
  step.t = t;
  if (pieces.empty() && !trace.is_empty()) step.x = trace.at(t);
  const auto piece = std::find_if(pieces.begin(), pieces.end(), [t](const Piece& p) { return t <= p.end; });
  if (piece == pieces.end()) return step;
  const Vector values = piece->at(t, points);
  step.mode = piece->mode;
  step.x = values.head(step.x.size());
  step.lambda = values.segment(step.x.size(), step.lambda.size());
  step.w = values.tail(step.w.size());
  return step;
}

}  // namespace perp
