// Removes secrets from error responses: their messages may repeat the words of a provider or a database.
import type { App } from './app.ts'

/** Applies to every response with a status of 400 or more. */
export function registerErrorRedaction(app: App, redact: (text: string) => string): void {
  app.addHook('onSend', async (_request, reply, payload) =>
    reply.statusCode >= 400 && typeof payload === 'string' ? redact(payload) : payload,
  )
}
