"""The commands: one small file each, parsing and printing only."""
