"""The build backend of setuptools. An isolated build finds the Debian packages that it needs (setuptools, skbuild) too."""

import os
import sys

DEBIAN = "/usr/lib/python3/dist-packages"
if os.path.isdir(DEBIAN) and DEBIAN not in sys.path:
    sys.path.append(DEBIAN)

from setuptools.build_meta import *  # noqa: E402, F403
