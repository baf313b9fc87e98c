"""A child process that serves nothing, for tests of its supervisor."""

from keepsake.child import parser, serve

if __name__ == "__main__":
    serve(parser("idle").parse_args(), lambda: "idle")
