"""Gives itself more of everything first."""

import resource

for _name in ("RLIMIT_CPU", "RLIMIT_AS", "RLIMIT_DATA", "RLIMIT_NPROC", "RLIMIT_FSIZE", "RLIMIT_NOFILE"):
    for _limit in ((resource.RLIM_INFINITY,) * 2, (resource.getrlimit(getattr(resource, _name))[1],) * 2):
        try:
            resource.setrlimit(getattr(resource, _name), _limit)
        except (OSError, ValueError):
            pass


def _attack(messages):
    while True:
        pass
