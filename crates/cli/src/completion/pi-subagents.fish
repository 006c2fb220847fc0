# Completes pi-subagents in fish: the program itself says what fits.
function __pi_subagents_complete
    set -l words (commandline -opc)
    # The word without its quotes and backslashes, or as it is where fish cannot take them away.
    set -l current (string unescape -- (commandline -ct); or commandline -ct)
    set -l answer ($words[1] complete-words fish $words "$current" 2>/dev/null </dev/null)
    switch "$answer[1]"
        case files
            __fish_complete_path "$current"
        case directories
            __fish_complete_directories "$current"
    end
    printf '%s\n' $answer[2..-1]
end
complete -c pi-subagents -e
complete -c pi-subagents -f -k -a '(__pi_subagents_complete)'
