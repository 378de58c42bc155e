#include <fmt/format.h>

#include <perp/cli/command.hpp>
#include <perp/cli/input/command_line.hpp>
#include <perp/cli/manual/manual.hpp>
#include <perp/core/base/error.hpp>
#include <perp/core/base/nearest_name.hpp>

namespace perp::cli {
namespace {

std::string escaped(char c) {
  switch (c) {
    case '\\': return "\\e";
    case '-': return "\\-";
    case '\'': return "\\(aq";
    case '^': return "\\(ha";
    default: return {c};
  }
}

/// As it stands: backslashes, hyphens of options, and points at the start of a line mean something to troff.
std::string plain(const std::string& text) {
  std::string result;
  for (std::size_t k = 0; k < text.size(); ++k) {
    const bool starts_line = k == 0 || text[k - 1] == '\n';
    if (starts_line && (text[k] == '.' || text[k] == '\'')) result += "\\&";
    result += escaped(text[k]);
  }
  return result;
}

std::string head(const std::string& name, const std::string& purpose) {
  std::string title = name;
  for (char& c : title) c = c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  return fmt::format(".TH {} 1 \"\" \"perp {}\" \"User Commands\"\n.SH NAME\n{} \\- {}\n", plain(title), PERP_VERSION, plain(name),
                     plain(purpose));
}

std::string option_text(const ArgumentText& argument) {
  std::string names;
  for (const std::string& name : argument.names)
    names += fmt::format("{}{}{}\\fR", names.empty() ? "" : ", ", argument.has_place ? "\\fI" : "\\fB", plain(name));
  if (!argument.placeholder.empty()) names += fmt::format(" \\fI{}\\fR", plain(argument.placeholder));
  return fmt::format(".TP\n{}\n{}\n", names, plain(argument.meaning));
}

std::string page_of(const Command& command) {
  CommandLine line(command);
  command.configure(line);
  std::string text = head(fmt::format("perp-{}", command.name), command.purpose);
  text += fmt::format(".SH SYNOPSIS\n.B perp {}\n", command.name);
  for (const ArgumentText& argument : line.arguments())
    if (argument.has_place) text += fmt::format(".I {}\n", plain(argument.names.front()));
  text += "[\\fIOPTIONS\\fR]\n.SH OPTIONS\n";
  for (const ArgumentText& argument : line.arguments()) text += option_text(argument);
  text += fmt::format(".SH NOTES AND EXAMPLES\n.nf\n{}\n.fi\n.SH SEE ALSO\n.BR perp (1)\n", plain(command.examples));
  return text;
}

std::string page_of_program() {
  std::string text = head("perp", "nonsmooth time stepping");
  text += ".SH SYNOPSIS\n.B perp\n.I COMMAND\n[\\fIARGUMENTS\\fR]\n.SH DESCRIPTION\n"
          "Integrates systems that switch and finds every solution of a step.\n.SH COMMANDS\n";
  for (const Command* command : command_table())
    text += fmt::format(".TP\n\\fB{}\\fR\n{}; see \\fBperp\\-{}\\fR(1)\n", plain(command->name), plain(command->purpose),
                        plain(command->name));
  text += ".SH EXIT STATUS\n0: solved. 2: wrong input. 3: the mathematics said no, everything computed is written. 1: a defect of perp.\n";
  return text;
}

}  // namespace

std::string manual_page(const std::vector<std::string>& arguments) {
  if (arguments.size() > 1) throw InvalidInput(fmt::format("--man takes one command but found {}", fmt::join(arguments, " ")));
  if (arguments.empty()) return page_of_program();
  std::vector<std::string> names;
  for (const Command* command : command_table()) names.emplace_back(command->name);
  return page_of(*command_table()[find_name(arguments.front(), names, "command")]);
}

}  // namespace perp::cli
