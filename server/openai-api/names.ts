// Names for programs: models as `nanoclaw/<id>`, and call ids that name their run.

import { ProgramTools } from '../protocol/accounts/user.ts'
import { CallId, RunId } from '../protocol/ids.ts'
import type { PublicModel } from '../protocol/models/catalog.ts'
import type { ProgramModel } from '../protocol/openai/chat-completions.ts'

const DEFAULT_MODEL = 'nanoclaw'
const PREFIX = `${DEFAULT_MODEL}/`

/** The name of a model in responses. */
export const programModelName = (id: string): string => PREFIX + id

/** A model as a program names it. */
export interface NamedModel {
  /** The model's id in this server; undefined for the default model. */
  id: string | undefined
  /** What the name says about the tools of the server. */
  tools: ProgramTools | undefined
}

const WISH = /:(plain|tools)$/

/** Reads `nanoclaw/<id>`, `nanoclaw/<id>:plain` and `nanoclaw/<id>:tools`; the prefix is optional. `nanoclaw` is the default model. */
export function readModelName(name: string): NamedModel {
  const tools = ProgramTools.safeParse(WISH.exec(name)?.[1]).data
  const bare = tools === undefined ? name : name.slice(0, -tools.length - 1)
  if (bare === DEFAULT_MODEL) return { id: undefined, tools }
  return { id: bare.startsWith(PREFIX) ? bare.slice(PREFIX.length) : bare, tools }
}

/** A model as `/v1/models` lists it. */
export const presentProgramModel = (model: PublicModel): ProgramModel => ({
  id: programModelName(model.id),
  object: 'model',
  created: 0,
  owned_by: 'nanoclaw',
  name: model.name,
  context_window: model.context_window,
  vision: model.vision,
})

/** The id of a call of the program's tool. It names the run, so that the results can be assigned to it. */
export const clientCallId = (runId: RunId, idRef: string): string => `call_${runId}_${idRef}`

/** Reads what `clientCallId` wrote; null for ids from elsewhere. */
export function readClientCallId(id: string): { runId: RunId; idRef: string } | null {
  const [, run, idRef] = /^call_([\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12})_(.+)$/s.exec(id) ?? []
  return run === undefined || idRef === undefined ? null : { runId: RunId.parse(run), idRef }
}

/** A call id from a program, cut to the length that is stored. */
export const storedCallId = (id: string): CallId => CallId.parse(id.slice(-200))
