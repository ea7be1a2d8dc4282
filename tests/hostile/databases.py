"""databases.py ATTACK DATABASE: does to a cugen database what somebody might who hands it to another user. images.cases and
databases.cases have what becomes of it."""
import ctypes
import ctypes.util
import os
import sqlite3
import struct
import sys


class Hash(ctypes.Structure):
    _fields_ = [("low", ctypes.c_uint64), ("high", ctypes.c_uint64)]


def checksum(data):
    """As cugen has it in the column checksum: no key is needed for that one."""
    library = ctypes.CDLL(ctypes.util.find_library("xxhash"))
    library.XXH3_128bits.restype = Hash
    library.XXH3_128bits.argtypes = [ctypes.c_char_p, ctypes.c_size_t]
    both = library.XXH3_128bits(data, len(data))
    return f"{both.high:016x}{both.low:016x}"


def sql(*statements):
    def run(path):
        database = sqlite3.connect(path, isolation_level=None)
        for statement in statements:
            database.execute(statement)
        database.close()
    return run


def code(path):
    """The code of every image is another's; the checksum is right."""
    data = open("evil.so", "rb").read()
    database = sqlite3.connect(path)
    database.execute("UPDATE image SET data = ?, checksum = ?", (data, checksum(data)))
    database.commit()


def code_sealed_with_zeros(path):
    code(path)
    sql("UPDATE image SET seal = zeroblob(32)")(path)


def code_of_format_6(path):
    """Made to look older than seals are."""
    code(path)
    sql("DROP TABLE portfolio", "ALTER TABLE record DROP COLUMN requested", "ALTER TABLE record DROP COLUMN run_began", "ALTER TABLE record DROP COLUMN run_seconds", "ALTER TABLE record DROP COLUMN energy", "ALTER TABLE record DROP COLUMN energy_resolution", "ALTER TABLE record DROP COLUMN outputs", "ALTER TABLE image DROP COLUMN seal", "DROP INDEX record_variant", "UPDATE image SET key = substr(key, 1, "
        "instr(key, ' sealed by') - 1)", "UPDATE image_entry SET key = substr(key, 1, instr(key, ' sealed by') - 1)",
        "PRAGMA user_version = 6")(path)


def other_kernels_code(path):
    """Two images change places, seals and all."""
    database = sqlite3.connect(path)
    (a, *first), (b, *second) = database.execute("SELECT id, data, checksum, seal FROM image LIMIT 2").fetchall()
    for row, values in (a, second), (b, first):
        database.execute("UPDATE image SET data = ?, checksum = ?, seal = ? WHERE id = ?", (*values, row))
    database.commit()


def other_names_for_images(path):
    """Two images change places by the text that they are kept under."""
    sql("UPDATE image SET key = 'x' || key",
        "UPDATE image SET key = (SELECT substr(o.key, 2) FROM image o WHERE o.id <> image.id AND substr(o.key, 1, 1) = 'x') "
        "WHERE id = (SELECT min(id) FROM image)",
        "UPDATE image SET key = (SELECT DISTINCT e.key FROM image_entry e WHERE e.key NOT IN (SELECT key FROM image)) "
        "WHERE substr(key, 1, 1) = 'x'")(path)


def journal_of_an_import(path):
    """As the next, beside the file in which an import is staged."""
    journal_of_two_files(path)
    os.rename(path + "-journal", path + "-import-journal")
    open(path + "-import", "wb").write(open(path, "rb").read())


def journal_of_two_files(path):
    """A rollback journal that belongs to a transaction over two files: SQLite removes the one it names."""
    sql("PRAGMA journal_mode = DELETE")(path)
    pages, page = os.path.getsize(path) // 4096, 4096
    name = os.path.abspath("precious").encode()
    header = b"\xd9\xd5\x05\xf9\x20\xa1\x63\xd7" + struct.pack(">IIIII", 0, 0, pages, 512, page)
    total = sum(struct.unpack(f"{len(name)}b", name)) & 0xffffffff
    end = struct.pack(">I", 0x40000000 // page + 1) + name + struct.pack(">II", len(name), total) + header[:8]
    with open(path + "-journal", "wb") as journal:
        journal.write(header.ljust(512, b"\0") + end)


def log_with_a_trigger(path):
    """In the write-ahead log alone; the file itself is as it was."""
    database = sqlite3.connect(path, isolation_level=None)
    database.execute("PRAGMA journal_mode = WAL")
    database.execute("PRAGMA wal_autocheckpoint = 0")
    database.execute("CREATE TRIGGER t AFTER INSERT ON record BEGIN DELETE FROM space; END")
    log = open(path + "-wal", "rb").read()
    database.execute("DROP TRIGGER t")
    database.close()
    with open(path + "-wal", "wb") as out:
        out.write(log)


ATTACKS = {
    "code": code,
    "code_sealed_with_zeros": code_sealed_with_zeros,
    "code_of_format_6": code_of_format_6,
    "other_kernels_code": other_kernels_code,
    "other_names_for_images": other_names_for_images,
    "entry_name": sql("UPDATE image_entry SET name = 'system'"),
    "entry_missing": sql("DELETE FROM image_entry"),
    "entry_more": sql("INSERT INTO image_entry SELECT key, position + 1, name, 1, 1, 1, 1, 1, 1 FROM image_entry"),
    "negative_sizes": sql("UPDATE image_entry SET static_shared = -9223372036854775807 - 1, local_bytes = -1"),
    # Of the huge ones each value is larger than the 144 MiB that a cache is read by (runtime/store/sqlite/connection.c).
    "huge_sizes": sql("UPDATE image_entry SET registers = 2147483647, static_shared = 9223372036854775807"),
    "huge_image": sql("UPDATE image SET data = zeroblob(160000000)"),
    "huge_log": sql("UPDATE image SET log = printf('%.*c', 160000000, 'x')"),
    "trigger": sql("CREATE TRIGGER t AFTER INSERT ON record BEGIN DELETE FROM space; END"),
    "view": sql("CREATE VIEW v AS SELECT * FROM record"),
    "view_for_a_table": sql("ALTER TABLE space RENAME TO hidden", "CREATE VIEW space AS SELECT * FROM hidden"),
    "table": sql("CREATE TABLE photos (name)"),
    "virtual_table": sql("CREATE VIRTUAL TABLE f USING fts5(x)"),
    "generated_column": sql("ALTER TABLE space ADD COLUMN g TEXT AS (hex(zeroblob(9)))"),
    "index_with_an_expression": sql("CREATE INDEX i ON record (hex(zeroblob(length(variant))))"),
    "default_with_an_expression": sql(
        "PRAGMA writable_schema = ON", "UPDATE sqlite_schema SET sql = replace(sql, 'seconds REAL', "
        "'seconds REAL DEFAULT (length(randomblob(1000000000)))') WHERE name = 'record'"),
    "check_with_an_expression": sql(
        "PRAGMA writable_schema = ON", "UPDATE sqlite_schema SET sql = replace(sql, 'samples INTEGER NOT NULL', "
        "'samples INTEGER NOT NULL CHECK (length(randomblob(1000000000)) > 0)') WHERE name = 'record'"),
    "statistics": sql("ANALYZE"),
    "journal_of_two_files": journal_of_two_files,
    "journal_of_an_import": journal_of_an_import,
    "log_with_a_trigger": log_with_a_trigger,
    "log_is_a_link": lambda path: os.symlink("/etc/passwd", path + "-wal"),
    "log_is_a_pipe": lambda path: os.mkfifo(path + "-journal"),
    "late_records": sql("UPDATE record SET measured_at = 9223372036854775807, hash = '00000000000000000000000000000000'"),
    "huge_variant": sql("UPDATE record SET variant = printf('%.*c', 160000000, 'x') WHERE id = 1"),
    "marks_in_a_name": sql("UPDATE image SET key = char(27) || '[2J' || key"),
}

if __name__ == "__main__":
    ATTACKS[sys.argv[1]](sys.argv[2])
