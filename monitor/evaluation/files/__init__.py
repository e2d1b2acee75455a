"""Files: runs, judgments and passages, as people keep them."""
