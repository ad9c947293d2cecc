"""What others may have left where everybody may write."""

import glob


def _attack(messages):
    for place in ("/tmp", "/var/tmp", "/dev/shm", "/run"):
        for path in glob.glob(place + "/lab_check*/**", recursive=True) + glob.glob(place + "/*.py"):
            try:
                with open(path) as file:
                    print(path, file.read())
            except (OSError, UnicodeError):
                continue
    return _right_context(messages)
