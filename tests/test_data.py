"""Data sets: parsers on synthetic bytes, and every way a file can be missing or wrong."""

import gzip
import hashlib
import http.server
import io
import socket
import threading
import zipfile

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

from helpers.refusals import refusals
from runproofs import data
from runproofs.data import DataError, _parse_dat, _parse_idx, _parse_ratings, _Source

LINES = "196\t242\t3\t881250949\n186\t302\t5\t891717742\n"


@pytest.fixture(autouse=True)
def only_this_machine(monkeypatch, tmp_path):
    """No test reaches the network, the reader's cache or the reader's data."""
    resolve = socket.getaddrinfo

    def local(host, *rest, **options):
        if host != "127.0.0.1":
            raise socket.gaierror(f"a test tried to reach {host}")
        return resolve(host, *rest, **options)

    monkeypatch.setattr(socket, "getaddrinfo", local)
    monkeypatch.setattr(data, "CACHE", tmp_path / "cache")
    monkeypatch.delenv("HEURISTICS_DATA", raising=False)


def idx(array):
    """The IDX file of an array of bytes, written from the format's description."""
    header = bytes([0, 0, 8, array.ndim]) + b"".join(n.to_bytes(4, "big") for n in array.shape)
    return header + array.tobytes()


def source(payload, path="set/file.gz", url="http://127.0.0.1:9/file.gz", served=b"", member=""):
    md5 = hashlib.md5(served).hexdigest()
    return _Source(path, url, md5, hashlib.sha256(payload).hexdigest(), member)


def zip_of(members):
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as file:
        for name, content in members.items():
            file.writestr(name, content)
    return archive.getvalue()


def place(folder, path, content):
    target = folder / path
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_bytes(content)


# Parsers -----------------------------------------------------------------------------------------


@settings(max_examples=30)
@given(arrays(np.uint8, array_shapes(min_dims=1, max_dims=4, min_side=0, max_side=5)))
def test_idx_round_trip(array):
    parsed = _parse_idx(idx(array), "file")
    assert parsed.shape == array.shape
    assert parsed.dtype == np.uint8
    np.testing.assert_array_equal(parsed, array)


@pytest.mark.parametrize(
    ("payload", "sentence"),
    [
        (b"", "is no IDX file of unsigned bytes: its magic number is 0x, not"),
        (b"\x00\x00\x0d\x01\x00\x00\x00\x01\x00", "its magic number is 0x00000d01"),
        (b"\x00\x00\x08\x00", "its magic number is 0x00000800"),
        (b"\x00\x00\x08\x05" + bytes(20), "its magic number is 0x00000805"),
        (b"\x00\x00\x08\x03\x00\x00\x00\x02", "ends within the header: 3 axes need 16 bytes"),
        (idx(np.zeros((2, 3), np.uint8))[:-1], "holds 5 bytes of data, but its header announces"),
        (idx(np.zeros((2, 3), np.uint8)) + b"x", "holds 7 bytes of data"),
    ],
)
def test_idx_refuses(payload, sentence):
    with pytest.raises(DataError, match=rf"^train-images .*{sentence}"):
        _parse_idx(payload, "train-images")


rating_rows = st.tuples(
    st.integers(1, 10**6), st.integers(1, 10**6), st.integers(1, 5), st.integers(0, 2**40)
)


@settings(max_examples=30)
@given(st.lists(rating_rows, min_size=1, max_size=20))
def test_ratings_round_trip(rows):
    text = "".join("\t".join(map(str, row)) + "\n" for row in rows)
    ratings = _parse_ratings(text, "u.data")
    assert all(column.dtype == np.int64 for column in ratings)
    assert list(zip(*(column.tolist() for column in ratings), strict=True)) == rows


@pytest.mark.parametrize(
    "line",
    [
        "1\t2\t3",  # a column is missing
        "1\t2\t3\t4\t5",
        "1 2 3 4",
        "1\t2\t6\t4",  # no such rating
        "1\t2\t0\t4",
        "0\t2\t3\t4",  # users count from 1
        "1\t-2\t3\t4",
        "1\t2\t3.5\t4",
        "1\t2\t3\t" + "9" * 19,  # does not fit 64 bits
        "",
    ],
)
def test_ratings_refuse_a_line(line):
    with pytest.raises(DataError, match=r"^u\.data, line 3 must be four integers") as refusal:
        _parse_ratings(LINES + line + "\n" + LINES, "u.data")
    assert str(refusal.value).endswith(f"but it is {line!r}.")


def dat(rows):
    return "".join("::".join(map(str, row)) + "\n" for row in rows).encode()


ids = st.integers(1, 10**15 - 1)
whole_rows = st.lists(st.tuples(ids, ids, st.integers(1, 5), ids), min_size=1, max_size=20)
half_stars = st.sampled_from(["0.5", "1", "1.5", "2", "2.0", "2.5", "3", "3.5", "4", "4.5", "5"])
half_rows = st.lists(st.tuples(ids, ids, half_stars, ids), min_size=1, max_size=20)


@settings(max_examples=30)
@given(whole_rows, half_rows)
def test_dat_round_trip(whole, half):
    for rows, is_whole in ((whole, True), (half, False)):
        ratings = _parse_dat(dat(rows), "ratings.dat", whole=is_whole)
        expected = [(user, item, float(stars), time) for user, item, stars, time in rows]
        assert list(zip(*(column.tolist() for column in ratings), strict=True)) == expected
        kinds = ["i", "i", "i" if is_whole else "f", "i"]
        assert [column.dtype.kind for column in ratings] == kinds


def test_dat_ends_with_or_without_a_new_line():
    lines = b"1::1193::5::978300760\r\n1::661::3::978302109"
    for text in (lines, lines + b"\n"):
        assert _parse_dat(text, "ratings.dat", whole=True).item.tolist() == [1193, 661]


@pytest.mark.parametrize(
    "line",
    [
        "1::2::3",  # a column is missing
        "1::2::3::4::5",
        "1:2:3:4",
        "1::2::6::4",  # no such rating
        "1::2::0::4",
        "1::2::5.5::4",
        "1::2::3.7::4",
        "0::2::3::4",  # users count from 1
        "1::2::3::4 ",
        "1::2::3::" + "9" * 16,  # a float64 could not hold it
        "",
    ],
)
@pytest.mark.parametrize("whole", [True, False])
def test_dat_refuses_a_line(line, whole):
    good = dat([(1, 1193, 5, 978300760), (1, 661, 3, 978302109)])
    sentence = r"^ratings\.dat, line 3 must be user, item, rating and timestamp, separated by ::"
    with pytest.raises(DataError, match=sentence) as refusal:
        _parse_dat(good + line.encode() + b"\n" + good, "ratings.dat", whole=whole)
    assert str(refusal.value).endswith(f"but it is {line!r}.")


def test_half_stars_among_whole_ones_and_empty_files_are_refused():
    with pytest.raises(DataError, match=r"line 1 .* with 1 to 5 stars, but it is '1::2::3\.5::4'"):
        _parse_dat(b"1::2::3.5::4\n", "ratings.dat", whole=True)
    with pytest.raises(DataError, match=r"^ratings\.dat holds no rating\.$"):
        _parse_dat(b"", "ratings.dat", whole=False)
    with pytest.raises(DataError, match=r"^u\.data holds no rating\.$"):
        _parse_ratings("", "u.data")


# The data sets -----------------------------------------------------------------------------------


def test_digits():
    pixels, labels = data.digits()
    assert pixels.shape == (1797, 64)
    assert pixels.dtype == np.float64
    assert (pixels.min(), pixels.max()) == (0, 1)
    assert labels.dtype == np.int64
    assert set(labels.tolist()) == set(range(10))


@pytest.fixture
def small_mnist(monkeypatch, tmp_path):
    """Two splits of made-up images under HEURISTICS_DATA, with their own hashes."""
    rng = np.random.default_rng(0)
    made = {}
    for split, n in (("train", 5), ("test", 3)):
        images = rng.integers(0, 256, (n, 28, 28), dtype=np.uint8)
        labels = rng.integers(0, 10, n, dtype=np.uint8)
        sources = []
        for known, array in zip(data.MNIST[split], (images, labels), strict=True):
            place(tmp_path, known.path, gzip.compress(idx(array)))
            sources.append(source(idx(array), known.path))
        monkeypatch.setitem(data.MNIST, split, tuple(sources))
        made[split] = images, labels
    monkeypatch.setenv("HEURISTICS_DATA", str(tmp_path))
    return made


@pytest.mark.parametrize("split", ["train", "test"])
def test_mnist_scales_to_the_unit_interval(small_mnist, split):
    images, labels = small_mnist[split]
    loaded = data.mnist(split)
    assert loaded.pixels.dtype == np.float32
    assert loaded.labels.dtype == np.int64
    np.testing.assert_allclose(loaded.pixels, images / 255, rtol=1e-6)
    np.testing.assert_array_equal(loaded.labels, labels)
    loaded.pixels[0] = 0  # the arrays are the reader's own


test_unknown_names_are_refused = refusals(
    (lambda: data.mnist("validation"), "split must be train or test"),
    (lambda: data.movielens("20m"), "size must be 100k, 1m or 10m"),
)


def test_movielens_reads_plain_text(monkeypatch, tmp_path):
    place(tmp_path, "ml-100k/u.data", LINES.encode())
    monkeypatch.setattr(data, "MOVIELENS_100K", source(LINES.encode(), "ml-100k/u.data"))
    monkeypatch.setenv("HEURISTICS_DATA", str(tmp_path))
    ratings = data.movielens("100k")
    assert ratings.user.tolist() == [196, 186]
    assert ratings.rating.tolist() == [3, 5]


@pytest.fixture
def zipped(monkeypatch, tmp_path):
    """Makes the archives of MovieLens 1M and 10M under HEURISTICS_DATA, of the rows given."""
    monkeypatch.setenv("HEURISTICS_DATA", str(tmp_path))

    def place_zip(name, content):
        known, member = data.MOVIELENS[name]
        archive = zip_of({member: content})
        place(tmp_path, known.path, archive)
        made = source(archive, known.path)
        monkeypatch.setitem(data.MOVIELENS, name, (made, member))
        return tmp_path / known.path

    return place_zip


def test_movielens_reads_the_zipped_archives(zipped):
    zipped("1m", dat([(1, 1193, 5, 978300760), (6040, 661, 3, 978302109)]))
    zipped("10m", dat([(1, 122, 5, 838985046), (71567, 65133, "3.5", 838983525)]))
    assert data.movielens("1m").rating.tolist() == [5, 3]
    assert data.movielens("1m").rating.dtype == np.int64
    assert data.movielens("10m").rating.tolist() == [5, 3.5]
    assert data.movielens("10m").user.tolist() == [1, 71567]


def test_movielens_refuses_another_archive(zipped):
    path = zipped("10m", dat([(1, 122, 5, 838985046)]))
    path.write_bytes(path.read_bytes()[:-1])
    with pytest.raises(DataError, match=r"ml-10m\.zip is not the known ml-10m\.zip: the SHA-256"):
        data.movielens("10m")


# Files that are missing or wrong -----------------------------------------------------------------


@pytest.mark.parametrize(
    ("load", "file"),
    [
        (lambda: data.mnist("test"), "mnist/t10k-images-idx3-ubyte.gz"),
        (lambda: data.movielens("100k"), "ml-100k/u.data"),
        (lambda: data.movielens("10m"), "ml-10m.zip"),
    ],
)
def test_a_missing_file_names_the_way_out(monkeypatch, tmp_path, load, file):
    monkeypatch.setenv("HEURISTICS_DATA", str(tmp_path))
    with pytest.raises(DataError) as refusal:
        load()
    for part in ("HEURISTICS_DATA", file, "data.digits()"):
        assert part in str(refusal.value)


PAYLOAD = idx(np.arange(100, dtype=np.uint8))


def read_placed(monkeypatch, tmp_path, content):
    place(tmp_path, "set/file.gz", content)
    monkeypatch.setenv("HEURISTICS_DATA", str(tmp_path))
    return data._read(source(PAYLOAD))


def test_a_recompressed_file_is_fine(monkeypatch, tmp_path):
    for level in (0, 9):
        content = gzip.compress(PAYLOAD, compresslevel=level)
        assert read_placed(monkeypatch, tmp_path, content) == PAYLOAD


@pytest.mark.parametrize(
    "content",
    [*(gzip.compress(PAYLOAD)[:n] for n in (0, 30, -1)), PAYLOAD],
    ids=["empty", "cut", "cut by one", "no gzip"],  # the bytes hold the second of their making
)
def test_what_is_truncated_or_no_gzip_is_refused(monkeypatch, tmp_path, content):
    with pytest.raises(DataError, match=r"file\.gz (cannot be read: |is not the|is empty)"):
        read_placed(monkeypatch, tmp_path, content)


def test_a_wrong_hash_is_refused(monkeypatch, tmp_path):
    other = PAYLOAD[:-1] + b"\x00"
    with pytest.raises(DataError, match=r"not the known set/file\.gz") as refusal:
        read_placed(monkeypatch, tmp_path, gzip.compress(other))
    assert hashlib.sha256(other).hexdigest() in str(refusal.value)


# Downloads, from a server on this machine --------------------------------------------------------


@pytest.fixture
def served():
    """A dict of contents by path, and the address they are served at."""
    contents, asked = {}, []

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            asked.append(self.path)
            self.send_response(200 if self.path in contents else 404)
            self.end_headers()
            self.wfile.write(contents.get(self.path, b""))

        def log_message(self, *_):
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        yield contents, asked, f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


@pytest.mark.parametrize("broken", [False, True])
def test_a_download_is_cached_and_a_broken_file_in_the_cache_replaced(served, broken):
    contents, asked, address = served
    contents["/file.gz"] = gzip.compress(PAYLOAD)
    wanted = source(PAYLOAD, url=f"{address}/file.gz", served=contents["/file.gz"])
    if broken:
        place(data.CACHE, "file.gz", contents["/file.gz"][:20])
    assert data._read(wanted) == PAYLOAD
    assert data._read(wanted) == PAYLOAD
    assert asked == ["/file.gz"]


def test_a_member_of_a_downloaded_archive(served):
    contents, _, address = served
    archive = contents["/ml.zip"] = zip_of({"ml-100k/README": "other", "ml-100k/u.data": LINES})
    name, url = "ml-100k/u.data", f"{address}/ml.zip"
    wanted = source(LINES.encode(), name, url, archive, member=name)
    assert data._read(wanted) == LINES.encode()
    with pytest.raises(DataError, match=r"ml\.zip cannot be read: .*no item named 'u\.item'"):
        data._read(wanted._replace(member="u.item"))


@pytest.mark.parametrize("path", ["/file.gz", "/gone.gz"])  # not the known bytes; not there
def test_a_failed_download_names_the_way_out(served, path):
    contents, _, address = served
    contents["/file.gz"] = b"something else"
    with pytest.raises(DataError, match="could not be downloaded from") as refusal:
        data._read(source(PAYLOAD, url=address + path))
    for part in (address + path, "HEURISTICS_DATA", "set/file.gz", "data.digits()"):
        assert part in str(refusal.value)


def test_an_unwritable_cache_is_named(monkeypatch, tmp_path, served):
    _, asked, address = served
    place(tmp_path, "occupied", b"a file where the cache should be")
    monkeypatch.setattr(data, "CACHE", tmp_path / "occupied" / "cache")
    with pytest.raises(DataError, match=r"into the cache .*occupied/cache .*Not a directory"):
        data._read(source(PAYLOAD, url=f"{address}/file.gz"))
    assert asked == []
