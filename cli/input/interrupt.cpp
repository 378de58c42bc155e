#include <csignal>

#include <perp/cli/input/interrupt.hpp>
#include <perp/core/base/interruption.hpp>

namespace perp::cli {
namespace {

extern "C" void request_stop(int /*signal*/) { request_interruption(); }

}  // namespace

void catch_interrupts() {
  struct sigaction action {};
  action.sa_handler = request_stop;
  action.sa_flags = static_cast<int>(SA_RESETHAND);
  sigemptyset(&action.sa_mask);
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
}

bool interrupted() { return interruption_requested(); }

}  // namespace perp::cli
