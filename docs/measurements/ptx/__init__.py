"""A judge of the PTX of one conversion: it runs a text for all threads and counts what that takes.

`text` reads instructions, `memory` is shared memory, `words` follows bytes through registers, `run` puts
them together, and `judge` asks for a verdict and a price.
"""
