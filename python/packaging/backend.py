"""The build backend of setuptools. An isolated build finds the Debian packages that it needs (setuptools, wheel, skbuild)
where they are, and fetches nothing."""

import importlib.util
import os
import sys

DEBIAN = "/usr/lib/python3/dist-packages"
if os.path.isdir(DEBIAN) and DEBIAN not in sys.path:
    sys.path.append(DEBIAN)

from setuptools.build_meta import *  # noqa: E402, F403


def get_requires_for_build_wheel(config_settings=None):
    modules = {"scikit-build": "skbuild", "wheel": "wheel"}
    return [name for name, module in modules.items() if importlib.util.find_spec(module) is None]


get_requires_for_build_sdist = get_requires_for_build_editable = get_requires_for_build_wheel
