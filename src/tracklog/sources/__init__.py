"""Files, folders, processes and settings as bytes, without any agent's format.

Find and open files (`files`, `folders`, `log_file`), cut them into lines (`lines`, `needles`), look at processes
(`processes`, `process_start`), edit settings files (`settings_files`, `settings_text`), spread work over processes
(`workers`). `tail/` knows growing files again and hears when they change. Imports nothing but `errors`, `clock` and `home`.
"""
