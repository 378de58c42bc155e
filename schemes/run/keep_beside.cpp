// What is kept beside the state of a run: called by those who watch runs.
#include <string>
#include <utility>

#include <perp/schemes/run/keep_beside.hpp>

namespace perp {

void keep_beside(IntegrateOptions::KeptState& state, std::function<void(Archive& archive)> watcher) {
  if (!state.from.empty()) {
    Archive archive(std::move(state.from));
    watcher(archive);
    archive(state.from);
    archive.expect_end();
  }
  if (!state.keep) return;
  state.keep = [watcher = std::move(watcher), next = std::move(state.keep)](const std::string& of_run) {
    Archive archive;
    std::string bytes = of_run;
    watcher(archive);
    archive(bytes);
    next(archive.bytes());
  };
}

}  // namespace perp
