"""The ledger in the index: kept blocks, their refresh, and reports from stored sums."""
