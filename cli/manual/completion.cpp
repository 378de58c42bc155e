#include <fmt/format.h>

#include <perp/cli/command.hpp>
#include <perp/cli/input/command_line.hpp>
#include <perp/cli/manual/manual.hpp>
#include <perp/core/base/error.hpp>
#include <perp/models/language/run_options.hpp>
#include <perp/models/language/scheme_table.hpp>

namespace perp::cli {
namespace {

/// The options of a command, those that take a file, and whether it takes a model.
struct Words {
  std::vector<std::string> options, with_value;
  bool takes_model = false;
};

Words words_of(const Command& command) {
  CommandLine line(command);
  command.configure(line);
  Words words;
  for (const ArgumentText& argument : line.arguments()) {
    if (argument.has_place) {
      words.takes_model = words.takes_model || argument.names.front() == "MODEL";
      continue;
    }
    words.options.insert(words.options.end(), argument.names.begin(), argument.names.end());
    if (!argument.placeholder.empty())
      words.with_value.insert(words.with_value.end(), argument.names.begin(), argument.names.end());
  }
  return words;
}

constexpr const char* bash_start = R"sh(# Completion of perp's command line, for bash and zsh: eval "$(perp --completion bash)"
if [[ -n ${ZSH_VERSION-} ]]; then autoload -U +X bashcompinit && bashcompinit; fi
_perp() {
  local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} options="" valued="" models=""
  if ((COMP_CWORD == 1)); then
)sh";

constexpr const char* bash_end = R"sh(    *) return ;;
  esac
  if [[ $before == --scheme ]]; then COMPREPLY=($(compgen -W "$schemes" -- "$word"))
  elif [[ " $valued " == *" $before "* ]]; then COMPREPLY=($(compgen -f -- "$word"))
  elif [[ $word == -* ]]; then COMPREPLY=($(compgen -W "$options" -- "$word"))
  elif [[ -n $models ]]; then COMPREPLY=($(compgen -W "$(perp list models 2>/dev/null | awk 'NR > 1 {print $1}')" -- "$word") $(compgen -f -- "$word"))
  else COMPREPLY=($(compgen -f -- "$word"))
  fi
}
complete -o filenames -F _perp perp
)sh";

}  // namespace

std::string completion(const std::vector<std::string>& arguments) {
  if (arguments.size() != 1 || arguments.front() != "bash")
    throw InvalidInput(fmt::format("--completion {}: expected bash, which zsh reads too", fmt::join(arguments, " ")));
  std::vector<std::string> names;
  for (const Command* command : command_table()) names.emplace_back(command->name);
  std::vector<std::string> schemes;
  for (const SchemeEntry* entry : scheme_entries()) schemes.emplace_back(entry->name);
  std::string text = bash_start;
  text += fmt::format("    COMPREPLY=($(compgen -W \"{} help --help --version\" -- \"$word\"))\n    return\n  fi\n", fmt::join(names, " "));
  text += fmt::format("  local schemes=\"{}\"\n  case ${{COMP_WORDS[1]}} in\n", fmt::join(schemes, " "));
  for (const Command* command : command_table()) {
    const Words words = words_of(*command);
    text += fmt::format("    {}) options=\"{}\" valued=\"{}\" models={} ;;\n", command->name, fmt::join(words.options, " "),
                        fmt::join(words.with_value, " "), words.takes_model ? "yes" : "\"\"");
  }
  return text + bash_end;
}

}  // namespace perp::cli
