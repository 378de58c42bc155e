#include <doctest/doctest.h>
#include <hdf5.h>
#include <filesystem>
#include <string>
#include <vector>

#include <perp/core/base/error.hpp>
#include <perp/io/hybrid/sparse_hdf5.hpp>
#include <perp/models/language/hybrid/read_hybrid.hpp>
#include <perp/models/language/data/matrix_market.hpp>
#include <perp/tests/paths.hpp>
#include <fstream>
#include <iterator>

// Sparse matrices as MATLAB writes them with -v7.3: groups of data, ir and jc behind a user block.
namespace {

using perp::SparseEntries;
using perp::SparseEntry;

class WrittenFile {
 public:
  WrittenFile() : path_(std::filesystem::temp_directory_path() / "perp_sparse_test.mat") {
    const hid_t properties = H5Pcreate(H5P_FILE_CREATE);
    H5Pset_userblock(properties, 512);
    file_ = H5Fcreate(path_.c_str(), H5F_ACC_TRUNC, properties, H5P_DEFAULT);
    H5Pclose(properties);
    REQUIRE(file_ >= 0);
  }
  ~WrittenFile() {
    std::error_code error;
    std::filesystem::remove(path_, error);
  }
  WrittenFile(const WrittenFile&) = delete;
  WrittenFile& operator=(const WrittenFile&) = delete;

  [[nodiscard]] std::string path() const { return path_.string(); }
  void close() { H5Fclose(file_); }
  void group(const std::string& name) { H5Gclose(create(name)); }

  /// With as many rows as MATLAB would state.
  void sparse(const std::string& name, const SparseEntries& matrix, bool states_rows) {
    std::vector<double> data;
    std::vector<unsigned long long> ir, jc{0};
    for (int column = 0; column < matrix.columns; ++column) {
      for (const SparseEntry& entry : matrix.entries)
        if (entry.column == column) {
          data.push_back(entry.value);
          ir.push_back(static_cast<unsigned long long>(entry.row));
        }
      jc.push_back(data.size());
    }
    const hid_t group = create(name);
    if (states_rows) {
      const hid_t space = H5Screate(H5S_SCALAR);
      const hid_t attribute = H5Acreate2(group, "MATLAB_sparse", H5T_NATIVE_ULLONG, space,
                                         H5P_DEFAULT, H5P_DEFAULT);
      const auto rows = static_cast<unsigned long long>(matrix.rows);
      H5Awrite(attribute, H5T_NATIVE_ULLONG, &rows);
      H5Aclose(attribute);
      H5Sclose(space);
    }
    if (!data.empty()) {
      dataset(group, "data", H5T_NATIVE_DOUBLE, data.data(), data.size());
      dataset(group, "ir", H5T_NATIVE_ULLONG, ir.data(), ir.size());
    }
    dataset(group, "jc", H5T_NATIVE_ULLONG, jc.data(), jc.size());
    H5Gclose(group);
  }

 private:
  hid_t create(const std::string& name) {
    return H5Gcreate2(file_, name.c_str(), H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
  }
  static void dataset(hid_t group, const char* name, hid_t type, const void* values,
                      std::size_t count) {
    const hsize_t size = count;
    const hid_t space = H5Screate_simple(1, &size, nullptr);
    const hid_t set =
        H5Dcreate2(group, name, type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    H5Dwrite(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values);
    H5Dclose(set);
    H5Sclose(space);
  }

  std::filesystem::path path_;
  hid_t file_ = -1;
};

const SparseEntries matrix{4, 3, {{0, 0, 1.5}, {3, 0, -2}, {1, 2, 0.25}}};

TEST_CASE("compressed columns are read with their rows, a matrix of zeros too") {
  WrittenFile file;
  file.sparse("S", matrix, true);
  file.sparse("open", matrix, false);
  file.sparse("zeros", {2, 3, {}}, true);
  file.close();
  const auto S = perp::io::read_sparse_hdf5(file.path(), "/S");
  REQUIRE(S);
  CHECK(S->rows == 4);
  CHECK(S->columns == 3);
  CHECK(S->entries == matrix.entries);
  CHECK(perp::io::read_sparse_hdf5(file.path(), "/open")->rows == -1);
  CHECK(perp::io::read_sparse_hdf5(file.path(), "/zeros")->entries.empty());
  CHECK(perp::io::read_sparse_hdf5(file.path(), "/zeros")->rows == 2);
  CHECK_FALSE(perp::io::read_sparse_hdf5(file.path(), "/none/S"));
  CHECK_THROWS_AS(perp::io::read_sparse_hdf5("/none.h5", "/S"), perp::FileError);
}

SparseEntries of_file(const std::string& name) {
  std::ifstream stream(perp::test::data_path("/multilinear/three_tank/") + name);
  return perp::parse_matrix_market(
      std::string{std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()}, name);
}

SparseEntries rows_of(const SparseEntries& whole, int first, int count) {
  SparseEntries part{count, whole.columns, {}};
  for (const SparseEntry& entry : whole.entries)
    if (entry.row >= first && entry.row < first + count)
      part.entries.push_back({entry.row - first, entry.column, entry.value});
  return part;
}

TEST_CASE("the three tanks from one HDF5 file, whole and split, are the model of Matrix Market files") {
  const SparseEntries S = of_file("S.mtx"), f = of_file("Phi_f.mtx"), g = of_file("Phi_g.mtx");
  WrittenFile file;
  file.sparse("S", S, true);
  file.sparse("Phi_f", f, true);
  file.sparse("Phi_g", g, true);
  for (const char* group : {"sys", "sys/F", "sys/phi"}) file.group(group);
  file.sparse("sys/F/stateDerivative", rows_of(S, 0, 3), true);
  file.sparse("sys/F/state", rows_of(S, 3, 3), true);
  file.sparse("sys/F/input", rows_of(S, 6, 8), true);
  file.sparse("sys/F/algebraic", rows_of(S, 14, 1), true);
  file.sparse("sys/F/boolean", rows_of(S, 15, 6), true);
  file.sparse("sys/phi/equality", f, true);
  file.sparse("sys/phi/inequality", g, true);
  file.close();
  std::string head =
      "[variables]\nx1 = 37\nx2 = 30\nx3 = 40\ny1 = 1\n[inputs]\nu1 = 0\nu2 = 80\nu3 = 30\nu4 = 40\n"
      "u5 = 25\nu6 = 35\nu7 = 35\nu8 = 45\n[binaries]\n";
  for (int i = 1; i <= 6; ++i) head += "z" + std::to_string(i) + " = 1\n";
  head += "[run]\nt = [0, 1]\n[multilinear]\nsignals = { states = [\"x1\", \"x2\", \"x3\"], inputs = "
          "[\"u1\", \"u2\", \"u3\", \"u4\", \"u5\", \"u6\", \"u7\", \"u8\"], algebraic = [\"y1\"], "
          "binaries = [\"z1\", \"z2\", \"z3\", \"z4\", \"z5\", \"z6\"] }\n";
  perp::ReadOptions known;
  known.sparse_hdf5 = perp::io::read_sparse_hdf5;
  const auto model = [&](const std::string& more) {
    return *perp::read_hybrid_model_text(head + more, "m.toml", {}, known);
  };
  const std::string folder = perp::test::data_path("/multilinear/three_tank/");
  const perp::HybridModel market = model("S = \"" + folder + "S.mtx\"\nPhi_f = \"" + folder +
                                         "Phi_f.mtx\"\nPhi_g = \"" + folder + "Phi_g.mtx\"\n");
  const std::string quoted = "\"" + file.path() + "\"";
  for (const std::string& more :
       {"file = " + quoted + "\n", "file = " + quoted + "\ngroup = \"/sys\"\n",
        "S = " + quoted + "\nPhi_f = \"" + file.path() + ":/sys/phi/equality\"\nPhi_g = " + quoted +
            "\n"}) {
    CAPTURE(more);
    const perp::HybridModel found = model(more);
    CHECK(found.tape == market.tape);
    CHECK(found.f == market.f);
    CHECK(found.g == market.g);
  }
  CHECK_THROWS_WITH_AS(model("file = " + quoted + "\ngroup = \"/none\"\n"),
                       doctest::Contains("'S' is missing in [multilinear]"), perp::ModelError);
}

}  // namespace
