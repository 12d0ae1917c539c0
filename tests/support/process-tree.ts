// The processes of this machine and who started them, as `ps` lists them.
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'

/** All processes with their parents. */
export async function processes(): Promise<Map<number, number>> {
  const { stdout } = await promisify(execFile)('ps', ['-eo', 'pid=,ppid='])
  return new Map(
    stdout
      .trim()
      .split('\n')
      .map((line) => {
        const [pid, parent] = line.trim().split(/\s+/)
        return [Number(pid), Number(parent)]
      }),
  )
}

/** Ids of the processes below one. */
export async function descendants(of: number): Promise<number[]> {
  const all = await processes()
  const below = (parent: number): number[] =>
    [...all].filter(([, its]) => its === parent).flatMap(([pid]) => [pid, ...below(pid)])
  return below(of)
}
