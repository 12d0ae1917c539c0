// Programs for the scripted provider: each derives the turn from the request alone.
import type { Program } from './upstream.ts'
import { type Action, chunk, dataLine, type Turn } from './upstream-turns.ts'

const benchTurns = new Map<string, Turn>()

/**
 * Texts of a given length for benchmarks, selected by model name: `bench-2000` sends 2,000 chunks of 5 bytes of text as
 * fast as the client reads, `bench-2000-each` one per turn of the event loop, `bench-600-30ps` 30 per second.
 */
export const benchProgram: Program = (request) => {
  const match = /^bench-(\d+)(?:-(each)|-(\d+)ps)?$/.exec(request.model)
  if (match === null) return undefined
  const known = benchTurns.get(request.model)
  if (known !== undefined) return known
  const made = tokens(
    Number(match[1]),
    match[2] === 'each' ? 0 : match[3] === undefined ? undefined : 1000 / Number(match[3]),
  )
  benchTurns.set(request.model, made)
  return made
}

function tokens(count: number, everyMs: number | undefined): Turn {
  const actions: Action[] = []
  let text = ''
  for (let index = 0; index < count; index += 1) {
    const content = `${String(index % 10_000).padStart(4, '0')} `
    text += content
    if (everyMs !== undefined) actions.push({ wait: everyMs })
    actions.push({ send: Buffer.from(dataLine(chunk({ content }))) })
  }
  const usage = { prompt_tokens: 10, completion_tokens: count, total_tokens: count + 10 }
  actions.push(
    { send: dataLine(chunk({}, 'stop')) },
    { send: dataLine({ ...chunk({}), choices: [], usage }) },
    { send: dataLine('[DONE]') },
    { finish: 'end' },
  )
  return {
    status: 200,
    headers: { 'content-type': 'text/event-stream' },
    actions,
    whole: {
      object: 'chat.completion',
      model: 'bench',
      choices: [{ index: 0, finish_reason: 'stop', message: { role: 'assistant', content: text } }],
      usage,
    },
  }
}

/** The number of iterations since the latest user message: the index of the next turn of a scripted plan. */
export function iterationOf(request: {
  readonly messages: readonly { role: string; tool_calls?: unknown }[]
}): number {
  let iterations = 0
  for (const message of [...request.messages].reverse()) {
    if (message.role === 'user') break
    if (message.role === 'assistant') iterations += 1
  }
  return iterations
}

/** Plays one turn per iteration, by `iterationOf`. Stateless: every client gets the same plan, also after a restart. */
export const plan =
  (...turns: readonly Turn[]): Program =>
  (request) =>
    turns[Math.min(iterationOf(request), turns.length - 1)]
