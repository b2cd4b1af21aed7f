"""Triton's cache under Weft: damaged entries, directories that cannot be written, many processes."""

import base64
import errno
import hashlib
import importlib.metadata
import importlib.util
import multiprocessing
import os
import shutil
import signal
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

triton = pytest.importorskip("triton")

from test_processes import by_weft, compiled, python
from triton.runtime import cache as triton_cache

import weft.triton


@pytest.fixture
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("TRITON_CACHE_DIR", str(tmp_path / "cache"))
    # What a test sets aside is not for those behind it.
    monkeypatch.setattr(weft.triton._cache, "_aside", None)
    with weft.triton.enabled():
        yield tmp_path / "cache"


def last():
    return weft.triton.status().kernels[-1]


def truncated(file):
    file.write_bytes(file.read_bytes()[: file.stat().st_size // 2])


def altered(file):
    content = bytearray(file.read_bytes())
    content[len(content) // 2] ^= 1
    file.write_bytes(content)


def emptied(file):
    file.write_bytes(b"")


def removed(file):
    file.unlink()


def unreadable(file):
    # Nobody reads the bytes of a directory, whatever they may.
    file.unlink()
    file.symlink_to(file.parent)


def with_other_bytes(file):
    file.write_bytes(b"\xff\xfe\x00[]")


FILES = [
    "double.cubin",
    "double.ptx",
    "double.ttir",
    "double.source",
    "double.json",
    "double.json.sha256",
    "__grp__double.json",
]


@pytest.mark.small
@pytest.mark.parametrize("damage", [truncated, altered, emptied, removed, unreadable, with_other_bytes])
@pytest.mark.parametrize("name", FILES)
def test_what_is_damaged_is_made_again(cache, name, damage):
    whole = compiled()
    assert not last().cached and compiled().asm == whole.asm and last().cached
    (file,) = cache.glob(f"*/{name}")
    damage(file)
    again = compiled()
    assert again.asm == whole.asm
    assert again.metadata == whole.metadata
    if name != "__grp__double.json" or damage is not altered:
        assert not last().cached
    assert compiled().asm == whole.asm and last().cached


@pytest.mark.parametrize("content", ["[]", "{}", "null", '{"child_paths": 3}', '{"child_paths": {"double.json": 3}}'])
def test_a_group_of_another_shape_is_made_again(cache, content):
    whole = compiled()
    (file,) = cache.glob("*/__grp__double.json")
    file.write_text(content)
    assert compiled().asm == whole.asm and not last().cached


def test_an_entry_of_another_kernel_is_not_taken(cache):
    small, large = compiled(32), compiled(1024)
    for one, other in zip(
        *(sorted(Path(path) for path in k.metadata_group.values()) for k in (small, large)), strict=True
    ):
        shutil.copy(one, other)
    assert compiled(1024).asm == large.asm and not last().cached


@pytest.mark.small
def test_a_cache_that_cannot_be_written_is_done_without(cache, monkeypatch, caplog):
    # A file where the directory should be, which root cannot write to either.
    cache.write_text("")
    kernel = compiled()
    assert by_weft(kernel) and not last().cached
    assert compiled().asm == kernel.asm and last().cached
    assert caplog.text.count("cannot be written") <= 1


@pytest.fixture
def stop_writing(cache, monkeypatch):
    """Lets some files go to the cache yet, and no more until the test ends."""

    def stop(error, after=0):
        left = iter(range(after))

        def replace(source, to):
            if str(to).startswith(str(cache)) and next(left, None) is None:
                raise error
            own(source, to)

        monkeypatch.setattr(triton_cache.os, "replace", replace)

    own = os.replace
    return stop


@pytest.mark.parametrize("files", range(7))
def test_a_disk_that_fills_up_is_done_without(cache, stop_writing, files):
    stop_writing(OSError(errno.ENOSPC, "No space left on device"), after=files)
    kernel = compiled()
    assert by_weft(kernel) and kernel.asm["cubin"][:4] == b"\x7fELF"
    assert compiled().asm == kernel.asm and last().cached


def test_what_a_read_only_cache_holds_is_used(cache, stop_writing):
    whole = compiled()
    stop_writing(PermissionError(errno.EACCES, "Permission denied"))
    assert compiled().asm == whole.asm and last().cached
    assert compiled(2048).asm["cubin"][:4] == b"\x7fELF" and not last().cached


def in_file_system(folder, options, program, **environment):
    """Runs a program in a process for which a folder is a file system of its own, mounted with these options."""
    environment = {name: value for name, value in os.environ.items() if name != "TRITON_CACHE_DIR"} | environment
    here = f"import sys\nsys.path.insert(0, {str(Path(__file__).parent)!r})\n"
    mount = 'mount -t tmpfs -o "$1" tmpfs "$2" && shift 2 && exec "$@"'
    # A temporary directory elsewhere: what is set aside must have its place.
    apart = ["unshare", "--user", "--map-root-user", "--mount", "sh", "-c", mount, "sh", options, str(folder)]
    run = [*apart, sys.executable, "-c", here + textwrap.dedent(program)]
    return subprocess.run(run, env=environment, capture_output=True, text=True, timeout=300)


@pytest.fixture(scope="module")
def may_mount(tmp_path_factory):
    run = in_file_system(tmp_path_factory.mktemp("mount"), "size=64k", "print('mounted')")
    if run.stdout.strip() != "mounted":
        pytest.skip(f"no file system can be mounted here: {run.stderr}")


def test_a_disk_that_is_full_is_done_without(may_mount, tmp_path):
    program = """
        import os, test_processes as t, weft.triton
        blocks = [2 ** power for power in range(4, 10)]
        kernels = [t.compiled(block) for block in blocks]
        assert all(t.by_weft(kernel) and kernel.asm["cubin"][:4] == b"\\x7fELF" for kernel in kernels)
        assert [t.compiled(block).asm for block in blocks] == [kernel.asm for kernel in kernels]
        print(*(kernel.cached for kernel in weft.triton.status().kernels))
    """
    # Room for one kernel, and not for six.
    run = in_file_system(tmp_path, "size=64k", program, TRITON_CACHE_DIR=str(tmp_path), WEFT_TRITON="1")
    assert run.stdout.split() == ["False"] * 6 + ["True"] * 6, run.stderr
    assert run.stderr.count("cannot be written") == 1 and "No space left" in run.stderr


def test_a_home_that_is_read_only_is_done_without(may_mount, tmp_path):
    program = """
        import test_processes as t, weft.triton
        kernel = t.compiled()
        assert t.by_weft(kernel) and t.compiled().asm == kernel.asm
        print(*(kernel.cached for kernel in weft.triton.status().kernels))
    """
    run = in_file_system(tmp_path, "ro", program, HOME=str(tmp_path), TRITON_HOME=str(tmp_path), WEFT_TRITON="1")
    assert run.stdout.split() == ["False", "True"], run.stderr
    assert run.stderr.count("cannot be written") == 1 and "Read-only" in run.stderr


@pytest.mark.parametrize("files", range(7))
def test_a_process_that_is_killed_leaves_nothing_half_done(cache, files):
    def dies():
        left = iter(range(files))
        own = os.replace

        def replace(source, to):
            if next(left, None) is None:
                os.kill(os.getpid(), signal.SIGKILL)
            own(source, to)

        triton_cache.os.replace = replace
        compiled()

    process = multiprocessing.get_context("fork").Process(target=dies)
    process.start()
    process.join()
    # The fifth file is the last of the kernel's own; then come the digests and the group.
    assert process.exitcode == -signal.SIGKILL
    kernel = compiled()
    assert not last().cached
    assert compiled().asm == kernel.asm and last().cached


@pytest.mark.small
def test_many_processes_share_one_cache(tmp_path):
    program = """
        import hashlib, multiprocessing, random
        import weft.triton, test_processes as t
        blocks = [2 ** power for power in range(4, 8)]
        context = multiprocessing.get_context("fork")
        barrier, answers = context.Barrier(32), context.Queue()

        def work(seed):
            random.Random(seed).shuffle(blocks)
            barrier.wait()
            answers.put(tuple(sorted(hashlib.sha256(t.compiled(block).asm["cubin"]).hexdigest() for block in blocks)))

        workers = [context.Process(target=work, args=(seed,)) for seed in range(32)]
        for worker in workers:
            worker.start()
        print(*{digest for _ in workers for digest in answers.get()})
        for worker in workers:
            worker.join()
        for block in blocks:
            t.compiled(block)
        print(*(kernel.cached for kernel in weft.triton.status().kernels))
    """
    run = python(program, tmp_path, WEFT_TRITON="1")
    digests, cached = run.stdout.splitlines()
    assert len(digests.split()) == 4, run.stderr
    assert cached.split() == ["True"] * 4


def test_versions_stand_side_by_side(cache, monkeypatch):
    from weft.triton import _compiler

    ours = compiled()
    with monkeypatch.context() as patch:
        patch.setattr(_compiler, "identity", lambda: "weft-9.9.9-0123456789abcdef")
        with weft.triton.enabled():
            other = compiled()
            assert not last().cached and other.metadata.weft_compiler.startswith("weft-9.9.9")
    with weft.triton.enabled():
        assert compiled().hash == ours.hash != other.hash and last().cached


def test_the_installer_knows_what_tritons_library_hashes_to():
    from weft.triton import _key

    (library,) = (_key.ROOT / "_C").glob("libtriton.*")
    with library.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").digest()
    assert _key.recorded() in (None, "sha256=" + base64.urlsafe_b64encode(digest).decode().rstrip("="))


@pytest.fixture
def installed_triton(tmp_path, monkeypatch):
    """A Triton of a few bytes, as an installer leaves it."""
    from weft.triton import _key

    for folder in ("_C", "backends", "compiler", "language/extra", "runtime"):
        (tmp_path / "triton" / folder).mkdir(parents=True)
        (tmp_path / "triton" / folder / "file.py").write_text(folder)
    library, described = tmp_path / "triton/_C/libtriton.so", tmp_path / "triton-9.9.9.dist-info"
    library.write_bytes(b"library")
    described.mkdir()
    (described / "METADATA").write_text("Name: triton\nVersion: 9.9.9\n")
    (described / "RECORD").write_text("triton/_C/libtriton.so,sha256=abc,7\ntriton-9.9.9.dist-info/RECORD,,\n")
    found = importlib.metadata.PathDistribution(described)
    monkeypatch.setattr(importlib.metadata, "distribution", lambda name: found)
    monkeypatch.setattr(_key, "ROOT", tmp_path / "triton")
    key = _key.key.__wrapped__
    assert key() == key() and len(key().split("-")[-1]) == 64
    return tmp_path, key


@pytest.mark.parametrize("file", ["backends/file.py", "language/extra/file.py", "runtime/new.py"])
def test_another_source_of_tritons_is_another_key(installed_triton, file):
    folder, key = installed_triton
    before = key()
    (folder / "triton" / file).write_text("x")
    assert key() != before


def test_a_library_that_is_not_the_installers_is_read(installed_triton):
    folder, key = installed_triton
    library, record = folder / "triton/_C/libtriton.so", folder / "triton-9.9.9.dist-info/RECORD"
    later = record.stat().st_mtime_ns + 1
    os.utime(library, ns=(later, later))
    assert key() is None
    os.utime(library, ns=(0, 0))
    assert key() is not None
    library.write_bytes(b"longer than that")
    os.utime(library, ns=(0, 0))
    assert key() is None
    library.unlink()
    assert key() is None
    record.unlink()
    assert key() is None


def another_version(version, folder):
    """A folder to import this package from as if it were of another version."""
    installed = importlib.metadata.distribution("weft")
    for module in ("weft", "weft_startup"):
        origin = Path(importlib.util.find_spec(module).origin).parent
        shutil.copytree(origin, folder / module, ignore=shutil.ignore_patterns("__pycache__"))
    described = folder / f"weft-{version}.dist-info"
    described.mkdir()
    for name in ("METADATA", "RECORD"):
        text = installed.read_text(name).replace(f"Version: {installed.version}", f"Version: {version}")
        (described / name).write_text(text)
    return folder


def test_processes_of_two_versions_share_one_cache_at_once(tmp_path):
    program = """
        import sys, test_processes as t, weft.triton
        sys.stdin.read()
        kernels = [t.compiled(2 ** power) for power in range(4, 8)]
        print(*(kernel.metadata.weft_compiler.split("-")[1] for kernel in kernels))
        print(*(kernel.hash for kernel in kernels))
        print(*(kernel.cached for kernel in weft.triton.status().kernels))
    """
    here = f"import sys\nsys.path.insert(1, {str(Path(__file__).parent)!r})\n"
    command = [sys.executable, "-c", here + textwrap.dedent(program)]
    versions = {version: another_version(version, tmp_path / version) for version in ("9.9.1", "9.9.2")}

    def begun(version):
        environment = os.environ | {
            "PYTHONPATH": str(versions[version]),
            "TRITON_CACHE_DIR": str(tmp_path / "cache"),
            "WEFT_TRITON": "1",
        }
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        return version, subprocess.Popen(command, env=environment, text=True, **pipes)

    def told(processes):
        """What each process says once all may go on."""
        for _, process in processes:
            process.stdin.close()
            process.stdin = None
        for version, process in processes:
            out, error = process.communicate(timeout=300)
            compilers, hashes, cached = out.splitlines() or pytest.fail(error)
            assert compilers.split() == [version] * 4
            yield version, hashes, cached.split()

    together = list(told([begun(version) for _ in range(4) for version in versions]))
    hashes = {version: {found for name, found, _ in together if name == version} for version in versions}
    # One key for each kernel and version, and none for both.
    assert [len(found) for found in hashes.values()] == [1, 1]
    assert not hashes["9.9.1"] & hashes["9.9.2"]
    for version, found, cached in told([begun(version) for version in versions]):
        assert {found} == hashes[version] and cached == ["True"] * 4
