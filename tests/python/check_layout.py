"""tests/python/check_layout.py CC... - the package's structures and words are the headers'."""

import ctypes
import subprocess
import sys
import tempfile

from minimd import _structs as s


def source():
    headers = sorted({header for _, header in s.TYPES.values()})
    lines = ["#include <stddef.h>", "#include <stdio.h>"]
    lines += [f'#include "{header}"' for header in headers] + ["int main(void) {"]
    for name, _ in s.TYPES.values():
        lines.append(f'printf("{name} %zu\\n", sizeof({name}));')
    for cls, (name, _) in s.TYPES.items():
        for field, _ in cls._fields_:
            size = f"sizeof((({name} *)0)->{field})"
            lines.append(f'printf("{name}.{field} %zu %zu\\n", offsetof({name}, {field}), {size});')
    words = [("MD_" + w.upper(), v) for w, v in {**s.BACKENDS, **s.PRECISIONS}.items()]
    words += [("SPREAD_" + w.upper(), k) for k, w in enumerate(s.METHODS)]
    words += [("SPREAD_METHOD_COUNT", len(s.METHODS))]
    words += [("STOKES_" + w.upper(), v) for w, v in s.STORAGES.items()]
    lines += [f'printf("{word} %d\\n", (int){word});' for word, _ in words] + ["}"]
    expected = [f"{name} {ctypes.sizeof(cls)}" for cls, (name, _) in s.TYPES.items()]
    for cls, (name, _) in s.TYPES.items():
        for field, _ in cls._fields_:
            place = getattr(cls, field)
            expected.append(f"{name}.{field} {place.offset} {place.size}")
    return "\n".join(lines), expected + [f"{word} {value}" for word, value in words]


def main():
    text, expected = source()
    with tempfile.TemporaryDirectory() as folder:
        program = folder + "/layout"
        compiler = [*sys.argv[1:], "-I.", "-x", "c", "-o", program, "-"]
        subprocess.run(compiler, input=text, text=True, check=True)
        got = subprocess.run([program], stdout=subprocess.PIPE, text=True, check=True).stdout
    wrong = [pair for pair in zip(got.splitlines(), expected) if pair[0] != pair[1]]
    for c, python in wrong:
        print(f"the headers say {c}, python/minimd/_structs.py {python}")
    return bool(wrong) or len(got.splitlines()) != len(expected)


if __name__ == "__main__":
    sys.exit(main())
