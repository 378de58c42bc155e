#pragma once

#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include <perp/io/sweep/sweep_table.hpp>

namespace perp::io {

/// What the chunks of a sweep give.
struct MergedSweep {
  SweepTable table;
  std::vector<long> missing;         ///< chunks without usable runs, from 1
  std::vector<std::string> damaged;  ///< files that are not usable, and why
};

/// The chunks of a sweep that were made, each in a file of one folder; sweep.json tells what they are of. A chunk file is
/// complete or absent, and holds the digest of its runs and of what made them. Several processes may use one folder.
class SweepStore {
 public:
  /// The folder of this sweep, made where there is none; the runs of `head` do not count. Throws InvalidInput where it
  /// holds another sweep, FileError.
  SweepStore(std::string folder, const SweepTable& head, long chunks);
  /// The folder of a sweep that is there. Throws InvalidInput where there is none.
  explicit SweepStore(std::string folder);
  SweepStore(const SweepStore&) = delete;
  SweepStore& operator=(const SweepStore&) = delete;
  ~SweepStore();

  /// Runs of a chunk; none where its file is absent, damaged or of another sweep. By several threads.
  [[nodiscard]] std::vector<SweepRun> read(long chunk) const;
  /// All runs, in order.
  [[nodiscard]] MergedSweep merged() const;
  /// Keeps the runs of a chunk; those of half a second are written together. Throws FileError.
  void add(long chunk, std::vector<SweepRun> runs);
  /// Writes what was added.
  void flush();
  /// Removes the folder: its runs stand in a table.
  void remove();
  /// The folder is this process's own until it ends: throws InvalidInput where another one has it.
  void lock();

  /// How many chunks the sweep has.
  [[nodiscard]] long chunks() const { return chunks_; }

 private:
  [[nodiscard]] std::string description_file() const;
  [[nodiscard]] std::string file(long chunk) const;
  [[nodiscard]] std::vector<SweepRun> parse(long chunk, std::string& problem) const;

  std::string folder_;
  SweepTable head_;
  long chunks_ = 0;
  std::string identity_;  // digest of what the sweep is
  std::vector<std::pair<long, std::vector<SweepRun>>> pending_;
  std::chrono::steady_clock::time_point flushed_;
  int lock_ = -1;
};

/// Chunks are read from the store, which outlives the request, and kept in it.
void keep_in(SweepStore& store, SweepRequest& request);

}  // namespace perp::io
