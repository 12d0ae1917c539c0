// Whether this page knows a kind of tool progress, by the server's own schema.
import { CallProgress } from '../../../../server/protocol/runs/tool-progress.ts'

/** False for kinds that a newer server sends; the page leaves them out. */
export const isCallProgress = (value: unknown): value is CallProgress =>
  CallProgress.safeParse(value).success
