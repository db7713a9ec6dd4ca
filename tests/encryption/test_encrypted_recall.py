"""The contract of recall, on an encrypted file."""

from contract.test_recall import *  # noqa: F403
from encryption.as_encrypted import *  # noqa: F403
