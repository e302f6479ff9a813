/* minimd/docs/docs_bash.c - completion for bash (docs_words.c has its words). */
#include "minimd/docs/docs.h"

/* A word may be begun behind `--option=` and behind commas of a list. */
static const char function[] =
    "\n"
    "_minimd()\n"
    "{\n"
    "  local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} command=run before= "
    "reply\n"
    "  case $cur in\n"
    "    =) cur= ;;\n"
    "    --*=*) prev=${cur%%=*} before=${cur%%=*}= cur=${cur#*=} ;;\n"
    "    *) if [ \"$prev\" = = ]; then prev=${COMP_WORDS[COMP_CWORD-2]}; fi ;;\n"
    "  esac\n"
    "  if [[ \" $(_minimd_commands) \" = *\" ${COMP_WORDS[1]} \"* ]]; then "
    "command=${COMP_WORDS[1]}; fi\n"
    "  if reply=$(_minimd_values \"$command\" \"$prev\"); then\n"
    "    if [[ $reply = *LIST* ]]; then\n"
    "      if [[ $cur = *,* ]]; then before=$before${cur%,*}, cur=${cur##*,}; fi\n"
    "      compopt -o nospace\n"
    "    fi\n"
    "    mapfile -t COMPREPLY < <(compgen -P \"$before\" -W \"${reply//@(FILE|LIST)/}\" -- "
    "\"$cur\")\n"
    "    if [[ $reply = *FILE* ]]; then\n"
    "      compopt -o filenames\n"
    "      mapfile -t -O ${#COMPREPLY[@]} COMPREPLY < <(compgen -P \"$before\" -f -- \"$cur\")\n"
    "    fi\n"
    "    if [ \"$prev\" = --set ]; then compopt -o nospace; fi\n"
    "    return\n"
    "  fi\n"
    "  reply=$(_minimd_options \"$command\")\n"
    "  if [ \"$COMP_CWORD\" = 1 ]; then reply=\"$(_minimd_commands) --version $reply\"; fi\n"
    "  if [ \"$command\" = help ]; then reply=$(_minimd_commands); fi\n"
    "  mapfile -t COMPREPLY < <(compgen -W \"$reply\" -- \"$cur\")\n"
    "}\n"
    "complete -F _minimd minimd\n";

void docs_bash(const docs_page *pages, int n, FILE *stream)
{
  fputs("# Completion of minimd for bash, written by `minimd docs`.\n", stream);
  docs_words(pages, n, stream);
  fputs(function, stream);
}
