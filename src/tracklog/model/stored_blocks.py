"""Blocks of the ledger as they are kept: without the number of their file, which depends on what else is read.

Rules of this room
  1. A block that was kept and numbered anew is the block that a scan under that number gives.
  2. A block with a transient problem is never kept as what its log says.
  3. Two logs can hold the same request only if a mark of one is a mark of the other.
"""

from __future__ import annotations

import struct

import msgspec

from tracklog.model.ledger import ROW_FORMAT, Block, Loose, Sight

SCAN = 2  # grows whenever a scan says something else of the same bytes
_NOWHERE = -1
_SIZE = struct.calcsize(ROW_FORMAT)
_NUMBER, _OFFSET = struct.Struct("<i"), struct.Struct("<q")
_encode = msgspec.msgpack.Encoder().encode
_decode = msgspec.msgpack.Decoder(Block).decode


def packed(block: Block) -> bytes:
    """A block to be kept."""
    return _encode(numbered(block, _NOWHERE))


def unpacked(body: bytes, number: int) -> Block:
    """A block that was kept, as that of the file with this number."""
    return numbered(_decode(body), number)


def numbered(block: Block, number: int) -> Block:
    """The block as if its file had this number."""
    return msgspec.structs.replace(
        block,
        file=number,
        keys=_keys(block, number),
        rows=_rows(block.rows, number),
        loose=[Loose(one.id, one.marks, _rows(one.row, number), aside=one.aside) for one in block.loose],
    )


def marks_of(block: Block) -> set[int]:
    """Short hashes of what its requests are called; those that only this file can hold have none."""
    from hashlib import blake2b  # all of OpenSSL comes with it, and who only asks needs none of it

    of_file = b"%d:" % block.file
    names = [key for key in block.keys if not key.startswith(of_file)]
    names += [b"loose:" + one.id.encode(errors="replace") for one in block.loose]
    return {int.from_bytes(blake2b(name, digest_size=8).digest(), "little", signed=True) for name in names}


def _at(field: str) -> int:
    return struct.calcsize(ROW_FORMAT[: 1 + Sight._fields.index(field)])


_FILES = (_at("file"), _at("first_file"))
_OFFSET_AT = _at("offset")


def _rows(rows: bytes, number: int) -> bytes:
    made, n = bytearray(rows), len(rows) // _SIZE
    for place in _FILES:
        for at, byte in enumerate(_NUMBER.pack(number), place):
            made[at::_SIZE] = bytes((byte,)) * n
    return bytes(made)


def _keys(block: Block, number: int) -> list[bytes]:
    """A request without any id is called by its file and its place."""
    of_file = b"%d:" % block.file
    if number == block.file or not any(key.startswith(of_file) for key in block.keys):
        return block.keys
    return [_key(block, n, key, number=number) for n, key in enumerate(block.keys)]


def _key(block: Block, n: int, key: bytes, *, number: int) -> bytes:
    (offset,) = _OFFSET.unpack_from(block.rows, n * _SIZE + _OFFSET_AT)
    return b"%d:%d" % (number, offset) if key == b"%d:%d" % (block.file, offset) else key
