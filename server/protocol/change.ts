// What a user's other tabs and devices receive when a conversation, project or setting of theirs has changed.
import { z } from 'zod'
import { ConversationId, ProjectId, RunId } from './ids.ts'
import { ScheduleId } from './schedules/schedule.ts'

const fields = {
  /** The id of what changed; for files the path in the project ('' for several), for settings their kind (`memory`, `models`, …). */
  id: z.string(),
  change: z.enum(['created', 'updated', 'deleted']),
}

/**
 * A change of a user's data, for their open pages. It has no content: clients fetch what they need, with all the checks of
 * that request.
 */
export const Change = z.discriminatedUnion('type', [
  z.object({ type: z.literal('conversation'), ...fields }),
  z.object({ type: z.literal('message'), ...fields, conversation_id: ConversationId }),
  z.object({ type: z.literal('run'), ...fields, conversation_id: ConversationId }),
  z.object({
    type: z.literal('approval'),
    ...fields,
    run_id: RunId,
    conversation_id: ConversationId,
  }),
  z.object({ type: z.literal('grant'), ...fields }),
  z.object({ type: z.literal('schedule'), ...fields }),
  z.object({ type: z.literal('occurrence'), ...fields, schedule_id: ScheduleId }),
  z.object({ type: z.literal('channel'), ...fields }),
  z.object({ type: z.literal('project'), ...fields }),
  z.object({ type: z.literal('file'), ...fields, project_id: ProjectId }),
  z.object({ type: z.literal('settings'), ...fields }),
])
export type Change = z.infer<typeof Change>
