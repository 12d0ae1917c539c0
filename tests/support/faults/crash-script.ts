// The scripted run that crash tests repeat: the turns of its model, and how to count its effects on disk.
import { readFileSync } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { UpstreamRequest } from '../provider/upstream.ts'
import { type Turn, turn } from '../provider/upstream-turns.ts'

/** The usage that the scripted model reports for each iteration. */
const usage = { prompt_tokens: 7, completion_tokens: 3, total_tokens: 10 }
const ROUNDS = 3
/** Total tokens of one finished run, however often the server died during it. */
export const RUN_TOKENS = ROUNDS * usage.total_tokens

const LONG_TEXT = Array.from({ length: 40 }, (_, at) => `Sentence number ${at}.`).join(' ')

/**
 * Picks the next turn from the request alone, so that it also works for a server that was killed and restarted: think,
 * append to a file, calculate, give a long answer. The last line of the user's message starts with "Task"; context may
 * precede it.
 */
export function playTask(request: UpstreamRequest, delayMs = 2): Turn {
  const asked = request.messages.findLastIndex(({ role }) => role === 'user')
  const task = /^Task .*$/m.exec(String(request.messages[asked]?.content))?.[0]
  if (task === undefined) throw new Error('the last message of the user gives no task')
  const results = request.messages.slice(asked).filter(({ role }) => role === 'tool').length
  if (results === 0)
    return turn.toolCalls(
      [
        {
          name: 'file_write',
          arguments: { path: 'log.txt', content: `${task}\n`, mode: 'append' },
        },
      ],
      { thinking: 'First I write it down, piece by piece.', delayMs, usage },
    )
  if (results === 1)
    return turn.toolCalls([{ name: 'calculator', arguments: { expression: '6*7' } }], {
      text: 'Written. Now I calculate.',
      delayMs,
      usage,
    })
  return turn.thinking('Almost there.', LONG_TEXT, { delayMs, usage })
}

/** How often a run's file tool actually wrote below `workspaces`, counted on disk. */
export async function linesWritten(workspaces: string, task: string): Promise<number> {
  const files = (await readdir(workspaces, { recursive: true })).filter((file) =>
    file.endsWith('log.txt'),
  )
  return files
    .flatMap((file) => readFileSync(join(workspaces, file), 'utf8').split('\n'))
    .filter((line) => line === task).length
}
