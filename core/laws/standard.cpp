// The laws that model files know by name.
#include <perp/core/laws/law_table.hpp>

namespace perp::law_files {
namespace {

constexpr NamedLaw laws[] = {
    {"abs_plus_sign", 0, "lambda in |w| + sign(w), [RAB] eq. (11')",
     [](const double*) { return abs_plus_sign(); }},
    {"absolute", 0, "lambda = |w|", [](const double*) { return absolute(); }},
    {"box", 2, "-w in N_[l,u](lambda), mixed complementarity; l, u may be infinite",
     [](const double* a) { return box(a[0], a[1]); }},
    {"complementarity", 0, "0 <= w perp lambda >= 0",
     [](const double*) { return complementarity(); }},
    {"dead_zone", 2, "lambda = w - l | 0 | w - u, as w <, within, > [l, u]",
     [](const double* a) { return dead_zone(a[0], a[1]); }},
    {"equality", 0, "w = 0, lambda free", [](const double*) { return equality(); }},
    {"hysteresis", 2, "lambda = 0 until w reaches u, then 1 until w falls to l; with memory",
     [](const double* a) { return hysteresis(a[0], a[1]); }},
    {"normal_cone", 2, "w in N_[l,u](lambda); l, u may be infinite",
     [](const double* a) { return normal_cone(a[0], a[1]); }},
    {"relay", 2, "lambda = l | [l, u] | u, as w <, =, > 0",
     [](const double* a) { return relay(a[0], a[1]); }},
    {"saturation", 2, "lambda = min(max(w, l), u)",
     [](const double* a) { return saturation(a[0], a[1]); }},
    {"sign", 0, "lambda in sign(w)", [](const double*) { return sign(); }},
    {"step", 0, "lambda = 0 | [0, 1] | 1, as w <, =, > 0", [](const double*) { return step(); }},
};

}  // namespace

extern const NamedLaws standard;
const NamedLaws standard{laws};

}  // namespace perp::law_files
