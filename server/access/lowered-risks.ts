// For which descriptions of a tool from outside a lowered risk level applies, and which changed ones wait for an administrator.

import { z } from 'zod'
import type { Writer } from '../db/database.ts'
import type { Store } from '../db/store.ts'
import { appError } from '../errors.ts'
import { isLowerRisk, RiskLevel } from '../protocol/runs/run-event.ts'

const KEY = 'lowered risks'
/** Servers that people sign in to may describe a tool differently to each of them. */
const MAX_ACCEPTED = 20
const MAX_WAITING = 5
const MAX_SCHEMA = 20_000
const CHANGED =
  'A tool describes itself differently since its risk level was lowered. Its own level applies until an administrator accepts the change under Settings, MCP servers.'

/** A tool whose name has a lower risk level in the configuration than it has itself. */
export interface LoweredTool {
  name: string
  /** Changes with what the tool says of itself. */
  grantKey: string
  description: string
  parameters: Record<string, unknown>
}

const ChangedTool = z.object({
  key: z.string(),
  description: z.string(),
  /** JSON, perhaps cut. */
  schema: z.string(),
  /** When this server first saw it. */
  since: z.iso.datetime(),
})
type ChangedTool = z.infer<typeof ChangedTool>

const Entry = z.object({
  level: RiskLevel,
  accepted: z.array(z.string()),
  waiting: z.array(ChangedTool),
})
type Entry = z.infer<typeof Entry>
/** By the name of the tool. */
const Stored = z.record(z.string(), Entry)
type Stored = z.infer<typeof Stored>

/** An operator lowers the risk of the tool that they know: what it says of itself later is not accepted by that. */
export interface LoweredRisks {
  /**
   * Whether the level applies to the tool as it describes itself now. The first description that is seen is accepted, as is
   * that of a tool whose level was lowered further, once that is stored. Reads memory only.
   */
  applies(tool: LoweredTool, level: RiskLevel): boolean
  /** Whether the level would apply if the tool described itself like this, without taking that for seen. */
  wouldApply(tool: Pick<LoweredTool, 'name' | 'grantKey'>, level: RiskLevel): boolean
  /** Changes whenever `applies` may answer differently. */
  readonly version: number
  /** The descriptions of a tool that wait for an administrator, oldest first. */
  waiting(name: string): readonly ChangedTool[]
  /** @throws AppError `tool_changed_again` if no such description waits. */
  accept(name: string, key: string, after?: (tx: Writer) => Promise<void>): Promise<void>
  /** Reads the stored decisions again, because another instance may have changed them. */
  reload(): Promise<void>
}

interface Options {
  settings: Pick<Store['settings'], 'get' | 'update'>
  now(): Date
  log: { warn(details: object, message: string): void }
}

/** Reads the stored decisions. */
export async function loadLoweredRisks({ settings, now, log }: Options): Promise<LoweredRisks> {
  let stored: Stored = (await settings.get(KEY, Stored)) ?? {}
  const set = (changed: Stored): void => {
    stored = changed
    risks.version += 1
  }

  /** What is known after a tool was seen; the same object if nothing is new. */
  const seen = (before: Stored, tool: LoweredTool, level: RiskLevel): Stored => {
    const entry = before[tool.name]
    if (entry === undefined || isLowerRisk(level, entry.level))
      return { ...before, [tool.name]: { level, accepted: [tool.grantKey], waiting: [] } }
    if (isKnown(entry, tool.grantKey)) return before
    const waiting = [...entry.waiting, changedTool(tool, now())].slice(-MAX_WAITING)
    return { ...before, [tool.name]: { ...entry, waiting } }
  }

  /** Descriptions that are being stored. */
  const learning = new Set<string>()
  const learn = async (tool: LoweredTool, level: RiskLevel): Promise<void> => {
    const { name, grantKey } = tool
    if (learning.has(grantKey)) return
    learning.add(grantKey)
    try {
      // Another instance may have seen the tool first.
      set(await settings.update(KEY, Stored, (before = {}) => seen(before, tool, level)))
      if (stored[name]?.waiting.some(({ key }) => key === grantKey) === true)
        log.warn({ tool: name, level }, CHANGED)
    } catch (error) {
      log.warn({ err: error, tool: name }, 'what a tool says of itself was not stored')
    } finally {
      learning.delete(grantKey)
    }
  }

  const risks: LoweredRisks & { version: number } = {
    version: 0,
    applies(tool, level) {
      const entry = stored[tool.name]
      if (entry !== undefined && !isLowerRisk(level, entry.level) && isKnown(entry, tool.grantKey))
        return entry.accepted.includes(tool.grantKey)
      void learn(tool, level)
      return false
    },
    wouldApply({ name, grantKey }, level) {
      const entry = stored[name]
      return (
        entry === undefined || isLowerRisk(level, entry.level) || entry.accepted.includes(grantKey)
      )
    },
    waiting: (name) => stored[name]?.waiting ?? [],
    async accept(name, key, after) {
      set(
        await settings.update(
          KEY,
          Stored,
          (before = {}) => {
            const entry = before[name]
            if (entry === undefined || !entry.waiting.some((one) => one.key === key))
              throw appError('tool_changed_again')
            const accepted = [...entry.accepted, key].slice(-MAX_ACCEPTED)
            const waiting = entry.waiting.filter((one) => one.key !== key)
            return { ...before, [name]: { ...entry, accepted, waiting } }
          },
          after,
        ),
      )
    },
    async reload() {
      const read = (await settings.get(KEY, Stored)) ?? {}
      if (JSON.stringify(read) !== JSON.stringify(stored)) set(read)
    },
  }
  return risks
}

const isKnown = ({ accepted, waiting }: Entry, key: string): boolean =>
  accepted.includes(key) || waiting.some((one) => one.key === key)

const changedTool = (
  { grantKey, description, parameters }: LoweredTool,
  now: Date,
): ChangedTool => ({
  key: grantKey,
  description,
  schema: JSON.stringify(parameters).slice(0, MAX_SCHEMA),
  since: now.toISOString(),
})
