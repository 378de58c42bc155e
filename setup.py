"""`pip install .`: the Python package perp. A build tree build/release is brought up to date and used; without one the
libraries are built."""

import os
import pathlib
import re
import subprocess

from skbuild import setup

ROOT = pathlib.Path(__file__).resolve().parent
VERSION = re.search(r"^project\(perp VERSION ([\d.]+)", (ROOT / "CMakeLists.txt").read_text(), re.MULTILINE)[1]


def built():
    """A build tree of the same sources, up to date; None: there is none. PERP_LIBRARIES names one that is taken as it is."""
    if "PERP_LIBRARIES" in os.environ:
        return pathlib.Path(os.environ["PERP_LIBRARIES"])
    tree = ROOT / "build" / "release"
    cache = tree / "CMakeCache.txt"
    text = cache.read_text() if cache.is_file() else ""
    if f"CMAKE_HOME_DIRECTORY:INTERNAL={ROOT}\n" not in text:
        return None
    targets = ["perp", "perp_io", *(["perp_python"] if "PERP_PYTHON:BOOL=ON\n" in text else [])]
    subprocess.run(["cmake", "--build", str(tree), "--target", *targets], check=True)
    return tree


tree = built()
setup(
    name="perp",
    version=VERSION,
    description="Nonsmooth time stepping: switching systems, with all solutions of every step",
    long_description=(ROOT / "README.md").read_text(encoding="utf-8"),
    long_description_content_type="text/markdown",
    license="Apache-2.0",
    python_requires=">=3.11",
    install_requires=["numpy"],
    extras_require={"plot": ["matplotlib"], "tables": ["pandas", "xarray"], "hdf5": ["h5py"]},
    packages=["perp"],
    package_dir={"perp": "python/perp"},
    package_data={"perp": ["py.typed", "*.pyi"]},
    cmake_source_dir="python",
    cmake_install_dir="python/perp",
    cmake_args=["-DCMAKE_BUILD_TYPE=Release", "-DCMAKE_CXX_FLAGS_RELEASE=-O2 -DNDEBUG", f"-DPERP_BUILD={tree or ''}"],
    zip_safe=False,
)
