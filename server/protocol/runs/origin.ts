// Where runs and messages come from: a person at the page, a program, or something that happens while nobody looks.
import { z } from 'zod'

/**
 * What started a run: `page`: a person; `api`: a program with an API key; `schedule`, `hook` and `channel`: something that
 * happens while nobody looks; `app`: a page that an answer has made.
 */
export const RunOrigin = z.object({
  type: z.enum(['page', 'api', 'schedule', 'hook', 'channel', 'app']),
  /** Identifies the schedule, hook or channel. */
  id: z.string().max(200).optional(),
  name: z.string().max(500).optional(),
  /** The person at a messenger who wrote. */
  sender: z
    .object({
      id: z.string().max(200),
      external_id: z.string().max(500),
      name: z.string().max(500),
    })
    .optional(),
})
export type RunOrigin = z.infer<typeof RunOrigin>

/** The origin of runs and messages from before it was stored. */
export const PAGE_ORIGIN: RunOrigin = { type: 'page' }

/** How a message stores its origin: null stands for the page. */
export const storedOrigin = (origin: RunOrigin): RunOrigin | null =>
  origin.type === 'page' ? null : origin

/** How an import stores the origin of a message: ids and senders belong to the server that exported it. */
export const importedOrigin = (origin: RunOrigin | undefined): RunOrigin | null =>
  origin === undefined
    ? null
    : storedOrigin({
        type: origin.type,
        ...(origin.name === undefined ? {} : { name: origin.name }),
      })

const UNATTENDED: readonly RunOrigin['type'][] = ['schedule', 'hook', 'channel']

/** Whether nobody looks at the run while it works. */
export const isUnattended = ({ type }: RunOrigin): boolean => UNATTENDED.includes(type)
