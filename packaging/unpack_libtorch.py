"""Unpacks what a program linked to LibTorch's CPU libraries needs from the wheels in a folder.

unpack_libtorch.py WHEELS TREE: TREE gets torch/{include,lib}, nvidia/cu13/lib and `.unpacked`, a list of
"size path" of the libraries, by which a later run notices a broken folder. The CUDA and Python libraries stay out.
"""
import pathlib
import re
import sys
import zipfile

WANTED = re.compile(r"torch/include/|torch/lib/lib(torch_cpu|c10|c10_cuda|gomp|shm|torch_global_deps)[^/]*\.so|nvidia/cu13/lib/[^/]+\.so|[^/]+\.dist-info/(LICENSE|licenses/)")

wheels, tree = map(pathlib.Path, sys.argv[1:])
tree.mkdir(parents=True)
libraries = []
for wheel in sorted(wheels.glob("*.whl")):
    with zipfile.ZipFile(wheel) as archive:  # Each member's CRC is checked on the way.
        for member in archive.infolist():
            if not WANTED.match(member.filename):
                continue
            archive.extract(member, tree)
            if ".so" in member.filename:
                libraries.append(f"{member.file_size} {member.filename}\n")
if len(libraries) < 5:
    sys.exit("the wheels do not hold the libraries that were expected")
(tree / ".unpacked").write_text("".join(libraries))
