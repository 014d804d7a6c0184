"""Results that go to files: where these are, how they are written, and the note that stands for one."""

from __future__ import annotations

from elision.offloading.files import OffloadedFile, offloaded_file, write
from elision.offloading.folder import OffloadFolder, offload_folder_problem
from elision.offloading.naming import names_folder
from elision.offloading.pointing import note_of
from elision.offloading.reader import file_reader

__all__ = [
    "OffloadFolder",
    "OffloadedFile",
    "file_reader",
    "names_folder",
    "note_of",
    "offload_folder_problem",
    "offloaded_file",
    "write",
]
