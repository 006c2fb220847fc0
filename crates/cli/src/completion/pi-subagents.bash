# Completes pi-subagents in bash: the program itself says what fits.
_pi_subagents() {
    local besides value description
    local -a values=() shown=()
    COMPREPLY=()
    while IFS=$'\t' read -r value description; do
        if [[ -z ${besides+set} ]]; then
            besides=$value
            continue
        fi
        values+=("$value")
        description=$value${description:+  ($description)}
        shown+=("${description:0:${COLUMNS:-80}-2}")
    done < <("$1" complete-words bash "${COMP_LINE:0:COMP_POINT}" "$COMP_WORDBREAKS" 2>/dev/null </dev/null)
    compopt -o nosort 2>/dev/null
    case ${besides-} in
        list) compopt -o nospace 2>/dev/null ;;
        files) compopt -o default 2>/dev/null ;;
        directories) compopt -o dirnames 2>/dev/null ;;
    esac
    # A list of several words shows what they are; a word that is inserted stands alone.
    if ((${#values[@]} > 1)) && [[ ${COMP_TYPE-} != 37 && ${COMP_TYPE-} != 42 ]]; then
        COMPREPLY=("${shown[@]}")
    else
        COMPREPLY=("${values[@]}")
    fi
}
complete -F _pi_subagents pi-subagents
