"""tests/cli/type_keys.py SHELL MINIMD FOLDER <CASES - completion in a real shell at a terminal.

A case is a line `KEY<tab>TYPED`.  The shell gets TYPED and KEY: `tab`, or `all`, which puts in all that the shell
offers.  Printed is one line a case: what the command line holds then, `|` at its end.  The completion comes from
docs/, as an installed one does: zsh finds it as the function _minimd.  The shell is in FOLDER/files.
"""
import os
import pathlib
import pty
import select
import shutil
import sys
import time

RC = {
    'bash': r'''
bind 'set bell-style none'; bind 'set enable-bracketed-paste off'; bind 'set show-all-if-ambiguous off'
. FOLDER/minimd.bash
print_line() { printf '%s|\n' "$READLINE_LINE" >>FOLDER/lines; READLINE_LINE=; READLINE_POINT=0; }
bind -x '"\C-xp": print_line'
bind '"\C-xa": insert-completions'
PS1=; echo >>FOLDER/lines
''',
    'zsh': r'''
fpath=(FOLDER $fpath); autoload -Uz compinit; compinit -D -u
unsetopt beep
zstyle ':completion:all-matches:*' insert true
zstyle ':completion:all-matches:*' completer _all_matches _complete
zle -C all-matches complete-word _generic
print_line() { print -r -- "$BUFFER|" >>FOLDER/lines; BUFFER=; }
zle -N print_line
bindkey '^Xp' print_line
bindkey '^Xa' all-matches
PS1=; echo >>FOLDER/lines
''',
    'fish': r'''
source FOLDER/minimd.fish
function fish_prompt; end
function fish_greeting; end
function print_line; printf '%s|\n' (commandline | string collect) >>FOLDER/lines; commandline -r ''; end
function all_words
  set -l words (complete -C (commandline -c) | string split -f1 \t)
  commandline -r (string replace -r '[^ ]*$' '' -- (commandline | string collect))(string join ' ' -- $words)
end
bind \cxp print_line
bind \cxa all_words
echo >>FOLDER/lines
''',
}
PROGRAMS = {
    'bash': ['bash', '--noprofile', '--rcfile', 'FOLDER/rc', '-i'],
    'zsh': ['zsh', '-d', '-i'],
    'fish': ['fish', '--no-config', '--init-command', 'source FOLDER/rc'],
}
KEYS = {'tab': b'\t', 'all': b'\x18a'}


def prepare(shell, minimd, folder):
    """The shell's start-up file, its completion, the program's name on the path."""
    (folder / 'rc').write_text(RC[shell].replace('FOLDER', str(folder)))
    (folder / '.zshrc').write_text(RC['zsh'].replace('FOLDER', str(folder)))
    shutil.copy('docs/minimd.' + shell, folder / ('_minimd' if shell == 'zsh' else 'minimd.' + shell))
    (folder / 'lines').write_text('')
    (folder / 'minimd').symlink_to(os.path.abspath(minimd))


class Terminal:
    """A shell at a pseudo-terminal; what it draws is read and dropped."""

    def __init__(self, shell, folder):
        self.lines = folder / 'lines'
        words = [word.replace('FOLDER', str(folder)) for word in PROGRAMS[shell]]
        self.pid, self.file = pty.fork()
        if self.pid == 0:
            os.chdir(folder / 'files')
            os.environ.update(HOME=str(folder), ZDOTDIR=str(folder), TERM='dumb', LC_ALL='C.UTF-8', INPUTRC='/dev/null',
                              PATH='%s:%s' % (folder, os.environ['PATH']))
            os.execvp(words[0], words)
        self.drawn = b''

    def await_lines(self, n):
        """Until the shell has written n lines; a minute at most."""
        end = time.monotonic() + 60
        while time.monotonic() < end:
            if select.select([self.file], [], [], .01)[0]:
                self.drawn += os.read(self.file, 65536)
            if self.lines.read_bytes().count(b'\n') >= n:
                return
        sys.exit('the shell does not answer; it drew %r' % self.drawn[-1000:])

    def type(self, keys):
        os.write(self.file, keys)


def main():
    shell, minimd, folder = sys.argv[1], sys.argv[2], pathlib.Path(sys.argv[3])
    prepare(shell, minimd, folder)
    terminal = Terminal(shell, folder)
    terminal.await_lines(1)
    for n, line in enumerate(sys.stdin):
        key, typed = line.rstrip('\n').split('\t')
        terminal.type(typed.encode() + KEYS[key] + b'\x18p')
        terminal.await_lines(n + 2)
    print('\n'.join(terminal.lines.read_text().splitlines()[1:]))
    os.close(terminal.file)


main()
