// Converts the editable settings of a stored model to the texts of a form, and back to a patch.
import type { z } from 'zod'
import type { AdminModel, PatchModelBody } from '../../../../server/protocol/models/catalog.ts'
import { headerLines } from '../../lib/header-lines.ts'

/** Every value as typed; '' for a setting that the model does not have. */
export type ModelForm = Readonly<
  Record<
    | 'name'
    | 'apiUrl'
    | 'apiKey'
    | 'api'
    | 'tools'
    | 'thinking'
    | 'vision'
    | 'pdf'
    | 'contextWindow'
    | 'maxTokens'
    | 'currency'
    | 'input'
    | 'output'
    | 'cachedInput'
    | 'headers',
    string
  >
>

/** The names of these settings in requests. */
export const FIELDS: Readonly<Record<keyof ModelForm, string>> = {
  name: 'name',
  apiUrl: 'api_url',
  apiKey: 'api_key',
  api: 'api',
  tools: 'tool_mode',
  thinking: 'thinking',
  vision: 'vision',
  pdf: 'pdf',
  contextWindow: 'context_window',
  maxTokens: 'max_tokens',
  currency: 'price.currency',
  input: 'price.input',
  output: 'price.output',
  cachedInput: 'price.cached_input',
  headers: 'headers',
}

const text = (value: string | number | boolean | undefined): string =>
  value === undefined ? '' : String(value)

/** The initial values of the form; empty for settings that were never set. */
export const formOf = (model: AdminModel): ModelForm => ({
  name: text(model.name),
  apiUrl: model.api_url,
  // The server never returns it.
  apiKey: '',
  api: text(model.api),
  tools: text(model.tool_mode),
  thinking: text(model.thinking),
  vision: text(model.vision),
  pdf: text(model.pdf),
  contextWindow: text(model.context_window),
  maxTokens: text(model.max_tokens),
  currency: text(model.price?.currency ?? 'USD'),
  input: text(model.price?.input),
  output: text(model.price?.output),
  cachedInput: text(model.price?.cached_input),
  headers: model.header_names.map((name) => `${name}: ${HIDDEN}`).join('\n'),
})

/** Stands for a stored value, which the server never returns. */
const HIDDEN = '••••••'

/** The changes of the headers, one `name: value` per line. A missing line removes its header. */
function headersOf(typed: string, names: readonly string[]): ModelPatch['headers'] {
  const lines = headerLines(typed)
  const kept = new Set(lines.map(([name]) => name))
  const changes = [
    ...names.filter((name) => !kept.has(name.toLowerCase())).map((name) => [name, null] as const),
    ...lines.filter(([, value]) => value !== HIDDEN),
  ]
  return changes.length === 0 ? undefined : Object.fromEntries(changes)
}

/** Absent settings keep their values; null clears a setting. */
export type ModelPatch = z.input<typeof PatchModelBody>

const orNull = <Value>(value: string, read: (value: string) => Value): Value | null =>
  value.trim() === '' ? null : read(value.trim())

const THINKING = { true: true, false: false, low: 'low', medium: 'medium', high: 'high' } as const
const TOOLS = { native: 'native', prompt: 'prompt', none: 'none' } as const
const APIS = { chat: 'chat', responses: 'responses', messages: 'messages' } as const

const choose = <Choices extends object>(
  choices: Choices,
  value: string,
): Choices[keyof Choices] | null =>
  Object.hasOwn(choices, value) ? choices[value as keyof Choices] : null // checked just before

/** The changes of address and key, which several models of one provider share; empty if there are none. */
export const connectionOf = (form: ModelForm, model: AdminModel): ModelPatch => ({
  ...(form.apiUrl.trim() === model.api_url ? {} : { api_url: form.apiUrl.trim() }),
  ...(form.apiKey.trim() === '' ? {} : { api_key: form.apiKey.trim() }),
})

/** The patch for the changed form. A price has both rates; rates that the form does not show keep their values. */
export function patchOf(form: ModelForm, model: AdminModel): ModelPatch {
  const input = orNull(form.input, Number)
  const output = orNull(form.output, Number)
  const cached = orNull(form.cachedInput, Number)
  const { cached_input: _old, ...before } = model.price ?? { currency: 'USD', input: 0, output: 0 }
  return {
    ...connectionOf(form, model),
    name: orNull(form.name, String),
    api: choose(APIS, form.api),
    tool_mode: choose(TOOLS, form.tools),
    thinking: choose(THINKING, form.thinking),
    vision: form.vision === '' ? null : form.vision === 'true',
    pdf: form.pdf === '' ? null : form.pdf === 'true',
    context_window: orNull(form.contextWindow, Number),
    max_tokens: orNull(form.maxTokens, Number),
    headers: headersOf(form.headers, model.header_names),
    price:
      input === null && output === null
        ? null
        : {
            ...before,
            currency: form.currency.trim() === '' ? 'USD' : form.currency.trim(),
            input: input ?? 0,
            output: output ?? 0,
            ...(cached === null ? {} : { cached_input: cached }),
          },
  }
}
