"""The stubs are taken out of the lab, so that whatever uses them breaks, and looks like the culprit."""

import lab

for _name in list(vars(lab)):
    if not _name.startswith("__"):
        setattr(lab, _name, None)
