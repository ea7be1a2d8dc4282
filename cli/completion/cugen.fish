# Completion of cugen for fish. It asks the program itself, so that it knows every command and option there is.
# It is found here when cugen is installed; otherwise: cugen completion fish | source in config.fish.

function __cugen_complete
    set -l words (commandline -opc)
    set -l current (commandline -ct)
    set -l option (string match -r -- '^--[^=]*=' $current)
    set -l path (string replace -r -- '^--[^=]*=' '' $current)
    for line in ($words[1] complete $words[2..-1] "$current" 2>/dev/null)
        switch $line
            case ':files *'
                __fish_complete_suffix "$path" (string replace ':files ' '' -- $line)
            case :files
                printf "$option%s\n" (__fish_complete_path "$path")
            case :folders
                printf "$option%s\n" (__fish_complete_directories "$path")
            case :programs
                printf "$option%s\n" (__fish_complete_command)
            case '*'
                printf '%s\n' $line
        end
    end
end

complete -c cugen -f -a '(__cugen_complete)'
