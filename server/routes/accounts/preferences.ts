// Routes for settings that apply to all conversations of a user, `/api/preferences`.

import { appError } from '../../errors.ts'
import type { App } from '../../http/app.ts'
import {
  type AskEntry,
  PatchPreferencesBody,
  Preferences,
} from '../../protocol/accounts/preferences.ts'
import { envelope } from '../../protocol/envelope.ts'
import type { UserId } from '../../protocol/ids.ts'
import type { Services } from '../../services.ts'
import { success } from '../envelope.ts'

/** `/api/preferences`. */
export function registerPreferenceRoutes(
  app: App,
  { store: { settings }, channels }: Pick<Services, 'store' | 'channels'>,
): void {
  const tags = ['preferences']
  const response = { 200: envelope(Preferences) }

  app.get(
    '/api/preferences',
    {
      schema: {
        summary: 'Get your instructions, saved prompts, and disabled tools and models',
        tags,
        response,
      },
    },
    async ({ user }) => success(await settings.preferences(user.id)),
  )

  app.patch(
    '/api/preferences',
    {
      schema: {
        summary: 'Update your preferences; absent fields stay unchanged',
        tags,
        body: PatchPreferencesBody,
        response,
      },
    },
    async ({ user, body }) => {
      await assertChannels(channels, user.id, body.ask ?? [])
      return success(await settings.changePreferences(user.id, body))
    },
  )
}

/** @throws AppError `channel_unknown`. */
async function assertChannels(
  channels: Services['channels'],
  userId: UserId,
  ask: readonly AskEntry[],
): Promise<void> {
  const named = ask.flatMap(({ through }) =>
    through === 'push' ? [] : [through.slice('channel:'.length)],
  )
  if (named.length === 0) return
  const known = new Set((await channels.list(userId)).map(({ name }) => name))
  const missing = named.find((name) => !known.has(name))
  if (missing !== undefined) throw appError('channel_unknown', { name: missing })
}
