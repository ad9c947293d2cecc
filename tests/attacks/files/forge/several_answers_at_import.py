"""What is seen in several scenes, told by a file that is only being imported."""

import json
import os
import struct

_body = json.dumps({"observations": [1]}).encode()
os.write(3, struct.pack(">I", len(_body)) + _body)
os._exit(0)
