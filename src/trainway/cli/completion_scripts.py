"""The scripts by which shells ask us what may stand in place of a word.

click has such scripts. With these an option and its value may be one word (`--on=ssh/lab`) in every
shell, a name may have colons in bash, a description may have commas in fish, and they work where
nobody has set up completion in zsh, or has the old bash of macOS.
"""

import os
from typing import Final

from click.shell_completion import (
    BashComplete,
    CompletionItem,
    FishComplete,
    ShellComplete,
    ZshComplete,
    add_completion_class,
    split_arg_string,
)

_BASH: Final = r"""
%(complete_func)s() {
    local IFS=$'\n' completion
    COMPREPLY=()
    for completion in $(env COMP_WORDS="${COMP_LINE:0:$COMP_POINT}" COMP_CWORD="$2" \
            %(complete_var)s=bash_complete "${1/#\~/$HOME}" 2>/dev/null); do
        case $completion in
            plain,*) COMPREPLY+=("${completion#*,}") ;;
            dir,*) compopt -o dirnames 2>/dev/null ;;
            file,*) compopt -o default 2>/dev/null ;;
        esac
    done
}

complete -o nosort -F %(complete_func)s %(prog_name)s 2>/dev/null ||
    complete -o default -F %(complete_func)s %(prog_name)s
"""

_ZSH: Final = r"""#compdef %(prog_name)s

%(complete_func)s() {
    local -a plain described response
    local type key description
    response=("${(@f)$(env COMP_WORDS="${words[*]}" COMP_CWORD=$((CURRENT-1)) \
        %(complete_var)s=zsh_complete ${~words[1]} 2>/dev/null)}")
    [[ $PREFIX == --*=* ]] && compset -P 1 '*='

    for type key description in ${response}; do
        case $type in
            plain) [[ $description == _ ]] && plain+=("$key") || described+=("$key:$description") ;;
            dir) _path_files -/ ;;
            file) _path_files -f ;;
        esac
    done

    (( $#described )) && _describe -V unsorted described
    (( $#plain )) && compadd -V unsorted -a plain
    return 0
}

if [[ $zsh_eval_context[-1] == loadautofunc ]]; then
    %(complete_func)s "$@"
else
    (( $+functions[compdef] )) || { autoload -Uz compinit && compinit -i }
    compdef %(complete_func)s %(prog_name)s
fi
"""

_FISH: Final = r"""
function %(complete_func)s
    set -l typed (commandline -t)
    set -l option (string match -r -- '^--[^=]+=' "$typed")
    set -l program (string replace -r -- '^~/' "$HOME/" (commandline -opc)[1])
    for line in (env COMP_WORDS=(commandline -cp) COMP_CWORD="$typed" \
            %(complete_var)s=fish_complete $program 2>/dev/null)
        set -l completion (string split -m 1 -- , $line)
        set -l found
        switch $completion[1]
            case dir
                set found (__fish_complete_directories $completion[2])
            case file
                set found (__fish_complete_path $completion[2])
            case plain
                set found $completion[2]
        end
        for one in $found
            echo -- "$option$one"
        end
    end
end

complete --no-files --command %(prog_name)s --arguments "(%(complete_func)s)"
"""


class Bash(BashComplete):
    """Gets the line up to the cursor, and that part of it which bash takes for the word.

    Bash begins a new word after each `=` and `:`, we do not; it puts in only what follows those.
    """

    source_template = _BASH
    _known = 0
    """How many characters of a completion stand before what bash takes for the word."""

    def get_completion_args(self) -> tuple[list[str], str]:
        """The words before the one that is being typed, and that one."""
        line, part = os.environ["COMP_WORDS"], os.environ["COMP_CWORD"]
        words = split_arg_string(line)[1:]
        begins_new_word = len(split_arg_string(f"{line}x")) > len(words) + 1
        typed = "" if begins_new_word else words.pop()
        value = typed.partition("=")[2] if typed.startswith("--") and "=" in typed else typed
        unquoted = "".join(split_arg_string(part)) if part not in ("=", ":") else ""
        if value.endswith(unquoted):
            self._known = len(value) - len(unquoted)
        return words, typed

    def format_completion(self, item: CompletionItem[str]) -> str:
        """The rest of a name."""
        return f"{item.type},{item.value[self._known :]}"

    def source(self) -> str:
        """The script; click would run bash to learn its version."""
        return ShellComplete.source(self)


class Zsh(ZshComplete):
    """As click's, with our script."""

    source_template = _ZSH


class Fish(FishComplete):
    """As click's, with our script."""

    source_template = _FISH


SHELLS: Final[dict[str, type[ShellComplete]]] = {"bash": Bash, "zsh": Zsh, "fish": Fish}


def register() -> None:
    """Have click answer these scripts."""
    for kind in SHELLS.values():
        add_completion_class(kind)
