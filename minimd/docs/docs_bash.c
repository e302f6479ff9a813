/* minimd/docs/docs_bash.c - completion for bash (docs_words.c has its words). */
#include "minimd/docs/docs.h"

/* A word may be begun behind `--option=`, behind commas of a list and behind colons.  bash splits
 * words at = and at :, and replaces what follows the last of these. */
static const char function[] =
    "\n"
    "_minimd()\n"
    "{\n"
    "  local at=$COMP_CWORD cur=${COMP_WORDS[COMP_CWORD]} prev begun= command=run before= reply\n"
    "  while ((at > 1)) && [[ ${COMP_WORDS[at]} = : || ${COMP_WORDS[at-1]} = : ]]; do\n"
    "    at=$((at - 1)) cur=${COMP_WORDS[at]}$cur\n"
    "  done\n"
    "  if [[ $COMP_WORDBREAKS = *:* ]]; then begun=${cur%\"${cur##*:}\"}; fi\n"
    "  prev=${COMP_WORDS[at-1]}\n"
    "  case $cur in\n"
    "    =) cur= ;;\n"
    "    --*=*) prev=${cur%%=*} before=${cur%%=*}= cur=${cur#*=} ;;\n"
    "    *) if [ \"$prev\" = = ]; then prev=${COMP_WORDS[at-2]}; fi ;;\n"
    "  esac\n"
    "  if [[ \" $(_minimd_commands) \" = *\" ${COMP_WORDS[1]} \"* ]]; then "
    "command=${COMP_WORDS[1]}; fi\n"
    "  COMPREPLY=()\n"
    "  if reply=$(_minimd_values \"$command\" \"$prev\"); then\n"
    "    if [[ $reply = *LIST* ]]; then\n"
    "      if [[ $cur = *,* ]]; then before=$before${cur%,*}, cur=${cur##*,}; fi\n"
    "      compopt -o nospace\n"
    "    fi\n"
    "    if [[ $reply = *FILE* ]]; then\n"
    "      compopt -o filenames\n"
    "      mapfile -t COMPREPLY < <(compgen -P \"$before\" -f -- \"$cur\")\n"
    "    fi\n"
    "    if [ \"$prev\" = --set ]; then compopt -o nospace; fi\n"
    "    reply=${reply//FILE/} reply=${reply//LIST/}\n"
    "  elif ((at > 2)) && [[ ${COMP_WORDS[at]} = = || ${COMP_WORDS[at-1]} = = ]]; then\n"
    "    return\n"
    "  else\n"
    "    reply=$(_minimd_options \"$command\")\n"
    "    if [ \"$COMP_CWORD\" = 1 ]; then reply=\"$(_minimd_commands) --version $reply\"; fi\n"
    "    if [ \"$command\" = help ]; then reply=$(_minimd_commands); fi\n"
    "  fi\n"
    "  mapfile -t -O ${#COMPREPLY[@]} COMPREPLY < <(compgen -P \"$before\" -W \"$reply\" -- "
    "\"$cur\")\n"
    "  COMPREPLY=(\"${COMPREPLY[@]#\"$begun\"}\")\n"
    "}\n"
    "complete -F _minimd minimd\n";

void docs_bash(const docs_page *pages, int n, FILE *stream)
{
  fputs("# Completion of minimd for bash, written by `minimd docs`.\n", stream);
  docs_words(pages, n, stream);
  fputs(function, stream);
}
