# Completion of cugen for bash. It asks the program itself, so that it knows every command and option there is.
# It is found here when cugen is installed; otherwise: eval "$(cugen completion bash)" in ~/.bashrc.

_cugen() {
  local current=${COMP_WORDS[COMP_CWORD]} rest=$COMP_LINE words=() word blank line path i
  # bash cuts words at '=' and ':', cugen does not: what has no blank before it belongs to the word before.
  for ((i = 0; i <= COMP_CWORD; i++)); do
    word=${COMP_WORDS[i]}
    blank=${rest%%[![:space:]]*}
    rest=${rest#"$blank"}
    rest=${rest#"$word"}
    if [[ -n $blank || ${#words[@]} -eq 0 ]]; then
      words+=("$word")
    else
      words[${#words[@]} - 1]+=$word
    fi
  done
  if [[ $current == [=:] ]]; then current=; fi
  local whole=${words[${#words[@]} - 1]}
  local before=${whole%"$current"} # the part of the word that bash leaves as it is
  path=${whole#--*=}

  COMPREPLY=()
  while IFS= read -r line; do
    case $line in
      :files) while IFS= read -r word; do COMPREPLY+=("${whole%"$path"}$word"); done < <(compgen -f -- "$path") ;;
      :files\ *)
        while IFS= read -r word; do COMPREPLY+=("$word"); done < <(compgen -f -X "!*${line#:files }" -- "$path")
        while IFS= read -r word; do COMPREPLY+=("$word"); done < <(compgen -d -- "$path")
        ;;
      :folders) while IFS= read -r word; do COMPREPLY+=("${whole%"$path"}$word"); done < <(compgen -d -- "$path") ;;
      :programs) while IFS= read -r word; do COMPREPLY+=("${whole%"$path"}$word"); done < <(compgen -c -- "$path") ;;
      *) COMPREPLY+=("${line%%$'\t'*}") ;;
    esac
    if [[ $line == :f* ]]; then compopt -o filenames 2>/dev/null; fi
  done < <("$1" complete "${words[@]:1}" 2>/dev/null)
  COMPREPLY=("${COMPREPLY[@]#"$before"}")
  if [[ ${#COMPREPLY[@]} -eq 1 && ${COMPREPLY[0]} == *= ]]; then compopt -o nospace 2>/dev/null; fi
}
complete -F _cugen cugen
