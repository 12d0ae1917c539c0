// Sends messages whose texts or artifacts are long: as fast as the client reads them, in short turns of the event loop.
import { Readable } from 'node:stream'
import type { FastifyReply } from 'fastify'
import type { FullMessage } from '../../db/repositories/conversations/messages.ts'
import { longJsonPieces } from '../../lib/json-pieces.ts'
import { success } from '../envelope.ts'
import { presentMessage, withLongTexts } from '../runs/present-message.ts'

/** Sends JSON with long texts as fast as the client reads it. */
export const sendLongJson = (reply: FastifyReply, value: unknown): FastifyReply =>
  reply
    .type('application/json; charset=utf-8')
    .send(Readable.from(longJsonPieces(value), { highWaterMark: 1, objectMode: true }))

/** The response that is one message. */
export function sendMessage(reply: FastifyReply, row: FullMessage) {
  const message = presentMessage(row)
  if (!row.isLong) return success(message)
  return sendLongJson(reply, success(withLongTexts(message, row)))
}
