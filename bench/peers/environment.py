"""What scripts of peers share: a Python that has the peer, and where rows come from."""

import datetime
import os
import pathlib
import subprocess
import sys


def skip(peer, why):
    print(f"peers: the comparison with {peer} is skipped: {why}")
    sys.exit(0)


def enter(peer, folder, lacking, packages):
    """Go on under a Python that lacks nothing: this one, or that of a virtual environment.

    lacking(): what this Python lacks, in words, or None.  packages(): what PyPI has for it.
    """
    if not (lack := lacking()):
        return
    if pathlib.Path(sys.prefix).resolve() == folder.resolve():
        skip(peer, lack)
    print(f"peers: {sys.executable}: {lack}; {folder} instead", file=sys.stderr, flush=True)
    python = folder / "bin" / "python"
    for command in (
        [sys.executable, "-m", "venv", str(folder)],
        [str(python), "-m", "pip", "install", "--quiet", *packages()],
    ):
        done = subprocess.run(command, stderr=subprocess.PIPE, text=True)
        if done.returncode:
            skip(peer, f"`{' '.join(command)}` failed:\n{done.stderr.strip()[-400:]}")
    os.execv(python, [str(python), *sys.argv])


def origin_of(program, device):
    """Date, commit, machine and version of rows that a minimd makes now; device: cpu or gpu."""
    info = subprocess.run([program, "info"], capture_output=True, text=True).stdout
    fields = dict(line.split(None, 1) for line in info.splitlines() if " " in line)
    return {
        "date": datetime.datetime.now(datetime.timezone.utc).date().isoformat(),
        "commit": fields["commit"],
        "machine": fields[device].split(", ")[0].replace(",", ";"),
        "version": fields["version"].split("-")[0],
    }
