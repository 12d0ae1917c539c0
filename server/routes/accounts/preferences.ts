// Routes for settings that apply to all conversations of a user, `/api/preferences`.
import type { Store } from '../../db/store.ts'
import type { App } from '../../http/app.ts'
import { PatchPreferencesBody, Preferences } from '../../protocol/accounts/preferences.ts'
import { envelope } from '../../protocol/envelope.ts'
import { success } from '../envelope.ts'

/** `/api/preferences`. */
export function registerPreferenceRoutes(
  app: App,
  { settings }: { settings: Pick<Store['settings'], 'preferences' | 'changePreferences'> },
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
    async ({ user, body }) => success(await settings.changePreferences(user.id, body)),
  )
}
