#include <fmt/format.h>
#include <algorithm>
#include <array>
#include <random>

#include <perp/tests/relations/judges/planar_course.hpp>

namespace perp::relations {
namespace {

struct Ambiguous {};  // more than one solution, or none that is clear of a tie

/// Part of the graph: the line between two neighbouring points, or the vertical part at one.
struct Place {
  bool is_vertical;
  std::size_t index;  // of the line, of the point
};

class Course {
 public:
  explicit Course(const PlanarModel& model) : m_(model), x_(model.start[0]), y_(model.start[1]) {}

  PlanarCourse run() {
    constexpr int most_pieces = 30;
    course_.closest = 10;
    place_ = {false, line_of(x_)};
    for (int piece = 0; piece < most_pieces; ++piece) {
      const bool at_corner = place_.is_vertical ? climb() : walk();
      if (!at_corner || !pass_corner()) return finish();
    }
    throw Ambiguous{};
  }

 private:
  struct Direction {
    Place place;
    Rational x, y;
  };

  PlanarCourse finish() {
    course_.t = t_, course_.x = x_, course_.y = y_;
    return course_;
  }

  [[nodiscard]] std::size_t line_of(const Rational& x) const {
    std::size_t line = 0;
    while (line < m_.points.size() && m_.points[line] < x) ++line;
    if (line < m_.points.size() && m_.points[line] == x) throw Ambiguous{};
    return line;
  }

  /// A point inside of a line.
  [[nodiscard]] Rational inside(std::size_t line) const {
    if (line == 0) return m_.points.front() - 1;
    if (line == m_.points.size()) return m_.points.back() + 1;
    return (m_.points[line - 1] + m_.points[line]) / 2;
  }

  /// The velocity along a direction of the graph; z with it.
  std::array<Rational, 2> velocity(const Rational& dx, const Rational& dy) {
    const Rational determinant = dx * m_.B[1] - dy * m_.B[0];
    if (determinant == 0) throw Ambiguous{};
    z_ = (dy * m_.a[0] - dx * m_.a[1]) / determinant;
    return {m_.a[0] + m_.B[0] * z_, m_.a[1] + m_.B[1] * z_};
  }

  /// For that time, or to the end of the span. False: there.
  bool go(const std::array<Rational, 2>& v, const std::optional<Rational>& time) {
    course_.z = z_;
    const Rational rest = m_.end - t_;
    if (time && *time == rest) throw Ambiguous{};
    const bool ends = !time || *time > rest;
    const Rational dt = ends ? rest : *time;
    x_ += v[0] * dt, y_ += v[1] * dt, t_ += dt;
    if (ends) return false;
    course_.closest = std::min({course_.closest, dt, m_.end - t_});
    return true;
  }

  /// Along a line to its end, the next corner. False: the span ends, or the state rests.
  bool walk() {
    const std::size_t line = place_.index;
    const std::array<Rational, 2> v = velocity(1, m_.slope_at(inside(line), 1));
    const bool right = v[0] > 0;
    const bool is_bounded = right ? line < m_.points.size() : line > 0;
    std::optional<Rational> time;
    if (v[0] != 0 && is_bounded) {
      corner_ = right ? line : line - 1;
      side_ = right ? -1 : 1;
      time = (m_.points[corner_] - x_) / v[0];
    }
    return go(v, time);
  }

  /// The same along a vertical part.
  bool climb() {
    corner_ = place_.index;
    const Rational &left = m_.graph(m_.points[corner_], -1), right = m_.graph(m_.points[corner_], 1);
    const std::array<Rational, 2> v = velocity(0, 1);
    std::optional<Rational> time;
    if (v[1] != 0) {
      const Rational end = v[1] > 0 ? std::max(left, right) : std::min(left, right);
      side_ = left == end ? -1 : 1;
      time = (end - y_) / v[1];
    }
    return go(v, time);
  }

  /// The directions in which the graph leaves the corner.
  [[nodiscard]] std::vector<Direction> ways() const {
    const Rational& x = m_.points[corner_];
    const auto line = [&](int side) {
      const Rational sign(side);
      return Direction{{false, corner_ + (side < 0 ? 0 : 1)}, sign, sign * m_.slope_at(x, side)};
    };
    if (m_.jumps[corner_] == 0) return {line(-1), line(1)};
    const Rational up = m_.graph(x, -side_) - m_.graph(x, side_);
    return {line(side_), {{true, corner_}, 0, up > 0 ? 1 : -1}};
  }

  /// On from a corner, continuously or by a jump. False: the solution ends.
  bool pass_corner() {
    std::optional<Place> next;
    for (const Direction& way : ways()) {
      const Rational z = z_;
      const std::array<Rational, 2> v = velocity(way.x, way.y);
      z_ = z;
      const Rational along = v[0] * way.x + v[1] * way.y;
      if (along == 0 || (along > 0 && next)) throw Ambiguous{};
      if (along > 0) next = way.place;
    }
    if (next) {
      course_.events.push_back({t_, false});
      place_ = *next;
      return true;
    }
    return jump();
  }

  struct Landing {
    Rational amount;  // of the impulse
    Place place;
  };

  bool jump() {
    std::vector<Landing> landings;
    for (std::size_t line = 0; line <= m_.points.size(); ++line) land_on_line(line, landings);
    for (std::size_t point = 0; point < m_.points.size(); ++point) land_on_vertical(point, landings);
    course_.goes_on = !landings.empty();
    if (landings.empty()) return false;
    std::ranges::sort(landings, {}, [](const Landing& landing) { return abs(landing.amount); });
    if (landings.size() > 1 && abs(landings[0].amount) == abs(landings[1].amount)) throw Ambiguous{};
    course_.events.push_back({t_, true});
    x_ += landings[0].amount * m_.B[0], y_ += landings[0].amount * m_.B[1];
    place_ = landings[0].place;
    return true;
  }

  void land_on_line(std::size_t line, std::vector<Landing>& landings) const {
    const Rational middle = inside(line), slope = m_.slope_at(middle, 1);
    const Rational determinant = m_.B[1] - slope * m_.B[0];
    if (determinant == 0) return;
    const Rational amount = (m_.graph(middle, 1) + slope * (x_ - middle) - y_) / determinant;
    const Rational x = x_ + amount * m_.B[0];
    const bool above = line == 0 || x > m_.points[line - 1], below = line == m_.points.size() || x < m_.points[line];
    const bool on_end = std::ranges::find(m_.points, x) != m_.points.end();
    if (amount != 0 && on_end) throw Ambiguous{};
    if (amount != 0 && above && below) landings.push_back({amount, {false, line}});
  }

  void land_on_vertical(std::size_t point, std::vector<Landing>& landings) const {
    if (m_.jumps[point] == 0 || m_.B[0] == 0) return;
    const Rational amount = (m_.points[point] - x_) / m_.B[0], y = y_ + amount * m_.B[1];
    const Rational left = m_.graph(m_.points[point], -1), right = m_.graph(m_.points[point], 1);
    if (amount != 0 && (y == left || y == right)) throw Ambiguous{};
    if (amount != 0 && y > std::min(left, right) && y < std::max(left, right)) landings.push_back({amount, {true, point}});
  }

  const PlanarModel& m_;
  PlanarCourse course_;
  Rational x_, y_, z_, t_;
  Place place_{};
  std::size_t corner_ = 0;
  int side_ = 0;  // from which the corner was reached
};

}  // namespace

Rational PlanarModel::graph(const Rational& x, int side) const {
  Rational y = slope * x + offset;
  for (std::size_t i = 0; i < points.size(); ++i) {
    const bool right = x > points[i] || (x == points[i] && side > 0);
    y += bends[i] * abs(x - points[i]) + (right ? jumps[i] : -jumps[i]);
  }
  return y;
}

Rational PlanarModel::slope_at(const Rational& x, int side) const {
  Rational sum = slope;
  for (std::size_t i = 0; i < points.size(); ++i) {
    const bool right = x > points[i] || (x == points[i] && side > 0);
    sum += right ? bends[i] : -bends[i];
  }
  return sum;
}

PlanarModel random_planar_model(unsigned seed) {
  std::mt19937 random(seed);
  const auto whole = [&](int low, int high) { return std::uniform_int_distribution<int>(low, high)(random); };
  const auto part = [&](int low, int high, int parts) { return Rational(whole(low * parts, high * parts), parts); };
  PlanarModel model;
  for (int k = whole(1, 3); k > 0; --k) model.points.push_back(part(-2, 2, 2));
  std::ranges::sort(model.points);
  model.points.erase(std::unique(model.points.begin(), model.points.end()), model.points.end());
  const auto often = [&] { return whole(0, 9) < 7 ? part(-1, 1, 2) : Rational(0); };
  for (std::size_t i = 0; i < model.points.size(); ++i) model.bends.push_back(often()), model.jumps.push_back(often());
  model.slope = part(-1, 1, 4), model.offset = part(-1, 1, 4);
  for (int i = 0; i < 2; ++i) model.a[i] = part(-2, 2, 2), model.B[i] = part(-2, 2, 2);
  model.start[0] = part(-3, 3, 8);
  model.start[1] = model.graph(model.start[0], 1);
  model.end = whole(0, 1) == 0 ? 2 : 4;
  return model;
}

std::optional<PlanarCourse> planar_course(const PlanarModel& model) {
  try {
    return Course(model).run();
  } catch (const Ambiguous&) {
    return std::nullopt;
  }
}

std::string planar_text(const PlanarModel& model, const PlanarUnits& units, const std::string& bend) {
  const std::string x = fmt::format("x1/{}", units.x);
  std::string graph = fmt::format("({})*{} + ({})", to_double(model.slope), x, to_double(model.offset));
  for (std::size_t i = 0; i < model.points.size(); ++i) {
    if (model.bends[i] != 0) graph += fmt::format(" + ({})*abs({} - ({}))", to_double(model.bends[i]), x, to_double(model.points[i]));
    if (model.jumps[i] != 0) graph += fmt::format(" + ({})*sign({} - ({}))", to_double(model.jumps[i]), x, to_double(model.points[i]));
  }
  const auto rate = [&](int i, double unit) {
    return fmt::format("der(x{})*{} = ({}) + ({})*z/{}", i + 1, units.t / unit, to_double(model.a[i]), to_double(model.B[i]), units.z);
  };
  return fmt::format(
      "[variables]\nx1 = {}\nx2 = {}\nz = 0\n[model]\nequations = [\"{}{}\", \"{}\", \"x2/{} = {}\"]\n[run]\nt = [0, {}]\n",
      to_double(model.start[0]) * units.x, to_double(model.start[1]) * units.y, rate(0, units.x), bend, rate(1, units.y), units.y,
      graph, to_double(model.end) * units.t);
}

}  // namespace perp::relations
