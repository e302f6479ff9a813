# Copyright 2026, the minimd authors
#
# SPDX-License-Identifier: BSD-3-Clause

from spack.package import *


class Minimd(MakefilePackage, CudaPackage):
    """Molecular dynamics that shows the cost of data order in memory, and its libraries:
    orderings, cache model, particle-mesh spreading, PME, products of block matrices."""

    # A checkout or an unpacked archive: `spack develop` or `spack install minimd@main` with a
    # repository that `git` below names.
    git = "file:///path/to/minimd"

    license("BSD-3-Clause")

    version("main", branch="main")

    variant("fft", default=True, description="PME on the CPU (FFTW: the result is under the GPL)")
    variant("lapack", default=True, description="dense solves of the suspensions")
    variant("mpi", default=True, description="several ranks (Open MPI)")

    depends_on("c", type="build")
    depends_on("gmake", type="build")
    depends_on("pkgconfig", type="build")
    depends_on("libconfig")
    depends_on("zlib-api")
    depends_on("fftw+openmp precision=float,double", when="+fft")
    depends_on("openblas", when="+lapack")
    depends_on("openmpi", when="+mpi")
    depends_on("cuda@12:", when="+cuda")

    conflicts("cuda_arch=none", when="+cuda", msg="say for which GPU: cuda_arch=90")

    def flags(self):
        """Settings of make: what a variant switches off is not looked for."""
        arches = " ".join("sm_" + arch for arch in self.spec.variants["cuda_arch"].value)
        settings = ["CC=" + spack_cc, "archive=-l$(1)"]
        settings += ["CUDA_ARCH=" + arches] if "+cuda" in self.spec else ["NVCC="]
        for variant, name in (("+fft", "FFTW"), ("+lapack", "LAPACK"), ("+mpi", "MPI_FLAGS")):
            if variant not in self.spec:
                settings.append(name + "=")
        return settings

    def build(self, spec, prefix):
        make(*self.flags(), "all", "lib")

    def install(self, spec, prefix):
        make(*self.flags(), "PREFIX=" + prefix, "install")

    @run_after("install")
    @on_package_attributes(run_tests=True)
    def check_installed(self):
        Executable(self.prefix.bin.minimd)("--cells", "4", "--steps", "10")
