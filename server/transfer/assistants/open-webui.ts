// Reads models of Open WebUI as its workspace exports them, also as its API lists them with what people set in `info`.
import { z } from 'zod'
import { createDraft, type DraftWriter } from './draft.ts'
import { givenNames, listOf, number, text, within } from './lenient.ts'

const Params = within({ system: text, temperature: number, max_tokens: number })
const Named = within({ name: text, id: text })
const Model = z.looseObject({
  id: z.string(),
  name: text,
  base_model_id: text,
  params: Params,
  meta: within({
    description: text,
    profile_image_url: text,
    suggestion_prompts: listOf(
      within({ content: text, title: z.union([z.string(), listOf(z.string())]).catch('') }),
    ),
    knowledge: listOf(Named),
    toolIds: listOf(z.string()),
    filterIds: listOf(z.string()),
    actionIds: listOf(z.string()),
    skillIds: listOf(z.string()),
  }),
})
const Settings = z.union([
  z.looseObject({ params: z.looseObject({}) }),
  z.looseObject({ meta: z.looseObject({}) }),
])

const KNOWN_PARAMS = Object.keys(Params.unwrap().shape)

/** What people have set: in exports the entry itself, in lists of models its `info`. */
function settingsIn(entry: unknown): unknown {
  const listed = z.looseObject({ id: z.string(), name: text, info: Settings }).safeParse(entry)
  if (!listed.success) return entry
  const { id, name, info } = listed.data
  return { id, name, ...info }
}

/** Whether an entry is a model, with or without settings. */
export const isOpenWebUiModel = (entry: unknown): boolean =>
  z
    .looseObject({ id: z.string(), name: z.string() })
    .refine((model) =>
      ['base_model_id', 'object', 'owned_by', 'info'].some((name) => name in model),
    )
    .safeParse(entry).success

/** A draft of a model; null for one that has nothing of an assistant. */
export function readOpenWebUiModel(
  entry: unknown,
): { writer: DraftWriter; image: string | null } | null {
  const given = settingsIn(entry)
  const read = Model.safeParse(given)
  if (!read.success || !Settings.safeParse(given).success) return null
  const { id, name, base_model_id, params, meta } = read.data
  const isPlain = base_model_id === undefined
  if (isPlain && params.system === undefined && meta.suggestion_prompts.length === 0) return null
  const writer = createDraft('Open WebUI')
  writer.name(id)
  writer.name(name)
  writer.description(meta.description)
  writer.instructions(params.system)
  writer.starters(
    meta.suggestion_prompts.map(({ content = '', title }) => ({
      title: typeof title === 'string' ? title : title.join(' '),
      text: content,
    })),
  )
  writer.model(base_model_id ?? id)
  writer.temperature(params.temperature)
  writer.maxTokens(params.max_tokens)
  writer.leaveOut('parameters', 'no_counterpart', givenNames(params, KNOWN_PARAMS))
  writer.leaveOut(
    'knowledge',
    'not_in_file',
    meta.knowledge.map((one) => one.name ?? one.id ?? '?').slice(0, 50),
  )
  writer.leaveOut(
    'tools',
    'no_counterpart',
    [...meta.toolIds, ...meta.filterIds, ...meta.actionIds, ...meta.skillIds].slice(0, 50),
  )
  return { writer, image: meta.profile_image_url ?? null }
}
