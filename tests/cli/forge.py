"""forge.py DATABASE: makes what was measured here look like an H200's, so that what a GPU's records show can be tested
without one. Times and resources are made up, and the same each time."""
import sqlite3
import sys

RESOURCES = {"registers": 96, "threads": 128, "static_shared": 3072, "dynamic_shared": 2048, "constant_bytes": 100,
             "local_bytes": 16, "spill_bytes": 8, "occupancy": 0.25, "limiter": "registers", "clock_mhz": 1980,
             "power_watts": 500, "driver_version": 13000, "nvrtc_version": 13000}

database = sqlite3.connect(sys.argv[1])
database.execute("UPDATE space SET device = 'NVIDIA H200 sm_90 132 SMs', options = 'arch sm_90a'")
assignments = ", ".join(f"{name} = ?" for name in RESOURCES)
database.execute(f"UPDATE record SET {assignments}", tuple(RESOURCES.values()))
for rank, (identifier, config) in enumerate(database.execute(
        "SELECT record.id, config FROM record JOIN space ON space_id = space.id WHERE outcome = 0 ORDER BY config, variant"
        ).fetchall()):
    expression = {"peak_copy": "bytes / 4.2e12", "peak_fma": "flops / 60e12"}.get(config, f"1e-6 * {1 + rank % 7}")
    database.execute(f"UPDATE record SET seconds = {expression} WHERE id = ?", (identifier,))
database.commit()
