// Whether a piece of tool progress is of a kind that this page knows, by the server's own schema.
import { config } from 'zod/mini'
import { CallProgress } from '../../../server/protocol/tool-progress.ts'

// The page's content security policy forbids the code generation that zod would try.
config({ jitless: true })

export const isCallProgress = (value: unknown): value is CallProgress =>
  CallProgress.safeParse(value).success
