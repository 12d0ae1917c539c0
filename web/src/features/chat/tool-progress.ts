// Live output of a running tool, kept small: text that grows, or a state that is replaced.
import { fieldsOf, listIn, textIn } from '../../lib/read-json.ts'

export type SubTask = { name: string; state: string; detail: string | null }
export type Progress = {
  /** The newest part of what the program has written. */
  output: string
  /** What the tool says about itself, such as "starting". */
  state: string | null
  tasks: readonly SubTask[]
}

const longestOutput = 20_000

const toSubTask = (value: unknown): SubTask => {
  const task = fieldsOf(value)
  return {
    name: textIn(task.task_name) ?? textIn(task.name) ?? '',
    state: textIn(task.state) ?? textIn(task.status) ?? '',
    detail: textIn(task.detail) ?? textIn(task.text) ?? null,
  }
}

/** What is shown after another piece of progress arrived. Anything unknown is ignored. */
export function foldProgress(before: Progress | undefined, piece: unknown): Progress {
  const old = before ?? { output: '', state: null, tasks: [] }
  const fields = fieldsOf(piece)
  const added =
    textIn(piece) ??
    [fields.stdout, fields.stderr, fields.output, fields.text]
      .map((part) => textIn(part) ?? '')
      .join('')
  const tasks = listIn(fields.tasks)
  return {
    output: (old.output + added).slice(-longestOutput),
    state: textIn(fields.state) ?? textIn(fields.status) ?? old.state,
    tasks: tasks.length > 0 ? tasks.map(toSubTask) : old.tasks,
  }
}
