// Input that an MCP server asks a person for while a tool call runs: a form, or a page to open.
import { z } from 'zod'
import { optional } from '../envelope.ts'
import { CallId } from '../ids.ts'

const Title = z.string().max(500)
const Named = { title: Title.optional(), description: z.string().max(2_000).optional() }
const Choice = z.object({ const: z.string().max(500), title: Title })
const Choices = z.array(Choice).min(1).max(200)
const Values = z.array(z.string().max(500)).min(1).max(200)

/** A text, which may be limited in length or have a format. */
export const TextField = z.object({
  type: z.literal('string'),
  ...Named,
  minLength: z.int().min(0).optional(),
  maxLength: z.int().min(0).optional(),
  format: z.enum(['email', 'uri', 'date', 'date-time']).optional(),
  default: z.string().optional(),
})
export const NumberField = z.object({
  type: z.enum(['number', 'integer']),
  ...Named,
  minimum: z.number().optional(),
  maximum: z.number().optional(),
  default: z.number().optional(),
})
export const SwitchField = z.object({
  type: z.literal('boolean'),
  ...Named,
  default: z.boolean().optional(),
})
/** One of some values. */
export const ChoiceField = z.object({
  type: z.literal('string'),
  ...Named,
  oneOf: Choices,
  default: z.string().optional(),
})
/** Any number of some values. */
export const MultipleField = z.object({
  type: z.literal('array'),
  ...Named,
  minItems: z.int().min(0).optional(),
  maxItems: z.int().min(0).optional(),
  items: z.object({ anyOf: Choices }),
  default: z.array(z.string()).optional(),
})

/** The forms of choices that servers use: with and without titles, and an earlier one with a second list. */
const PlainChoice = ChoiceField.omit({ oneOf: true })
  .extend({ enum: Values, enumNames: z.array(Title).optional() })
  .transform(({ enum: values, enumNames, ...field }) => ({
    ...field,
    oneOf: values.map((value, index) => ({ const: value, title: enumNames?.[index] ?? value })),
  }))
const PlainMultiple = MultipleField.omit({ items: true })
  .extend({ items: z.object({ enum: Values }) })
  .transform(({ items, ...field }) => ({
    ...field,
    items: { anyOf: items.enum.map((value) => ({ const: value, title: value })) },
  }))

const MAX_FIELDS = 30

/**
 * The form that a server asks for: the flat object of the MCP specification, a bounded subset of JSON Schema, with one way
 * to write choices. Other keywords are dropped.
 */
export const InputForm = z.object({
  type: z.literal('object'),
  properties: z
    .record(
      z.string().min(1).max(200),
      z.union([
        ChoiceField,
        PlainChoice,
        MultipleField,
        PlainMultiple,
        TextField,
        NumberField,
        SwitchField,
      ]),
    )
    .refine((fields) => Object.keys(fields).length <= MAX_FIELDS, {
      error: `at most ${MAX_FIELDS} fields`,
    }),
  required: z.array(z.string()).optional(),
})
export type InputForm = z.output<typeof InputForm>
/** One field of a form. */
export type InputField = InputForm['properties'][string]

/** The same form on the wire, without transformations. */
const ShownForm = z.object({
  type: z.literal('object'),
  properties: z.record(
    z.string(),
    z.union([ChoiceField, MultipleField, TextField, NumberField, SwitchField]),
  ),
  required: z.array(z.string()).optional(),
})

/** A question of an MCP server: a form, or a page to open. Only the server's name and host do not come from the server. */
export const InputQuestion = z.object({
  server: z.string(),
  /** The host of the server's address; null for a program on this machine. */
  host: z.string().nullable(),
  mode: z.enum(['form', 'url']),
  message: z.string(),
  /** For `form`. */
  schema: ShownForm.optional(),
  /** For `url`: opened by the person, never by the page on its own. */
  url: z.string().optional(),
})
export type InputQuestion = z.infer<typeof InputQuestion>

/** A question that waits for its answer. */
export const PendingInput = InputQuestion.extend({
  /** Identifies the question within the run. */
  id_ref: z.string(),
  /** The tool call that waits for it. */
  call_ref: CallId,
})
export type PendingInput = z.infer<typeof PendingInput>

/** How a person reacts to a question: fills it in, refuses, or closes it. */
export const InputAction = z.enum(['accept', 'decline', 'cancel'])
export type InputAction = z.infer<typeof InputAction>

const Content = z.record(
  z.string(),
  z.union([z.string().max(100_000), z.number(), z.boolean(), z.array(z.string()).max(200)]),
)
/** The answer to one question; `content` only with `accept`. */
export const InputAnswer = z.object({ action: InputAction, content: Content.optional() })
export type InputAnswer = z.infer<typeof InputAnswer>

/** The request body of `POST /api/runs/:id/inputs`. */
export const InputAnswerBody = z
  .object({
    id_ref: z.string().min(1).max(300),
    action: InputAction,
    /** With `accept` of a form: the value of each field. */
    content: Content.optional(),
    /** Refused with 409 `approval_changed` unless it is the hash of the question. */
    call_hash: optional(z.string().max(100)),
  })
  .meta({ id: 'InputAnswer' })
export type InputAnswerBody = z.infer<typeof InputAnswerBody>

/** The schema that the content of an answer must satisfy; other keys are refused. */
export function contentSchema(form: InputForm): z.ZodType {
  const required = new Set(form.required ?? [])
  return z.strictObject(
    Object.fromEntries(
      Object.entries(form.properties).map(([name, field]) => [
        name,
        required.has(name) ? valueSchema(field) : valueSchema(field).optional(),
      ]),
    ),
  )
}

function valueSchema(field: InputField) {
  if (field.type === 'boolean') return z.boolean()
  if (field.type === 'array')
    return z
      .array(z.enum(field.items.anyOf.map(({ const: value }) => value)))
      .min(field.minItems ?? 0)
      .max(field.maxItems ?? field.items.anyOf.length)
  if (field.type === 'string')
    return 'oneOf' in field
      ? z.enum(field.oneOf.map(({ const: value }) => value))
      : textSchema(field)
  const number = field.type === 'integer' ? z.int() : z.number()
  return number
    .min(field.minimum ?? Number.NEGATIVE_INFINITY)
    .max(field.maximum ?? Number.POSITIVE_INFINITY)
}

const FORMATS = {
  email: z.email(),
  uri: z.url(),
  date: z.iso.date(),
  'date-time': z.iso.datetime({ offset: true, local: true }),
}

function textSchema({ minLength = 0, maxLength, format }: z.infer<typeof TextField>) {
  const text = z.string().min(minLength)
  const bounded = maxLength === undefined ? text : text.max(maxLength)
  return format === undefined ? bounded : bounded.and(FORMATS[format])
}
