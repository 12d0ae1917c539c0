// Messages from the user's Telegram bot to one chat.
import { z } from 'zod'
import type { GuardedFetch } from '../net/guarded-fetch.ts'
import { defineChannelKind, type SendOutcome } from './channel-kind.ts'
import { postJson } from './post.ts'

/** Characters that one Telegram message can have. */
const LONGEST = 4_096

/** `apiUrl` is another address of the Bot API, for tests and self-hosted ones. */
export const createTelegramKind = (dependencies: {
  fetch: GuardedFetch
  apiUrl?: string | undefined
}) =>
  defineChannelKind({
    type: 'telegram',
    settings: z.object({
      bot_token: z
        .string()
        .regex(/^\d+:[\w-]{20,100}$/, { error: 'a bot token as BotFather gives it' }),
      chat_id: z.union([z.int().transform(String), z.string().regex(/^(-?\d{1,20}|@\w{5,40})$/)], {
        error: 'a chat number or @channel',
      }),
    }),
    present: ({ chat_id }) => ({ chat_id }),
    async send(settings, message, signal) {
      const base = dependencies.apiUrl ?? 'https://api.telegram.org'
      let outcome: SendOutcome = { ok: true }
      for (let start = 0; start < message.text.length && outcome.ok; start += LONGEST)
        outcome = await postJson({
          fetch: dependencies.fetch,
          url: `${base}/bot${settings.bot_token}/sendMessage`,
          body: JSON.stringify({
            chat_id: settings.chat_id,
            text: message.text.slice(start, start + LONGEST),
          }),
          signal,
          trusted: true,
        })
      return outcome
    },
  })
