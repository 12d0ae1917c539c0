// Evaluates the checks of a schedule after its run, on what is stored: files, calls, the answer, deliveries.
import type { LedgerStep } from '../db/repositories/runs/ledger.ts'
import type { RunRow } from '../db/repositories/runs/runs.ts'
import type { OccurrenceRow } from '../db/repositories/schedules/occurrences.ts'
import type { ScheduleRow } from '../db/repositories/schedules/schedules.ts'
import type { Store } from '../db/store.ts'
import { storedReason } from '../errors.ts'
import type { ProjectId, UserId } from '../protocol/ids.ts'
import { parseJson } from '../protocol/read-json.ts'
import { SUCCESS_BEGINS } from '../protocol/runs/call-outcome.ts'
import type { ReceiptFile } from '../protocol/runs/receipt.ts'
import { findingText } from '../protocol/schedules/check-finding.ts'
import type { CheckOutcome, NamedFailure, ScheduleCheck } from '../protocol/schedules/schedule.ts'
import type { Receipts } from '../receipts/receipts.ts'
import { compileGlob } from '../workspace/files/glob.ts'
import type { ScheduleSettings } from './settings.ts'

/** How long after the run a delivery may still be on its way. */
const DELIVERY_MS = 60_000
/** More of an answer is not compared with a pattern. */
const MAX_ANSWER_CHARACTERS = 200_000

/** What evaluating needs. */
export interface CheckDependencies {
  store: Store
  now(): Date
  receipts: Pick<Receipts, 'read'>
  /** Paths of the project that match. */
  findFiles(userId: UserId, projectId: ProjectId, glob: string): Promise<string[]>
  /** The text of a file; null if there is none. */
  readFile(userId: UserId, projectId: ProjectId, path: string): Promise<string | null>
  /** Whether a pattern of RE2 matches in the text. Rejects if it takes too long. */
  matchesPattern(userId: UserId, pattern: string, text: string): Promise<boolean>
  /** Runs a command as the tool `exec` does, in the sandbox. Resolves to how it ended. */
  runCommand(
    command: string,
    run: Pick<RunRow, 'id' | 'userId' | 'projectId' | 'conversationId' | 'messageId' | 'model'>,
    signal: AbortSignal,
  ): Promise<CommandEnd>
  log: { warn(details: object, message: string): void }
}

/** How a command ended; without an exit code, why there is none. */
export type CommandEnd =
  | { exitCode: number }
  | { exitCode: null; detail: string; failure?: NamedFailure }

interface Checked {
  run: RunRow
  occurrence: OccurrenceRow
  schedule: ScheduleRow
  settings: ScheduleSettings
  steps: readonly LedgerStep[]
}

interface Facts extends Checked {
  files: readonly ReceiptFile[]
  answer: string
  sent: readonly { to: string; delivered: boolean | null }[]
}

type Result = Omit<CheckOutcome, 'check'>

/** Null while a delivery that a check asks for is still on its way. @throws if `signal` ended it. */
export async function evaluateChecks(
  checked: Checked,
  dependencies: CheckDependencies,
  signal: AbortSignal,
): Promise<CheckOutcome[] | null> {
  const { checks } = checked.settings
  if (checks.length === 0) return []
  const { run } = checked
  const receipt = await dependencies.receipts.read(run)
  const message = await dependencies.store.messages.find(run.conversationId, run.messageId)
  const facts: Facts = {
    ...checked,
    files: receipt?.files ?? [],
    answer: (message?.text ?? '').slice(0, MAX_ANSWER_CHARACTERS),
    sent: receipt?.sent ?? [],
  }
  const since = dependencies.now().getTime() - (run.endedAt?.getTime() ?? 0)
  const waits = checks.some(
    (check) =>
      'sent' in check &&
      facts.sent.some(({ to, delivered }) => isTo(to, check) && delivered === null),
  )
  if (waits && since < DELIVERY_MS) return null
  const outcomes: CheckOutcome[] = []
  for (const check of checks) {
    // None begins after the end, also where this one has waited for its turn.
    signal.throwIfAborted()
    let result: Result
    try {
      result = await evaluate(check, facts, dependencies, signal)
    } catch (error) {
      const onFault = (fault: unknown): void =>
        dependencies.log.warn({ err: fault, run_id: run.id }, 'a check could not be evaluated')
      result = { passed: false, ...storedReason(error, onFault) }
    }
    signal.throwIfAborted()
    outcomes.push({ check, ...result, detail: result.detail.slice(0, 500) })
  }
  return outcomes
}

const isTo = (to: string, { sent }: { sent: string }): boolean =>
  to === sent || `channel:${to}` === sent

const evaluate = (
  check: ScheduleCheck,
  facts: Facts,
  dependencies: CheckDependencies,
  signal: AbortSignal,
): Result | Promise<Result> => {
  if ('command' in check) return ofCommand(check, facts, dependencies, signal)
  if ('sent' in check) return ofDelivery(check, facts)
  if ('answer' in check) return ofAnswer(check, facts, dependencies)
  if ('tool' in check) return ofTool(check, facts)
  if ('is' in check) return ofFiles(check, facts, dependencies)
  return ofContent(check, facts, dependencies)
}

async function ofFiles(
  {
    file,
    is,
  }: Extract<ScheduleCheck, { is: 'exists' | 'changed' | 'unchanged' }> & { file: string },
  { files, schedule: { userId, projectId } }: Facts,
  { findFiles }: CheckDependencies,
): Promise<Result> {
  if (is === 'exists') {
    const found = projectId === null ? [] : await findFiles(userId, projectId, file)
    const passed = found.length > 0
    return { passed, detail: passed ? `${found.length} files match` : findingText('noMatch') }
  }
  const matches = compileGlob(file)
  const changed = files.filter(({ path }) => matches(path))
  const detail =
    changed.length === 0 ? findingText('unchanged') : changed.map(({ path }) => path).join(', ')
  return { passed: changed.length > 0 === (is === 'changed'), detail }
}

async function ofContent(
  check: Extract<ScheduleCheck, { contains: string } | { pointer: string }>,
  { schedule: { userId, projectId } }: Facts,
  { readFile }: CheckDependencies,
): Promise<Result> {
  const text = projectId === null ? null : await readFile(userId, projectId, check.file)
  if (text === null) return { passed: false, detail: findingText('noFile') }
  if ('contains' in check) {
    const passed = text.includes(check.contains)
    return { passed, detail: passed ? 'found' : findingText('notFound') }
  }
  const value = atPointer(parseJson(text), check.pointer)
  if (value === undefined) return { passed: false, detail: findingText('noValue') }
  const passed = isEqual(value, check.equals)
  return { passed, detail: JSON.stringify(value) }
}

/** The value at a JSON pointer (RFC 6901); undefined if there is none. */
function atPointer(root: unknown, pointer: string): unknown {
  if (pointer === '') return root
  if (!pointer.startsWith('/')) return undefined
  let value = root
  for (const part of pointer.slice(1).split('/')) {
    const name = part.replaceAll('~1', '/').replaceAll('~0', '~')
    if (typeof value !== 'object' || value === null) return undefined
    const entry = Object.entries(value).find(([key]) => key === name)
    if (entry === undefined) return undefined
    value = entry[1]
  }
  return value
}

function isEqual(one: unknown, other: unknown): boolean {
  if (Object.is(one, other) || one === other) return true
  if (typeof one !== 'object' || typeof other !== 'object' || one === null || other === null)
    return false
  if (Array.isArray(one) !== Array.isArray(other)) return false
  const [left, right] = [Object.entries(one), new Map(Object.entries(other))]
  return (
    left.length === right.size &&
    left.every(([key, value]) => right.has(key) && isEqual(value, right.get(key)))
  )
}

function ofTool(
  { tool, is, at_least: atLeast = 1 }: Extract<ScheduleCheck, { tool: string }>,
  { steps }: Facts,
): Result {
  const calls = steps.filter(({ type, name }) => type === 'tool_call' && name === tool)
  const results = steps.filter(
    ({ type, name, skipped, content }) =>
      type === 'tool_result' && name === tool && !skipped && isSuccess(content),
  )
  if (is === 'not_called')
    return {
      passed: calls.length === 0,
      detail: findingText('calls', { number: calls.length }),
    }
  const count = is === 'called' ? calls.length : results.length
  return {
    passed: count >= atLeast,
    detail:
      is === 'called'
        ? findingText('calls', { number: count })
        : findingText('succeeded', { number: count, all: calls.length }),
  }
}

/** Whether the stored result of a call is that of one that succeeded. */
const isSuccess = (content: string): boolean => content.startsWith(SUCCESS_BEGINS)

async function ofAnswer(
  { answer, value }: Extract<ScheduleCheck, { answer: string }>,
  facts: Facts,
  { matchesPattern }: CheckDependencies,
): Promise<Result> {
  const passed =
    answer === 'contains'
      ? facts.answer.includes(value)
      : await matchesPattern(facts.schedule.userId, value, facts.answer)
  return { passed, detail: passed ? 'found' : findingText('notFound') }
}

const findingOfDelivery = (count: number, passed: boolean): string =>
  passed ? 'accepted' : findingText(count === 0 ? 'notSent' : 'notAccepted')

function ofDelivery(check: Extract<ScheduleCheck, { sent: string }>, { sent }: Facts): Result {
  const to = sent.filter((one) => isTo(one.to, check))
  const passed = to.some(({ delivered }) => delivered === true)
  return {
    passed,
    detail: findingOfDelivery(to.length, passed),
  }
}

async function ofCommand(
  { command, exits }: Extract<ScheduleCheck, { command: string }>,
  { run }: Facts,
  { runCommand }: CheckDependencies,
  signal: AbortSignal,
): Promise<Result> {
  const end = await runCommand(command, run, signal)
  if (end.exitCode === null) {
    const { exitCode: _none, ...why } = end
    return { passed: false, ...why }
  }
  const detail = findingText('exitCode', { number: end.exitCode })
  return { passed: end.exitCode === exits, detail }
}
