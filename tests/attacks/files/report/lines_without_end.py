"""A renderer that writes lines of JSON, and then ten megabytes of others."""

_render = JsonRenderer.render


def render(self, event):
    _render(self, event)
    for _ in range(10):
        print('{"type": "agent_end"}' * 50_000)


JsonRenderer.render = render
