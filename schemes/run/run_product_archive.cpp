// The state of runs beside each other as bytes: called where they are kept or gone on with.
#include <string>
#include <utility>

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

}  // namespace perp
