#compdef pi-subagents
# Completes pi-subagents in zsh: the program itself says what fits.
_pi-subagents() {
    local line value description besides
    local -a lines values descriptions shown
    integer widest=0 place
    lines=("${(@f)$("${(Q)words[1]}" complete-words zsh "${(@Q)words[1,CURRENT-1]}" "${(Q)PREFIX}" 2>/dev/null </dev/null)}")
    besides=$lines[1]
    for line in "${(@)lines[2,-1]}"; do
        value=${line%%$'\t'*}
        description=${line#*$'\t'}
        [[ -n $value ]] || continue
        values+=("$value")
        descriptions+=("$description")
        ((${(m)#value} > widest && ${(m)#value} <= 40)) && widest=${(m)#value}
    done
    # A line that the terminal would have to break is cut.
    for ((place = 1; place <= $#values; place++)); do
        value=$values[place]
        description=$descriptions[place]
        ((${(m)#value} < widest)) && value=${(mr:widest:)value}
        line=$value${description:+  -- $description}
        ((${(m)#line} >= COLUMNS)) && line=${(mr:COLUMNS-1:)line}
        shown+=("$line")
    done
    case $besides in
        files) compset -P '*='; _files ;;
        directories) compset -P '*='; _files -/ ;;
        list) compadd -V pi-subagents -S '' -l -d shown -a values ;;
        *) compadd -V pi-subagents -l -d shown -a values ;;
    esac
}
if [[ $funcstack[1] == _pi-subagents ]]; then
    _pi-subagents "$@"
else
    compdef _pi-subagents pi-subagents
fi
