#pragma once

#include <functional>

#include <perp/io/ranks/ranks_module.hpp>

namespace perp::io {

/// Another one of the processes of this command has failed, and says why.
struct EndedElsewhere {};

/// The processes, on any number of machines, that `mpirun -n N perp ...` starts for one command: ranks 0 to N-1. They talk by
/// MPI, which a module does that is loaded here: the program itself does not know it.
class Ranks {
 public:
  /// Was this process started as one of several?
  static bool are_there();

  /// Joins the others, which do so too. Throws InvalidInput where the module is missing.
  Ranks();
  Ranks(const Ranks&) = delete;
  Ranks& operator=(const Ranks&) = delete;
  /// Leaves them together with all others. In the middle of an exception that the others do not know of the end of this process
  /// ends them too.
  ~Ranks();

  /// Of this process, from 0.
  [[nodiscard]] int rank() const { return rank_; }
  /// How many there are.
  [[nodiscard]] int size() const { return size_; }

  /// Something that all ranks do. Where it throws, `place` tells how far this rank had come: of the ranks that came least far the
  /// first throws on, all others throw EndedElsewhere. Returns when all have done it.
  void together(const std::function<void()>& task, const std::function<long()>& place = {});

  /// What all ranks say at the same place: true where all of them do.
  [[nodiscard]] bool all(bool own) const;

  /// A number that all ranks count on from 0, one after another.
  class Counter {
   public:
    /// By all ranks.
    explicit Counter(const Ranks& ranks) : module_(ranks.module_) { module_->open_counter(); }
    /// The next number: nobody else has it. By any thread.
    [[nodiscard]] long next() const { return module_->add_to_counter(1); }
    /// Whoever asks from now on gets a number that is too large for everything.
    void end() const { module_->add_to_counter(end_of_numbers); }

   private:
    static constexpr long end_of_numbers = 1L << 40;
    const PerpRanks* module_;
  };

 private:
  const PerpRanks* module_;
  int rank_ = 0, size_ = 1;
  int exceptions_;         // that were under way when this was made
  bool is_agreed_ = false;  // do all ranks know of the present exception?
};

/// The same with ranks, or by the only process where there are none.
void do_together(Ranks* ranks, const std::function<void()>& task);

/// The same of a task in which the ranks need each other: input that is wrong is wrong on all of them, and the first one throws it
/// on; anything else that one throws goes on there, and ends all.
void go_together(Ranks* ranks, const std::function<void()>& task);

}  // namespace perp::io
