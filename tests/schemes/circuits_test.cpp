#include <doctest/doctest.h>

#include <perp/perp.hpp>

using namespace perp;

namespace {

constexpr double Lf = 1e-2, Cf = 1e-6, R = 1e3, Cp = 300e-9;

/// Rows (t, states) of a code whose steps are all h, that the run must reproduce to 1e-10.
void check_rows(const Lcs& lcs, const Vector& x0, Theta scheme, const Matrix& rows) {
  scheme.split_at_events = false;
  IntegrateOptions options;
  options.only_times = true;
  for (Eigen::Index i = 0; i < rows.rows(); ++i) options.times.push_back(rows(i, 0));
  const Trajectory run = integrate(lcs, x0, {0, 5e-3}, scheme, options);
  REQUIRE(run.status == Status::solved);
  REQUIRE(run.size() == static_cast<std::size_t>(rows.rows()) + 1);
  for (Eigen::Index i = 0; i < rows.rows(); ++i) {
    const auto k = static_cast<std::size_t>(i + 1);
    CHECK(run.t[k] == rows(i, 0));
    CHECK((run.x[k] - rows.row(i).tail(x0.size()).transpose()).lpNorm<Eigen::Infinity>() < 1e-10);
  }
}

}  // namespace

TEST_SUITE("schemes/circuits") {
  TEST_CASE("the oscillator with a diode reproduces its checkpoint rows") {
    const Lcs lcs{.A = Matrix{{0, -1 / Cf}, {1 / Lf, 0}},
                  .B = Matrix{{-1 / Cf}, {0}},
                  .C = Matrix{{-1, 0}},
                  .D = Matrix{{R}},
                  .laws = {complementarity()}};
    check_rows(lcs, Vector{{10, 0}}, Theta{.h = 1e-5, .theta = 0.5},
               Matrix{{0.001, -6.56015439198576, -0.0448312232296707},
                      {0.002, 2.45094146305067, 0.0527992052628648},
                      {0.003, 0.623066252091411, -0.049270686709143},
                      {0.004, -2.25699303329703, 0.0284439051711807},
                      {0.005, 2.74122779342483, -0.011374441237735}});
  }

  TEST_CASE("the diode bridge reproduces its checkpoint rows") {
    const Lcs lcs{
        .A = Matrix{{0, -1 / Cf}, {1 / Lf, 0}},
        .B = Matrix{{0, 0, -1 / Cf, 1 / Cf}, {0, 0, 0, 0}},
        .C = Matrix{{0, 0}, {0, 0}, {-1, 0}, {1, 0}},
        .D = Matrix{{1 / R, 1 / R, -1, 0}, {1 / R, 1 / R, 0, -1}, {1, 0, 0, 0}, {0, 1, 0, 0}},
        .laws = std::vector<perp::Law>(4, complementarity())};
    check_rows(lcs, Vector{{10, 0}}, Theta{.h = 1e-6, .theta = 0.5},
               Matrix{{0.001, -4.97842133527704, -0.0322822483867038},
                      {0.002, 1.4368451496281, 0.0331845495733421},
                      {0.003, 0.355414448835887, -0.0222298626647768},
                      {0.004, -0.894211599985426, 0.0106368758177964},
                      {0.005, 0.788386872639656, -0.00275197951497857}});
  }

  TEST_CASE(
      "the diode bridge with capacitor, whose multipliers are not unique, reproduces its rows") {
    const Lcs lcs{.A = Matrix{{0, -1 / Cf, 0}, {1 / Lf, 0, 0}, {0, 0, -1 / (R * Cp)}},
                  .B = Matrix{{0, 0, -1 / Cf, 1 / Cf}, {0, 0, 0, 0}, {1 / Cp, 0, 1 / Cp, 0}},
                  .C = Matrix{{0, 0, 1}, {0, 0, 0}, {-1, 0, 1}, {1, 0, 0}},
                  .D = Matrix{{0, -1, 0, 0}, {1, 0, 1, -1}, {0, -1, 0, 0}, {0, 1, 0, 0}},
                  .laws = std::vector<perp::Law>(4, complementarity())};
    check_rows(lcs, Vector{{10, 0, 0}}, Theta{.h = 1e-6, .theta = 1},
               Matrix{{0.001, -4.25133217957908, -0.010966284704317, 4.25133217957908},
                      {0.002, 2.21864009083021, 0.012234648706523, 2.26427305402887},
                      {0.003, -1.06496246297422, -0.0100277919688475, 1.20387251581219},
                      {0.004, 0.4515205799737, 0.00713693080060074, 0.640077053708399},
                      {0.005, -0.149999738479805, -0.00463940778206331, 0.340317460422384}});
  }
}
