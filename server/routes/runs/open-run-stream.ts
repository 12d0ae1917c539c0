// Streams a run to a client: from memory while it is active, from the store once it has ended.
import type { FastifyReply } from 'fastify'
import type { ChatService } from '../../chat/chat-service.ts'
import type { RunRow } from '../../db/repositories/runs/runs.ts'
import type { Store } from '../../db/store.ts'
import { replayRun } from '../../runs/log/stored-replay.ts'
import type { StreamMode } from '../../runs/log/view.ts'
import { streamRun, streamStoredRun } from './run-stream.ts'

/** Returns a function that streams the events of a run after `afterId`; null starts with a snapshot. */
export function createRunStreamer({ chat, store }: { chat: ChatService; store: Store }) {
  return async (
    reply: FastifyReply,
    run: RunRow,
    options: { mode: StreamMode; afterId: number | null },
  ): Promise<void> => {
    const runLog = await chat.runs.runLog(run)
    if (runLog !== null) {
      streamRun(reply, runLog, options)
      return
    }
    // The run may have ended between the two lookups.
    const ended = (await store.runs.find(run.id)) ?? run
    await streamStoredRun(reply, replayRun(ended, store.steps, options))
  }
}
