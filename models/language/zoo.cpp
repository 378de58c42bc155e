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

/// The folder `models` beside the shared object or program that holds this code: an installed module of another
/// language brings its zoo along.
fs::path folder_beside_code() {
  Dl_info object{};
  if (dladdr(reinterpret_cast<const void*>(&folder_beside_code), &object) == 0 || object.dli_fname == nullptr) return {};
  return fs::path(object.dli_fname).parent_path() / "models";
}

/// The folder of the zoo: beside this code, in the source tree while there is one, else where it was installed.
fs::path zoo_folder() {
  std::error_code error;
  if (const fs::path folder = folder_beside_code(); folder.has_parent_path() && fs::is_directory(folder, error))
    return folder;
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
