"""Claims: the register, the blocks that check them, and the ways to break them."""
