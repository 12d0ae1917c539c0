// Whether this page knows a kind of tool progress, by the server's own schema.
import { config } from 'zod/mini'
import { CallProgress } from '../../../server/protocol/runs/tool-progress.ts'

// The page's content security policy forbids the code generation that zod would otherwise try.
config({ jitless: true })

export const isCallProgress = (value: unknown): value is CallProgress =>
  CallProgress.safeParse(value).success
