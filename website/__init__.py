"""The site: pages made from the code, and the hooks that give them to MkDocs (`nox -s docs`).

`reference` makes Markdown from the program and needs no MkDocs; `repository` makes pages of files outside of `docs`.
"""
