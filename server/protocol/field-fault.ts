// What is wrong with a field of a refused request, in words that a page can translate.
import { z } from 'zod'

/** The kind of a fault and, for lengths and amounts, the limit that the value breaks. */
export const FieldFault = z.object({
  fault: z.enum([
    'missing',
    'too_short',
    'too_long',
    'too_few',
    'too_many',
    'too_small',
    'too_large',
    'url',
    'email',
    'form',
    'value',
  ]),
  limit: z.number().optional(),
})
export type FieldFault = z.infer<typeof FieldFault>

/** The `details` of a refusal with the reason `request_field_invalid`. */
export const FieldFaults = z.array(FieldFault.extend({ path: z.string() }))
export type FieldFaults = z.infer<typeof FieldFaults>
