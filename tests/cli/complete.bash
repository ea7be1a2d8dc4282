# complete.bash LINE: what bash offers at the end of the command line, one candidate a line, as readline would ask.
eval "$(cugen completion bash)"
COMP_LINE=$1
COMP_POINT=${#1}
# readline cuts words at blanks, and at = and :, which are words themselves.
read -ra COMP_WORDS <<<"$(sed -E 's/[=:]/ & /g' <<<"$1")"
if [[ $1 == *' ' ]]; then COMP_WORDS+=(''); fi
COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
_cugen "${COMP_WORDS[0]}" "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD - 1]}"
printf '%s\n' "${COMPREPLY[@]}"
