// Apps on the wire: files of projects that run in a frame, and the messages between the frame and the page.
import { z } from 'zod'
import { Timestamp, withoutNul } from '../envelope.ts'
import { ProjectId } from '../ids.ts'

/** How a file runs. `component`: JSX or TSX with a default export; `document`: Markdown. */
export const AppKind = z.enum(['html', 'svg', 'component', 'diagram', 'document'])
export type AppKind = z.infer<typeof AppKind>

const KINDS: readonly (readonly [RegExp, AppKind])[] = [
  [/\.html?$/i, 'html'],
  [/\.svg$/i, 'svg'],
  [/\.[jt]sx$/i, 'component'],
  [/\.mmd$/i, 'diagram'],
  [/\.(?:md|markdown)$/i, 'document'],
]

/** The kind of app that a file is, by its name; null for other files. */
export const appKindOf = (path: string): AppKind | null =>
  KINDS.find(([names]) => names.test(path))?.[1] ?? null

/** Which file to run. */
export const OpenAppBody = z
  .object({
    project_id: ProjectId,
    path: withoutNul(z.string().min(1).max(4096)),
    checkpoint_id: z.string().min(1).max(64).nullish(),
  })
  .meta({ id: 'OpenApp' })
export type OpenAppBody = z.infer<typeof OpenAppBody>

/** A file with the address at which it runs for an hour. */
export const RunningApp = z
  .object({
    id: z.string(),
    /** Null if the server has no address for apps: the page shows single files by itself. */
    url: z.string().nullable(),
    kind: AppKind,
    /** Whether it may use the network. */
    network: z.boolean(),
    /** Whether text from outside is in the file, or in a file of its folder. */
    tainted: z.boolean(),
    expires_at: Timestamp,
  })
  .meta({ id: 'App' })
export type RunningApp = z.infer<typeof RunningApp>

/** What a person permits an app. */
export const PatchAppBody = z.object({ network: z.boolean() }).meta({ id: 'PatchApp' })

/** Libraries that components can import. */
export const AppLibraries = z
  .object({ items: z.array(z.object({ name: z.string(), version: z.string() })) })
  .meta({ id: 'AppLibraries' })

/** The longest text that an app may put into the message field. */
export const MAX_ASK_CHARACTERS = 2_000

/** What the frame of an app sends to the page. Each message carries the channel of the frame. */
export const AppMessage = z.discriminatedUnion('type', [
  z.object({ type: z.literal('ready') }),
  z.object({
    type: z.literal('error'),
    message: z.string().max(2_000),
    line: z.number().int().nullish(),
  }),
  z.object({
    type: z.literal('console'),
    level: z.enum(['log', 'info', 'warn', 'error', 'debug']),
    text: z.string().max(2_000),
  }),
  z.object({ type: z.literal('ask'), text: z.string().min(1).max(MAX_ASK_CHARACTERS) }),
  z.object({ type: z.literal('size'), height: z.number().min(0).max(1_000_000) }),
])
export type AppMessage = z.infer<typeof AppMessage>
