#include <dlfcn.h>
#include <algorithm>
#include <filesystem>
#include <string_view>

#include <perp/core/base/error.hpp>
#include <perp/core/base/nearest_name.hpp>
#include <perp/models/language/read_model.hpp>

namespace perp {
namespace {

namespace fs = std::filesystem;

/// The folder of the shared object or program that holds this code.
fs::path folder_of_code() {
  std::error_code error;
  Dl_info object{};
  if (dladdr(reinterpret_cast<const void*>(&folder_of_code), &object) == 0 || object.dli_fname == nullptr) return {};
  const fs::path object_file(object.dli_fname);
  if (object_file.has_parent_path()) return object_file.parent_path();
  return fs::read_symlink("/proc/self/exe", error).parent_path();  // the program, found by PATH
}

/// The folder of the zoo: `models` beside this code, which an installed module of another language brings along;
/// ../share/perp/models beside a program, wherever its tree was put; in the source tree while there is one; else where it was
/// installed.
fs::path zoo_folder() {
  std::error_code error;
  if (const fs::path code = folder_of_code(); !code.empty())
    for (const fs::path& folder : {code / "models", code.parent_path() / "share" / "perp" / "models"})
      if (fs::is_directory(folder, error)) return folder;
#ifdef PERP_MODELS_SOURCE
  if (fs::is_directory(PERP_MODELS_SOURCE, error)) return PERP_MODELS_SOURCE;
#endif
#ifdef PERP_MODELS_INSTALLED
  if (fs::is_directory(PERP_MODELS_INSTALLED, error)) return PERP_MODELS_INSTALLED;
#endif
  return {};
}

}  // namespace

std::vector<std::string> zoo() {
  std::vector<std::string> names;
  std::error_code error;
  const fs::path folder = zoo_folder();
  if (folder.empty()) return names;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error))
    if (entry->path().extension() == ".toml") names.push_back(entry->path().stem().string());
  std::sort(names.begin(), names.end());
  return names;
}

std::string find_model(const std::string& model) {
  std::error_code error;
  if (model.empty()) throw InvalidInput("the model is empty; expected a file or a name of the zoo");
  const fs::path path(model);
  const std::vector<std::string> names = zoo();
  const std::string stem =
      path.extension() == ".toml" ? path.stem().string() : path.filename().string();
  const bool in_zoo = std::binary_search(names.begin(), names.end(), stem);
  if (fs::exists(path, error) && !(in_zoo && fs::is_directory(path, error))) return model;
  const bool may_be_zoo = path.extension() == ".toml" || !path.has_parent_path();
  if (in_zoo && may_be_zoo) return (zoo_folder() / (stem + ".toml")).string();
  throw InvalidInput("there is no model '" + model +
                     "'; expected a model file or a name of the zoo (perp list models)" +
                     suggestion(stem, names));
}

}  // namespace perp
