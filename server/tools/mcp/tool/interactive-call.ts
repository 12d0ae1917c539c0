// A call during which the server may ask the person for input, over any number of rounds and restarts.
import { isDeepStrictEqual } from 'node:util'
import type { InputAnswer, InputQuestion } from '../../../protocol/runs/input.ts'
import type { ToolContext } from '../../definition.ts'
import type { InputRound } from '../../person-input.ts'
import type { RemoteAnswer, RemoteCall } from '../call.ts'
import type { McpConnection } from '../connection.ts'
import {
  readElicitation,
  readInputRequests,
  readRequiredPages,
} from './interactive-call/elicitation.ts'

/** A server that asks more often is considered faulty. */
const MAX_ROUNDS = 10

type Settled = Exclude<RemoteAnswer, { ok: 'input' | 'pages' }>
type Call = Pick<RemoteCall, 'tool' | 'input'>

/**
 * Calls the tool, and asks the person what the server asks for. If nobody can answer, the server receives a refusal.
 * A server of revision 2026-07-28 ends the call with its questions; it is called again with the answers and its opaque
 * state. A server of an earlier revision keeps the call open; if the call is cut off meanwhile, it is made once more after
 * the answer, and the stored answer serves the same question. A server may also refuse the call until the person has opened
 * a page (error -32042); it is called again afterwards. In each case, only a call that was waiting is repeated.
 */
export async function performCall(
  connection: McpConnection,
  call: Call,
  context: Pick<ToolContext, 'callId' | 'signal' | 'progress' | 'person'>,
): Promise<Settled> {
  const { callId, signal, progress, person } = context
  const rounds = (await person?.rounds(callId)) ?? []
  const session = createSession(connection, rounds, async (round) =>
    person === undefined
      ? round.questions.map((): InputAnswer => ({ action: 'decline' }))
      : await person.ask(callId, round),
  )
  let resume = await session.answersOf(rounds.at(-1))
  for (;;) {
    const answer = await connection.call({
      ...call,
      signal,
      onProgress: progress,
      onInput: session.onInput,
      ...(resume === undefined ? {} : { resume }),
    })
    if (answer.ok === 'input') {
      const asked = readInputRequests(connection, answer.requests)
      if (asked === null || session.count >= MAX_ROUNDS)
        return refuse(asked === null ? UNREADABLE : TOO_OFTEN)
      resume = await session.answersOf(session.add(asked, answer.state))
      continue
    }
    if (answer.ok === 'pages') {
      const pages = readRequiredPages(connection, answer.elicitations)
      if (pages === null || session.count >= MAX_ROUNDS)
        return refuse(pages === null ? UNREADABLE : TOO_OFTEN)
      if (await session.areOpened(pages)) continue
      await person?.close(callId)
      return refuse(NOT_OPENED)
    }
    // The connection was lost while the person was being asked. The server cannot have continued without the answer.
    if (answer.ok === false && !signal.aborted && (await session.untilAnswered())) continue
    if (session.count > 0 && person !== undefined) await person.close(callId)
    return answer
  }
}

const UNREADABLE = 'The server asked for input in a form that cannot be shown to the user.'
const NOT_OPENED =
  'The server runs this tool only after the user has opened a page of it, which the user did not do. The call was not made.'
const TOO_OFTEN = `The server asked for input more than ${MAX_ROUNDS} times.`

const refuse = (error: string): Settled => ({ ok: false, error, reached: true })

function createSession(
  connection: Pick<McpConnection, 'server' | 'host'>,
  rounds: InputRound[],
  ask: (round: InputRound) => Promise<InputAnswer[]>,
) {
  /** The question that an open call waits for. */
  let open: Promise<unknown> | null = null
  /** Numbers of the rounds whose answers the open call has received. */
  let given = new Set<number>()

  const add = (
    questions: readonly { key: string | null; question: InputQuestion }[],
    state: string | null,
  ): InputRound => {
    const round = { number: rounds.length, questions, state }
    rounds.push(round)
    return round
  }

  /** The stored round with the same questions whose answers this call has not received yet, or a new round. */
  const roundOf = (questions: readonly InputQuestion[]): InputRound => {
    const asked = questions.map((question) => ({ key: null, question }))
    const round =
      rounds.find(
        (known) => !given.has(known.number) && isDeepStrictEqual(known.questions, asked),
      ) ?? add(asked, null)
    given.add(round.number)
    return round
  }

  return {
    get count() {
      return rounds.length
    },
    add,
    /** What a call must send to continue after a round of returned questions. */
    async answersOf(round: InputRound | undefined): Promise<RemoteCall['resume']> {
      if (round === undefined) return undefined
      if (round.questions.some(({ key }) => key === null)) {
        // A page's address may be valid for one call only, so the person opens it before the next is requested.
        if (round.questions.every(({ question }) => question.mode === 'url')) await ask(round)
        return undefined
      }
      const answers = await ask(round)
      const responses: Record<string, InputAnswer> = {}
      for (const [at, { key }] of round.questions.entries()) {
        const answer = answers[at]
        if (key !== null && answer !== undefined) responses[key] = answer
      }
      return { responses, state: round.state }
    },
    /** Answers a question that a server asks during an open call. */
    async onInput(params: unknown): Promise<InputAnswer> {
      const question = readElicitation(connection, params)
      if (question === null) return { action: 'decline' }
      if (given.size >= MAX_ROUNDS) return { action: 'cancel' }
      const asked = ask(roundOf([question]))
      open = asked
      const [answer] = await asked
      open = null
      return answer ?? { action: 'cancel' }
    },
    /** Asks the person to open all pages that the server requires. Resolves to whether they did. */
    async areOpened(pages: readonly InputQuestion[]): Promise<boolean> {
      const answers = await ask(roundOf(pages))
      return answers.length === pages.length && answers.every(({ action }) => action === 'accept')
    },
    /** Resolves to whether a question was open when the call ended, once it is answered. */
    async untilAnswered(): Promise<boolean> {
      if (open === null) return false
      await open
      open = null
      given = new Set()
      return true
    },
  }
}
