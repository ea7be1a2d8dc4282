"""terminal.py SIGNALS COMMAND...: runs a command on a terminal 60 columns wide, sends it signals once its progress bar
shows that a variant is done, and prints what is true of every such run: whether there was a bar that fits the
terminal and was wiped out, whether what was measured is remembered, and the exit code."""
import fcntl
import os
import pty
import re
import signal
import struct
import sys
import termios

WIDTH = 60
BAR = re.compile(rb"\r(\[[#.]{20}\] ([\d,]+)[^\r\x1b]*)")
# What is there is whole: tried/limit, failed, time left, what goes on behind the search, which of several problems, best (of each model), its rate, words of the variant.
WHOLE = re.compile(rb"\[[#.]{20}\] [\d,]+(?P<limit>/[\d,]+)?(, [\d,]+ failed)?(?P<left>  [\d:]+ left)?(?P<stage>  racing the best|  verifying the best)?(  computing reference, [\d:]+)?(  problem \d+ of \d+)?(?P<best>  best (cuda:\d )?[\d.]+ [mun]?s(, cuda:\d [\d.]+ [mun]?s)*(, [\d.,]+ G\S+/s(  .*)?)?)?")


def main():
    signals = [signal.Signals["SIG" + name] for name in sys.argv[1].split(",") if name != "-"]
    os.environ["TERM"] = "xterm" if signals else os.environ["TERM"]
    pid, terminal = pty.fork()
    if pid == 0:
        fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", 24, WIDTH, 0, 0))
        os.execvp(sys.argv[2], sys.argv[2:])
    output = b""
    while True:
        try:
            output += os.read(terminal, 4096)
        except OSError:
            break
        bars = BAR.findall(output)
        if signals and bars and bars[-1][1] != b"0":
            for number in signals:
                os.kill(pid, number)
            signals = []
    code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    bars = BAR.findall(output)
    fits = all(len(bar) < WIDTH for bar, _ in bars)
    wiped = output.rfind(b"\r\x1b[K") > output.rfind(b"\r[")
    print("bar:", ("fits" if fits else "too wide") + (" and is wiped out" if wiped else "") if bars else "none")
    parts = [WHOLE.fullmatch(bar) for bar, _ in bars]
    if bars:
        print("shows:", "half a word" if None in parts else
              " ".join(name for name in ("limit", "left", "stage", "best") if any(part[name] for part in parts)))
        last = bars[-1][0]
        print("last:", "full" if last.startswith(b"[" + 20 * b"#") else "empty" if last.startswith(b"[.") else "part")
    tried = re.search(rb"Tried (\d+)", output)
    print("tried:", "some" if tried and int(tried[1]) else "-", "remembered:", b"Remembered in" in output)
    print("exit code:", code)


main()
