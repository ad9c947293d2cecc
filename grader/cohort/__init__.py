"""A cohort: where its submissions come from, and what they say together.

`collecting.collect` reads sources (a folder, an archive, files) in the `layouts` of the platforms into a
`Cohort` of `Student`s. `store` keeps reports on disk, `standing` says where each student stands,
`statistics` what the class knows, `gradebooks` fills the platforms' own files. Nothing here grades, and
nothing here compiles or imports what was handed in.
"""
