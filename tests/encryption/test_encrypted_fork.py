"""The contract of fork, on an encrypted file."""

from contract.test_fork import *  # noqa: F403
from encryption.as_encrypted import *  # noqa: F403
