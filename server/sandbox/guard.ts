// Ends a program whose server has died, however: a process beside it that waits for the end of a pipe which only the server holds.

/** Shells name descriptors beyond this one with two digits, which not all of them understand. */
const MAX_DESCRIPTOR = 9

/**
 * What `--die-with-parent` of bubblewrap leaves open: a parent that dies before it has been set. Then a sandbox that was about to
 * start waits for ever, or runs on. All that starts one stays in the process group of its leader (`bubblewrapArguments`), which
 * is killed as a whole.
 */
const GUARDED = `
(
  read -r ended <&$1
  kill -KILL -$$
) </dev/null >/dev/null 2>&1 &
eval "exec $1<&-"
shift
exec "$@"`

/**
 * The command that runs the program beside its guard; the program inherits everything but the pipe. A command that does not exist
 * ends with the exit code 127.
 * @param lifeline the descriptor of the pipe.
 */
export function guarded(
  command: string,
  args: readonly string[],
  lifeline: number,
): { command: string; args: string[] } {
  if (lifeline > MAX_DESCRIPTOR) throw new Error(`the descriptor ${lifeline} has two digits`)
  return {
    command: '/bin/sh',
    args: ['-c', GUARDED, 'guarded', String(lifeline), command, ...args],
  }
}
