"""A thread throws an exception into the main thread, when that is busy with lines of the grader's."""

import ctypes
import threading
import time


def _attack(messages):
    main = ctypes.c_ulong(threading.main_thread().ident)

    def throw():
        while True:
            ctypes.pythonapi.PyThreadState_SetAsyncExc(main, ctypes.py_object(KeyError))
            time.sleep(0.0002)

    threading.Thread(target=throw, daemon=True).start()
    return [dict(m) for m in _right(messages)] * 200
