#include <csignal>

#include <perp/cli/input/interrupt.hpp>

namespace perp::cli {
namespace {

volatile std::sig_atomic_t stop_requested = 0;  // the only thing a signal handler may write

extern "C" void request_stop(int /*signal*/) { stop_requested = 1; }

}  // namespace

void catch_interrupts() {
  struct sigaction action {};
  action.sa_handler = request_stop;
  action.sa_flags = static_cast<int>(SA_RESETHAND);
  sigemptyset(&action.sa_mask);
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
}

bool interrupted() { return stop_requested != 0; }

}  // namespace perp::cli
