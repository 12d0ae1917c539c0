// Apps on the wire: files of projects that run in a frame.
import { z } from 'zod'
import { APP_KINDS } from '../app-kind.ts'
import { Timestamp, withoutNul } from '../envelope.ts'
import { ProjectId } from '../ids.ts'

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
    kind: z.enum(APP_KINDS),
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

/** A library that components can import from the server. */
export const AppLibrary = z
  .object({ name: z.string(), version: z.string() })
  .meta({ id: 'AppLibrary' })
export type AppLibrary = z.infer<typeof AppLibrary>
