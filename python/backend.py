"""What pip calls: a wheel of the package, with libminimd where none is installed (PEP 517).

The library is the one that MINIMD_LIBRARY names; else an installed one is used and none is packed;
else `make lib` of the checkout around this folder makes it.
"""

import base64
import ctypes
import hashlib
import os
import pathlib
import re
import subprocess
import sysconfig
import zipfile

HERE = pathlib.Path(__file__).resolve().parent
TREE = HERE.parent
SONAME = re.search(r'^SONAME = "(.*)"', (HERE / "minimd" / "_library.py").read_text(), re.M).group(
    1
)


def _version():
    """As PEP 440 writes it: 1.0.0-3-gabc is 1.0.0.post3+gabc, 1.0.0-dev is 1.0.0.dev0."""
    words = subprocess.run(
        ["sh", str(TREE / "packaging" / "version.sh")],
        check=True,
        stdout=subprocess.PIPE,
        text=True,
    ).stdout.split()
    number, *rest = words[0].split("-")
    if rest == ["dev"]:
        return number + ".dev0"
    return number + (".post" + rest[0] + "+" + rest[1] if rest else "")


def _installed():
    try:
        return bool(ctypes.CDLL(SONAME))
    except OSError:
        return False


def _library():
    """The file to pack, or None where the system's loader finds the library."""
    asked = os.environ.get("MINIMD_LIBRARY")
    if asked:
        return pathlib.Path(asked).read_bytes()
    if _installed():
        return None
    if not (TREE / "Makefile").exists():
        raise SystemExit(
            "libminimd is not installed, and this is no checkout of minimd that could "
            "build it: install it, or name it in MINIMD_LIBRARY"
        )
    build = os.environ.get("MINIMD_BUILD", "build")
    subprocess.run(["make", "-C", str(TREE), "BUILD=" + build, "lib"], check=True)
    return (TREE / build / "lib" / SONAME).read_bytes()


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    version, library = _version(), _library()
    platform = re.sub(r"[-.]", "_", sysconfig.get_platform()) if library else "any"
    tag = "py3-none-" + platform
    files = {
        "minimd/" + path.name: path.read_bytes() for path in sorted((HERE / "minimd").glob("*.py"))
    }
    if library:
        files["minimd/" + SONAME] = library
    info = f"minimd-{version}.dist-info/"
    files[info + "METADATA"] = (
        f"Metadata-Version: 2.1\nName: minimd\nVersion: {version}\nLicense: BSD-3-Clause\n"
        "Summary: Orderings, cache misses, spreading onto meshes, PME and block matrices\n"
        "Requires-Python: >=3.8\nRequires-Dist: numpy\n"
    ).encode()
    files[info + "WHEEL"] = (
        f"Wheel-Version: 1.0\nGenerator: minimd\nRoot-Is-Purelib: {str(not library).lower()}\n"
        f"Tag: {tag}\n"
    ).encode()
    record = [f"{name},sha256={_digest(data)},{len(data)}" for name, data in files.items()]
    files[info + "RECORD"] = "\n".join([*record, info + "RECORD,,", ""]).encode()
    name = f"minimd-{version}-{tag}.whl"
    with zipfile.ZipFile(pathlib.Path(wheel_directory) / name, "w", zipfile.ZIP_DEFLATED) as wheel:
        for path, data in files.items():
            wheel.writestr(path, data)
    return name


def _digest(data):
    return base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()


def build_sdist(sdist_directory, config_settings=None):
    raise NotImplementedError("sources are released as a whole: make dist")
