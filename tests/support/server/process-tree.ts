// The process tree of this machine, as listed by `ps`.
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'

/** All processes: id -> id of the parent. */
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

/** Ids of all descendants of a process. */
export async function descendants(of: number): Promise<number[]> {
  const all = await processes()
  const below = (parent: number): number[] =>
    [...all].filter(([, its]) => its === parent).flatMap(([pid]) => [pid, ...below(pid)])
  return below(of)
}
