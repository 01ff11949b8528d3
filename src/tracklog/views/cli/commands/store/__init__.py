"""Commands about index, archive and secrets: index, rebuild, archive, doctor, sql, scan, redact and their like."""
