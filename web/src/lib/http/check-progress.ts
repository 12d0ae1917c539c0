// Checks tool progress against the protocol's schema.
import { CallProgress } from '../../../../server/protocol/runs/tool-progress.ts'

/** Whether this page knows this kind of tool progress. False for kinds of a newer server, which the page drops. */
export const isCallProgress = (value: unknown): value is CallProgress =>
  CallProgress.safeParse(value).success
