// Messages from the user's Telegram bot to one chat.
import { z } from 'zod'
import type { GuardedFetch } from '../../net/guarded-fetch.ts'
import { defineChannelKind, type SendOutcome } from '../channel-kind.ts'
import { postJson } from '../post.ts'

/** Telegram's limit for one message. */
const MAX_CHARACTERS = 4_096

/** `apiUrl` replaces the address of the Bot API, for tests and self-hosted servers. */
export const createTelegramKind = (dependencies: {
  fetch: GuardedFetch
  apiUrl?: string | undefined
}) =>
  defineChannelKind({
    type: 'telegram',
    settings: z.object({
      bot_token: z.string().regex(/^\d+:[\w-]{20,100}$/, { error: 'a bot token from BotFather' }),
      chat_id: z.union([z.int().transform(String), z.string().regex(/^(-?\d{1,20}|@\w{5,40})$/)], {
        error: 'a chat ID or @channel',
      }),
    }),
    present: ({ chat_id }) => ({ chat_id }),
    async send(settings, message, signal) {
      const base = dependencies.apiUrl ?? 'https://api.telegram.org'
      let outcome: SendOutcome = { ok: true }
      for (let start = 0; start < message.text.length && outcome.ok; start += MAX_CHARACTERS)
        outcome = await postJson({
          fetch: dependencies.fetch,
          url: `${base}/bot${settings.bot_token}/sendMessage`,
          body: JSON.stringify({
            chat_id: settings.chat_id,
            text: message.text.slice(start, start + MAX_CHARACTERS),
          }),
          signal,
          trusted: true,
        })
      return outcome
    },
  })
