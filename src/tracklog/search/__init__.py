"""Full-text search over prompts, answers, inputs, results and titles.

Public: `query`, `find`, `results`, `texts`, `snippets`, `tables_facets`. May import `archive`, `reading` and `secrets`.
"""
