"""Reading what is stored as JSON."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from mazurka.errors import InputError


def read_json(path: Path) -> Any:
    """What is in a file; an `InputError` says why it cannot be read."""
    try:
        return json.loads(path.read_bytes())
    except OSError as error:
        raise InputError(f"{path}: {error.strerror}") from None
    except UnicodeError:
        raise InputError(f"{path}: not JSON: it is not text") from None
    except RecursionError:
        raise InputError(f"{path}: not JSON: it nests too deeply") from None
    except ValueError as error:
        raise InputError(f"{path}: not JSON: {error}") from None
