#include <fmt/format.h>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>

#include <perp/core/base/index.hpp>
#include <perp/tests/relations/grids/large_text.hpp>
#include <perp/tests/relations/models/random_model.hpp>

namespace perp::relations {
namespace {

using Law = LargeModel::Law;
using Entry = LargeModel::Entry;

std::string run_table(double h, int steps) {
  return fmt::format("\n[run]\nt = [0, {}]\nh = {}\n", number_text(steps * h), number_text(h));
}

/// a + s cos(ω t)
std::string signal(double a, double s, double omega) {
  return s == 0 ? number_text(a) : fmt::format("{} + {}*cos({}*t)", number_text(a), number_text(s), number_text(omega));
}

std::string argument(const LargeModel& model, const Law& law) {
  return fmt::format("{}*u{} + {}", number_text(law.c), law.column + 1, signal(law.q, law.p, model.omega));
}

bool is_operator(Form form, const Law& law) {
  return law.force > 0 ? form == Form::operators : form == Form::maximum || form == Form::minimum;
}

/// What stands for λ of law number i in an equation.
std::string multiplier(const LargeModel& model, Form form, std::size_t i) {
  const Law& law = model.laws[i];
  if (law.force > 0 && form == Form::operators) return fmt::format("{}*sign({})", number_text(law.force), argument(model, law));
  return fmt::format("r{}", i + 1);
}

std::string listed(const LargeModel& model, Form form, std::size_t i) {
  const Law& law = model.laws[i];
  const std::string w = argument(model, law);
  if (law.force > 0) return fmt::format("  \"r{} in relay({}, -{}, {})\",\n", i + 1, w, number_text(law.force), number_text(law.force));
  if (form == Form::box) return fmt::format("  \"r{} in box({}, 0, inf)\",\n", i + 1, w);
  if (form == Form::cone) return fmt::format("  \"r{} in normal_cone(-({}), 0, inf)\",\n", i + 1, w);
  return fmt::format("  \"0 <= {} perp r{} >= 0\",\n", w, i + 1);
}

std::string variables(const LargeModel& model, Form form) {
  std::string result = "[variables]\n";
  for (std::size_t j = 0; j < model.start.size(); ++j) result += fmt::format("u{} = {}\n", j + 1, number_text(model.start[j]));
  for (std::size_t i = 0; i < model.laws.size(); ++i)
    if (model.laws[i].force == 0 && is_operator(form, model.laws[i])) result += fmt::format("r{} = 0\n", i + 1);
  return result + "\n";
}

/// The sides of each equation.
struct Sides {
  std::string left{}, right{};
  void add(bool at_left, const std::string& term) {
    std::string& side = at_left ? left : right;
    side += (side.empty() ? "" : " + ") + term;
  }
};

std::string equations_text(const LargeModel& model, Form form) {
  std::vector<Sides> rows(model.b.size());
  for (std::size_t i = 0; i < model.b.size(); ++i)
    if (model.b[i] != 0 || model.s[i] != 0) rows[i].add(false, signal(model.b[i], model.s[i], model.omega));
  for (const Entry& entry : model.E) rows[at(entry.row)].add(true, fmt::format("{}*der(u{})", number_text(entry.value), entry.column + 1));
  for (const Entry& entry : model.A) rows[at(entry.row)].add(false, fmt::format("{}*u{}", number_text(entry.value), entry.column + 1));
  std::string laws, extra;
  for (std::size_t i = 0; i < model.laws.size(); ++i) {
    const Law& law = model.laws[i];
    rows[at(law.row)].add(false, fmt::format("{}*{}", number_text(law.B), multiplier(model, form, i)));
    if (!is_operator(form, law)) laws += listed(model, form, i);
    if (law.force > 0 || !is_operator(form, law)) continue;
    const std::string w = argument(model, law), r = fmt::format("r{}", i + 1);
    extra += form == Form::maximum ? fmt::format("  \"{} = max({} - ({}), 0)\",\n", r, r, w)
                                   : fmt::format("  \"0 = min({}, {})\",\n", r, w);
  }
  std::string result = variables(model, form) + "[model]\nlaws = [\n" + laws + "]\nequations = [\n";
  for (const Sides& row : rows) result += fmt::format("  \"{} = {}\",\n", row.left.empty() ? "0" : row.left, row.right);
  return result + extra + "]\n";
}

/// A matrix or a vector of [system] under its key.
using Write = std::function<std::string(const std::string& key, int rows, int columns, const std::vector<Entry>& entries)>;

std::string entries_of(const std::string& key, int /*rows*/, int /*columns*/, const std::vector<Entry>& entries) {
  std::string list;
  for (const Entry& entry : entries)
    list += fmt::format("{}[{}, {}, {}]", list.empty() ? "" : ", ", entry.row + 1, entry.column + 1, number_text(entry.value));
  return fmt::format("{} = {{ entries = [{}] }}\n", key, list);
}

Write files_in(const std::string& folder) {
  return [folder](const std::string& key, int rows, int columns, const std::vector<Entry>& entries) {
    std::ofstream file(folder + "/" + key + ".mtx");
    file << "%%MatrixMarket matrix coordinate real general\n" << rows << ' ' << columns << ' ' << entries.size() << '\n';
    for (const Entry& entry : entries) file << entry.row + 1 << ' ' << entry.column + 1 << ' ' << number_text(entry.value) << '\n';
    return fmt::format("{} = {{ file = \"{}.mtx\" }}\n", key, key);
  };
}

std::string signals(const std::string& key, const std::vector<double>& a, const std::vector<double>& s, double omega) {
  std::string list;
  for (std::size_t i = 0; i < a.size(); ++i) list += fmt::format("{}\"{}\"", list.empty() ? "" : ", ", signal(a[i], s[i], omega));
  return fmt::format("{} = [{}]\n", key, list);
}

std::string law_text(const Law& law) {
  return law.force > 0 ? fmt::format("\"relay(-{}, {})\"", number_text(law.force), number_text(law.force)) : "\"complementarity\"";
}

/// w = 0 with λ >= 0, λ = 0 with w >= 0, and with w <= `gap` where that is finite, w = gap with λ <= 0.
std::string branches_text(const Law& law, double gap) {
  const std::string f = number_text(law.force), g = number_text(gap);
  if (law.force > 0)
    return fmt::format("{{ name = \"belt\", memory = false, branches = [{{ a = 0, b = 1, c = -{0}, w = [-inf, 0] }}, "
                       "{{ a = 1, b = 0, c = 0, lambda = [-{0}, {0}] }}, {{ a = 0, b = 1, c = {0}, w = [0, inf] }}] }}", f);
  if (!std::isfinite(gap))
    return "{ name = \"rest\", memory = false, branches = [{ a = 1, b = 0, c = 0, lambda = [0, inf] }, "
           "{ a = 0, b = 1, c = 0, w = [0, inf] }] }";
  return fmt::format("{{ name = \"between\", memory = false, branches = [{{ a = 1, b = 0, c = 0, lambda = [0, inf] }}, "
                     "{{ a = 0, b = 1, c = 0, w = [0, {0}] }}, {{ a = 1, b = 0, c = {0}, lambda = [-inf, 0] }}] }}", g);
}

/// Laws of one variable as one, where the second one bounds it above with the same factors: the gap of each law that is left.
struct Pairs {
  std::vector<Law> laws{};
  std::vector<double> gaps{};
  explicit Pairs(const std::vector<Law>& all, bool joins) {
    std::map<int, std::size_t> below;
    for (const Law& law : all) {
      const auto found = below.find(law.column);
      const Law* other = found == below.end() ? nullptr : &laws[found->second];
      if (joins && other != nullptr && law.c == -other->c && law.B == -other->B && law.p == 0 && other->p == 0) {
        gaps[found->second] = law.q + other->q;
        continue;
      }
      below[law.column] = laws.size();
      laws.push_back(law);
      gaps.push_back(INFINITY);
    }
  }
};

std::string system_text(const LargeModel& model, const Write& write, bool own_laws) {
  const Pairs pairs(model.laws, own_laws);
  const int n = model.n(), m = static_cast<int>(pairs.laws.size());
  std::vector<Entry> B, C;
  std::vector<double> q, p;
  std::string laws;
  for (int i = 0; i < m; ++i) {
    const Law& law = pairs.laws[at(i)];
    B.push_back({law.row, i, law.B});
    C.push_back({i, law.column, law.c});
    q.push_back(law.q);
    p.push_back(law.p);
    laws += (i > 0 ? ", " : "") + (own_laws ? branches_text(law, pairs.gaps[at(i)]) : law_text(law));
  }
  return variables(model, Form::entries) + "[system]\n" + write("E", n, n, model.E) + write("A", n, n, model.A) +
         write("B", n, m, B) + write("C", m, n, C) + signals("b", model.b, model.s, model.omega) +
         signals("q", q, p, model.omega) + "laws = [" + laws + "]\n";
}

}  // namespace

const char* to_string(Form form) {
  switch (form) {
    case Form::equations: return "equations";
    case Form::box: return "box";
    case Form::cone: return "cone";
    case Form::maximum: return "maximum";
    case Form::minimum: return "minimum";
    case Form::operators: return "operators";
    case Form::entries: return "entries";
    case Form::files: return "files";
    case Form::branches: return "branches";
  }
  return "";
}

std::string text(const LargeModel& model, Form form, const std::string& folder) {
  const std::string run = run_table(model.h, model.steps);
  switch (form) {
    case Form::entries: return system_text(model, entries_of, false) + run;
    case Form::branches: return system_text(model, entries_of, true) + run;
    case Form::files: return system_text(model, files_in(folder), false) + run;
    default: return equations_text(model, form) + run;
  }
}

namespace {

/// A field at the node whose indices have these names; along an axis one less where `before` is that axis.
std::string field_text(const GridField& field, const GridModel& grid, int before = -1) {
  std::string sum, arch;
  for (int a = 0; a < 3; ++a) {
    if (grid.size[at(a)] == 1) continue;
    const std::string index = a == before ? fmt::format("({} - 1)", "ijk"[a]) : std::string(1, "ijk"[a]);
    sum += fmt::format("{}{}*{}", sum.empty() ? "" : " + ", field.by[at(a)], index);
    arch += fmt::format("*{}*({} - {})", index, grid.size[at(a)] + 1, index);
  }
  std::string result = number_text(field.base);
  if (field.rough != 0) result += fmt::format(" + {}*mod({}, {})", number_text(field.rough), sum, field.period);
  if (field.bow != 0) result += fmt::format(" + {}{}", number_text(field.bow), arch);
  return "(" + result + ")";
}

std::string place(const GridModel& grid, int axis, int by) {
  std::string list;
  for (int a = 0; a < 3; ++a) {
    if (grid.size[at(a)] == 1) continue;
    list += fmt::format("{}{}{}", list.empty() ? "" : ",", "ijk"[a], a != axis || by == 0 ? "" : by < 0 ? "-1" : "+1");
  }
  return list;
}

/// "for i in first:last, j in 1:N, ...: "
std::string all_nodes(const GridModel& grid, int first, int last) {
  std::string list;
  for (int a = 0; a < 3; ++a)
    if (grid.size[at(a)] > 1)
      list += fmt::format("{}{} in {}:{}", list.empty() ? "" : ", ", "ijk"[a], a == 0 ? first : 1, a == 0 ? last : grid.size[at(a)]);
  return "for " + list + ": ";
}

/// weight (u' - u) over the neighbours, u' = 0 around the grid.
std::string flows(const GridModel& grid) {
  std::string result;
  const std::string here = place(grid, -1, 0);
  for (int a = 0; a < 3; ++a) {
    if (grid.size[at(a)] == 1) continue;
    const char index = "ijk"[a];
    const int N = grid.size[at(a)];
    result += fmt::format(" + {}*(if({} > 1, u[{}], 0) - u[{}])", field_text(grid.weight[at(a)], grid, a), index, place(grid, a, -1), here);
    result += fmt::format(" + {}*(if({} < {}, u[{}], 0) - u[{}])", field_text(grid.weight[at(a)], grid), index, N, place(grid, a, 1), here);
  }
  return result;
}

}  // namespace

std::string families_text(const GridModel& grid) {
  const std::string here = place(grid, -1, 0), all = all_nodes(grid, 1, grid.size[0]);
  std::string sizes;
  for (const int size : grid.size)
    if (size > 1) sizes += fmt::format("{}{}", sizes.empty() ? "" : ", ", size);
  const bool has_rate = grid.rate.base != 0 || grid.rate.rough != 0;
  std::string equation = fmt::format("{} = {}{}", has_rate ? fmt::format("{}*der(u[{}])", field_text(grid.rate, grid), here) : "0",
                                     field_text(grid.load, grid), flows(grid));
  equation += fmt::format(" - {}*u[{}]", field_text(grid.own, grid), here);
  if (grid.s != 0) equation += fmt::format(" + {}*cos({}*t)", number_text(grid.s), number_text(grid.omega));
  equation += grid.first == 1 && grid.last == grid.size[0] ? fmt::format(" + r[{}]", here)
                                                           : fmt::format(" + if(i >= {} , if(i <= {}, r[{}], 0), 0)", grid.first, grid.last, here);
  if (grid.has_upper) equation += fmt::format(" - f[{}]", here);
  std::string laws = fmt::format("  \"{}0 <= u[{}] - {} perp r[{}] >= 0\",\n", all_nodes(grid, grid.first, grid.last), here,
                                 field_text(grid.lower, grid), here);
  if (grid.has_upper) laws += fmt::format("  \"{}0 <= {} - u[{}] perp f[{}] >= 0\",\n", all, field_text(grid.upper, grid), here, here);
  if (grid.dimensions() > 1) sizes = "[" + sizes + "]";
  return fmt::format("[variables]\nu = {{ size = {}, start = \"{}\" }}\n\n[model]\nlaws = [\n{}]\nequations = [\"{}{}\"]\n", sizes,
                     field_text(grid.start, grid), laws, all, equation) +
         run_table(grid.h, grid.steps);
}

}  // namespace perp::relations
