"""tables.py WIDTH COMMAND...: runs a command with a terminal of that width as stdout, and says what is wrong with its lines: one
that is too long, or a word that was broken: that is no word of the same command with --wide (or into a file), whose lines are as
long as they are. It says whether there were colours. In place of the width `show` prints what a terminal of 80 columns gets of stdout, `messages`
what it gets of stderr."""
import fcntl
import os
import pty
import re
import struct
import subprocess
import sys
import termios
import unicodedata

COLOUR = re.compile(r"\x1b\[[0-9;]*m")


def columns(text):
    """What a terminal takes for it."""
    return sum(0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text)


def on_terminal(command, width, messages=False):
    """What the command prints on a terminal so wide: one of its streams, the other one is elsewhere."""
    control, terminal = pty.openpty()
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 24, width, 0, 0))
    streams = [subprocess.DEVNULL, terminal] if messages else [terminal, subprocess.DEVNULL]
    child = subprocess.Popen(command, stdout=streams[0], stderr=streams[1], stdin=subprocess.DEVNULL)
    os.close(terminal)
    output = b""
    while True:
        try:
            piece = os.read(control, 4096)
        except OSError:
            break
        if not piece:
            break
        output += piece
    os.close(control)
    child.wait()
    return output.decode().replace("\r\n", "\n")


NOTES = {"In", "all", "rows", "have", "--wide", "adds", "the", "merged", "more", "within", "files", "are", "in", "-", "s", "ms", "us", "ns", "restrictions", "nothing",
         "lists", "them", "--variant", "needs", "what", "stands", "for", "too", "it", "has"}


def words(text):
    """Figures change from run to run."""
    bare = (word.strip(".,;:()'") for word in re.split(r"[\s\\]+", text))
    kept = {word for word in bare if word and not re.fullmatch(r"[\d.,:%x/-]+|[#|+o-]+", word)}
    return kept | {part for word in kept for part in (word.rpartition("/")[2], "".join(word.rpartition("/")[:2])) if part}


def unbroken(command, width):
    """With lines as long as they are: of commands without --wide what goes into a file."""
    wide = on_terminal(command + ["--wide"], width)
    return wide or subprocess.run(command, capture_output=True, text=True, stdin=subprocess.DEVNULL, check=False).stdout


def main():
    show, command = sys.argv[1] in ("show", "messages"), sys.argv[2:]
    width = 80 if show else int(sys.argv[1])
    printed = on_terminal(command, width, sys.argv[1] == "messages")
    plain = COLOUR.sub("", printed)
    if show:
        print(printed.replace("\x1b", "ESC"), end="")
        return
    said = [f"{columns(line)} columns: {line}" for line in plain.splitlines() if columns(line) > width]
    said += [f"broken: {word}" for word in sorted(words(plain) - words(unbroken(command, width)) - NOTES)]
    said += ["in colour"] if plain != printed else []
    print(" ".join(command[1:3]) + ":", "; ".join(said) or "fits" if len(plain) > 40 else f"prints only {plain}")


if __name__ == "__main__":
    main()
