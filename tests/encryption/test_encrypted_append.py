"""The contract of append, on an encrypted file."""

from contract.test_append import *  # noqa: F403
from encryption.as_encrypted import *  # noqa: F403
