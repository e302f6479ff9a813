/* minimd/docs/docs_zsh.c - completion for zsh (docs_words.c has its words). */
#include "minimd/docs/docs.h"

/* zsh takes the file for the body of _minimd when that is first called: it must complete then. */
static const char function[] =
    "\n"
    "_minimd()\n"
    "{\n"
    "  local prev=${words[CURRENT-1]} command=run reply\n"
    "  if [[ $PREFIX = --*=* ]]; then\n"
    "    prev=${PREFIX%%=*}\n"
    "    compset -P '*='\n"
    "  fi\n"
    "  if [[ \" $(_minimd_commands) \" = *\" ${words[2]} \"* ]]; then command=${words[2]}; fi\n"
    "  if reply=$(_minimd_values \"$command\" \"$prev\"); then\n"
    "    if [[ $reply = *LIST* ]]; then\n"
    "      compset -P '*,'\n"
    "      compadd -S '' -- ${=reply/LIST/}\n"
    "    elif [ \"$prev\" = --set ]; then\n"
    "      compadd -S '' -- ${=reply}\n"
    "    else\n"
    "      compadd -- ${=reply/FILE/}\n"
    "    fi\n"
    "    if [[ $reply = *FILE* ]]; then _files; fi\n"
    "    return\n"
    "  fi\n"
    "  reply=$(_minimd_options \"$command\")\n"
    "  if [ $CURRENT = 2 ]; then reply=\"$(_minimd_commands) --version $reply\"; fi\n"
    "  if [ \"$command\" = help ]; then reply=$(_minimd_commands); fi\n"
    "  compadd -- ${=reply}\n"
    "}\n"
    "if [ \"$funcstack[1]\" = _minimd ]; then _minimd \"$@\"; else compdef _minimd minimd; fi\n";

void docs_zsh(const docs_page *pages, int n, FILE *stream)
{
  fputs("#compdef minimd\n# Completion of minimd for zsh, written by `minimd docs`.\n", stream);
  docs_words(pages, n, stream);
  fputs(function, stream);
}
