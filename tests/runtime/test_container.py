"""The bytes of a model file: what is written where, and that every change of them is noticed."""

import json
import struct
import zlib

import numpy as np
import pytest
from grids import in_one_test
from runtime.crafted import file_of

from nearlinear.runtime.container import MAGIC, ModelFileError, from_bytes, read, to_bytes

HEADER = {"name": "größe", "values": [1, 2.5, None, True]}
ARRAYS = [np.arange(6.0).reshape(2, 3), np.array([True, False]), np.zeros((0, 4), np.float32)]


@pytest.fixture
def data():
    return to_bytes(HEADER, ARRAYS)


def packed(text, *, version=1, checksum=None, length=None, body=b""):
    """A file around the bytes of any header."""
    checksum = zlib.crc32(struct.pack("<I", version) + text) if checksum is None else checksum
    length = len(text) if length is None else length
    return MAGIC + struct.pack("<IIQ", version, checksum, length) + text + body


def with_entry(**changes):
    """A file of one array of three doubles whose description is changed; its bytes stay."""
    values = np.arange(3.0).tobytes()
    for offset in range(64, 512, 64):  # the header's own length decides
        entry = {"dtype": "<f8", "shape": [3], "offset": offset, "crc32": zlib.crc32(values)}
        text = json.dumps({"arrays": [entry | changes]}).encode()
        if 0 <= offset - 24 - len(text) < 64:
            return packed(text, body=bytes(offset - 24 - len(text)) + values)
    raise AssertionError("no offset fits")


# --- what is written ----------------------------------------------------------------------------


def test_the_first_bytes_are_those_of_the_page(data):
    version, checksum, length = struct.unpack_from("<IIQ", data, 8)
    text = data[24 : 24 + length]
    assert data[:8] == bytes([0x89, 0x4E, 0x4C, 0x4D, 0x0D, 0x0A, 0x1A, 0x0A])
    assert (version, checksum) == (1, zlib.crc32(data[8:12] + text))
    header = json.loads(text.decode("utf-8"))
    assert {name: header[name] for name in HEADER} == HEADER


def test_arrays_stand_where_the_header_says_with_zeros_between(data):
    length = struct.unpack_from("<Q", data, 16)[0]
    at = 24 + length
    for entry, array in zip(json.loads(data[24:at])["arrays"], ARRAYS, strict=True):
        assert entry["offset"] % 64 == 0
        assert 0 <= entry["offset"] - at < 64
        assert not any(data[at : entry["offset"]])
        at = entry["offset"] + array.nbytes
        stored = data[entry["offset"] : at]
        assert stored == array.tobytes()
        assert entry["crc32"] == zlib.crc32(stored)
        assert entry["shape"] == list(array.shape)
        assert entry["dtype"] == array.dtype.str
    assert at == len(data)


def test_what_was_written_is_read(data):
    header, arrays = from_bytes(data)
    assert header == HEADER
    for found, array in zip(arrays, ARRAYS, strict=True):
        np.testing.assert_array_equal(found, array, strict=True)


@in_one_test("dtype", ["<f4", "<f8", "<i4", "<i8", "|i1", "|u1", "|b1"])
@pytest.mark.parametrize("shape", [(), (0,), (3,), (2, 3), (2, 0, 2), (1, 2, 3, 4)])
def test_every_type_and_shape_comes_back(dtype, shape):
    array = np.arange(np.prod(shape, dtype=int)).reshape(shape).astype(dtype)
    found = from_bytes(to_bytes({}, [array]))[1][0]
    np.testing.assert_array_equal(found, array, strict=True)
    assert found.flags.c_contiguous and found.flags.writeable


@pytest.mark.parametrize("dtype", [">f8", ">i4", ">f4"])
def test_numbers_of_another_byte_order_are_turned(dtype):
    array = np.array([1.0, -2.0, 300.0]).astype(dtype)
    found = from_bytes(to_bytes({}, [array]))[1][0]
    assert found.dtype == np.dtype(dtype).newbyteorder("=")
    assert found.tolist() == [1.0, -2.0, 300.0]


def test_arrays_in_any_memory_order_are_stored_row_by_row():
    array = np.arange(24.0).reshape(4, 6)
    for view in (array.T, np.asfortranarray(array), array[::2, ::-3]):
        np.testing.assert_array_equal(from_bytes(to_bytes({}, [view]))[1][0], view)


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf, -0.0, 5e-324, 1.7976931348623157e308])
def test_arrays_keep_every_bit(value):
    found = from_bytes(to_bytes({}, [np.array([value])]))[1][0]
    assert found.tobytes() == np.array([value]).tobytes()


@pytest.mark.parametrize("value", [0.1, 5e-324, 1.7976931348623157e308, -0.0, 1 / 3])
def test_numbers_of_the_header_keep_every_bit(value):
    found = from_bytes(to_bytes({"value": value}, []))[0]["value"]
    assert struct.pack("<d", found) == struct.pack("<d", value)


def test_the_same_content_gives_the_same_bytes():
    swapped = dict(reversed(HEADER.items()))
    assert to_bytes(HEADER, ARRAYS) == to_bytes(swapped, [array.copy() for array in ARRAYS])


@in_one_test("n_arrays", [0, 1, 9, 10, 11, 99, 100, 101])
def test_offsets_fit_whatever_their_digits(n_arrays):
    arrays = [np.full(k % 7, float(k)) for k in range(n_arrays)]
    found = from_bytes(to_bytes({}, arrays))[1]
    assert [array.tolist() for array in found] == [array.tolist() for array in arrays]


@in_one_test("padding", range(130))
def test_headers_of_every_length_are_read(padding):
    header = {"words": "x" * padding}
    found, arrays = from_bytes(to_bytes(header, ARRAYS))
    assert found == header
    np.testing.assert_array_equal(arrays[0], ARRAYS[0])


@in_one_test(
    "array", [np.array(["a"]), np.array([None]), np.array([1j]), np.array(["2020"], "M8[D]")]
)
def test_arrays_of_other_types_are_not_written(array):
    with pytest.raises(TypeError, match="has no place in a model file"):
        to_bytes({}, [array])


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_numbers_that_json_does_not_have_are_not_written(value):
    with pytest.raises(ValueError, match="JSON"):
        to_bytes({"value": value}, [])


# --- damage -------------------------------------------------------------------------------------


def test_every_flipped_bit_is_noticed(data):
    for place in range(8 * len(data)):
        damaged = bytearray(data)
        damaged[place // 8] ^= 1 << place % 8
        with pytest.raises(ModelFileError):
            from_bytes(bytes(damaged))


def test_a_file_cut_at_any_length_is_refused(data):
    for length in range(len(data)):
        with pytest.raises(ModelFileError):
            from_bytes(data[:length])


def test_a_byte_lost_or_added_anywhere_is_noticed(data):
    for place in range(len(data)):
        with pytest.raises(ModelFileError):
            from_bytes(data[:place] + data[place + 1 :])
        with pytest.raises(ModelFileError):
            from_bytes(data[:place] + b"\x00" + data[place:])


@in_one_test("more", [b"\x00", bytes(64), b"more", MAGIC])
def test_bytes_after_the_end_are_refused(data, more):
    with pytest.raises(ModelFileError, match=f"{len(more)} bytes more"):
        from_bytes(data + more)


@in_one_test(
    "transfer",
    {
        "line ends to LF": lambda data: data.replace(b"\r\n", b"\n"),
        "line ends to CRLF": lambda data: data.replace(b"\n", b"\r\n"),
        "line ends to CR": lambda data: data.replace(b"\n", b"\r"),
        "seven bits": lambda data: bytes(byte & 127 for byte in data),
        "until the end-of-file mark": lambda data: data[: data.index(b"\x1a")],
        "Latin-1 to UTF-8": lambda data: data.decode("latin-1").encode("utf-8"),
        "UTF-8 with replacements": lambda data: data.decode("utf-8", "replace").encode("utf-8"),
        "byte order mark": lambda data: b"\xef\xbb\xbf" + data,
    }.items(),
)
def test_a_transfer_as_text_is_noticed_at_the_first_bytes(data, transfer):
    with pytest.raises(ModelFileError, match="is no model file"):
        from_bytes(transfer[1](data))


@in_one_test("content", [b"", b"\x89", MAGIC[:-1], b"PK\x03\x04" * 20, b"{}", bytes(99)])
def test_other_files_are_told_apart(content):
    with pytest.raises(ModelFileError, match=r"^x\.nlm is no model file"):
        from_bytes(content, "x.nlm")


def test_files_have_format_version_1():
    assert to_bytes({}, [])[8] == 1


@in_one_test("version", [0, 2, 4, 2**16, 2**32 - 1])
def test_other_versions_are_refused_in_one_sentence_before_the_header_is_read(version):
    sentence = (
        rf"^x\.nlm has format version {version}, but this release of nearlinear reads version 1: "
        r"use the release that wrote the file, or save the model again\.$"
    )
    with pytest.raises(ModelFileError, match=sentence):
        from_bytes(packed(b"not even JSON", version=version, checksum=0), "x.nlm")


# --- headers that lie, with the right checksum --------------------------------------------------


@in_one_test("length", [14, 2**26, 2**31, 2**32, 2**63, 2**64 - 1])
def test_a_header_longer_than_the_file_is_refused(length):
    with pytest.raises(ModelFileError, match="header does not fit"):
        from_bytes(packed(b'{"arrays":[]}', length=length))


@in_one_test("text", [
        b"", b"{", b"null", b"[]", b"{}", b'{"arrays":{}}', b'{"arrays":null}', b'"arrays"',
        b'{"arrays":[]} {}', b"\xff", b'{"arrays":[],"\xff":1}', b"{'arrays':[]}",
        b'{"arrays":[],}', b'{"arrays":[],"a":NaN}', b'{"arrays":[],"a":Infinity}',
        b'{"arrays":[],"a":-Infinity}', b'{"arrays":[],"a":1e999}', b'{"arrays":[],"arrays":[]}',
        b'{"arrays":[],"a":{"b":1,"b":1}}', b'{"arrays":[],"a":' + b"9" * 10_000 + b"}",
        b'{"arrays":[],"a":' + b"[" * 100_000 + b"]" * 100_000 + b"}",
        b'{"arrays":[],"a":' + b'{"a":' * 50_000 + b"1" + b"}" * 50_000 + b"}",
        b'\xef\xbb\xbf{"arrays":[]}', '{"arrays":[]}'.encode("utf-16"),
        '{"arrays":[]}'.encode("utf-32-le"), b'\x00{"arrays":[]}',
    ])  # fmt: skip
def test_a_header_that_is_not_plain_json_of_an_object_is_refused(text):
    with pytest.raises(ModelFileError, match="is damaged"):
        from_bytes(packed(text))


@pytest.mark.parametrize("entry", [None, 1, "<f8", [], {}, [["dtype", "<f8"]]])
def test_an_array_needs_a_description(entry):
    with pytest.raises(ModelFileError, match="array 0 is described wrongly"):
        from_bytes(packed(json.dumps({"arrays": [entry]}).encode()))


WRONG_ENTRIES = [
    *({"dtype": dtype} for dtype in (None, 8, "", "f8", ">f8", "<f2", "|O", "<U4", "O", "|V8")),
    *({"dtype": dtype} for dtype in ("<c16", "<M8[s]", "<f8,<f8", ["<f8"], {}, True, "<u8")),
    *({"shape": shape} for shape in (None, 3, "3", {}, [3.0], ["3"], [True], [-3], [None], [[3]])),
    *({"shape": shape} for shape in ([1] * 9, [2**62], [10**40], [-1, -3], [3, True])),
    *({"offset": value} for value in (None, "192", 192.0, True, -64, 2**62, 10**40, [192])),
    *({"crc32": value} for value in (None, "0", 0.0, False, -1, 2**62, 10**40)),
    {"surplus": 1},
]


@in_one_test("changes", WRONG_ENTRIES)
def test_an_entry_with_values_of_the_wrong_type_is_refused(changes):
    assert from_bytes(with_entry())[1][0].tolist() == [0.0, 1.0, 2.0]  # it is the change
    with pytest.raises(ModelFileError, match=r"array 0 is (described wrongly|not where)"):
        from_bytes(with_entry(**changes))


@in_one_test(
    "changes",
    [
        *({"shape": shape} for shape in ([2], [4], [3, 2], [0], [], [2**40], [2**20, 2**20])),
        *({"dtype": dtype} for dtype in ("<f4", "<i4", "|u1", "|b1")),
        *({"offset": offset} for offset in (0, 24, 63, 65, 256, 1 << 39)),
        *({"crc32": crc} for crc in (0, 1, 2**32)),
        {"dtype": "<i8", "shape": [2]},
    ],
)
def test_an_entry_that_does_not_fit_the_bytes_is_refused(changes):
    with pytest.raises(ModelFileError):
        from_bytes(with_entry(**changes))


@in_one_test("shape", [[0, 2**61], [2**39, 2**39, 0], [0, *[2**30] * 7], [2**60, 0]])
def test_no_extent_is_beyond_reason_beside_one_of_zero(shape):
    with pytest.raises(ModelFileError):
        from_bytes(with_entry(shape=shape))


@in_one_test("name", ["dtype", "shape", "offset", "crc32"])
def test_an_entry_without_one_of_its_four_parts_is_refused(name):
    entry = {"dtype": "<f8", "shape": [0], "offset": 128, "crc32": 0}
    del entry[name]
    with pytest.raises(ModelFileError, match="array 0 is described wrongly"):
        from_bytes(packed(json.dumps({"arrays": [entry]}).encode()))


def test_arrays_may_not_overlap_nor_come_in_another_order():
    arrays = [np.arange(16.0), np.arange(16.0, 32.0)]
    data = to_bytes({}, arrays)
    length = struct.unpack_from("<Q", data, 16)[0]
    first, second = json.loads(data[24 : 24 + length])["arrays"]
    body = data[24 + length :]
    for entries in ([second, first], [first, first], [first], [second], []):
        text = json.dumps({"arrays": entries}, separators=(",", ":")).encode()
        text = text.ljust(length)[:length]  # blanks after an object are JSON, too
        with pytest.raises(ModelFileError):
            from_bytes(packed(text, body=body))


def test_bytes_between_arrays_must_be_zero():
    data = bytearray(to_bytes({}, [np.array([1], np.int8), np.array([2], np.int8)]))
    data[-2] = 1
    with pytest.raises(ModelFileError, match="array 1 is not where it belongs"):
        from_bytes(bytes(data))


# --- files --------------------------------------------------------------------------------------


def test_errors_name_the_file(tmp_path):
    path = tmp_path / "broken.nlm"
    path.write_bytes(file_of("gated linear")[:-1])
    with pytest.raises(ModelFileError, match=r"broken\.nlm is cut short or damaged"):
        read(path)


def test_a_missing_file_is_said_to_be_missing(tmp_path):
    with pytest.raises(ModelFileError, match=r"none\.nlm: cannot be read \(No such file"):
        read(tmp_path / "none.nlm")


def test_a_folder_cannot_be_read_as_a_file(tmp_path):
    with pytest.raises(ModelFileError, match=r"cannot be read \("):
        read(tmp_path)


def test_a_name_that_no_file_can_have_is_refused(tmp_path):
    with pytest.raises(ModelFileError, match="cannot be read"):
        read(str(tmp_path / "a\0b"))


def test_an_error_of_a_model_file_is_a_value_error():
    assert issubclass(ModelFileError, ValueError)
