# complete.zsh LINE: what zsh makes of the command line at its end when TAB is pressed, in a terminal of its own.
zmodload zsh/zpty
zpty shell zsh -f
{
  zpty -w shell 'PS1= PS2= RPS1=; unsetopt zle_bracketed_paste; autoload -U compinit; compinit -D -u'
  zpty -w shell 'eval "$(cugen completion zsh)"; show() { print -r -- "<$BUFFER>"; exit }; zle -N show'
  zpty -w shell 'bindkey "^T" show; setopt no_list_ambiguous; print re""ady'
  zpty -r shell found '*ready*'
  zpty -w -n shell "$1"$'\t\x14'
  zpty -r shell found '*<*>*'
  print -r -- "${${found##*<}%%>*}"
} always {
  zpty -d shell
}
